"""gateway replay: what the gateway's own log tells of a request decides as it did live, and what it
does not tell leaves a limit unjudged."""
import json
import time

from harness.envoy import Envoy, descriptor
from harness.gateway import run_command
from harness.process import wait_until
from harness.tokens import Issuer
from test_replay import ReplayTest, combined

LISTENER = "listeners: [ { address: 127.0.0.1:0 } ]\n"
# One route, with these limits.
POLICY = """
limits: { %s }
routes: [ { limits: [%s], upstream: up } ]
upstreams: { up: { servers: [echo] } }
"""


def policy(*limits, more=""):
    """`more` is further sections. A limit is "name: { … }"."""
    names = ", ".join(limit.split(":")[0] for limit in limits)
    return more + POLICY % (", ".join(limits), names)


def json_request(**members):
    """The words of a request with this content, for Client.ask()."""
    return {
        "headers": [("Content-Type", "application/json")],
        "method": "POST",
        "body": json.dumps(members).encode(),
    }


class OwnLogTest(ReplayTest):
    def recorded(self, text, requests):
        """Sends the requests: (their statuses, the path of the log). Each is the words of ask()."""
        gateway = self.gateway(text)
        with gateway.connect() as c:
            statuses = [c.ask(**{"target": "/", **words}).status for words in requests]
        self.wait_for_lines(gateway, len(requests))
        return statuses, gateway.log_path

    def wait_for_lines(self, gateway, count):
        def lines():
            with open(gateway.log_path, encoding="utf-8") as f:
                return f.read().count("\n")

        wait_until(lambda: lines() >= count, 10, f"{count} lines of access log")
        self.assertEqual(lines(), count)

    def assert_same_verdicts(self, text, requests, refused=(429,)):
        """A replay of what was recorded gives the verdicts that were live. Returns it."""
        statuses, log = self.recorded(text, requests)
        self.assertIn(429, statuses)
        done = self.replayed(text if "listeners:" in text else LISTENER + text, log)
        self.assertEqual((done["bad_lines"], done["unjudged"]), (0, 0), done)
        logged = done["logged"]
        self.assertEqual((logged["newly_rejected"], logged["newly_allowed"]), (0, 0), statuses)
        self.assertEqual(done["rejected"], sum(s in refused for s in statuses), statuses)
        return done


class Costs(OwnLogTest):
    def test_of_content(self):
        member = "cost: { json: max_tokens, default: 1, max: 1000 }"
        costs = {
            member: 100,
            "cost: { sum: [ { json: n, default: 3, max: 50 }, { request_bytes: 4, default: 0 } ] }": 40,
            "cost: { request_bytes: 4, default: 0 }": 20,
        }
        requests = [json_request(max_tokens=30)] * 6
        for cost, burst in costs.items():
            limit = f"l: {{ key: client_ip, rate: 1/h, burst: {burst}, {cost} }}"
            with self.subTest(cost):
                self.assert_same_verdicts(policy(limit), requests)
                beside = "m: { key: client_ip, rate: 1000/h }"
                self.assert_same_verdicts(policy(beside, limit), requests)

    def test_settled_by_content(self):
        def counts_its_tokens(peer, request):
            peer.read_body(request)
            content = json.dumps({"usage": {"total": 30 + len(request.target)}}).encode()
            peer.reply(fields=[("Content-Type", "application/json")], body=content)

        origin = self.origin(counts_its_tokens)
        requests = [{"target": "/" + "x" * i} for i in range(8)]
        for settle in ("{ json: usage.total, max: 100 }", "{ response_bytes: 1 }"):
            a = f"a: {{ key: client_ip, rate: 1/h, burst: 120, settle: {settle} }}"
            b = f"b: {{ key: client_ip, rate: 1/h, burst: 140, cost: 7, settle: {settle} }}"
            text = policy(a, b).replace("echo", f"'{origin.address}'")
            with self.subTest(settle):
                self.assert_same_verdicts(text, requests)

    def test_that_are_equal_by_chance(self):
        """The second limit costs as much as the first as long as nobody says otherwise."""
        fixed = "a: { key: client_ip, rate: 1000/h }"
        stated = "b: { key: client_ip, rate: 1/h, burst: 5, cost: { header: x-c, default: 1, max: 9 } }"
        done = self.assert_same_verdicts(policy(fixed, stated), [{}] * 7)
        self.assertEqual(done["limits"]["b"]["allowed"], 5)

    def test_of_another_limit(self):
        old = policy("l: { key: client_ip, rate: 1/h, burst: 100 }")
        statuses, log = self.recorded(old, [{"headers": [("X-C", "5")]}] * 8)
        self.assertEqual(set(statuses), {200})
        costs = {
            "{ header: x-c, default: 1, max: 50 }": "the cost (header:x-c)",
            "{ query: n, default: 1, max: 50 }": "the cost (query:n)",
            "{ json: max_tokens, default: 1, max: 50 }": "the cost (json:max_tokens)",
            "{ request_bytes: 4, default: 0 }": "the cost (by content)",
        }
        for cost, missing in costs.items():
            new = policy(
                "l: { key: client_ip, rate: 1/h, burst: 100 }",
                f"m: {{ key: client_ip, rate: 1/h, burst: 10, cost: {cost} }}",
            )
            done = self.replayed(LISTENER + new, log)
            self.assertEqual((done["unjudged"], done["limits"]["l"]["allowed"]), (8, 8))
            because = done["limits"]["m"]["unjudged_because"]
            self.assertEqual(because, [{"missing": missing, "requests": 8}])

    def test_that_no_log_tells(self):
        log = self.file("a.log", combined(0) + combined(1))
        for what in ("cost: { request_bytes: 4, default: 0 }", "settle: { header: x-used, max: 50 }"):
            limit = f"l: {{ key: client_ip, rate: 1/h, burst: 1, {what} }}"
            done = self.replayed(LISTENER + policy(limit), log)
            self.assertEqual((done["unjudged"], done["limits"]["l"]["unjudged"]), (2, 2), what)

    def test_do_not_matter_to_a_request_that_a_limit_does_not_meet(self):
        fixed = "a: { key: client_ip, rate: 1/h, burst: 3 }"
        stated = "b: { key: 'header:x-t', missing_key: skip, rate: 9/h, cost: { json: n, default: 1, max: 9 } }"
        fields = "log: { fields: { t: 'header:x-t' } }\n"
        requests = [{}] * 2 + [{"headers": [("X-T", "a")]}] + [{}] * 2
        self.assert_same_verdicts(policy(fixed, stated, more=fields), requests)


