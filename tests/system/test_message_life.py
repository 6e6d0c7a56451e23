"""Requests whose bodies are held and streams that are read while the gateway reloads, drains, waits and upgrades
connections; and bodies that need not be held."""
import signal
import threading

from harness import websocket
from harness.client import Connection
from harness.http2 import Http2
from harness.http2_origin import Http2Origin
from harness.http2_upstream_case import ask_over_1, ask_over_2, over_http2
from harness.message_case import BURST, JSON, Chunks, MessageTest, Whole, post, reading
from harness.model_shapes import OPENAI, Answering, openai, openai_stream, price
from harness.process import free_port, wait_until

HEAD = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
KEY = "key: 'json:k', missing_key: skip"


class LifeTest(MessageTest):
    def setUp(self):
        self.whole = Whole()

    def configured(self, limit, **options):
        return reading(self.origin_.address, limit, more=self.admin_, **options)

    def begun(self, limit, script=None, **options):
        self.origin_ = self.origin(script or self.whole)
        self.admin_ = self.token_of_admin()
        return self.gateway(self.configured(limit, **options))

    def left(self, got):
        left = got["x-ratelimit-remaining"]
        return None if left is None else BURST - int(left)


class Reloads(LifeTest):
    BODY = b'{"x":"1","k":"a","y":"b","z":"c"}'

    def hold(self, c, at):
        c.send((HEAD % len(self.BODY)).encode() + self.BODY[:at])
        self.assertTrue(c.silent_for(0.05))

    def test_a_held_request_is_decided_about_by_one_configuration(self):
        """Paths change their places, and the limit its key; either configuration may decide."""
        others = ("key: ['json:y', 'json:z', 'json:k'], missing_key: skip", "key: 'json:z', missing_key: skip",
                  "key: client_ip", "key: ['json:none.%s', 'json:y'], missing_key: skip" % ".".join("abcdef"))
        for other in others:
            for at in (1, 12, 20, len(self.BODY) - 1):
                with self.subTest(other=other, at=at):
                    g = self.begun(KEY)
                    with g.connect() as c:
                        self.hold(c, at)
                        self.assertIn("reload", g.reload(self.configured(other)))
                        c.send(self.BODY[at:])
                        r = c.response()
                    self.assertEqual((r.status, self.whole.bodies[-1]), (200, self.BODY))
                    self.assertIn(self.left(r), (1, None))
                    self.assertEqual(post(ask_over_1, g, self.BODY).status, 200)
                    g.stop()

    def test_also_over_http2(self):
        g = self.begun(KEY)
        with Http2(g.address) as c:
            streams = []
            for at in range(1, len(self.BODY), 3):
                stream = c.request(fields=[("content-type", "application/json")], method="POST", end=False)
                c.data(stream, self.BODY[:at])
                streams.append((stream, at))
            c.ping()
            g.reload(self.configured("key: ['json:z', 'json:y'], missing_key: skip"))
            for stream, at in streams:
                c.data(stream, self.BODY[at:], end=True)
            answers = [c.wait_for(stream) for stream, _ in streams]
        self.assertEqual({a.status for a in answers}, {200})
        self.assertEqual(set(self.whole.bodies), {self.BODY})

    def test_a_smaller_bound_counts_for_the_next_request(self):
        g = self.begun(KEY, http="max_inspected_body: 64KiB")
        body = b'{"x":"' + b"x" * 20000 + b'","k":"a"}'
        with g.connect() as c:
            c.send((HEAD % len(body)).encode() + body[:10000])
            self.assertTrue(c.silent_for(0.05))
            g.reload(self.configured(KEY, http="max_inspected_body: 4KiB"))
            c.send(body[10000:])
            self.assertEqual(c.response().status, 200)
            c.request("/", [JSON], "POST", body)
            self.assertIsNone(self.left(c.response()))

    def test_a_route_that_goes_away(self):
        g = self.begun(KEY)
        with g.connect() as c:
            self.hold(c, 10)
            g.reload(self.configured(KEY).replace("routes: [ { limits", "routes: [ { match: { host: other }, limits"))
            c.send(self.BODY[10:])
            self.assertIn(c.response().status, (200, 404))

    def test_a_stream_under_way_is_settled_by_one_configuration(self):
        answers = Answering()
        stream = openai_stream(19, 10)
        at = stream.index(b'"usage": {')
        for other in ("json: { choices.0.index: 1, usage.total_tokens: 100 }, max: 5", "json: usage.prompt_tokens, max: 200000",
                      "response_bytes: 1024", "header: x-used, max: 7", None):
            with self.subTest(other=other):
                g = self.begun(f"key: client_ip, cost: 1000, settle: {{ json: {OPENAI}, max: 200000 }}", answers)
                answers.say("text/event-stream", stream[:at], stream[at:], waits=True)
                with g.connect() as c:
                    c.request("/", [JSON], "POST", b"{}")
                    c.head()
                    chunks = Chunks(c)
                    chunks.exactly(at)
                    settle = f", settle: {{ {other} }}" if other else ""
                    g.reload(self.configured(f"key: client_ip, cost: 1000{settle}"))
                    answers.let_go()
                    self.assertEqual(chunks.exactly(len(stream) - at), stream[at:])
                    chunks.end()
                # The new numbers, or none of them: docs/configuration.md says that a changed limit may keep the reserve.
                wait_until(lambda: self.used(g, ("127.0.0.1",)) in (price(19, 10), 1000), 3, "a charge that was configured")
                g.stop()

    def test_the_limit_of_a_stream_goes_away(self):
        answers = Answering()
        g = self.begun(f"key: client_ip, cost: 1000, settle: {{ json: {OPENAI}, max: 200000 }}", answers)
        answers.say("text/event-stream", b"data: {}\n\n", openai_stream(1, 1), waits=True)
        with g.connect() as c:
            c.request()
            c.head()
            chunks = Chunks(c)
            chunks.exactly(10)
            g.reload(self.configured("key: client_ip").replace(" l: {", " other: {").replace("[l]", "[other]"))
            answers.let_go()
            chunks.exactly(len(openai_stream(1, 1)))
            chunks.end()
        answers.say("application/json", b"{}")
        self.assertEqual(g.get().status, 200)


