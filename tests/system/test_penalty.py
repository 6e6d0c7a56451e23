"""Bans: who is rejected too often, and whom the admin API bans."""
import json
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Connection
from harness.origin import Origin, answer_ok
from harness.process import wait_until
from harness.redis_server import RedisServer

PENALTY = "penalty: { after: 3, within: 1m, ban: 2s, max_ban: 1h }"


class Penalties(SystemTest):
    def setUp(self):
        super().setUp()
        self.origin_ = self.started(Origin(answer_ok))
        self.token = self.directory().file("token", "secret\n")

    def gateway_with(self, limit, store=None):
        text, where = f"admin: {{ address: '127.0.0.1:0', token_file: {self.token} }}\n", ""
        if store is not None:
            text += f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = ", store: r, on_store_failure: closed"
        text += f"limits: {{ l: {{ key: client_ip, {limit}{where} }} }}\n"
        gateway = self.gateway(text + forwarding_to(self.origin_.address, "l"))
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def call(self, gateway, path, **members):
        body = json.dumps({"limit": "l", "key": ["127.0.0.1"], **members}).encode()
        headers = [("Authorization", "Bearer secret"), ("Content-Type", "application/json")]
        with Connection(gateway.admin) as c:
            answer = c.ask(path, headers, "POST", body)
        return answer.status, json.loads(answer.text)

    def test_the_third_rejection_bans_and_retry_after_says_for_how_long(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 2/s, " + PENALTY.replace("2s", "30s"), store)
                with g.connect() as c:
                    answers = [c.ask("/") for _ in range(6)]
                self.assertEqual([a.status for a in answers], [200] * 2 + [429] * 4)
                self.assertEqual([a["Retry-After"] for a in answers[2:4]], ["1", "1"])
                for banned in answers[4:]:
                    self.assertIn(banned["Retry-After"], ("29", "30"))

    def test_its_end_is_told_though_tokens_come_later(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 1/h, " + PENALTY.replace("2s", "30s"), store)
                with g.connect() as c:
                    self.assertEqual([c.ask("/").status for _ in range(4)], [200] + [429] * 3)
                    self.assertIn("banned", c.ask("/").text)
                for path in ("/v1/look", "/v1/take"):
                    told = self.call(g, path)[1]
                    self.assertAlmostEqual(told["banned_until"], time.time() + 30, delta=5)

    def test_what_can_never_pass_is_told_no_time(self):
        for store in self.every_store():
            with self.subTest(store=store):
                more = ", cost: { header: x-cost, max: 100 }"
                g = self.gateway_with("rate: 5/h, " + PENALTY + more, store)
                with g.connect() as c:
                    answers = [c.ask("/", [("x-cost", "50")]) for _ in range(5)]
                self.assertEqual([(a.status, a["Retry-After"]) for a in answers], [(429, None)] * 5)

    def test_a_ban_ends_and_the_next_one_is_twice_as_long(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 9/s, burst: 1, " + PENALTY, store)
                with g.connect() as c:
                    for seconds in (2, 4):
                        wait_until(lambda: c.ask("/")["Retry-After"] == str(seconds), 9, "a ban")
                        banned = time.monotonic()
                        wait_until(lambda: c.ask("/").status == 200, 9, "its end")
                        self.assertGreater(time.monotonic() - banned, seconds - 0.5)

    def test_bans_by_the_admin_api(self):
        for store in self.every_store():
            for algorithm in ("token_bucket", "sliding_window", "sliding_log", "fixed_window"):
                with self.subTest(store=store, algorithm=algorithm):
                    g = self.gateway_with(f"algorithm: {algorithm}, rate: 9/h, " + PENALTY, store)
                    self.assertEqual(self.call(g, "/v1/look")[1]["banned_until"], None)
                    status, said = self.call(g, "/v1/ban", **{"for": "10m"})
                    self.assertEqual(status, 200)
                    self.assertAlmostEqual(said["banned_until"], time.time() + 600, delta=5)
                    rejected = g.get()
                    self.assertEqual(rejected.status, 429)
                    self.assertIn(rejected["Retry-After"], ("599", "600"))
                    self.assertEqual(self.call(g, "/v1/unban")[1]["banned_until"], None)
                    self.assertEqual(g.get()["X-RateLimit-Remaining"], "8", "nothing was charged")
                    if store is not None:
                        store.forget_all()

    def test_looks_are_no_rejections(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 1/m, " + PENALTY, store)
                self.assertEqual(g.get().status, 200)
                for _ in range(5):
                    self.assertIsNone(self.call(g, "/v1/look")[1]["banned_until"])
                self.assertIn(g.get()["Retry-After"], ("59", "60"))

    def test_two_gateways_share_a_ban(self):
        store = self.started(RedisServer())
        one, other = (self.gateway_with("rate: 9/h, " + PENALTY, store) for _ in range(2))
        self.call(one, "/v1/ban", **{"for": "10m"})
        self.assertEqual(other.get().status, 429)

    def test_in_shadow_mode_it_is_counted_only(self):
        g = self.gateway_with("mode: shadow, rate: 1/m, " + PENALTY)
        with g.connect() as c:
            self.assertEqual([c.ask("/").status for _ in range(8)], [200] * 8)
        self.assertEqual(
            g.metrics().sum("gateway_decisions_total", outcome="shadow_rejected"), 7
        )
