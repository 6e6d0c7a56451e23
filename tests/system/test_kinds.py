"""Sliding limits and requests in flight, locally and in Redis."""
import select
import signal
import time

from harness.case import SystemTest, forwarding_to
from harness.gate import Gate
from harness.origin import Origin
from harness.process import wait_until
from harness.redis_server import RedisServer
from harness.websocket import BINARY, CLOSE, WebSocket, echo_frames


class Kinds(SystemTest):
    def setUp(self):
        super().setUp()
        self.gate = Gate()
        self.gate.open.set()
        self.origin = self.started(Origin(self.gate))

    def text_with(self, limit, store=None, key="[]", more=""):
        text, where = more, ""
        if store is not None:
            text += f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = ", store: r, on_store_failure: closed"
        text += f"limits: {{ l: {{ key: {key}, {limit}{where} }} }}\n"
        return text + forwarding_to(self.origin.address, "l")

    def gateway_with(self, limit, store=None, key="[]", more=""):
        gateway = self.gateway(self.text_with(limit, store, key, more))
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def begin(self, gateway, number):
        """So many requests that stay in flight; their connections."""
        before = self.gate.inside
        self.gate.open.clear()
        connections = [gateway.connect() for _ in range(number)]
        for c in connections:
            c.request("/")
        wait_until(lambda: self.gate.inside == before + number, what="in flight")
        return connections


