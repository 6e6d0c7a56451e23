"""Limits whose tokens come window by window: by length, by the wall clock, kept for later."""
import datetime
import time
import zoneinfo

from harness.case import SystemTest, forwarding_to
from harness.gateway import clock_shifted_by
from harness.process import wait_until
from harness.redis_server import RedisServer

LENGTH = 2  # seconds
EARLY = 0.5  # of a window: time enough for what is to happen in it


def into_the_window(length=LENGTH):
    return time.time() % length


def wait_for_the_next_window(length=LENGTH):
    last = time.time() // length
    wait_until(lambda: time.time() // length > last, length + 5)


def limited(more, rate=f"5/{LENGTH}s"):
    return (
        f"limits: {{ l: {{ key: client_ip, algorithm: fixed_window, rate: {rate}, {more} }} }}\n"
        + forwarding_to("echo", "l")
    )


def hours_until(zone, hour):
    """Seconds until it is that hour there."""
    now = datetime.datetime.now(zoneinfo.ZoneInfo(zone))
    then = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    return (then - now).total_seconds() % 86400


class Windows(SystemTest):
    def ready(self, gateways):
        for g in gateways:
            wait_until(
                lambda g=g: g.metrics().sum("gateway_store_up", store="r"), what="the store is up"
            )

    def ask_at_once(self, gateway, count):
        """The answers of so many requests within one window, which is not its last part."""
        while True:
            wait_for_the_next_window()
            began = time.time() // LENGTH
            with gateway.connect() as c:
                answers = [c.ask("/") for _ in range(count)]
            if time.time() // LENGTH == began:
                return answers

    def judge_one_window(self, gateway):
        answers = self.ask_at_once(gateway, 8)
        self.assertEqual([a.status for a in answers], [200] * 5 + [429] * 3)
        self.assertEqual(
            [a["X-RateLimit-Remaining"] for a in answers],
            ["4", "3", "2", "1", "0", "0", "0", "0"],
        )
        for a in answers:
            self.assertEqual(a["X-RateLimit-Limit"], "5")
            self.assertIn(int(a["X-RateLimit-Reset"]), range(1, LENGTH + 1))
        for a in answers[5:]:
            self.assertIn(int(a["Retry-After"]), range(1, LENGTH + 1))
        self.judge_when_it_passes_again(gateway)

    def judge_when_it_passes_again(self, gateway):
        with gateway.connect() as c:
            refused = time.time()
            while c.ask("/").status == 429:
                refused = time.time()
            passed = time.time()
        self.assertGreater(passed // LENGTH, (refused - 1) // LENGTH)
        boundary = passed // LENGTH * LENGTH
        self.assertLess(refused - boundary, 0.05, "what is refused is refused before it begins")

    def test_a_window_gives_its_tokens_at_once(self):
        self.judge_one_window(self.gateway(limited("start: aligned")))

    def test_a_window_in_redis_gives_its_tokens_at_once(self):
        redis = self.started(RedisServer())
        text = f"stores: {{ r: {{ url: '{redis.url}', timeout: 5s }} }}\n"
        gateway = self.gateway(text + limited("start: aligned, store: r, on_store_failure: closed"))
        self.ready([gateway])
        self.judge_one_window(gateway)

    def test_three_gateways_share_windows_although_their_clocks_disagree(self):
        redis = self.started(RedisServer())
        text = f"stores: {{ r: {{ url: '{redis.url}', timeout: 5s }} }}\n" + limited(
            "start: aligned, store: r, on_store_failure: closed"
        )
        gateways = [
            self.gateway(text, environment=clock_shifted_by(offset))
            for offset in ("-7h", "+0", "+30h")
        ]
        self.ready(gateways)
        wait_for_the_next_window()
        first = time.time() // LENGTH
        connections = [g.connect() for g in gateways]
        allowed = 0
        while time.time() // LENGTH < first + 3:
            allowed += sum(c.ask("/").status == 200 for c in connections)
        windows = time.time() // LENGTH - first + 1
        self.assertLessEqual(allowed, 5 * windows)
        self.assertGreaterEqual(allowed, 5 * 3)
        for c in connections:
            c.close()

    def test_unused_tokens_are_kept_up_to_the_capacity(self):
        gateway = self.gateway(limited("start: aligned, capacity: 12"))
        answers = self.ask_at_once(gateway, 13)
        self.assertEqual([a.status for a in answers], [200] * 12 + [429])
        answers = self.ask_at_once(gateway, 6)
        self.assertEqual([a.status for a in answers], [200] * 5 + [429])
        wait_for_the_next_window()
        answers = self.ask_at_once(gateway, 11)
        self.assertEqual([a.status for a in answers], [200] * 10 + [429])

    def test_windows_of_clients_begin_at_moments_of_their_own(self):
        gateway = self.gateway(
            "client: { trusted_proxies: [127.0.0.1] }\n" + limited("", rate="1/1h")
        )
        resets = set()
        with gateway.connect() as c:
            for i in range(100):
                a = c.ask("/", [("X-Forwarded-For", f"10.0.0.{i}")])
                resets.add((int(a["X-RateLimit-Reset"]) - 1) // 600)
        self.assertEqual(resets, set(range(6)), "spread over the hour")

    def test_a_day_begins_by_the_wall_clock_of_its_zone(self):
        for zone, hour in (("Europe/Berlin", 8), ("Asia/Kolkata", 23)):
            with self.subTest(zone=zone):
                self.judge_a_day(zone, hour)

    def judge_a_day(self, zone, hour, lead=3):
        began = time.monotonic()
        ahead = hours_until(zone, hour) - lead
        gateway = self.gateway(
            limited(f'start: "{hour:02}:00", time_zone: {zone}', rate="3/d"),
            environment=clock_shifted_by(f"{ahead:+.3f}s"),
        )
        with gateway.connect() as c:
            answers = [c.ask("/") for _ in range(4)]
            if time.monotonic() - began >= lead:  # the day began meanwhile
                gateway.stop()
                self.judge_a_day(zone, hour, 2 * lead)
                return
            self.assertEqual([a.status for a in answers], [200] * 3 + [429])
            self.assertLessEqual(int(answers[3]["Retry-After"]), lead)
            wait_until(lambda: c.ask("/").status == 200, 2 * lead)
            self.assertGreater(int(c.ask("/")["X-RateLimit-Reset"]), 82_000)