class Drains(LifeTest):
    def test_a_held_request_is_served_while_the_gateway_stops(self):
        g = self.begun(KEY)
        body = b'{"k":"a"}'
        with g.connect() as c:
            c.send((HEAD % len(body)).encode() + body[:5])
            self.assertTrue(c.silent_for(0.05))
            g.signal(signal.SIGTERM)
            g.wait_for_diagnostic("drain")
            c.send(body[5:])
            r = c.response()
            self.assertEqual((r.status, self.left(r)), (200, 1))
        self.assertEqual(g.wait(), 0)

    def test_a_client_that_never_ends_is_cut_off(self):
        g = self.begun(KEY)
        g.reload(self.configured(KEY) + "drain_timeout: 500ms\n")
        with g.connect() as c:
            c.send(HEAD % 100 + "{")
            self.assertTrue(c.silent_for(0.05))
            g.signal(signal.SIGTERM)
            self.assertEqual(g.wait(), 0)
        self.assertEqual(self.origin_.requests, [])


class AfterAnother(LifeTest):
    """What befalls a request whose body is held, on a connection that has served one: it owes nothing to that."""

    def setUp(self):
        super().setUp()
        self.g = self.begun(KEY, http="max_body_bytes: 5KiB, body_timeout: 500ms", route="name: r")

    def configured(self, limit, **options):
        return super().configured(limit, **options).replace("body_timeout: 20s, ", "")

    def assert_told(self, status):
        line = self.g.log_lines(2)[1]
        self.assertEqual(line["status"], status)
        self.assertEqual(len(self.whole.bodies), 1, "nobody was asked")
        self.assertEqual(self.g.metrics().sum("gateway_requests_total", code=str(status)), 1)

    def over_http1(self, status, rest):
        with self.g.connect() as c:
            c.send((HEAD % 9).encode() + b'{"k":"a"}')
            self.assertEqual(c.response().status, 200)
            c.send(rest)
            self.assertEqual(c.response().status, status)
        self.assert_told(status)

    def test_late(self):
        self.over_http1(408, HEAD % 50 + "{")

    def test_too_large(self):
        chunked = HEAD.replace("Content-Length: %d", "Transfer-Encoding: chunked")
        self.over_http1(413, f"{chunked}1770\r\n" + " " * 6000)

    def test_malformed(self):
        self.over_http1(400, HEAD.replace("Content-Length: %d", "Transfer-Encoding: chunked") + "zz\r\n")

    def test_gone(self):
        with self.g.connect() as c:
            c.send((HEAD % 9).encode() + b'{"k":"a"}')
            self.assertEqual(c.response().status, 200)
            c.send(HEAD % 50 + "{")
            self.assertTrue(c.silent_for(0.05))
        self.assert_told(499)

    def over_http2(self, status, piece):
        fields = [("content-type", "application/json")]
        with Http2(self.g.address) as c:
            self.assertEqual(c.ask(fields=fields, method="POST", body=b'{"k":"a"}').status, 200)
            stream = c.request(fields=fields, method="POST", end=False)
            c.data(stream, piece)
            self.assertEqual(c.wait_for(stream).status, status)
        self.assert_told(status)

    def test_late_over_http2(self):
        self.over_http2(408, b"{")

    def test_too_large_over_http2(self):
        self.over_http2(413, b" " * 6000)


