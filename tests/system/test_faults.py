"""Every fault that a proxy in front of one Redis can cause, under load, for each policy."""
import json

from harness.client import get
from harness.fault_proxy import FaultProxy
from harness.fault_case import (
    FaultTest,
    NetworkFaults,
    POLICIES,
    RECOVERY,
    TIMEOUT,
    configuration,
    follows_policy,
    store_decided,
)
from harness.process import SLOW, wait_until


class ThroughProxy(NetworkFaults, FaultTest):
    def setUp(self):
        super().setUp()
        self.fault = self.started(FaultProxy(self.store.port))
        self.empty_buckets()
        self.gateway_under_test = self.start(self.fault.url)

    def test_error_loading(self):
        self.fails("error LOADING Redis is loading the dataset in memory")

    def test_error_busy(self):
        self.fails(
            "error BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
        )

    def test_error_readonly(self):
        self.fails("error READONLY You can't write against a read only replica.")

    def test_error_readonly_of_a_script_in_redis_6(self):
        self.fails(
            "error ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica."
        )

    def test_error_masterdown(self):
        self.fails(
            "error MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
        )

    def test_error_oom(self):
        self.fails(
            "error OOM command not allowed when used memory > 'maxmemory'.", opens_breaker=False
        )

    def test_error_noscript_that_a_reload_does_not_cure(self):
        self.fails("error NOSCRIPT No matching script. Please use EVAL.", opens_breaker=False)

    def test_error_wrongpass(self):
        self.fails(
            "error WRONGPASS invalid username-password pair or user is disabled.",
            opens_breaker=False,
        )

    def test_error_noauth(self):
        self.fails("error NOAUTH Authentication required.", opens_breaker=False)

    def test_error_noperm(self):
        self.fails(
            "error NOPERM this user has no permissions to run the 'evalsha' command",
            opens_breaker=False,
        )

    def test_error_wrongtype(self):
        self.fails(
            "error WRONGTYPE Operation against a key holding the wrong kind of value",
            opens_breaker=False,
        )

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
        text = (
            "workers: 1\n"
            f"stores: {{ r: {{ url: '{self.fault.url}', timeout: {TIMEOUT * 1000:.0f}ms }} }}\n"
            "limits:\n"
            "  big: { key: [], rate: 1/s, burst: 1000000, store: r, on_store_failure: closed }\n"
            "  none: { key: path, rate: 1/d, burst: 1, store: r, on_store_failure: closed }\n"
            "routes:\n - { match: { path: /big }, limits: [big], upstream: up }\n"
            " - { match: { path: /none }, limits: [none], upstream: up }\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
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
        well = {"ready": True, "reasons": [], "stores_down": [], "servers_down": []}
        wait_until(lambda: self.readiness(gateway) == (200, well))
        self.fault.set("refuse")
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r") == 0)
        self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200, 503, 200])
        self.assertEqual(
            self.readiness(gateway),
            (200, well | {"stores_down": ["r"]}),
            "every gateway shares the store: its loss takes none of them out of service",
        )
        m = gateway.metrics()
        for limit, outcome in (
            ("open", "failed_open"),
            ("closed", "failed_closed"),
            ("local", "failed_local"),
        ):
            self.assertGreaterEqual(
                m.count("gateway_decisions_total", limit=limit, outcome=outcome), 1
            )
        self.assertGreaterEqual(m.count("gateway_store_failures_total", store="r"), 3)
        self.fault.set("pass")
        wait_until(lambda: self.readiness(gateway) == (200, well), RECOVERY + 1)

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
