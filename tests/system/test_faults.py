"""A store that fails in every way we know of, under load, for each policy.

How an answer was made is read from it alone. The bucket in Redis is empty from the start, so 429
says that the store decided; in the fault `open` says 200 without the limit's fields, `closed`
503, and `local` 200 with them, from its own full bucket.
"""
import json
import threading
import time

from harness.case import SystemTest
from harness.client import get
from harness.fault_proxy import FaultProxy
from harness.load import Load, percentile
from harness.process import SLOW, wait_until
from harness.redis_server import RedisServer

TIMEOUT = 0.100 if SLOW else 0.025
ALLOWANCE = 0.005  # interface: timeout + 5 ms
NOISE = 0.250 if SLOW else 0.030  # what a busy machine of two cores adds at worst to the 99th percentile
RECOVERY = 1.0
POLICIES = ("open", "closed", "local")
BURST = 3000
FAULT_TIME = 3.0 if SLOW else 0.8

TEXT = """
stores: {{ r: {{ url: '{url}', timeout: {timeout}ms }} }}
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


def configuration(url, timeout=int(TIMEOUT * 1000), burst=BURST, cost=1):
    return TEXT.format(url=url, timeout=timeout, burst=burst, cost=cost)


def store_decided(answer):
    return answer.status == 429


def follows_policy(answer):
    limited = b"\r\nX-RateLimit-Limit:" in answer.text
    return {
        "open": answer.status == 200 and not limited,
        "closed": answer.status == 503 and b"\r\nRetry-After: 1\r\n" in answer.text and b"temporary-reduced-capacity" in answer.text,
        "local": answer.status == 200 and limited,
    }[answer.tag]


class FaultTest(SystemTest):
    def setUp(self):
        self.redis = self.started(RedisServer())

    def start(self, url, burst=BURST):
        gateway = self.gateway(configuration(url, burst=burst))
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="the store is up")
        return gateway

    def empty_buckets(self):
        """Takes all tokens at once, by a gateway that differs in cost alone."""
        gateway = self.gateway(configuration(self.redis.url, timeout=1000, cost=BURST))
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="the store is up")
        self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200] * 3)

    def load(self, gateway):
        flows = [(p, f"GET /{p} HTTP/1.1\r\nHost: h\r\n\r\n".encode()) for p in POLICIES for _ in range(4)]
        return Load(gateway.address, flows, interval=0.020).start()

    def settled(self, load, since, seconds, what):
        """Waits until 12 answers in a row, all begun after `since`, satisfy `what`; when the last
        answer that did not was given, or None."""
        def calm():
            recent = load.answers[-12:]
            return len(recent) == 12 and recent[0].sent > since and all(map(what, recent))
        wait_until(calm, seconds, f"the answers settle: {[(a.tag, a.status) for a in load.answers[-12:]]}")
        other = [a.at for a in load.answers if a.sent > since and not what(a)]
        return max(other, default=None)

    def run_fault(self, name, inject, cure, opens_breaker=True, gateway=None):
        """Load; fault; cure; and everything that must be true of it."""
        gateway = gateway or self.gateway_under_test
        load = self.load(gateway)
        try:
            self.settled(load, time.monotonic(), 10, store_decided)
            broken_at = time.monotonic()
            inject()
            # Two workers, each with its own link and breaker, need a few failures each.
            wait_until(lambda: time.monotonic() > broken_at + FAULT_TIME, FAULT_TIME + 1)
            cured_at = time.monotonic()
            cure()
            last_bad = self.settled(load, cured_at, 5, store_decided)
        finally:
            answers = list(load.finish())
        self.assertEqual(load.lost, [], "every request is answered")
        for a in answers:
            self.assertTrue(store_decided(a) or follows_policy(a), (a.tag, a.status, a.text[:300]))
        during = [a for a in answers if broken_at < a.sent < cured_at]
        failed = [a for a in during if not store_decided(a)]
        p99 = percentile([a.at - a.sent for a in during], 0.99)
        late = [a for a in during if a.sent > broken_at + FAULT_TIME / 2]
        late_p90 = percentile([a.at - a.sent for a in late], 0.90)
        recovery = max(0.0, (last_bad or cured_at) - cured_at)
        print(f"     {name}: {len(during)} requests, {len(failed)} by policy, p99 {p99 * 1000:.1f} ms, "
              f"later p90 {late_p90 * 1000:.2f} ms, recovered after {recovery * 1000:.0f} ms")
        self.assertGreater(len(failed), 20, "the fault was felt")
        self.assertLess(p99, TIMEOUT + ALLOWANCE + NOISE)
        if opens_breaker:
            self.assertTrue(all(not store_decided(a) for a in late))
            self.assertLess(late_p90, TIMEOUT / 2, "with the breaker open decisions are made at once")
        self.assertLess(recovery, RECOVERY * (3 if SLOW else 1) + 0.1)


class ThroughProxy(FaultTest):
    def setUp(self):
        super().setUp()
        self.fault = self.started(FaultProxy(self.redis.port))
        self.empty_buckets()
        self.gateway_under_test = self.start(self.fault.url)

    def fails(self, mode, **options):
        self.run_fault(mode, lambda: self.fault.set(mode), lambda: self.fault.set("pass"), **options)

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

    def test_error_loading(self):
        self.fails("error LOADING Redis is loading the dataset in memory")

    def test_error_busy(self):
        self.fails("error BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")

    def test_error_readonly(self):
        self.fails("error READONLY You can't write against a read only replica.")

    def test_error_readonly_of_a_script_in_redis_6(self):
        self.fails("error ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.")

    def test_error_masterdown(self):
        self.fails("error MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.")

    def test_error_oom(self):
        self.fails("error OOM command not allowed when used memory > 'maxmemory'.", opens_breaker=False)

    def test_error_noscript_that_a_reload_does_not_cure(self):
        self.fails("error NOSCRIPT No matching script. Please use EVAL.", opens_breaker=False)

    def test_error_wrongpass(self):
        self.fails("error WRONGPASS invalid username-password pair or user is disabled.", opens_breaker=False)

    def test_error_noauth(self):
        self.fails("error NOAUTH Authentication required.", opens_breaker=False)

    def test_error_noperm(self):
        self.fails("error NOPERM this user has no permissions to run the 'evalsha' command", opens_breaker=False)

    def test_error_wrongtype(self):
        self.fails("error WRONGTYPE Operation against a key holding the wrong kind of value", opens_breaker=False)

    def test_error_unknown(self):
        self.fails("error ERR something nobody ever heard of", opens_breaker=False)

    def test_replies_that_come_twice_never_answer_another_request(self):
        gateway = self.gateway_under_test
        self.fault.set("dup")
        load = self.load(gateway)
        wait_until(lambda: len(load.answers) > 200)
        answers = load.finish()
        self.assertEqual(load.lost, [])
        for a in answers:
            self.assertTrue(store_decided(a) or follows_policy(a), (a.tag, a.status, a.text[:300]))

    def test_late_replies_never_answer_another_request(self):
        """The bucket of each client is told apart by its Limit: a late answer would show another's."""
        text = (f"workers: 1\nstores: {{ r: {{ url: '{self.fault.url}', timeout: {TIMEOUT * 1000:.0f}ms }} }}\n"
                "limits:\n  big: { key: [], rate: 1/s, burst: 1000000, store: r, on_store_failure: closed }\n"
                "  none: { key: path, rate: 1/d, burst: 1, store: r, on_store_failure: closed }\n"
                "routes:\n - { match: { path: /big }, limits: [big], upstream: up }\n - { match: { path: /none }, limits: [none], upstream: up }\n"
                "upstreams: { up: { servers: [echo] } }\n")
        gateway = self.gateway(text)
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"))
        self.assertEqual([gateway.get("/none").status for _ in range(2)], [200, 429])
        for _ in range(3):
            self.fault.set("hold")
            held = [gateway.connect() for _ in range(4)]
            for c in held:
                c.request("/big")
            for c in held:
                self.assertEqual(c.response().status, 503)
            self.fault.set("pass")
            for _ in range(20):
                r = gateway.get("/none")
                self.assertIn(r.status, (429, 503), "an answer meant for another request")
            wait_until(lambda: gateway.get("/none").status == 429, 3)

    def test_the_metrics_and_readiness_tell(self):
        gateway = self.gateway_under_test
        ready = lambda: self.readiness(gateway)[0]
        self.assertEqual(ready(), 200)
        self.fault.set("refuse")
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r") == 0)
        self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200, 503, 200])
        status, body = self.readiness(gateway)
        self.assertEqual((status, body["ready"]), (503, False))
        self.assertIn("closed", str(body["reasons"]))
        m = gateway.metrics()
        for limit, outcome in (("open", "failed_open"), ("closed", "failed_closed"), ("local", "failed_local")):
            self.assertGreaterEqual(m.count("gateway_decisions_total", limit=limit, outcome=outcome), 1)
        self.assertGreaterEqual(m.count("gateway_store_failures_total", store="r"), 3)
        self.fault.set("pass")
        wait_until(lambda: ready() == 200, RECOVERY + 1)

    def readiness(self, gateway):
        r = get(gateway.admin, "/readyz")
        return r.status, json.loads(r.body)

    def test_a_gateway_starts_while_its_store_is_away(self):
        self.fault.set("refuse")
        gateway = self.gateway(configuration(self.fault.url, burst=10))
        self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200, 503, 200])
        self.fault.set("pass")
        wait_until(lambda: gateway.get("/closed").status in (200, 429), RECOVERY + 1)

    def test_faults_leak_neither_connections_nor_memory(self):
        gateway = self.gateway_under_test
        def settle():
            wait_until(lambda: all(store_decided_status(gateway, p) for p in POLICIES), 3)
            return gateway.descriptors(), gateway.memory()
        before = None  # after the first two, when the idle upstream connections are there
        for turn, mode in enumerate(("reset", "blackhole", "garbage", "cut", "refuse") * 2):
            if turn == 2:
                before = settle()
            load = self.load(gateway)
            self.fault.set(mode)
            wait_until(lambda: len(load.answers) > 150)
            self.fault.set("pass")
            load.finish()
            settle()
        descriptors, memory = settle()
        self.assertLessEqual(descriptors, before[0] + 30)
        self.assertLess(memory - before[1], 16_000_000 * (4 if SLOW else 1))