class Contents(OwnLogTest):
    fields = "log: { fields: { m: 'json:params.model', n: 'json:params.n' } }\n"

    @staticmethod
    def requests(*models):
        return [json_request(params={"model": m, "n": 3}) if m else json_request(n=1) for m in models]

    def test_that_are_keys(self):
        for missing in ("reject", "skip", "client_ip"):
            limit = f"l: {{ key: 'json:params.model', missing_key: {missing}, rate: 1/h, burst: 2 }}"
            requests = self.requests("a", "a", "a", "b", "b", "b", 7, "7", 7, None, None, None)
            with self.subTest(missing):
                done = self.assert_same_verdicts(policy(limit, more=self.fields), requests, (400, 429))
                clients = {c["client"] for c in done["limits"]["l"]["clients"]}
                self.assertLessEqual({"a", "b", "7"}, clients)

    def test_that_choose_plans(self):
        plans = "plans: { by: { key: 'json:params.model', members: { big: [gpt], small: [tiny] } } }\n"
        limit = (
            "l: { key: client_ip, rate: 1/h, burst: 2, plan: by, "
            "plans: { big: { rate: 1/h, burst: 5 }, small: blocked } }"
        )
        requests = self.requests("gpt", "gpt", "gpt", "gpt", "gpt", "tiny", "other", None, "gpt")
        self.assert_same_verdicts(policy(limit, more=self.fields + plans), requests, (403, 429))

    def test_that_are_costs_under_a_new_limit(self):
        old = policy("l: { key: 'json:params.model', missing_key: skip, rate: 99/h }", more=self.fields)
        _, log = self.recorded(old, self.requests("a", "a", "a", None, "a"))
        cost = "cost: { json: params.n, default: 1, max: 9 }"
        new = policy(f"m: {{ key: client_ip, rate: 1/h, burst: 8, {cost} }}", more=self.fields)
        done = self.replayed(LISTENER + new, log)
        self.assertEqual((done["allowed"], done["rejected"], done["unjudged"]), (3, 2, 0))

    def test_that_choose_routes(self):
        match = (
            "limits: { a: { key: client_ip, rate: 1/h, burst: 2 }, b: { key: client_ip, rate: 1/h } }\n"
            "routes:\n"
            "  - { name: ay, match: { json: { params.model: a } }, limits: [a], upstream: up }\n"
            "  - { name: rest, limits: [b], upstream: up }\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        requests = self.requests("a", "b", "a", "a", "b", None, "a")
        for fields in (self.fields, ""):  # the name of the route tells as much
            self.assert_same_verdicts(fields + match, requests)


    def test_that_come_late_do_not_hold_a_permit(self):
        """Limits are asked when the content is there, and the log counts from the head on."""
        limits = {
            "concurrency": "c: { key: client_ip, algorithm: concurrency, max: 1 }",
            "charge_on": "c: { key: client_ip, rate: 1/h, burst: 1, charge_on: { status: [401] } }",
        }
        content = b'{"params":{"model":"a"}}'
        head = (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        ).encode()
        for name, limit in limits.items():
            by_model = "m: { key: 'json:params.model', missing_key: reject, rate: 9/h }"
            text = policy(limit, by_model, more=self.fields)
            gateway = self.gateway(text)
            with self.subTest(name), gateway.connect() as c:
                for pause in (0.3, 0, 0.3, 0):
                    c.send(head)
                    time.sleep(pause)
                    c.send(content)
                    self.assertEqual(c.response().status, 200)
                self.wait_for_lines(gateway, 4)
                done = self.replayed(LISTENER + text, gateway.log_path)
                self.assertEqual((done["allowed"], done["logged"]["newly_rejected"]), (4, 0))


class RefusedRequests(OwnLogTest):
    """The log leaves out values that the gateway refuses, as if there had been none."""

    def test_by_their_cost(self):
        cost = "cost: { query: n, default: 2, max: 20 }"
        limit = f"l: {{ key: client_ip, rate: 1/h, burst: 10, {cost} }}"
        requests = [{"target": t} for t in ["/?n="] * 5 + ["/?n=1"] * 3 + ["/?n=9"]]
        self.assert_malformed(limit, "n: 'query:n'", requests, 5)

    def test_by_their_key(self):
        limit = "l: { key: 'cookie:sid', missing_key: client_ip, rate: 1/h, burst: 3 }"
        cookies = [[("Cookie", "sid=q")], *[[("Cookie", "sid=%")]] * 4, *[[]] * 4]
        self.assert_malformed(limit, "s: 'cookie:sid'", [{"headers": c} for c in cookies], 4)

    def assert_malformed(self, limit, field, requests, count):
        for form in ("json", "text"):
            log = f"log: {{ format: {form}, fields: {{ {field} }} }}\n"
            with self.subTest(form):
                done = self.assert_same_verdicts(policy(limit, more=log), requests)
                self.assertEqual(done["malformed"], count)

    def test_that_lack_a_key_have_the_verdict_of_the_log(self):
        issuer = self.started(Issuer())
        keys = self.file("jwks.json", json.dumps({"keys": [issuer.make_key("HS256")]}))
        more = f"jwt: {{ keys: {keys} }}\nlog: {{ fields: {{ sub: 'jwt:sub' }} }}\n"
        limit = "u: { key: 'jwt:sub', missing_key: reject, rate: 1/h, burst: 2 }"
        token = ("Authorization", "Bearer " + issuer.token("HS256", sub="x"))
        requests = [{"headers": [token]}] * 3 + [{}] * 2
        done = self.assert_same_verdicts(policy(limit, more=more), requests, (400, 429))
        self.assertEqual((done["malformed"], done["logged"]["compared"]), (0, 5))


class Listeners(OwnLogTest):
    def test_that_only_decide_see_no_response(self):
        for form in ("json", "text"):
            for rule in (
                "charge_on: { status: [401] }",
                "reset_on: { status: [2xx] }",
                "settle: { header: x-used, max: 9 }",
            ):
                limit = f"l: {{ key: client_ip, rate: 1/h, burst: 3, {rule} }}"
                more = f"listeners: [ {{ address: 127.0.0.1:0, decide: true }} ]\nlog: {{ format: {form} }}\n"
                with self.subTest(rule, form=form):
                    self.assert_same_verdicts(policy(limit, more=more), [{}] * 6)

    def test_that_envoy_asks_are_left_out(self):
        for form in ("json", "text"):
            text = (
                "listeners: [ { address: 127.0.0.1:0, rate_limit_service: edge } ]\n"
                "rate_limit_service: { edge: { domain: edge, descriptors: [ { match: [a], limits: [e] } ] } }\n"
                f"log: {{ format: {form} }}\n"
                "limits: { e: { key: 'descriptor:a', rate: 3/h }, l: { key: client_ip, rate: 1/h, burst: 2 } }\n"
                "routes: [ { limits: [l], upstream: up } ]\n"
                "upstreams: { up: { servers: [echo] } }\n"
            )
            gateway = self.gateway(text)
            envoy = self.started(Envoy(gateway.address))
            for _ in range(5):
                envoy.ask(descriptor(("a", "203.0.113.7")))
            self.wait_for_lines(gateway, 5)
            with self.subTest(form):
                done = self.replayed(text, gateway.log_path)
                counts = [done[name] for name in ("lines", "envoy_calls", "allowed", "rejected", "malformed")]
                self.assertEqual(counts, [5, 5, 0, 0, 0])
                self.assertNotIn("logged", done)
                page = self.file("r.html", "")
                path = self.file("c.yaml", text)
                out = run_command("replay", "--config", path, "--report", page, gateway.log_path)[1]
                self.assertIn("5 more lines are answers to Envoy", out)
                with open(page, encoding="utf-8") as f:
                    self.assertIn("5 more lines are answers to Envoy", f.read())