class InTime(LifeTest):
    """The time of a request runs while its body is held."""

    def test_of_its_route(self):
        g = self.begun(KEY, route="timeout: 300ms")
        for _ in range(2):
            with g.connect() as c:
                c.send(HEAD % 50 + "{")
                self.assertEqual(c.response().status, 504)
        self.assertEqual(self.whole.bodies, [])

    def test_of_the_route_that_its_body_chooses(self):
        self.origin_ = self.origin(lambda peer, request: (peer.read_body(request), self.gone.wait(20), peer.reply()))
        self.gone = threading.Event()
        self.addCleanup(self.gone.set)
        up = f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n"
        routes = "{ match: { json: { k: a } }, upstream: up, timeout: 300ms }, { upstream: up }"
        g = self.gateway(f"routes: [ {routes} ]\n{up}")
        self.assertEqual(post(ask_over_1, g, b'{"k":"a"}').status, 504)
        with g.connect() as c:
            c.send((HEAD % 9).encode() + b'{"k":"b"}')
            self.assertTrue(c.silent_for(0.6), "the other route has no timeout")
            self.gone.set()
            self.assertEqual(c.response().status, 200)


class NotHeld(LifeTest):
    """A body that cannot be read is not waited for."""

    def assert_streams(self, kind, more=""):
        g = self.begun(KEY)
        with g.connect() as c:
            c.send(f"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: {kind}\r\n{more}Content-Length: 10\r\n\r\n12345")
            wait_until(lambda: self.origin_.requests, what="the upstream is asked")
            c.send("67890")
            r = c.response()
        self.assertEqual((r.status, self.left(r), self.whole.bodies[-1]), (200, None, b"1234567890"))

    def test_of_another_type(self):
        self.assert_streams("text/plain")

    def test_of_another_coding(self):
        self.assert_streams("application/json", "Content-Encoding: gzip\r\n")

    def test_a_call_of_grpc_streams_both_ways(self):
        def echo(call):
            call.head(200, [("content-type", "application/grpc")])
            for count in (1, 2):
                call.wait(lambda count=count: len(call.body) >= 6 * count)
                call.data(call.body[6 * (count - 1) : 6 * count])
            call.send_fields([("grpc-status", "0")], end=True)

        origin = self.started(Http2Origin(echo))
        more = f"limits: {{ l: {{ {KEY}, rate: 100/d, burst: {BURST} }} }}\nroutes: [ {{ limits: [l], upstream: up }} ]\n"
        g = self.gateway(over_http2(origin.address, more=more))
        with Http2(g.address) as c:
            stream = c.request("/s/m", [("content-type", "application/grpc"), ("te", "trailers")], method="POST", end=False)
            for count in (1, 2):
                c.data(stream, b"\0\0\0\0\1x")
                self.assertTrue(c.wait(lambda count=count: len(c.answer(stream).body) == 6 * count))
            c.data(stream, b"", end=True)
            self.assertEqual(dict(c.wait_for(stream).trailers)["grpc-status"], "0")

    def test_a_server_of_grpc_may_speak_first(self):
        def greet(call):
            call.head(200, [("content-type", "application/grpc")])
            call.data(b"\0\0\0\0\1x")
            call.wait(lambda: call.body)
            call.send_fields([("grpc-status", "0")], end=True)

        origin = self.started(Http2Origin(greet))
        more = (
            f"limits: {{ l: {{ {KEY}, cost: {{ json: n, max: 9 }}, rate: 100/d, burst: {BURST} }} }}\n"
            "routes: [ { limits: [l], upstream: up, rejection: { format: jsonrpc } } ]\n"
        )
        g = self.gateway(over_http2(origin.address, more=more))
        with Http2(g.address) as c:
            stream = c.request("/s/m", [("content-type", "application/grpc"), ("te", "trailers")], method="POST", end=False)
            self.assertTrue(c.wait(lambda: len(c.answer(stream).body) == 6))
            c.data(stream, b"\0\0\0\0\1y", end=True)
            self.assertEqual(dict(c.wait_for(stream).trailers)["grpc-status"], "0")

    def test_so_may_one_of_another_type_in_chunks(self):
        self.origin_ = self.origin(lambda peer, request: (peer.reply(body=b"hello"), peer.read_body(request)))
        self.admin_ = self.token_of_admin()
        g = self.gateway(self.configured(KEY))
        with g.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.assertEqual(c.head().status, 200)
            c.send("1\r\nx\r\n0\r\n\r\n")

    def test_a_route_by_a_member_refuses_it_before_its_end(self):
        g = self.begun("key: []", route="match: { json: { method: x } }")
        with g.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n")
            self.assertEqual(c.response().status, 400)

    def test_a_handshake_of_websockets(self):
        def script(peer, request):
            peer.send(websocket.grant_of(request["sec-websocket-key"]))
            peer.send(b"hello")
            peer.wait_for_end()
            return False

        answering = f"{KEY}, cost: {{ json: n, default: 5, max: 9 }}, settle: {{ json: {OPENAI}, max: 200000 }}"
        g = self.begun(answering.replace(KEY, "key: client_ip"), script)
        with g.connect() as c:
            c.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            self.assertEqual(c.head().status, 101)
            self.assertEqual(c.read_exactly(5), b"hello")
        self.assert_used(5, g, ("127.0.0.1",))


