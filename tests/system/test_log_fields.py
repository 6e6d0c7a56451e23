"""What the access log says of limits, and the fields that its operator has chosen."""
import json
import time

from harness.case import SystemTest, forwarding_to
from harness.gateway import run_command, whole_configuration
from harness.tokens import Issuer


class Decisions(SystemTest):
    def test_lines_tell_when_limits_decided_and_what_it_cost(self):
        gateway = self.gateway(
            "limits:\n  by_size: { key: [], rate: 100/h, cost: 5 }\n"
            "  by_count: { key: [], rate: 1/h, burst: 2 }\n"
            "routes:\n  - { match: { path: /free }, upstream: up }\n"
            "  - { match: { path: /same }, limits: [by_size], upstream: up }\n"
            "  - { limits: [by_size, by_count], upstream: up }\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        began = time.time_ns()
        with gateway.connect() as c:
            statuses = [c.ask(path).status for path in ("/free", "/same", "/", "/", "/")]
        ended = time.time_ns()
        self.assertEqual(statuses, [200, 200, 200, 200, 429])
        free, same, *both, rejected = gateway.log_lines(5)
        for name in ("decided", "cost", "costs"):
            self.assertNotIn(name, free)
        self.assertEqual((same["cost"], same.get("costs")), (5, None))
        for line in both:
            self.assertEqual((line["cost"], line["costs"]), (5, {"by_size": 5, "by_count": 1}))
        self.assertEqual((rejected["limit"], rejected["cost"]), ("by_count", 1))
        moments = [line["decided"] for line in (same, *both, rejected)]
        self.assertEqual(moments, sorted(moments))
        for moment in moments:
            self.assertLess(began - 10**9, moment)
            self.assertLess(moment, ended + 10**9)

    def test_times_between_lines_are_those_of_the_store(self):
        """Whoever comes back exactly when the log says that there is a token again gets it."""
        gateway = self.gateway(
            "workers: 1\nlimits: { l: { key: [], rate: 1/100ms, burst: 1 } }\n"
            + forwarding_to("echo", "l")
        )
        for _ in range(40):
            gateway.get()
        full_at = 0
        for line in gateway.log_lines(40):
            allowed = line["decided"] >= full_at
            self.assertEqual(line["outcome"], "allowed" if allowed else "rejected")
            full_at = line["decided"] + 100_000_000 if allowed else full_at

    def test_a_settled_cost_is_what_it_cost_in_the_end(self):
        def answers(peer, request):
            return peer.reply(fields=[("X-Cost", "7")])

        origin = self.origin(answers)
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 100/h, settle: { header: X-Cost, max: 50 } } }\n"
            + forwarding_to(origin.address, "l")
        )
        self.assertEqual(gateway.get().status, 200)
        (line,) = gateway.log_lines(1)
        self.assertEqual(line["cost"], 7)

    def test_what_was_given_back_has_cost_nothing(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 100/h, cost: 3, charge_on: { status: [200] } } }\n"
            + forwarding_to("127.0.0.1:1", "l")
        )
        self.assertEqual(gateway.get().status, 502)
        (line,) = gateway.log_lines(1)
        self.assertEqual((line["outcome"], line["cost"]), ("allowed", 0))


