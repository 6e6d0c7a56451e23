"""Limits whose numbers come with the token of the request."""
import json

from harness.case import SystemTest
from harness.client import get
from harness.gateway import run_command, whole_configuration
from harness.redis_server import RedisServer
from harness.tokens import Issuer

RATE = "{ claim: rpd, per: 1d, default: 3, max: 20 }"


class ClaimsTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.issuer = self.started(Issuer())
        self.files = self.directory()
        public = self.issuer.make_key("ES256")
        self.keys = self.files.file("jwks.json", json.dumps({"keys": [public]}))
        self.origin_ = self.origin()

    def text_for(self, limit=f"rate: {RATE}", before="", more=""):
        return (
            f"{before}jwt: {{ keys: {self.keys} }}\n"
            f"limits: {{ l: {{ key: 'jwt:sub', missing_key: client_ip, {limit} }} }}\n"
            f"routes: [ {{ limits: [l], upstream: up }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n{more}"
        )

    def token(self, sub="alice", **claims):
        return self.issuer.token("ES256", sub=sub, **claims)

    def ask(self, gateway, token):
        return gateway.get(headers=[("Authorization", "Bearer " + token)] if token else [])

    def allowed(self, gateway, token, most=30):
        """How many requests pass until one is rejected."""
        for number in range(most):
            if self.ask(gateway, token).status == 429:
                return number
        return most

    def left(self, gateway, token):
        r = self.ask(gateway, token)
        return r.status, r["X-RateLimit-Limit"], r["X-RateLimit-Remaining"]

    def stores(self):
        yield "", ""
        redis = self.started(RedisServer())
        yield f"stores: {{ shared: {{ url: '{redis.url}', timeout: 10s }} }}\n", ", store: shared"


class Rates(ClaimsTest):
    def test_come_with_the_token(self):
        for before, store in self.stores():
            with self.subTest(store):
                gateway = self.gateway(self.text_for(f"rate: {RATE}{store}", before))
                self.assertEqual(self.left(gateway, self.token("five", rpd=5)), (200, "5", "4"))
                self.assertEqual(self.allowed(gateway, self.token("five", rpd=5)), 4)
                self.assertEqual(self.allowed(gateway, self.token("text", rpd="7")), 7, "as text")
                self.assertEqual(self.allowed(gateway, self.token("much", rpd=21)), 20)
                self.assertEqual(self.allowed(gateway, self.token("huge", rpd=10**18)), 20)
                self.assertEqual(self.allowed(gateway, self.token("far", rpd="9" * 100)), 20)
                for number, bad in enumerate((0, -1, 1.5, "x", "", "1e1", "+5", True, [5], {"a": 5}, None)):
                    with self.subTest(bad):
                        self.assertEqual(self.allowed(gateway, self.token(f"bad {number}", rpd=bad)), 3)
                self.assertEqual(self.allowed(gateway, self.token("none")), 3)
                self.assertEqual(self.allowed(gateway, None), 3, "without a token")

    def test_change_with_the_next_request_and_forgive_nothing(self):
        for before, store in self.stores():
            with self.subTest(store):
                gateway = self.gateway(self.text_for(f"rate: {RATE}{store}", before))
                self.assertEqual(self.allowed(gateway, self.token(rpd=10)), 10)
                self.assertEqual(self.allowed(gateway, self.token(rpd=16)), 6, "10 of 16 are used")
                self.assertEqual(self.allowed(gateway, self.token(rpd=20)), 4)
                self.assertEqual(self.allowed(gateway, self.token(rpd=4)), 0, "16 more than it may")
                self.assertEqual(self.allowed(gateway, self.token(rpd=20)), 0)
                self.assertEqual(self.allowed(gateway, self.token("bob", rpd=20), most=5), 5)
                self.assertEqual(self.allowed(gateway, self.token("bob", rpd=4)), 0)
                self.assertEqual(self.allowed(gateway, self.token("bob", rpd=20)), 15)

    def test_have_a_burst_of_their_own(self):
        fixed = self.gateway(self.text_for(f"rate: {RATE}, burst: 2"))
        self.assertEqual(self.left(fixed, self.token(rpd=20)), (200, "2", "1"))
        claim = "{ claim: limits.burst, default: 4, max: 6 }"
        both = self.gateway(self.text_for(f"rate: {RATE}, burst: {claim}"))
        self.assertEqual(self.allowed(both, self.token("a", rpd=9, limits={"burst": 5})), 5)
        self.assertEqual(self.allowed(both, self.token("b", limits={"burst": 50})), 6)
        self.assertEqual(self.allowed(both, self.token("c", rpd=9)), 4)
        only = self.gateway(self.text_for(f"rate: 10/d, burst: {claim}"))
        self.assertEqual(self.allowed(only, self.token("a", limits={"burst": 1})), 1)
        self.assertEqual(self.allowed(only, self.token("b")), 4)

    def test_go_with_plans(self):
        plans = "plans: { p: { key: 'jwt:sub', members: { staff: [root], out: [mallory] } } }\n"
        rules = ", plan: p, plans: { staff: unlimited, out: blocked }"
        gateway = self.gateway(self.text_for(f"rate: {RATE}{rules}", plans))
        self.assertEqual(self.allowed(gateway, self.token("root", rpd=1)), 30)
        self.assertEqual(self.ask(gateway, self.token("mallory", rpd=9)).status, 403)
        self.assertEqual(self.allowed(gateway, self.token("alice", rpd=9)), 9)

    def test_refill_as_fast_as_the_token_says(self):
        gateway = self.gateway(self.text_for("rate: { claim: rpm, per: 1m, default: 1, max: 60000 }, burst: 1"))
        fast = self.ask(gateway, self.token("fast", rpm=60000))
        self.assertEqual((fast.status, fast["X-RateLimit-Reset"]), (200, "1"))
        self.ask(gateway, self.token("slow", rpm=2))
        slow = self.ask(gateway, self.token("slow", rpm=2))
        self.assertEqual((slow.status, slow["Retry-After"]), (429, "30"))


