"""`upstream` of a route's rejection: beyond a limit another upstream serves, in both protocols."""
import json

from harness.both_protocols import Message, OneByOne
from harness.case import SystemTest
from harness.client import get
from harness.gateway import run_command
from harness.http2_origin import Http2Origin
from harness.process import wait_until


class OverLimit(SystemTest):
    def setUp(self):
        super().setUp()
        self.main = self.origin()
        self.other = self.origin()

    def gateway_with(self, limits, route="", more="", names="l", rejection="upstream: other", kind=""):
        return self.gateway(
            f"limits:\n{limits}\n"
            f"routes: [ {{ name: r, limits: [{names}], upstream: main, rejection: {{ {rejection} }}, {route} }} ]\n"
            f"upstreams:\n  main: {{ servers: ['{self.main.address}'] }}\n"
            f"  other: {{ servers: ['{self.other.address}'], {kind} }}\n{more}"
        )

    def asking(self, gateway):
        """Asks in one protocol after the other."""
        both = OneByOne(gateway.address, gateway.connect)
        self.addCleanup(both.stop)

        def ask(*fields, method="GET", body=b""):
            if body:
                fields = (*fields, ("Content-Length", str(len(body))))
            asked = Message(method, "/x", [("Host", "gateway.test"), *fields], body)
            return [both.over_http1(asked), both.over_http2(asked)]

        return ask

    def served(self):
        return len(self.main.requests), len(self.other.requests)

    def test_what_a_limit_rejects_goes_to_the_other_upstream(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.main, self.other = self.origin(), self.origin()
                where, more = "", ""
                if store is not None:
                    where = ", store: s"
                    more = f"stores: {{ s: {{ url: '{store.url}', timeout: 10s, remember_rejections: false }} }}\n"
                gateway = self.gateway_with(f"  l: {{ key: [], rate: 2/h{where} }}", more=more)
                if store is not None:
                    wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="s"), what="store")
                ask = self.asking(gateway)
                for answer in ask(("X-Over-Limit", "theirs"), ("X_Over_Limit", "theirs")):
                    self.assertEqual(answer.status, 200)
                for answer in ask(("X-Over-Limit", "theirs"), method="POST", body=b"hello"):
                    self.assertEqual((answer.status, answer["retry-after"]), (200, None))
                    self.assertEqual(answer["x-ratelimit-remaining"], "0")
                self.assertEqual(self.served(), (2, 2))
                for request in self.main.requests:
                    self.assertEqual((request["x-over-limit"], request["x_over_limit"]), (None, None))
                for request in self.other.requests:
                    self.assertEqual(request.all("x-over-limit"), ["l"])
                    self.assertEqual((request.method, request.body), ("POST", b"hello"))
                    self.assertEqual(request["host"], "gateway.test")
                metrics = gateway.metrics()
                self.assertEqual(metrics.sum("gateway_over_limit_requests_total", route="r"), 2)
                self.assertIsNone(metrics.sum("gateway_refused_requests_total"))
                self.assertEqual(metrics.sum("gateway_decisions_total", limit="l", outcome="rejected"), 2)
                self.assertEqual(metrics.sum("gateway_requests_total", route="r", code="200"), 4)
                lines = gateway.log_lines(4)
                told = [(line["outcome"], line["limit"], line["upstream"], line["status"]) for line in lines]
                expected = [("allowed", "l", "main", 200)] * 2 + [("rejected", "l", "other", 200)] * 2
                self.assertEqual(sorted(told), expected)

    def test_the_other_upstream_may_speak_http2(self):
        self.other = self.started(Http2Origin())
        gateway = self.gateway_with("  l: { key: [], rate: 1/h }", kind="protocol: h2")
        ask = self.asking(gateway)
        self.assertEqual(gateway.get().status, 200)
        for answer in ask(("X-Over-Limit", "theirs"), method="POST", body=b"hello"):
            self.assertEqual(answer.status, 200)
        self.assertEqual([call.all("x-over-limit") for call in self.other.requests], [["l"]] * 2)

    def test_they_are_charged_to_nobody(self):
        limits = (
            "  few: { key: [], rate: 1/h }\n"
            "  many: { key: [], rate: 100/h, reset_on: { status: [2xx] }, settle: { header: x-cost, max: 90 } }"
        )
        self.other.script = lambda peer, request: (peer.read_body(request), peer.reply(fields=[("X-Cost", "50")]))
        gateway = self.gateway_with(limits, names="many, few")
        ask = self.asking(gateway)
        ask()
        ask()
        self.assertEqual(self.served(), (1, 3))
        self.assertEqual({r["x-over-limit"] for r in self.other.requests}, {"few"})
        self.assertEqual(gateway.metrics().sum("gateway_decisions_total", limit="many"), 1)

    def test_a_held_request_for_which_there_is_no_room_goes_there_too(self):
        gateway = self.gateway_with("  l: { key: [], rate: 1/m, max_wait: 10m }", more="max_waiting: 1\n")
        self.assertEqual(gateway.get().status, 200)
        with gateway.connect() as held:
            held.request("/")
            wait_until(lambda: gateway.metrics().sum("gateway_requests_waiting") == 1, what="one is held")
            for answer in self.asking(gateway)():
                self.assertEqual(answer.status, 200)
        self.assertEqual(self.served(), (1, 2))
        self.assertEqual(self.other.last()["x-over-limit"], "l")

    def test_so_does_one_without_a_place_and_one_that_never_passes(self):
        limits = "  dear: { key: [], rate: 1/h, cost: { header: x-cost, default: 0, max: 9 } }"
        gateway = self.gateway_with(limits, names="dear")
        for answer in self.asking(gateway)(("X-Cost", "2")):
            self.assertEqual(answer.status, 200)
        self.assertEqual(self.served(), (0, 2))

    def test_other_refusals_stay(self):
        gateway = self.gateway_with(
            "  l: { key: 'header:x-key', missing_key: reject, rate: 1/h, penalty: "
            "{ after: 2, within: 1m, ban: 10m, max_ban: 1d } }",
            rejection="upstream: other, format: openai",
        )
        ask = self.asking(gateway)
        self.assertEqual([a.status for a in ask()], [400, 400])
        key = ("X-Key", "a")
        self.assertEqual([a.status for a in ask(key)], [200, 200])
        ask(key)  # the second rejection bans
        for answer in ask(key):
            self.assertEqual(answer.status, 429)
            self.assertEqual(json.loads(answer.body)["error"]["code"], "rate_limit_exceeded")
        self.assertEqual(len(self.main.requests), 1)
        self.assertEqual(gateway.metrics().sum("gateway_refused_requests_total", reason="missing_key"), 2)

        closed = self.gateway_with(
            "  l: { key: [], rate: 1/h, store: gone, on_store_failure: closed }",
            more="stores: { gone: { url: 'redis://127.0.0.1:1' } }\n",
        )
        before = self.served()
        self.assertEqual([a.status for a in self.asking(closed)()], [503, 503])
        self.assertEqual(self.served(), before)

    def test_once_whatever_the_other_upstream_does(self):
        gateway = self.gateway_with("  l: { key: [], rate: 1/h }", rejection="upstream: other, format: anthropic")
        ask = self.asking(gateway)
        ask()
        self.other.stop()
        for answer in ask():
            self.assertEqual(answer.status, 502)
            self.assertEqual(json.loads(answer.body)["error"]["type"], "api_error")
        self.assertEqual(len(self.main.requests), 1)

    def test_the_host_is_that_of_the_upstream_that_serves(self):
        limits = "  l: { key: [], rate: 1/h }"
        for _, store in zip(range(2), self.every_store()):
            where = "" if store is None else ", store: s"
            more = "" if store is None else f"stores: {{ s: {{ url: '{store.url}', timeout: 10s }} }}\n"
            gateway = self.gateway_with(limits.replace(" }", f"{where} }}"), route="host: upstream", more=more)
            if store is not None:
                wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="s"), what="store")
            self.asking(gateway)()
            self.assertEqual(self.main.last()["host"], self.main.address)
            self.assertEqual(self.other.last()["host"], self.other.address)

    def test_a_trailer_says_nothing_of_limits(self):
        gateway = self.gateway_with("  l: { key: [], rate: 100/h }")
        with gateway.connect() as c:
            c.send(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Over-Limit, X-Sum\r\n\r\n"
                "1\r\na\r\n0\r\nX-Over-Limit: theirs\r\nX-Sum: 1\r\n\r\n"
            )
            self.assertEqual(c.response().status, 200)
        self.assertEqual(self.main.last().trailers, [("x-sum", "1")])

    def test_a_client_that_leaves_frees_the_server_that_it_had(self):
        def finishing(peer, request):
            if request["x-over-limit"]:
                self.assertEqual(peer.socket.recv(1), b"")
                return False
            peer.reply()

        self.main.script = self.other.script = finishing
        gateway = self.gateway_with("  l: { key: [], rate: 1/h }", kind="max_connections: 1")
        self.assertEqual(gateway.get().status, 200)
        for _ in range(3):
            before = len(self.other.requests)
            with gateway.connect() as c:
                c.request("/")
                wait_until(lambda: len(self.other.requests) > before, what="the other upstream has it")
        wait_until(lambda: self.other.open_connections() == 0, what="its connections are closed")

    def test_a_decide_listener_rejects(self):
        gateway = self.gateway_with(
            "  l: { key: [], rate: 1/h }", more="listeners: [ { address: 127.0.0.1:0, decide: true } ]\n"
        )
        self.assertEqual(gateway.get("/").status, 200)
        for answer in self.asking(gateway)():
            self.assertEqual((answer.status, answer["content-type"]), (429, "application/problem+json"))
        self.assertEqual(self.served(), (0, 0))
        self.assertEqual(gateway.metrics().sum("gateway_over_limit_requests_total"), 0)

    def test_explain_says_who_serves(self):
        token = self.directory().file("token", "s3cret\n")
        gateway = self.gateway_with(
            "  l: { key: [], rate: 1/h }", more=f"admin: {{ address: 127.0.0.1:0, token_file: '{token}' }}\n"
        )

        def verdict():
            fields = [("Authorization", "Bearer s3cret"), ("Content-Type", "application/json")]
            answer = get(gateway.admin, "/v1/explain", fields, method="POST", body=b'{"url": "/"}')
            return json.loads(answer.text)["verdict"]

        self.assertEqual(verdict(), {"says": "allowed"})
        gateway.get()
        self.assertEqual(verdict(), {"says": "over_limit", "limit": "l", "upstream": "other"})
        admin = "%s:%d" % gateway.admin
        status, said, _ = run_command("explain", "--config", gateway.config_path, "--admin", admin, "GET", "/")
        self.assertEqual(status, 0)
        self.assertRegex(said, r"verdict +over_limit, limit l, served by upstream other\n")