class Sliding(Kinds):
    def test_a_token_comes_back_when_its_request_is_one_window_old(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("algorithm: sliding_log, rate: 3/2s", store)
                passed, rejected = [], []
                with g.connect() as c:
                    while len(passed) < 9:
                        asked = time.monotonic()
                        status = c.ask("/").status
                        (passed if status == 200 else rejected).append((asked, time.monotonic()))
                for (asked, _), (_, answered) in zip(passed, passed[3:]):
                    self.assertGreaterEqual(answered - asked, 1.999)
                for asked, _ in rejected:
                    young = [p for p, answered in passed if p < asked < answered + 2.001]
                    self.assertGreaterEqual(len(young), 3, "no later than that")

    def test_no_window_wherever_it_begins_has_more(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("algorithm: sliding_window, rate: 20/1s, resolution: 4", store)
                start, passed = time.monotonic(), []
                with g.connect() as c:
                    while time.monotonic() < start + 3:
                        if c.ask("/").status == 200:
                            passed.append(time.monotonic())
                for earlier, later in zip(passed, passed[20:]):
                    self.assertGreaterEqual(later - earlier, 0.97)
                self.assertGreaterEqual(len(passed), 40, "at most a part late")

    def test_retry_after_is_true(self):
        for store in self.every_store():
            for algorithm in ("sliding_log", "sliding_window"):
                with self.subTest(store=store, algorithm=algorithm):
                    g = self.gateway_with(f"algorithm: {algorithm}, rate: 2/2s", store, "client_ip")
                    with g.connect() as c:
                        c.ask("/")
                        answer = c.ask("/")
                        self.assertEqual(answer["X-RateLimit-Limit"], "2")
                        self.assertEqual(answer["X-RateLimit-Remaining"], "0")
                        rejected = c.ask("/")
                        self.assertEqual(rejected.status, 429)
                        wait_until(lambda: c.ask("/").status == 200, what="a token")

    def test_three_gateways_share_a_window(self):
        store = self.started(RedisServer())
        gateways = [
            self.gateway_with("algorithm: sliding_window, rate: 30/1h", store) for _ in range(3)
        ]
        passed = 0
        for _ in range(20):
            passed += sum(g.get().status == 200 for g in gateways)
        self.assertEqual(passed, 30)

    def test_who_waits_for_a_token_gets_it_in_order(self):
        for store in self.every_store():
            with self.subTest(store=store):
                limit = "algorithm: sliding_log, rate: 2/1s, max_wait: 5s"
                g = self.gateway_with(limit, store)
                start = time.monotonic()
                with g.connect() as c:
                    self.assertEqual([c.ask("/").status for _ in range(6)], [200] * 6)
                self.assertGreaterEqual(time.monotonic() - start, 1.95)

    def test_what_a_client_owes_survives_another_algorithm(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 9/h", store)
                self.assertEqual([g.get().status for _ in range(6)], [200] * 6)
                changes = ("sliding_log", "token_bucket", "sliding_window", "fixed_window")
                for algorithm, left in zip(changes, ("2", "1", "0", "0")):
                    text = self.text_with(f"algorithm: {algorithm}, rate: 9/h", store)
                    self.assertIn("reloaded", g.reload(text))
                    self.assertEqual(g.get()["X-RateLimit-Remaining"], left, algorithm)
                self.assertEqual(g.get().status, 429)


class InFlight(Kinds):
    def test_so_many_at_a_time_and_no_more(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.gate.inside = 0
                g = self.gateway_with("algorithm: concurrency, max: 3", store)
                begun = self.begin(g, 3)
                rejected = g.get()
                self.assertEqual(rejected.status, 429)
                self.assertEqual(rejected["Retry-After"], "1")
                self.assertIsNone(rejected["X-RateLimit-Reset"])
                self.assertEqual(rejected["X-RateLimit-Remaining"], "0")
                self.gate.open.set()
                for c in begun:
                    self.assertEqual(c.response().status, 200)
                wait_until(lambda: g.get()["X-RateLimit-Remaining"] == "2", what="all are back")
                for c in begun:
                    c.close()

    def test_a_client_that_leaves_frees_its_place(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.gate.inside = 0
                g = self.gateway_with("algorithm: concurrency, max: 1", store)
                self.begin(g, 1)[0].reset()
                self.gate.open.set()
                wait_until(lambda: g.get().status == 200, what="the place")

    def test_an_upstream_that_is_gone_frees_the_place(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("algorithm: concurrency, max: 1", store)
                self.origin.stop()
                for _ in range(5):
                    wait_until(lambda: g.get().status in (502, 503), what="it is not reached")
                self.origin = self.started(Origin(self.gate))

    def test_places_are_shared_by_gateways_and_come_back_when_one_is_killed(self):
        store = self.started(RedisServer())
        limit = "algorithm: concurrency, max: 2, lease: 2s"
        one, other = self.gateway_with(limit, store), self.gateway_with(limit, store)
        kept = self.begin(other, 1) + self.begin(one, 1)
        self.assertEqual(other.get().status, 429)
        killed = time.monotonic()
        one.signal(signal.SIGKILL)
        one.wait()
        wait_until(lambda: self.passes(other), 10, "the lease ends")
        self.assertGreater(time.monotonic() - killed, 1.0)
        later = time.monotonic() + 5
        wait_until(lambda: time.monotonic() > later, 9, "several leases have passed")
        self.assertEqual(other.get().status, 429, "its own are renewed")
        self.gate.open.set()
        self.assertEqual(kept[0].response().status, 200)
        wait_until(lambda: not self.buckets(store), what="nothing is left")

    @staticmethod
    def buckets(store):
        return [k for k in store.keys() if k.startswith(b"gw:l:")]

    def passes(self, gateway):
        """Whether a request finds a place, which it keeps."""
        c = self.started_client(gateway)
        before = self.gate.inside
        c.request("/")
        wait_until(lambda: self.gate.inside > before or self.answered(c), what="a decision")
        return self.gate.inside > before

    def started_client(self, gateway):
        c = gateway.connect()
        self.addCleanup(c.close)
        return c

    @staticmethod
    def answered(connection):
        return bool(select.select([connection.socket], [], [], 0)[0])

    def test_a_tunnel_keeps_its_place(self):
        origin = self.started(Origin(echo_frames))
        text = "limits: { l: { key: [], algorithm: concurrency, max: 1 } }\n"
        g = self.gateway(text + forwarding_to(origin.address, "l"))
        with g.connect() as c:
            ws = WebSocket(c)
            self.assertEqual(g.get().status, 429)
            self.assertEqual(ws.echo(b"1"), (BINARY, b"1"))
            self.assertEqual(g.get().status, 429)
            ws.send(CLOSE, b"\x03\xe8")
            self.assertEqual(ws.receive(), (CLOSE, b"\x03\xe8"))
        wait_until(lambda: g.get().status == 200, what="the place")

    def test_a_gateway_that_stops_gives_its_places_back(self):
        store = self.started(RedisServer())
        g = self.gateway_with("algorithm: concurrency, max: 2, lease: 1m", store)
        kept = self.begin(g, 2)
        g.signal(signal.SIGTERM)
        self.gate.open.set()
        for c in kept:
            self.assertEqual(c.response().status, 200)
        self.assertEqual(g.wait(), 0)
        self.assertEqual(self.buckets(store), [])