class Described(ClaimsTest):
    def test_by_explain_and_print(self):
        text = self.text_for(f"rate: {RATE}, burst: {{ claim: b, default: 4, max: 6 }}")
        path = self.files.file("gateway.yaml", whole_configuration(text))
        status, printed, _ = run_command("print", "--config", path)
        self.assertEqual(status, 0)
        self.assertIn("rate: { claim: rpd, per: 1d, default: 3, max: 20 }", printed)
        self.assertIn("burst: { claim: b, default: 4, max: 6 }", printed)
        again = self.files.file("again.yaml", printed)
        self.assertEqual(run_command("print", "--config", again)[1], printed)
        token = "Authorization: Bearer " + self.token(rpd=9, b=5)
        status, explained, err = run_command("explain", "--config", path, "GET", "/", "-H", token)
        self.assertEqual(status, 0, err)
        self.assertIn("9/d", explained)
        self.assertIn("capacity 5", explained)

    def test_by_problems(self):
        for limit, problem in (
            ("rate: { claim: r, per: 1m, default: 9 }", "limits.l.rate.max: missing"),
            ("rate: { claim: r, default: 9, max: 9 }", "limits.l.rate.per: missing"),
            ("rate: { per: 1m, default: 9, max: 9 }", "limits.l.rate.claim: missing"),
            ("rate: { claim: r, per: 1m, default: 9, max: 8 }", 'limits.l.rate.default: more than "max"'),
            ("rate: { claim: r, per: 1m, default: 0, max: 8 }", "limits.l.rate.default"),
            ("rate: { claim: r, per: 1m, default: 1, max: 8, deflt: 1 }", "limits.l.rate.deflt: unknown key"),
            (f"algorithm: fixed_window, rate: {RATE}", 'only "algorithm: token_bucket"'),
            (f"algorithm: sliding_log, rate: {RATE}", 'only "algorithm: token_bucket"'),
            (f"rate: {RATE}, shards: 2", "limits.l.shards: not with a claim"),
            ("rate: 1/s, burst: { claim: b, default: 1, max: 1000000000000 }", "limits.l.burst: a refill"),
            ("rate: { claim: r, per: 1ms, default: 1, max: 1000000000 }", "limits.l.rate: too fast"),
        ):
            with self.subTest(limit):
                path = self.files.file("bad.yaml", whole_configuration(self.text_for(limit)))
                status, _, err = run_command("check", "--config", path)
                self.assertEqual(status, 2)
                self.assertIn(problem, err)
        text = self.text_for().replace(f"jwt: {{ keys: {self.keys} }}\n", "").replace("'jwt:sub'", "client_ip")
        path = self.files.file("bad.yaml", whole_configuration(text))
        self.assertIn('there is no "jwt"', run_command("check", "--config", path)[2])

    def test_by_the_admin_api(self):
        gateway = self.gateway(self.text_for())
        limit = json.loads(get(gateway.admin, "/v1/limits").body)["limits"][0]
        self.assertEqual((limit["rate"], limit["capacity"]), ("3/d", 3))
