"""Defects that were found in other rate limiters, each as the property that they lack.

The stores themselves are held to these by random schedules (tests/contract/schedule_test.cpp); here
is what a client sees of them, in memory and in Redis."""
import email.utils
import time

from harness.case import SystemTest, forwarding_to
from harness.gateway import MovingClock, clock_shifted_by, run_command
from harness.load import pipelined
from harness.origin import Origin, answer_ok
from harness.process import SLOW, wait_until
from harness.redis_server import RedisServer

REQUEST = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
TRUST = "client: { trusted_proxies: [127.0.0.1] }\n"


class PeersDefects(SystemTest):
    def setUp(self):
        super().setUp()
        self.origin_ = self.started(Origin(answer_ok))

    def text(self, limits, store=None, more="", failure="closed"):
        """`limits`: name to its keys, in the order of the route."""
        where = ""
        if store is not None:
            more += f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = f", store: r, on_store_failure: {failure}"
        stanzas = ", ".join(f"{name}: {{ {keys}{where} }}" for name, keys in limits.items())
        return more + f"limits: {{ {stanzas} }}\n" + forwarding_to(
            self.origin_.address, ", ".join(limits)
        )

    def gateway_with(self, limits, store=None, more="", environment=None, failure="closed"):
        text = self.text(limits, store, more, failure)
        gateway = self.gateway(text, environment=environment)
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def every_store(self):
        for store in super().every_store():
            with self.subTest(store="memory" if store is None else type(store).__name__):
                yield store

    def allowed(self, gateway, count):
        """Of so many requests at once."""
        return pipelined(gateway.address, [REQUEST] * count, connections=2).count(200)

    def await_seconds(self, seconds):
        began = time.monotonic()
        wait_until(lambda: time.monotonic() - began > seconds, seconds + 5)

    def judge_idleness(self, rate, burst, drained, idle):
        """After `drained` requests and so much time, no more than the rate gives."""
        for store in self.every_store():
            limit = f"key: [], rate: {rate[0]}/{rate[1]}s, burst: {burst}"
            gateway = self.gateway_with({"l": limit}, store)
            began = time.monotonic()
            given = self.allowed(gateway, drained)
            if store is not None:
                lives = store.time_to_live()
                missing = max(drained - 1 - rate[0] / rate[1] * (time.monotonic() - began), 0)
                self.assertGreaterEqual(lives, missing * rate[1] / rate[0] * 1000)
            self.await_seconds(idle)
            given += self.allowed(gateway, burst + 20)
            most = burst + rate[0] / rate[1] * (time.monotonic() - began)
            self.assertLessEqual(given, most)
            self.assertGreaterEqual(given, burst)

    def test_01_a_bucket_is_kept_until_it_is_full_at_a_quick_rate(self):
        self.judge_idleness((1, 1), burst=50, drained=50, idle=2.1)

    def test_02_a_bucket_is_kept_until_it_is_full_at_a_slow_rate(self):
        self.judge_idleness((1, 10), burst=1, drained=1, idle=1.1)

    def test_03_any_valid_limit_limits_and_others_are_refused_at_load(self):
        for store in self.every_store():
            gateway = self.gateway_with({"l": "key: [], rate: 100/s, burst: 1"}, store)
            began = time.monotonic()
            given = self.allowed(gateway, 300)
            self.assertLessEqual(given, 1 + 100 * (time.monotonic() - began))
        bad = ("rate: 0/s", "rate: -1/s", "rate: 1/0s", "rate: 1/s, burst: 0", "rate: x")
        for keys in bad + ("burst: 5", "algorithm: fixed_window, rate: 5/s, capacity: 0"):
            path = self.directory().file("g.yaml", self.text({"l": f"key: [], {keys}"}))
            status, _, said = run_command("check", "--config", path)
            self.assertEqual(status, 2, keys)
            self.assertIn("limits.l", said)

    def test_04_in_any_time_at_most_burst_and_rate(self):
        self.judge_idleness((10, 1), burst=10, drained=1, idle=1.2)

    def test_05_each_default_is_that_of_its_own_field(self):
        for keys, full in (
            ("rate: 7/h", 7),
            ("rate: 7/h, burst: 3", 3),
            ("algorithm: fixed_window, rate: 7/h", 7),
            ("algorithm: fixed_window, rate: 7/h, capacity: 9", 9),
            ("algorithm: sliding_window, rate: 7/h", 7),
            ("algorithm: sliding_log, rate: 7/h", 7),
        ):
            two = {"l": f"key: [], {keys}", "other": "key: client_ip, rate: 1000/h"}
            gateway = self.gateway_with(two)
            self.assertEqual(gateway.get()["x-ratelimit-limit"], str(full), keys)
            self.assertEqual(self.allowed(gateway, 20), full - 1, keys)

    def ask_as(self, connection, *lines):
        return connection.ask("/", [("X-Forwarded-For", line) for line in lines]).status

    def test_06_a_client_is_one_however_its_address_is_written(self):
        gateway = self.gateway_with({"l": "key: client_ip, rate: 1/h"}, more=TRUST)
        with gateway.connect() as c:
            for first, same in (
                ("2001:db8::1", ("[2001:db8::1]", "[2001:db8::1]:4711", "2001:DB8:0::1")),
                ("192.0.2.1", ("192.0.2.1:80", " 192.0.2.1 ", "::ffff:192.0.2.1")),
            ):
                self.assertEqual(self.ask_as(c, first), 200)
                for text in same:
                    self.assertEqual(self.ask_as(c, text), 429, text)
                    self.assertEqual(self.ask_as(c, "198.51.100.9, " + text), 429, text)
                    self.assertEqual(self.ask_as(c, "198.51.100.9", text), 429, text)
            self.assertEqual(self.ask_as(c, "2001:db8:0:1::1"), 200, "another network")

    def test_07_what_an_untrusted_peer_says_of_its_address_changes_nothing(self):
        gateway = self.gateway_with({"l": "key: client_ip, rate: 1/h"})
        self.assertEqual(gateway.get().status, 200)
        for name in ("X-Real-IP", "X-Forwarded-For", "True-Client-IP", "CF-Connecting-IP"):
            self.assertEqual(gateway.get(headers=[(name, "203.0.113.7")]).status, 429, name)
        forwarded = [("Forwarded", "for=203.0.113.7")]
        self.assertEqual(gateway.get(headers=forwarded).status, 429)

    def test_08_requests_at_the_same_moment_are_counted_and_rejected_ones_are_not(self):
        for store in self.every_store():
            limit = "key: [], algorithm: sliding_log, rate: 10/2s"
            gateways = [
                self.gateway_with({"l": limit}, store, environment=clock_shifted_by(offset))
                for offset in (("+0",) if store is None else ("-7h", "+30h"))
            ]
            began = time.monotonic()
            self.assertEqual(sum(self.allowed(g, 30) for g in gateways), 10)
            ended = time.monotonic()
            with gateways[0].connect() as c:
                wait_until(lambda c=c: c.ask().status == 200, what="a token comes back")
            self.assertGreaterEqual(time.monotonic() - began, 2)
            self.assertLess(time.monotonic() - ended, 3.5, "not when rejections are a window old")

    def test_09_a_limit_in_shadow_mode_changes_no_verdict_and_no_count(self):
        limits = {
            "shadow": "key: [], rate: 1/h, burst: 2, mode: shadow",
            "real": "key: client_ip, rate: 1/h, burst: 10",
        }
        for store in self.every_store():
            for order in (("shadow", "real"), ("real", "shadow")):
                if store is not None:
                    store.forget_all()
                gateway = self.gateway_with({name: limits[name] for name in order}, store)
                with gateway.connect() as c:
                    statuses = [c.ask().status for _ in range(30)]
                self.assertEqual(statuses, [200] * 10 + [429] * 20)

    def test_10_periods_are_charged_all_or_none_and_nothing_is_lost(self):
        limits = {
            "hour": "key: [], algorithm: fixed_window, start: aligned, rate: 9/365d",
            "minute": "key: client_ip, rate: 1/h, burst: 4",
        }
        for store in self.every_store():
            gateway = self.gateway_with(limits, store, more=TRUST)
            with gateway.connect() as c:
                self.assertEqual(
                    [self.ask_as(c, "192.0.2.1") for _ in range(30)], [200] * 4 + [429] * 26
                )
                self.assertEqual(
                    [self.ask_as(c, "192.0.2.2") for _ in range(9)], [200] * 4 + [429] * 5
                )
                self.assertEqual(
                    [self.ask_as(c, "192.0.2.3") for _ in range(3)], [200] + [429] * 2
                )

    def test_11_no_limit_is_charged_for_another_one_and_a_failing_store_has_its_fallback(self):
        names = ("wide", "narrow")
        limits = {
            "wide": "key: client_ip, rate: 1/h, burst: 6",
            "narrow": "key: 'header:x-k', missing_key: reject, rate: 1/h, burst: 2",
        }
        for store in self.every_store():
            for order in (names, names[::-1]):
                if store is not None:
                    store.forget_all()
                gateway = self.gateway_with({name: limits[name] for name in order}, store)
                with gateway.connect() as c:
                    left = [c.ask("/", [("x-k", "a")]).status for _ in range(9)]
                    right = [c.ask("/", [("x-k", str(i))]).status for i in range(9)]
                self.assertEqual(left, [200] * 2 + [429] * 7)
                self.assertEqual(right, [200] * 4 + [429] * 5)
        redis = self.started(RedisServer())
        gateway = self.gateway_with(
            {"l": "key: [], rate: 1/h, burst: 3"}, redis, failure="local"
        )
        redis.kill()
        with gateway.connect() as c:
            self.assertEqual([c.ask().status for _ in range(5)], [200] * 3 + [429] * 2)

    def test_12_a_clock_that_goes_backwards_gives_no_tokens(self):
        """Of this machine; that of a Redis server steps in tests/contract/schedule_test.cpp."""
        for kind in ("burst: 3", "algorithm: sliding_log", "algorithm: fixed_window, start: aligned"):
            clock = self.started(MovingClock())
            gateway = self.gateway_with(
                {"l": f"key: [], rate: 3/365d, {kind}"}, environment=clock.environment
            )
            with self.subTest(kind=kind), gateway.connect() as c:
                self.assertEqual([c.ask().status for _ in range(4)], [200] * 3 + [429])
                for offset, seconds in (("-3h", -10800), ("-30d", -2592000)):
                    clock.move(offset)
                    wait_until(lambda c=c, s=seconds: self.is_off_by(c, s), what="the clock moves")
                    self.assertEqual({c.ask().status for _ in range(4)}, {429}, offset)

    def is_off_by(self, connection, seconds):
        told = email.utils.parsedate_to_datetime(connection.ask()["date"]).timestamp()
        return abs(told - time.time() - seconds) < 60

    def test_13_gateways_whose_clocks_disagree_give_no_more_together(self):
        redis = self.started(RedisServer())
        gateways = [
            self.gateway_with(
                {"l": "key: [], rate: 10/s, burst: 10"},
                redis,
                environment=clock_shifted_by(offset),
            )
            for offset in ("-7h", "+0", "+1.5s")
        ]
        connections = [g.connect() for g in gateways]
        began, given = time.monotonic(), 0
        while time.monotonic() - began < 1.5:
            given += sum(c.ask().status == 200 for c in connections)
        self.assertLessEqual(given, 10 + 10 * (time.monotonic() - began))
        self.assertGreaterEqual(given, 10 + 10)
        for c in connections:
            c.close()

    def test_14_a_window_that_slides_has_no_boundary_to_burst_over(self):
        for store in self.every_store():
            for algorithm in ("sliding_window", "sliding_log"):
                gateway = self.gateway_with(
                    {"l": f"key: [], algorithm: {algorithm}, rate: 5/1s"}, store
                )
                passed = []
                began = time.monotonic()
                with gateway.connect() as c:
                    while time.monotonic() - began < 2.3:
                        sent = time.monotonic()
                        if c.ask().status == 200:
                            passed.append((sent, time.monotonic()))
                self.assertGreaterEqual(len(passed), 10)
                for (sent, _), (_, answered) in zip(passed, passed[5:]):
                    self.assertGreaterEqual(answered - sent, 1.0)
                if store is not None:
                    store.forget_all()

    def flood(self, limit, clients=4000):
        """(gateway with a table of a thousand buckets, status of a drained client at the end)."""
        more = TRUST + "stores: { local: { max_buckets: 1000 } }\n"
        gateway = self.gateway_with({"l": f"key: client_ip, {limit}"}, more=more)

        def of(i):
            address = f"10.0.{i >> 8}.{i & 255}".encode()
            return REQUEST.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: " + address + b"\r\n\r\n")

        self.assertEqual(pipelined(gateway.address, [of(0)] * 3, connections=1), [200, 200, 429])
        before = gateway.memory()
        pipelined(gateway.address, [of(i) for i in range(1, clients)] * 3)
        grown = gateway.memory() - before
        self.assertLessEqual(gateway.metrics().sum("gateway_buckets", store="local"), 1008)
        return grown, pipelined(gateway.address, [of(0)], connections=1)

    def test_15_nobody_is_forgiven_to_make_room(self):
        self.assertEqual(self.flood("rate: 1/h, burst: 2")[1], [429])
        self.assertEqual(self.flood("algorithm: sliding_log, rate: 2/h")[1], [429])

    def test_16_memory_is_bounded_under_a_flood_of_keys(self):
        for limit in ("rate: 2/h", "algorithm: sliding_log, rate: 2/h"):
            grown = self.flood(limit, clients=4_000 if SLOW else 20_000)[0]
            self.assertLess(grown, 24_000_000 * (4 if SLOW else 1), limit)