class Together(LifeTest):
    """With other kinds of limits."""

    def test_in_flight(self):
        self.origin_ = self.origin(self.whole)
        g = self.gateway(
            "workers: 1\nlimits: { l: { algorithm: concurrency, max: 2, key: 'json:k', missing_key: skip } }\n"
            f"routes: [ {{ limits: [l], upstream: up }} ]\nupstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n")
        for _ in range(5):
            for ask in (ask_over_1, ask_over_2):
                self.assertEqual(post(ask, g, '{"k":"a"}').status, 200)
        body = b'{"k":"a","x":"' + b"x" * 100000 + b'"}'
        with g.connect() as one, g.connect() as two, g.connect() as three:
            for c in (one, two):
                c.send((HEAD % len(body)).encode() + body[:-1])
            wait_until(lambda: len(self.origin_.requests) == 12, what="two are under way")
            three.request("/", [JSON], "POST", b'{"k":"a"}')
            self.assertEqual(three.response().status, 429)
            one.send(body[-1:])
            self.assertEqual(one.response().status, 200)
            wait_until(lambda: post(ask_over_1, g, '{"k":"a"}').status == 200)

    def test_a_request_that_waits_for_its_tokens_keeps_its_body(self):
        g = self.begun("key: 'json:k', missing_key: skip, max_wait: 5s")
        text = self.configured("key: 'json:k', missing_key: skip, max_wait: 5s").replace(f"rate: 100/d, burst: {BURST}", "rate: 10/s, burst: 1")
        g.reload(text)
        bodies = [b'{"k":"a","n":%d,"x":"%s"}' % (n, b"x" * size) for n, size in enumerate((1, 10, 60000, 100000))]
        connections = [self.enterContext(g.connect()) for _ in bodies]
        for c, body in zip(connections, bodies):
            c.request("/", [JSON], "POST", body)
        self.assertEqual([c.response().status for c in connections], [200] * len(bodies))
        self.assertEqual(sorted(self.whole.bodies), sorted(bodies))

    def test_a_shadow_limit_rejects_nobody(self):
        g = self.begun("key: 'json:k', missing_key: reject, mode: shadow, cost: { json: n, default: 1, max: 10 }")
        for ask in self.over_each_protocol():
            for body in ("{}", '{"k":"a","n":5}', "{", '{"k":"a","k":"b"}'):
                self.assertIn(post(ask, g, body).status, (200, 400), body)
            self.assertEqual(post(ask, g, '{"k":"a","n":5}').status, 200)

    def test_trailers_of_http2_follow_a_held_body(self):
        g = self.begun(KEY)
        got = post(ask_over_2, g, '{"k":"a"}', [JSON, ("te", "trailers")], length=False, trailers=[("x-sum", "7")])
        self.assertEqual((got.status, self.left(got)), (200, 1))
        self.assertEqual(self.origin_.last().trailers, [("x-sum", "7")])

    def test_a_connection_lives_on_after_a_refusal(self):
        g = self.begun(KEY, http="max_inspected_body: 4KiB, on_long_body: 413")
        long = b'{"x":"' + b"x" * 9000 + b'","k":"a"}'
        with g.connect() as c:
            c.request("/", [JSON], "POST", long)
            r = c.response()
            self.assertEqual(r.status, 413)
            if r["connection"] != "close":
                self.assertEqual(c.ask("/", [JSON], "POST", b'{"k":"a"}').status, 200)
        with Http2(g.address) as c:
            for _ in range(3):
                stream = c.request(fields=[("content-type", "application/json")], method="POST", end=False)
                c.upload(stream, long)
                self.assertEqual(c.wait_for(stream).status, 413)
                stream = c.request(fields=[("content-type", "application/json")], method="POST", end=False)
                c.upload(stream, b'{"k":"a"}')
                self.assertEqual(c.wait_for(stream).status, 200)

    def test_a_request_behind_one_that_its_content_has_rejected(self):
        """In one segment: it is answered, too."""
        g = self.begun(KEY)
        self.assertIn("reload", g.reload(self.configured(KEY).replace(f"burst: {BURST}", "burst: 1")))
        body = b'{"k":"a"}'
        first = (HEAD % len(body)).encode() + body
        with g.connect() as c:
            c.send(first)
            self.assertEqual(c.response().status, 200)
            for behind in (b"GET /second HTTP/1.1\r\nHost: h\r\n\r\n", first + b"GET /third HTTP/1.1\r\nHost: h\r\n\r\n"):
                c.send(first + behind)
                count = behind.count(b"HTTP/1.1")
                self.assertEqual([c.response().status for _ in range(count + 1)], [429] * count + [200])
        self.assertEqual([r.target for r in self.origin_.requests], ["/", "/second", "/third"])

    def test_a_listener_that_decides_knows_no_content_of_others(self):
        """Requests of all listeners of a worker take turns in its memory."""
        port = free_port()
        self.origin_ = self.origin(self.whole)
        g = self.gateway(
            f"listeners: [ {{ address: '127.0.0.1:0' }}, {{ address: '127.0.0.1:{port}', decide: true }} ]\n"
            "workers: 1\n"
            "limits: { model: { key: 'json:model', rate: 9/d, missing_key: skip }, all: { key: [], rate: 1000/d } }\n"
            "routes: [ { match: { path: /, json: { model: secret } }, limits: [model], upstream: up },"
            " { limits: [all], upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n"
        )
        for number in range(1, 5):
            self.assertEqual(post(ask_over_1, g, '{"model":"secret"}')["x-ratelimit-limit"], "9")
            with Connection(("127.0.0.1", port)) as c:
                told = c.ask("/y")
            self.assertEqual((told.status, told["X-RateLimit-Remaining"]), (200, str(1000 - number)))

    def test_http_1_0(self):
        g = self.begun(KEY)
        with g.connect() as c:
            r = c.ask("/", [JSON], "POST", b'{"k":"a"}', version="1.0")
        self.assertEqual((r.status, self.left(r)), (200, 1))

    def test_a_plain_answer_over_a_kept_connection_is_settled_each_time(self):
        answers = Answering()
        g = self.begun(f"key: [], cost: 1000, settle: {{ json: {OPENAI}, max: 200000 }}", answers)
        answers.say("application/json", openai(3, 2), framing="length")
        with g.connect() as c:
            for count in range(1, 30):
                c.request("/", [JSON], "POST", b"{}")
                self.assertEqual(c.response().status, 200)
                self.assert_used(count * price(3, 2), g)
        self.assertEqual(self.origin_.connections, 1)