class Fields(SystemTest):
    def test_values_stand_in_the_log_as_they_came(self):
        fields = "log: { fields: { agent: 'header:User-Agent', net: client_ip/8, lang: 'cookie:lang', n: 'query:n' } }\n"
        gateway = self.gateway(fields + forwarding_to("echo"))
        nasty = "<script>\"\\é" + "x" * 300
        gateway.get("/?n=1&n=2", [("User-Agent", nasty.encode().decode("latin-1")), ("Cookie", "lang=de")])
        gateway.log_lines(1)  # Another worker may write the next one.
        gateway.get("/?n=5")
        first, second = gateway.log_lines(2)
        self.assertEqual(first["fields"]["net"], "127.0.0.0")
        self.assertEqual(first["fields"]["lang"], "de")
        self.assertTrue(first["fields"]["agent"].startswith('<script>"\\é'))
        self.assertEqual(len(first["fields"]["agent"].encode()), 256)
        self.assertNotIn("n", first["fields"])
        self.assertEqual(second["fields"]["n"], "5")
        self.assertNotIn("lang", second["fields"])

    def test_in_the_text_format_they_have_their_names(self):
        gateway = self.gateway(
            "workers: 1\nlimits: { l: { key: [], rate: 9/h, cost: 2 }, m: { key: [], rate: 9/h } }\n"
            "log: { format: text, fields: { agent: 'header:User-Agent' } }\n"
            + forwarding_to("echo", "l, m")
        )
        gateway.get("/", [("User-Agent", "cu\"rl")])
        gateway.signal(15)
        gateway.wait()
        with open(gateway.log_path, encoding="utf-8") as f:
            self.assertRegex(f.read(), r' decided=\d{19} cost=2 costs="l=2,m=1" .* agent="cu\\"rl"\n$')

    def test_a_reload_changes_them(self):
        gateway = self.gateway("log: { fields: { a: method } }\n" + forwarding_to("echo"))
        gateway.get()
        gateway.log_lines(1)  # Another worker may write the next one.
        gateway.reload("log: { fields: { b: method } }\n" + forwarding_to("echo"))
        gateway.get()
        first, second = gateway.log_lines(2)
        self.assertEqual((first["fields"], second["fields"]), ({"a": "GET"}, {"b": "GET"}))

    def test_credentials_are_refused(self):
        files = self.directory()
        for part in ("header:Authorization", "header:X-Api-Key", "cookie:session", "query:token"):
            path = files.file(
                "g.yaml",
                whole_configuration(f"log: {{ fields: {{ f: '{part}' }} }}\n" + forwarding_to("echo")),
            )
            status, _, stderr = run_command("check", "--config", path)
            self.assertEqual(status, 2)
            self.assertRegex(stderr, r"g\.yaml:\d+:\d+: log\.fields\.f: .*carries a credential")


class Claims(SystemTest):
    def setUp(self):
        super().setUp()
        self.issuer = self.started(Issuer())
        key = self.issuer.make_key("HS256")
        self.keys = self.directory().file("jwks.json", json.dumps({"keys": [key]}))

    def gateway_with(self, limits=""):
        return self.gateway(
            f"workers: 1\njwt: {{ keys: {self.keys} }}\nlog: {{ fields: {{ tenant: 'jwt:sub' }} }}\n"
            "limits: { few: { key: [], rate: 1/h, burst: 2 } }\n" + forwarding_to("echo", limits)
        )

    def ask(self, gateway, token):
        return gateway.get(headers=[("Authorization", "Bearer " + token)] if token else []).status

    def test_of_verified_tokens_only(self):
        good = self.issuer.token("HS256", sub="acme")
        gateway = self.gateway_with()
        for token in (good, good[:-4] + "AAAA", None, self.issuer.token("HS256", sub="late", exp=1)):
            self.assertEqual(self.ask(gateway, token), 200)
        first, *others = gateway.log_lines(4)
        self.assertEqual(first["fields"], {"tenant": "acme"})
        for line in others:
            self.assertNotIn("fields", line)

    def test_of_a_rejected_request_if_the_token_is_known_already(self):
        known, unknown = (self.issuer.token("HS256", sub=s) for s in ("known", "unknown"))
        gateway = self.gateway_with("few")
        statuses = [self.ask(gateway, t) for t in (known, known, known, unknown)]
        self.assertEqual(statuses, [200, 200, 429, 429])
        lines = gateway.log_lines(4)
        self.assertEqual([li.get("fields", {}).get("tenant") for li in lines], ["known"] * 3 + [None])
