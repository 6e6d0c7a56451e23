"""Gateways that take tokens ahead from one bucket in a shared store: in sum they give what the limit says."""
import json
import signal
import threading
import time

from harness.case import SystemTest, forwarding_to, only_as_shipped
from harness.client import get
from harness.load import pipelined
from harness.postgres_server import PostgresServer
from harness.process import wait_until
from harness.redis_server import RedisServer

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
WORKERS = 2


class Leases(SystemTest):
    server = RedisServer

    def setUp(self):
        self.store = self.started(self.server())
        token = self.directory().file("token")
        with open(token, "w", encoding="ascii") as f:
            f.write("secret\n")
        self.text = (
            f"workers: {WORKERS}\nlog: {{ access: false }}\n"
            f"admin: {{ address: '127.0.0.1:0', token_file: '{token}' }}\n"
            f"stores: {{ r: {{ url: '{self.store.url}', timeout: 1s }} }}\n"
            "limits: { l: { key: [], rate: %d/s, burst: %d, store: r, on_store_failure: closed, "
            "lease: { share: 10%%, time: 1s } } }\n" + forwarding_to("echo", "l")
        )

    def started_gateways(self, count, rate, burst):
        gateways = [self.gateway(self.text % (rate, burst)) for _ in range(count)]
        for g in gateways:
            wait_until(lambda: g.metrics().sum("gateway_store_up", store="r") == 1, 15, "it is up")
        return gateways

    @staticmethod
    def ask(gateway, what):
        headers = [("Authorization", "Bearer secret"), ("Content-Type", "application/json")]
        body = json.dumps({"limit": "l", "key": []}).encode()
        r = get(gateway.admin, f"/v1/{what}", headers, method="POST", body=body)
        return json.loads(r.text)["remaining"] if r.status == 200 else None

    def left(self, gateway):
        return wait_until(lambda: self.ask(gateway, "look"), what="the bucket is told of")

    @staticmethod
    def passed(gateway, requests):
        statuses = pipelined(gateway.address, [GET] * requests, connections=4, window=32)
        return statuses.count(200)

    @staticmethod
    def leased(gateway):
        return gateway.metrics().sum("gateway_store_leased_decisions_total", store="r")

    def test_the_sum_is_that_of_the_limit(self):
        rate, burst = 500, 3000
        gateways = self.started_gateways(3, rate, burst)
        passed = []
        begin = time.monotonic()
        end = begin + 5

        def load(gateway):
            while time.monotonic() < end:
                passed.append(self.passed(gateway, 256))

        threads = [threading.Thread(target=load, args=(g,)) for g in gateways]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertLessEqual(sum(passed), burst + rate * (time.monotonic() - begin))
        asked_for = end - begin - 0.3  # connecting, and the answers to the last requests, take some
        self.assertGreaterEqual(sum(passed), 0.99 * (burst + rate * asked_for))
        # How many each can is a matter of how long the others, and the store, let it wait.
        leased = [self.leased(g) for g in gateways]
        self.assertGreater(min(leased), 0)
        self.assertGreater(sum(leased), 100)

    def test_a_killed_gateway_keeps_at_most_its_leases(self):
        rate, burst = 100, 5000
        one, other = self.started_gateways(2, rate, burst)
        begin = time.monotonic()
        passed = self.passed(one, 2000)
        one.signal(signal.SIGKILL)
        one.wait()
        self.assertEqual(passed, 2000)
        left = self.left(other)
        self.assertLessEqual(left, burst - passed + rate * (time.monotonic() - begin))
        # A worker's lease is of what comes back in its time at most.
        self.assertGreaterEqual(left, burst - passed - WORKERS * rate)
        more = self.passed(other, left + 5 * rate)
        self.assertGreaterEqual(more, left - WORKERS * rate)
        most = burst + rate * (time.monotonic() - begin)
        self.assertLessEqual(passed + more, most)

    def test_a_gateway_that_stops_gives_back_what_it_has_left(self):
        rate, burst = 100, 5000
        one, other = self.started_gateways(2, rate, burst)
        before = time.monotonic()
        passed = self.passed(one, 3000)
        after = time.monotonic()
        self.assertEqual(passed, 3000)
        self.assertGreater(self.leased(one), 100)
        one.signal(signal.SIGTERM)
        self.assertEqual(one.wait(), 0)
        at = time.monotonic()
        left = self.left(other)
        self.assertGreaterEqual(left, burst - passed + int(rate * (at - after)) - 1)
        self.assertLessEqual(left, burst - passed + rate * (time.monotonic() - before) + 1)

    def test_a_reset_counts_at_once_and_ends_the_leases(self):
        rate, burst = 20, 1000
        one, other = self.started_gateways(2, rate, burst)
        self.assertEqual(self.passed(one, 500), 500)
        before = time.monotonic()
        self.assertEqual(self.ask(other, "reset"), burst)
        until = time.monotonic() + 0.1
        wait_until(lambda: time.monotonic() > until, what="100 ms")
        passed = self.passed(one, burst + 200)
        self.assertLessEqual(passed, burst + rate * (time.monotonic() - before))
        wait_until(lambda: one.get().status == 429, what="the bucket is empty")
        before = time.monotonic()
        self.assertEqual(self.ask(other, "reset"), burst)
        wait_until(lambda: self.passed(one, 10) == 10, what="more than come back by themselves")
        self.assertLess(time.monotonic() - before, 0.3)

    def test_a_lease_of_before_a_reset_is_not_given_back(self):
        rate, burst = 20, 2000
        one, other = self.started_gateways(2, rate, burst)
        self.assertEqual(self.passed(one, 1000), 1000)
        ended = time.monotonic() + 1
        before = time.monotonic()
        self.assertEqual(self.ask(other, "reset"), burst)
        passed = self.passed(other, 1000)
        # Nobody asks `one` for anything: it does not hear of the reset before its lease is over.
        wait_until(lambda: time.monotonic() > ended + 0.2, what="the leases of before are over")
        passed += self.passed(other, burst)
        self.assertLessEqual(passed, burst + rate * (time.monotonic() - before))
        self.assertGreaterEqual(passed, burst)

    def test_reloads_give_no_more_and_lose_at_most_leases(self):
        rate, burst = 100, 5000
        (gateway,) = self.started_gateways(1, rate, burst)
        text = self.text % (rate, burst)
        begin = time.monotonic()
        passed = self.passed(gateway, 1000)
        for timeout in (4, 3, 2):  # a store of its own each, for which the one before is left
            gateway.reload(text.replace("timeout: 1s", f"timeout: {timeout}s"))
            passed += self.passed(gateway, 1000)
        self.assertEqual(passed, 4000)
        passed += self.passed(gateway, burst)
        self.assertLessEqual(passed, burst + rate * (time.monotonic() - begin))
        # Of a store that is left, what cannot be given back at once is lost: as when a gateway dies.
        self.assertGreaterEqual(passed, burst - 3 * WORKERS * rate)

    def test_what_a_response_gives_back_is_exact(self):
        rate, burst = 10, 5000
        origin = self.origin()
        text = self.text.replace("closed,", "closed, charge_on: { status: [500] },")
        text = text.replace(forwarding_to("echo", "l"), forwarding_to(origin.address, "l"))
        gateway = self.gateway(text % (rate, burst))
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r") == 1, 15, "it is up")
        self.assertEqual(self.passed(gateway, 500), 500)
        wait_until(lambda: self.left(gateway) == burst, what="nothing is charged")

    def test_while_the_store_is_away_leases_last_for_their_time(self):
        rate, burst = 1000, 100_000
        (gateway,) = self.started_gateways(1, rate, burst)
        self.assertEqual(self.passed(gateway, 1000), 1000)
        self.store.kill()
        down = time.monotonic()
        passed = self.passed(gateway, 2000)
        if time.monotonic() - down < 1:
            self.assertLessEqual(passed, WORKERS * rate)
        later = down + 1.1
        wait_until(lambda: time.monotonic() > later, what="the leases are over")
        self.assertEqual(gateway.get().status, 503)


@only_as_shipped
class InPostgres(Leases):
    alone = True  # a new store must be there within moments of a reload

    server = PostgresServer