def store_decided_status(gateway, policy):
    return gateway.get("/" + policy).status == 429


class RealServer(FaultTest):
    def setUp(self):
        super().setUp()
        self.empty_buckets()
        self.gateway_under_test = self.start(self.redis.url)

    def configure(self, *words):
        return lambda: self.redis.command("CONFIG", "SET", *words)

    def test_frozen(self):
        self.run_fault("SIGSTOP", self.redis.freeze, self.redis.thaw)

    def test_out_of_memory(self):
        """A rejection writes nothing and is possible all the same: this needs buckets with tokens."""
        gateway = self.gateway_under_test
        self.redis.command("FLUSHALL")
        self.redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        self.redis.command("CONFIG", "SET", "maxmemory", "1")
        for _ in range(20):
            self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200, 503, 200])
        self.assertIsNone(gateway.get("/open")["x-ratelimit-limit"])
        self.redis.command("CONFIG", "SET", "maxmemory", "0")
        def recovered():  # on all workers
            answers = [gateway.get("/open") for _ in range(16)]
            return all(r["x-ratelimit-limit"] == str(BURST) for r in answers)
        wait_until(recovered, RECOVERY)

    def test_becomes_a_replica(self):
        self.redis.command("CONFIG", "SET", "replica-serve-stale-data", "no")
        self.run_fault("REPLICAOF", lambda: self.redis.command("REPLICAOF", "127.0.0.1", "1"),
                       lambda: self.redis.command("REPLICAOF", "NO", "ONE"))

    def test_busy_with_a_script(self):
        self.redis.command("CONFIG", "SET", "busy-reply-threshold", "10")

        def occupy():
            threading.Thread(target=self.swallow, args=("EVAL", "while true do end", "0"), daemon=True).start()
        self.run_fault("BUSY", occupy, lambda: self.redis.command("SCRIPT", "KILL"))

    def swallow(self, *words):
        try:
            self.redis.command(*words)
        except Exception:  # noqa: BLE001: killed, as it should be
            pass

    def test_killed_and_started_again(self):
        """Its memory is lost: buckets are full again, which is documented."""
        gateway = self.gateway_under_test
        load = self.load(gateway)
        self.redis.kill()
        broken_at = time.monotonic()
        self.settled(load, broken_at, 5, follows_policy)
        self.redis.start()
        cured_at = time.monotonic()
        outcomes = lambda: sum(gateway.metrics().count("gateway_decisions_total", outcome=o) for o in ("failed_open", "failed_closed", "failed_local"))
        def recovered():
            before = outcomes()
            count = len(load.answers)
            wait_until(lambda: len(load.answers) > count + 50)
            return outcomes() == before
        wait_until(recovered, 3, "the store decides again")
        load.finish()
        self.assertEqual(load.lost, [])
        refused = [a for a in load.answers if a.tag == "closed" and a.status == 503]
        self.assertLess(max(a.at for a in refused) - cured_at, RECOVERY + 0.1)

    def test_a_flushed_script_is_loaded_again_without_a_failure(self):
        gateway = self.gateway_under_test
        load = self.load(gateway)
        for _ in range(5):
            count = len(load.answers)
            self.redis.command("SCRIPT", "FLUSH")
            wait_until(lambda: len(load.answers) > count + 40)
        answers = load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {429})

    def test_a_password_that_changes(self):
        gateway = self.gateway_under_test
        self.redis.command("CONFIG", "SET", "requirepass", "other")
        self.redis.password = "other"
        self.redis.command("CLIENT", "KILL", "TYPE", "normal")
        wait_until(lambda: gateway.get("/closed").status == 503, 5)
        wait_until(lambda: any("auth" in line and "error" in line for line in gateway.diagnostics))
        self.redis.command("CONFIG", "SET", "requirepass", "")
        self.redis.password = None
        wait_until(lambda: gateway.get("/closed").status == 429, 35, "recovers from a wrong password by itself")

    def test_a_key_of_another_type_hurts_only_its_client(self):
        gateway = self.gateway_under_test
        for key in self.redis.keys():
            self.redis.command("DEL", key)
        self.assertEqual(gateway.get("/closed").status, 200)
        (key,) = self.redis.keys()
        self.redis.command("DEL", key)
        self.redis.command("LPUSH", key, "nonsense")
        for _ in range(30):
            self.assertEqual(gateway.get("/closed").status, 503)
        self.assertEqual(gateway.get("/local")["x-ratelimit-limit"], str(BURST))
        self.assertIsNotNone(gateway.get("/open")["x-ratelimit-limit"], "the store still decides for others")
