"""What the tests of failing stores share.

How an answer was made is read from it alone. The bucket in Redis is empty from the start and
rejections are not remembered, so 429 says that the store decided; in the fault `open` says 200 without the limit's fields, `closed`
503, and `local` 200 with them, from its own full bucket.
"""
from harness.case import SystemTest
from harness.clock import running
from harness.load import Load, percentile
from harness.process import SLOW, wait_until
from harness.redis_server import RedisServer

TIMEOUT = 0.100 if SLOW else 0.025
ALLOWANCE = 0.005  # interface: timeout + 5 ms
# What a busy machine of two cores adds at worst to the 99th percentile; a quiet one adds 0.3 ms.
NOISE = 0.250 if SLOW else 0.030
RECOVERY = 1.0
POLICIES = ("open", "closed", "local")
BURST = 3000
FAULT_TIME = 3.0 if SLOW else 0.8

TEXT = """
stores: {{ r: {{ {more}url: '{url}', timeout: {timeout}ms, remember_rejections: false }} }}
limits:
  open: {{ key: [], rate: 1/d, burst: {burst}, cost: {cost}, store: r, on_store_failure: open }}
  closed: {{ key: [], rate: 1/d, burst: {burst}, cost: {cost}, store: r, on_store_failure: closed }}
  local: {{ key: [], rate: 1/d, burst: {burst}, cost: {cost}, store: r, on_store_failure: local }}
routes:
  - {{ match: {{ path: /open }}, limits: [open], upstream: up }}
  - {{ match: {{ path: /closed }}, limits: [closed], upstream: up }}
  - {{ match: {{ path: /local }}, limits: [local], upstream: up }}
upstreams: {{ up: {{ servers: [echo] }} }}
"""


def configuration(url, timeout=int(TIMEOUT * 1000), burst=BURST, cost=1, more=""):
    """`timeout` in milliseconds. `more`: keys of the store ("durable: true, ")."""
    return TEXT.format(url=url, timeout=timeout, burst=burst, cost=cost, more=more)


def store_decided(answer):
    return answer.status == 429


def follows_policy(answer):
    limited = b"\r\nX-RateLimit-Limit:" in answer.text
    return {
        "open": answer.status == 200 and not limited,
        "closed": answer.status == 503
        and b"\r\nRetry-After: 1\r\n" in answer.text
        and b"temporary-reduced-capacity" in answer.text,
        "local": answer.status == 200 and limited,
    }[answer.tag]


class NetworkFaults:
    """What a network does to a store of any kind, by `self.fault`, which stands in between."""

    def fails(self, mode, **options):
        self.run_fault(
            mode, lambda: self.fault.set(mode), lambda: self.fault.set("pass"), **options
        )

    def test_hold(self):
        self.fails("hold")

    def test_blackhole(self):
        self.fails("blackhole")

    def test_halfhole(self):
        self.fails("halfhole")

    def test_delay(self):
        self.fails(f"delay {TIMEOUT * 4000:.0f}")

    def test_refuse(self):
        self.fails("refuse")

    def test_reset(self):
        self.fails("reset")

    def test_close(self):
        self.fails("close")

    def test_cut(self):
        self.fails("cut")

    def test_drip(self):
        self.fails("drip")

    def test_garbage(self):
        self.fails("garbage", opens_breaker=False)


class FaultTest(SystemTest):
    # Under a sanitizer there is more time for everything than others could take of it.
    alone = not SLOW
    server = RedisServer

    def setUp(self):
        self.store = self.started(self.server())

    def start(self, url, **options):
        gateway = self.gateway(configuration(url, **options))
        wait_until(
            lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="the store is up"
        )
        return gateway

    def empty_buckets(self):
        """Takes all tokens at once, by a gateway that differs in cost alone."""
        gateway = self.gateway(configuration(self.store.url, timeout=1000, cost=BURST))
        wait_until(
            lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="the store is up"
        )
        self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200] * 3)

    def load(self, gateway):
        flows = [
            (p, f"GET /{p} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            for p in POLICIES
            for _ in range(4)
        ]
        return Load(gateway.address, flows, interval=0.100 if SLOW else 0.020).start()

    def settled(self, load, since, seconds, what):
        """Waits until 12 answers in a row, all begun after `since`, satisfy `what`; when the last
        answer that did not was given, or None."""

        def calm():
            recent = load.answers[-12:]
            return len(recent) == 12 and recent[0].sent > since and all(map(what, recent))

        wait_until(
            calm, seconds, f"the answers settle: {[(a.tag, a.status) for a in load.answers[-12:]]}"
        )
        other = [a.at for a in load.answers if a.sent > since and not what(a)]
        return max(other, default=None)

    def run_fault(self, name, inject, cure, opens_breaker=True, gateway=None):
        """Load; fault; cure; and everything that must be true of it. What is too slow may have been
        the machine, so it is measured again: of three times one must be in time."""
        gateway = gateway or self.gateway_under_test
        for _ in range(3):
            too_slow = self.too_slow(name, inject, cure, opens_breaker, gateway)
            if not too_slow:
                return
        self.fail(too_slow)

    def too_slow(self, name, inject, cure, opens_breaker, gateway):
        """What took too long in one fault; all else is asserted."""
        load = self.load(gateway)
        try:
            self.settled(load, running(), 10, store_decided)
            inject()  # which may take its time
            broken_at = running()
            # Two workers, each with its own link and breaker, need a few failures each.
            wait_until(lambda: running() > broken_at + FAULT_TIME, FAULT_TIME + 1)
            over_at = running()
            cure()
            cured_at = running()
            last_bad = self.settled(load, cured_at, 5, store_decided)
        finally:
            answers = list(load.finish())
        self.assertEqual(load.lost, [], "every request is answered")
        for a in answers:
            self.assertTrue(store_decided(a) or follows_policy(a), (a.tag, a.status, a.text[:300]))
        during = [a for a in answers if broken_at < a.sent < over_at]
        failed = [a for a in during if not store_decided(a)]
        p99 = percentile([a.at - a.sent for a in during], 0.99)
        late = [a for a in during if a.sent > broken_at + FAULT_TIME / 2]
        late_p90 = percentile([a.at - a.sent for a in late], 0.90)
        recovery = max(0.0, (last_bad or cured_at) - cured_at)
        print(
            f"     {name}: {len(during)} requests, {len(failed)} by policy, p99 {p99 * 1000:.1f} ms, "
            f"later p90 {late_p90 * 1000:.2f} ms, recovered after {recovery * 1000:.0f} ms"
        )
        self.assertGreater(len(failed), 20, "the fault was felt")
        bounds = {
            "an answer": (p99, TIMEOUT + ALLOWANCE + NOISE),
            "recovery": (recovery, RECOVERY * (3 if SLOW else 1) + 0.1),
        }
        if opens_breaker:
            self.assertTrue(all(not store_decided(a) for a in late))
            # Asking a silent store would take each of them TIMEOUT.
            bounds["an answer with the breaker open"] = (late_p90, TIMEOUT * 0.9)
        return {what: took for what, (took, most) in bounds.items() if took >= most}
