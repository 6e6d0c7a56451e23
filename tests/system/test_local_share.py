"""While a store fails each gateway gives its share of a limit, and the store hears of it afterwards."""
import json

from harness.case import SystemTest, forwarding_to
from harness.client import Connection, get
from harness.fault_proxy import FaultProxy
from harness.process import wait_until
from harness.redis_server import RedisServer


class LocalShare(SystemTest):
    def setUp(self):
        self.redis = self.started(RedisServer())
        token = self.directory().file("token")
        with open(token, "w", encoding="ascii") as f:
            f.write("secret\n")
        self.text = (
            f"workers: 2\nadmin: {{ address: '127.0.0.1:0', token_file: '{token}' }}\n"
            f"stores: {{ r: {{ url: '{self.redis.url}', timeout: 1s }} }}\n"
            "limits: { l: { key: client_ip, rate: 9/d, store: r, on_store_failure: local, "
            "local_share: 1/3, %s } }\n" + forwarding_to("echo", "l")
        )

    def started_gateways(self, numbers):
        gateways = [self.gateway(self.text % numbers) for _ in range(3)]
        for g in gateways:
            self.is_up(g, 1)
        return gateways

    @staticmethod
    def is_up(gateway, up):
        wait_until(
            lambda: gateway.metrics().sum("gateway_store_up", store="r") == up, 15, f"up is {up}"
        )

    @staticmethod
    def left(gateway):
        headers = [("Authorization", "Bearer secret"), ("Content-Type", "application/json")]
        body = json.dumps({"limit": "l", "key": ["127.0.0.1"]}).encode()
        r = get(gateway.admin, "/v1/look", headers, method="POST", body=body)
        return json.loads(r.text)["remaining"] if r.status == 200 else None

    def passed(self, gateway):
        return [gateway.get().status for _ in range(9)].count(200)

    def test_a_fault_does_not_double_what_a_client_gets(self):
        for kind in ("burst: 9", "algorithm: fixed_window", "algorithm: sliding_window"):
            with self.subTest(kind=kind):
                gateways = self.started_gateways(kind)
                self.redis.kill()
                for g in gateways:
                    self.assertEqual(self.passed(g), 3)
                self.redis.start()
                for g in gateways:
                    self.is_up(g, 1)
                wait_until(lambda: self.left(gateways[0]) == 0, what="all nine are charged")
                self.assertEqual(gateways[1].get().status, 429)
                lost = [g.metrics().sum("gateway_corrections_lost_total") for g in gateways]
                self.assertEqual(lost, [0, 0, 0])
                for g in gateways:
                    g.stop()
                self.redis.command("FLUSHALL")

    def test_what_was_charged_before_counts_as_well(self):
        (one, *_others) = self.started_gateways("burst: 9")
        self.assertEqual([one.get().status for _ in range(5)], [200] * 5)
        self.redis.kill()
        self.assertEqual(self.passed(one), 3)
        self.redis.start()
        self.is_up(one, 1)
        wait_until(lambda: self.left(one) == 6, what="three are charged to a fresh server")

    def test_all_that_is_charged_empties_a_bucket_at_most(self):
        proxy = self.started(FaultProxy(self.redis.port))
        # With one worker each charges all that it gave in one correction.
        self.text = self.text.replace(self.redis.url, proxy.url).replace("workers: 2", "workers: 1")
        gateways = self.started_gateways("burst: 9")
        self.assertEqual([gateways[0].get().status for _ in range(5)], [200] * 5)
        proxy.set("refuse")
        for g in gateways:
            self.assertEqual(self.passed(g), 3)
        proxy.set("pass")
        for g in gateways:
            self.is_up(g, 1)
        made = lambda: sum(b"correction" in key for key in self.redis.keys())
        wait_until(lambda: made() >= 3, what="all have charged what they gave")
        refused = gateways[0].get()
        self.assertEqual(refused.status, 429)
        self.assertLessEqual(int(refused["Retry-After"]), 24 * 3600 / 9, "for one token")

    def test_what_the_store_may_have_charged_is_not_charged_again(self):
        proxy = self.started(FaultProxy(self.redis.port))
        text = self.text.replace(self.redis.url, proxy.url).replace("workers: 2", "workers: 1")
        g = self.gateway(text % "burst: 9")
        self.is_up(g, 1)
        proxy.set("cut")
        self.assertEqual(g.get().status, 200)
        self.assertEqual(self.failures(g), 1, "charged, but the reply was lost")
        self.is_up(g, 0)
        self.assertEqual(g.get().status, 200)
        self.assertEqual(self.failures(g), 2, "never asked")
        proxy.set("pass")
        self.is_up(g, 1)
        wait_until(lambda: self.left(g) == 7, what="two are charged")

    def test_a_request_that_leaves_while_it_waits_is_not_charged(self):
        text = self.text.replace("rate: 9/d", "rate: 30/h").replace("workers: 2", "workers: 1")
        g = self.gateway(text % "burst: 3, max_wait: 10m")
        self.is_up(g, 1)
        self.redis.kill()
        self.assertEqual(g.get().status, 200)
        waiting = lambda: g.metrics().sum("gateway_requests_waiting")
        with Connection(g.address) as client:
            client.request()
            wait_until(lambda: waiting() == 1, what="it waits for a token of the share")
        wait_until(lambda: waiting() == 0, what="it has left")
        self.redis.start()
        self.is_up(g, 1)
        wait_until(lambda: any(b"correction" in key for key in self.redis.keys()), what="one is charged")
        self.assertEqual(self.left(g), 2)

    @staticmethod
    def failures(gateway):
        return gateway.metrics().sum("gateway_decisions_total", outcome="failed_local")
