"""Messages to and from upstreams that speak HTTP/2, for clients of both protocols."""
import json
import threading

from harness import websocket
from harness.case import only_as_shipped
from harness.gateway import run_command, secured_servers, whole_configuration
from harness.http2 import DATA, END_HEADERS, END_STREAM, HEADERS, INTERNAL_ERROR, NO_ERROR, PRIORITY, Http2
from harness.http2_partners import HAProxy2, Nghttpd, Nginx2, NodeHttp2
from harness.http2_upstream_case import ASKS, Http2UpstreamTest, certificates, final_head, over_http2
from harness.process import wait_until

MIB = bytes(range(256)) * 4096
TE = ("TE", "trailers")
HEADER_TABLE_SIZE = 1
ALTSVC, ORIGIN = 10, 12  # frames


def answer_size(call):
    call.reply(body=str(len(call.read_body())).encode())


class Requests(Http2UpstreamTest):
    def test_the_parts_of_a_request(self):
        gateway, origin = self.through()
        for name, ask in ASKS:
            with self.subTest(client=name):
                got = ask(gateway, "/a?b=c%2f", [("X-Test", "1"), ("x-test", "two  words"), ("Accept", "text/*")])
                self.assertEqual((got.status, got.body), (200, b"ok"))
                call = origin.last()
                pseudo = [(n, v) for n, v in call.fields if n.startswith(":")]
                self.assertEqual(
                    sorted(pseudo),
                    [(":authority", "gateway.test"), (":method", "GET"), (":path", "/a?b=c%2f"), (":scheme", "http")],
                )
                self.assertEqual(call.all("host"), [])
                self.assertEqual(call.all("x-test"), ["1", "two  words"])
                self.assertEqual(call.all("accept"), ["text/*"])
                self.assertEqual(call.all("x-forwarded-for"), ["127.0.0.1"])
                self.assertEqual(call.all("x-forwarded-host"), ["gateway.test"])
                self.assertRegex(call["via"], rf"^{name[-1] if name == 'h2' else '1.1'} gateway-")
                self.assertRegex(call["x-request-id"], "^[0-9a-f-]{36}$")
                self.assertEqual((call.ended, call.frames), (True, 0))

    def test_nothing_of_the_clients_connection_reaches_the_upstream(self):
        """The server's harness fails the test for every such field; these are the ones that a client sends."""
        gateway, origin = self.through()
        with gateway.connect() as c:
            for fields in (
                [("Connection", "X-Gone, keep-alive"), ("X-Gone", "1"), ("Keep-Alive", "timeout=5")],
                [("Proxy-Connection", "keep-alive")],
                [("Connection", "TE"), ("TE", "gzip;q=1, trailers")],
                [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")],
                [("Connection", "Upgrade"), ("Upgrade", "TLS/1.2")],
            ):
                with self.subTest(fields=fields):
                    self.assertEqual(c.ask("/", fields).status, 200)
                    call = origin.last()
                    self.assertEqual([call["x-gone"], call["upgrade"], call["http2-settings"]], [None] * 3)
                    self.assertIn(call["te"], (None, "trailers"))
        self.assertEqual(origin.connections, 1)

    def test_methods(self):
        gateway, origin = self.through()
        for name, ask in ASKS:
            for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "x-own"):
                with self.subTest(client=name, method=method):
                    self.assertEqual(ask(gateway, "/", method=method).status, 200)
                    self.assertEqual(origin.last().method, method)
            self.assertEqual(ask(gateway, "*", method="OPTIONS").status, 200)
            self.assertEqual((origin.last().method, origin.last().target), ("OPTIONS", "*"))

    def test_bodies(self):
        gateway, origin = self.through(answer_size)
        for name, ask in ASKS:
            for length in (True, False):
                for body in (b"", b"x", MIB):
                    with self.subTest(client=name, length=length, size=len(body)):
                        got = ask(gateway, method="POST", body=body, length=length)
                        self.assertEqual((got.status, got.body), (200, str(len(body)).encode()))
                        call = origin.last()
                        self.assertEqual(call.body, body)
                        self.assertEqual(call.all("content-length"), [str(len(body))] if length else [])
        self.assertEqual(origin.connections, 1)

    def test_a_body_is_passed_on_as_it_comes(self):
        gateway, origin = self.through(answer_size)
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 6\r\n\r\nabc")
            call = self.wait_for_requests(origin, 1)
            call.wait(lambda: call.body == b"abc")
            c.send("def")
            self.assertEqual(c.response().body, b"6")
        with Http2(gateway.address) as c:
            stream = c.request(method="POST", end=False)
            call = self.wait_for_requests(origin, 2)
            for count in range(1, 4):
                c.data(stream, b"abc")
                call.wait(lambda: len(call.body) == 3 * count)
            c.data(stream, b"", end=True)
            self.assertEqual(c.wait_for(stream).body, b"9")

    def test_expect_continue(self):
        def script(call):
            call.head(100)
            call.reply(body=call.read_body())

        gateway, origin = self.through(script)
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            self.assertEqual(c.head().status, 100)
            c.send("abc")
            self.assertEqual(c.response().body, b"abc")
        self.assertEqual(origin.last()["expect"], "100-continue")

    def test_cookies_are_one_field_or_crumbs_with_one_meaning(self):
        gateway, origin = self.through()
        ask_over_1, ask_over_2 = (ask for _, ask in ASKS)
        ask_over_1(gateway, "/", [("Cookie", "a=1; b=2; c=3")])
        self.assertEqual("; ".join(origin.last().all("cookie")), "a=1; b=2; c=3")
        ask_over_2(gateway, "/", [("cookie", "a=1"), ("cookie", "b=2; c=3")])
        self.assertEqual("; ".join(origin.last().all("cookie")), "a=1; b=2; c=3")

    def test_the_authority(self):
        origin = self.http2_origin()
        routes = "routes: [ { match: { path: /own/ }, upstream: up, host: inner.test }, { upstream: up } ]\n"
        gateway = self.in_front_of(origin, more=routes)
        for name, ask in ASKS:
            with self.subTest(client=name):
                ask(gateway, "/own/")
                self.assertEqual((origin.last()[":authority"], origin.last()["host"]), ("inner.test", None))
        with gateway.connect() as c:
            for sent, expected in (
                ("GET http://other.test:81/ HTTP/1.1\r\nHost: gateway.test\r\n", "other.test:81"),
                ("GET / HTTP/1.1\r\nHost: GATEWAY.test:80\r\n", "GATEWAY.test:80"),
                ("GET / HTTP/1.0\r\n", origin.address),
            ):
                c.send(sent + "\r\n")
                self.assertEqual(c.response().status, 200)
                self.assertEqual((origin.last()[":authority"], origin.last()["host"]), (expected, None))

    def test_a_large_header(self):
        gateway, origin = self.through(more="http: { max_header_bytes: 128KiB }\n")
        value = "v" * 30000
        with gateway.connect() as c:
            self.assertEqual(c.ask("/", [("X-A", value), ("X-B", value)]).status, 200)
        self.assertEqual((origin.last()["x-a"], origin.last()["x-b"]), (value, value))

    def test_the_servers_table_of_hpack(self):
        for size in (0, 100, 65536):
            gateway, origin = self.through(settings={HEADER_TABLE_SIZE: size})
            with gateway.connect() as c:
                self.assertEqual(c.ask("/first").status, 200)
                (peer,) = origin.open_peers()
                peer.wait_for_settled()
                peer.bound_table(size)
                for i in range(20):
                    with self.subTest(size=size, request=i):
                        fields = [("X-A", f"value {i % 3}"), ("X-B", "b" * 100), ("Authorization", "Bearer secret")]
                        self.assertEqual(c.ask(f"/{i}", fields).status, 200)
                        self.assertEqual(origin.last()["x-a"], f"value {i % 3}")

    def test_pipelined_requests_have_their_responses_in_order(self):
        gateway, _ = self.through(lambda call: call.reply(body=call.target.encode()))
        with gateway.connect() as c:
            c.send("".join(f"GET /{i} HTTP/1.1\r\nHost: gateway.test\r\n\r\n" for i in range(10)))
            self.assertEqual([c.response().body for _ in range(10)], [b"/%d" % i for i in range(10)])

    def test_a_websocket_is_refused(self):
        gateway, origin = self.through()
        with gateway.connect() as c:
            self.assertEqual(c.ask("/ws", websocket.HANDSHAKE).status, 501)
        with Http2(gateway.address) as c:
            stream = c.request_of(
                [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":authority", "gateway.test"),
                 (":path", "/ws"), ("sec-websocket-version", "13")], end=False)  # fmt: skip
            c.wait(lambda: c.answer(stream).fields)
            self.assertEqual(c.answer(stream).status, 501)
            self.assertEqual(c.ask("/").status, 200)
        self.assertEqual(origin.targets(), ["/"])

    def test_limits_hold(self):
        origin = self.http2_origin()
        gateway = self.in_front_of(
            origin, more="limits: { l: { key: [], rate: 3/h } }\nroutes: [ { upstream: up, limits: [l] } ]\n"
        )
        statuses = [ask(gateway).status for _ in range(3) for _, ask in ASKS]
        self.assertEqual(statuses, [200] * 3 + [429] * 3)
        self.assertEqual(len(origin.requests), 3)


class Responses(Http2UpstreamTest):
    def test_fields(self):
        fields = [("content-type", "text/plain"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-empty", "")]
        gateway, _ = self.through(lambda call: call.reply(fields=fields))
        for name, ask in ASKS:
            with self.subTest(client=name):
                got = ask(gateway)
                self.assertEqual([got[n] for n in ("content-type", "x-empty")], ["text/plain", ""])
                self.assertEqual(got.all("set-cookie"), ["a=1", "b=2"])
                self.assertEqual([f for f in got.fields if f[0].startswith(":")], [])

    def test_statuses(self):
        gateway, _ = self.through(lambda call: call.reply(status=int(call.target[1:])))
        for name, ask in ASKS:
            for status in (200, 201, 299, 301, 400, 404, 418, 429, 500, 503, 599):
                with self.subTest(client=name, status=status):
                    got = ask(gateway, f"/{status}")
                    self.assertEqual((got.status, got.body, got.whole), (status, b"ok", True))

    def test_bodies(self):
        def script(call):
            fields = [("content-length", str(len(MIB)))] if call.target == "/length" else []
            call.reply(body=MIB, fields=fields)

        gateway, origin = self.through(script)
        for name, ask in ASKS:
            for target, length in (("/length", str(len(MIB))), ("/none", None)):
                with self.subTest(client=name, target=target):
                    got = ask(gateway, target)
                    self.assertEqual((got.status, got.whole, got["content-length"]), (200, True, length))
                    self.assertTrue(got.body == MIB)
        self.assertEqual(origin.connections, 1)

    def test_responses_without_content(self):
        def script(call):
            status = int(call.target[1:])
            fields = [] if status == 204 else [("content-length", "1000" if status == 304 or call.method == "HEAD" else "0")]
            call.head(status, fields, end=call["x-later"] is None)
            if call["x-later"] is not None:
                call.data(b"", end=True)

        gateway, origin = self.through(script)
        for name, ask in ASKS:
            for later in ([], [("X-Later", "1")]):
                for method, status in (("HEAD", 200), ("HEAD", 404), ("GET", 200), ("GET", 204), ("GET", 304)):
                    with self.subTest(client=name, method=method, status=status, later=later):
                        got = ask(gateway, f"/{status}", later, method=method)
                        self.assertEqual((got.status, got.body, got.whole), (status, b"", True))
                        if method == "HEAD":
                            self.assertEqual(got["content-length"], "1000")
        self.assertEqual(origin.connections, 1)

    def test_an_http_1_connection_goes_on_after_each(self):
        def script(call):
            status = int(call.target[1:])
            if call.method == "HEAD" or status in (204, 304):
                call.head(status, end=True)
            else:
                call.reply(status)

        gateway, _ = self.through(script)
        with gateway.connect() as c:
            for method, status in (("HEAD", 200), ("GET", 204), ("GET", 200), ("GET", 304), ("GET", 404)):
                self.assertEqual(c.ask(f"/{status}", method=method).status, status)

    def test_interim_responses(self):
        def script(call):
            call.head(103, [("link", "</a.css>")])
            call.head(103, [("link", "</b.css>")])
            call.reply()

        gateway, _ = self.through(script)
        for name, ask in ASKS:
            with self.subTest(client=name):
                got = ask(gateway)
                self.assertEqual((got.status, got.body), (200, b"ok"))
                self.assertEqual(
                    [(status, dict(fields)["link"]) for status, fields in got.interim], [(103, "</a.css>"), (103, "</b.css>")]
                )

    def test_trailers_pass_both_ways(self):
        def script(call):
            call.reply(body=call.read_body(), trailers=[("x-sum", "5"), ("grpc-status", "0"), ("set-cookie", "a=1")])

        gateway, origin = self.through(script)
        for name, ask in ASKS:
            with self.subTest(client=name):
                sent = [("x-up", "1"), ("host", "evil.test")]
                got = ask(gateway, "/", [TE], method="POST", body=b"abc", length=False, trailers=sent)
                self.assertEqual((got.status, got.body), (200, b"abc"))
                self.assertEqual(got.trailers, [("x-sum", "5"), ("grpc-status", "0")])
                self.assertEqual((origin.last().trailers, origin.last()["te"]), ([("x-up", "1")], "trailers"))

    def test_trailers_without_content(self):
        gateway, _ = self.through(lambda call: call.reply(body=b"", trailers=[("x-sum", "5")]))
        for name, ask in ASKS:
            with self.subTest(client=name):
                got = ask(gateway, "/", [TE])
                self.assertEqual((got.status, got.body, got.trailers), (200, b"", [("x-sum", "5")]))

    def test_a_response_may_come_before_the_request_is_over(self):
        def script(call):
            call.wait(lambda: call.body)
            call.head(200)
            call.data(b"early", end=True)
            call.reset_with(NO_ERROR)

        gateway, origin = self.through(script)
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 1000\r\n\r\nabc")
            r, _ = final_head(c)
            self.assertEqual(r.status, 200)
            self.assertIn(b"early", c.read_until(b"0\r\n\r\n"))
        with Http2(gateway.address) as c:
            stream = c.request(method="POST", end=False)
            c.data(stream, b"abc")
            c.wait(lambda: c.answer(stream).over)
            self.assertEqual((c.answer(stream).status, c.answer(stream).body, c.answer(stream).ended), (200, b"early", True))
            self.assertEqual(c.ask(method="POST", body=b"x").body, b"early")
        self.assertEqual(origin.connections, 1)

    def test_both_bodies_flow_at_once(self):
        def script(call):
            call.head(200)
            seen = 0
            while not (call.ended and seen == len(call.body)):
                call.wait(lambda: len(call.body) > seen or call.ended)
                piece = call.body[seen:]
                seen += len(piece)
                call.data(piece)
            call.data(b"", end=True)

        gateway, _ = self.through(script)
        with Http2(gateway.address) as c:
            stream = c.request(method="POST", end=False)
            for count in range(1, 20):
                c.data(stream, b"ping")
                c.wait(lambda: len(c.answer(stream).body) == 4 * count)
            c.data(stream, b"", end=True)
            self.assertTrue(c.wait_for(stream).ended)

    def test_frames_that_a_server_may_send(self):
        """Padding, priority, empty DATA, unknown frames, settings and flags."""

        def script(call):
            send, number = call.peer.send_frame, call.number
            send(0xFB, 0xFF, 0, b"unknown")
            send(0xFB, 0xFF, number, b"unknown")
            send(ALTSVC, 0, 0, b"\0\x01aclear")
            send(ORIGIN, 0, 0, b"\0\x0ehttp://a.test")
            send(PRIORITY, 0, number, b"\0\0\0\0\x10")
            call.peer.settle({0xF0: 1})
            block = call.peer.block([(":status", "200"), ("x-a", "1")])
            send(HEADERS, END_HEADERS | 0x28 | 0x40, number, b"\x05" + b"\0\0\0\0\x10" + block + b"\0" * 5)
            send(DATA, 0, number)
            send(DATA, 0x8, number, b"\x04ab" + b"\0" * 4)
            send(DATA, 0x8, number, b"\x00c")
            send(DATA, END_STREAM, number)

        gateway, _ = self.through(script)
        with Http2(gateway.address) as c:
            got = c.ask()
        self.assertEqual((got.status, got.get("x-a"), got.body), (200, "1", b"abc"))

    def test_a_header_in_many_frames(self):
        value = "v" * 20000
        gateway, _ = self.through(lambda call: call.reply(fields=[("x-a", value), ("x-b", value)]))
        for name, ask in ASKS:
            with self.subTest(client=name):
                got = ask(gateway)
                self.assertEqual((got.status, got["x-a"], got["x-b"]), (200, value, value))

    def test_a_client_of_http_1_0(self):
        def script(call):
            call.head(200)
            call.data(b"x" * 100000)
            if call.target == "/cut":
                call.reset_with(INTERNAL_ERROR)
            else:
                call.send_fields([("x-sum", "1")], end=True)

        gateway, _ = self.through(script)
        with gateway.connect() as c:
            r = c.ask("/whole", version="1.0")
            self.assertEqual((r.status, r.framing, len(r.body)), (200, "close", 100000))
        with gateway.connect() as c:
            c.request("/cut", version="1.0")
            self.assertEqual(c.head().status, 200)
            with self.assertRaises(ConnectionResetError):  # a close would make it look whole
                c.rest()

    def test_a_body_reaches_the_client_as_it_comes(self):
        go = threading.Semaphore(0)

        def script(call):
            call.head(200)
            for _ in range(3):
                go.acquire()
                call.data(b"abc")
            call.data(b"", end=True)

        gateway, _ = self.through(script)
        with gateway.connect() as c:
            c.request()
            self.assertEqual(c.head().status, 200)
            for _ in range(3):
                go.release()
                self.assertEqual(c.read_until(b"abc\r\n"), b"3\r\n")
            self.assertEqual(c.read_exactly(5), b"0\r\n\r\n")
        with Http2(gateway.address) as c:
            stream = c.request()
            c.wait(lambda: c.answer(stream).fields)
            for count in range(1, 4):
                go.release()
                c.wait(lambda: len(c.answer(stream).body) == 3 * count)
            c.wait_for(stream)


class OverTls(Http2UpstreamTest):
    def setUp(self):
        self.origin_tls = self.made = certificates(self.directory())

    def test_only_h2_is_offered(self):
        origin = self.http2_origin(alpn=("http/1.1", "h2"))  # the server's own order counts
        gateway = self.in_front_of(origin)
        for name, ask in ASKS:
            with self.subTest(client=name):
                self.assertEqual(ask(gateway, method="POST", body=MIB).status, 200)
        self.assertEqual(origin.chosen, ["h2"])
        self.assertEqual({call[":scheme"] for call in origin.requests}, {"https"})

    def test_a_server_that_does_not_choose_h2(self):
        for alpn in ((), ("http/1.1",)):
            with self.subTest(alpn=alpn):
                origin = self.http2_origin(alpn=alpn)
                gateway = self.in_front_of(origin)
                for name, ask in ASKS:
                    self.assertEqual(ask(gateway).status, 502)
                self.assertGreaterEqual(self.failures(gateway, "tls"), 2)
                wait_until(lambda: any("h2" in line for line in gateway.diagnostics), what="a diagnostic that names h2")
                self.assertEqual(origin.requests, [])

    def test_bodies_and_trailers_with_a_client_over_tls(self):
        self.tls = self.made

        def script(call):
            call.reply(body=call.read_body(), trailers=[("x-sum", "1")])

        origin = self.http2_origin(script)
        gateway = self.in_front_of(origin)
        for name, ask in ASKS:
            with self.subTest(client=name):
                got = ask(gateway, fields=[TE], method="PUT", body=MIB, length=False)
                self.assertEqual((got.status, len(got.body), got.trailers), (200, len(MIB), [("x-sum", "1")]))
        self.assertEqual(origin.connections, 1)

    def test_a_certificate_that_nobody_known_vouches_for(self):
        origin = self.http2_origin()
        known = self.in_front_of(origin)
        self.assertEqual(known.get().status, 200)
        del secured_servers[origin.address]
        unknown = self.in_front_of(origin, options=", tls: {}")
        self.assertEqual(unknown.get().status, 502)
        self.assertGreaterEqual(self.failures(unknown, "certificate"), 1)


class Configuration(Http2UpstreamTest):
    def test_values_of_protocol(self):
        folder = self.directory()
        for value, status in (("h2", 0), ("http/1.1", 0), ("h2c", 2), ("http/2", 2), ("[h2]", 2)):
            text = f"routes: [ {{ upstream: up }} ]\nupstreams: {{ up: {{ servers: ['h:1'], protocol: {value} }} }}\n"
            path = folder.file("gateway.yaml", whole_configuration(text))
            found, _, said = run_command("check", "--config", path)
            self.assertEqual(found, status, said)
            if status:
                self.assertIn("upstreams.up.protocol", said)

    def test_http_1_is_the_default(self):
        origin = self.origin()
        gateway = self.gateway(over_http2(origin.address).replace("protocol: h2", "protocol: http/1.1"))
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual(origin.last().method, "GET")


@only_as_shipped
class Partners(Http2UpstreamTest):
    def test_nginx(self):
        nginx = self.started(Nginx2())
        with open(nginx.path("large"), "wb") as f:
            f.write(MIB)
        gateway = self.gateway(over_http2(nginx.http2_address))
        for name, ask in ASKS:
            with self.subTest(client=name):
                self.assertEqual(ask(gateway, "/ok").body, b"ok")
                got = ask(gateway, "/large")
                self.assertTrue(got.body == MIB)
                self.assertEqual(ask(gateway, "/large", method="HEAD")["content-length"], str(len(MIB)))
                self.assertEqual(ask(gateway, "/large", [("If-None-Match", got["etag"])]).status, 304)
                self.assertEqual(ask(gateway, "/empty").status, 204)
                self.assertEqual(ask(gateway, "/missing").status, 404)
                for length in (True, False):
                    target = f"/put/{name[-1]}{length}"
                    self.assertEqual(ask(gateway, target, method="PUT", body=MIB, length=length).status, 201)
                    self.assertTrue(ask(gateway, target).body == MIB)
        wait_until(lambda: len(nginx.logged()) == 20)
        self.assertEqual({protocol for _, protocol, _, _ in nginx.logged()}, {"HTTP/2.0"})
        self.assertEqual(len({connection for connection, _, _, _ in nginx.logged()}), 1)

    def test_nginx_that_ends_its_connections(self):
        """It does so behind a number of requests, and drops those that are on their way."""
        nginx = self.started(Nginx2("keepalive_requests 50;"))
        gateway = self.gateway(over_http2(nginx.http2_address))
        path = self.directory().file("body", "x" * 1000)
        for more in ([], ["-d", path]):
            self.load(gateway, "/ok", 2000, "-c", "4", "-m", "10", *more)

    def test_nghttpd(self):
        server = self.started(Nghttpd("--trailer", "x-sum: 1", "-m", "5", "-w", "14"))
        server.file("large", "x" * len(MIB))
        gateway = self.gateway(over_http2(server.address))
        for name, ask in ASKS:
            with self.subTest(client=name):
                got = ask(gateway, "/large", [TE])
                self.assertEqual((got.status, len(got.body)), (200, len(MIB)))
                # Content with a length has no trailers in HTTP/1.1.
                self.assertEqual(got.trailers, [("x-sum", "1")] if name == "h2" else [])
                self.assertEqual(ask(gateway, "/large", method="HEAD").status, 200)
        self.load(gateway, "/large", 100, "-c", "2", "-m", "20")

    def test_nghttpd_echoes_uploads(self):
        server = self.started(Nghttpd("--echo-upload", "-w", "14", "-W", "14"))
        gateway = self.gateway(over_http2(server.address))
        self.assert_echoes(gateway, MIB)

    def test_haproxy(self):
        def script(peer, request):
            peer.read_body(request)
            peer.reply(body=request.body, fields=[("X-Te", request["te"] or "none")])

        origin = self.origin(script)
        haproxy = self.started(HAProxy2(origin.address))
        gateway = self.gateway(over_http2(haproxy.address))
        for name, ask in ASKS:
            for length in (True, False):
                with self.subTest(client=name, length=length):
                    got = ask(gateway, "/a", [TE, ("Cookie", "a=1; b=2")], method="POST", body=MIB, length=length)
                    self.assertTrue(got.body == MIB)
                    self.assertEqual(origin.last()["cookie"], "a=1; b=2")
                    self.assertEqual(origin.last()["host"], "gateway.test")
        self.load(gateway, "/", 1000, "-c", "5", "-m", "20")

    def test_node(self):
        node = self.started(NodeHttp2())
        gateway = self.gateway(over_http2(node.address))
        for name, ask in ASKS:
            with self.subTest(client=name):
                headers = json.loads(ask(gateway, "/a", [("Cookie", "a=1; b=2")]).body)["headers"]
                self.assertEqual([headers[n] for n in (":path", ":authority", "cookie")], ["/a", "gateway.test", "a=1; b=2"])
                self.assertEqual(len(ask(gateway, "/sized/1048576").body), len(MIB))
                self.assertEqual(ask(gateway, "/count", method="POST", body=MIB).body, b"1048576")
                self.assertEqual([ask(gateway, f"/status/{s}").status for s in (204, 304, 418)], [204, 304, 418])
                self.assertEqual([status for status, _ in ask(gateway, "/hints").interim], [103])
                got = ask(gateway, "/trailers", [TE], method="POST", body=b"abc", length=False, trailers=[("x-up", "7")])
                self.assertEqual(dict(got.trailers), {"x-sum": "3", "x-up": "7"})
                self.assertEqual(json.loads(ask(gateway, "/").body)["sessions"], 1)
        self.load(gateway, "/sized/1000", 1000, "-c", "5", "-m", "50")


@only_as_shipped
class PartnersOverTls(Http2UpstreamTest):
    def setUp(self):
        self.made = certificates(self.directory())

    def in_front_of_partner(self, address):
        secured_servers[address] = self.made
        self.addCleanup(secured_servers.pop, address, None)
        return self.gateway(over_http2(address))

    def test_nginx(self):
        nginx = self.started(Nginx2(tls=self.made))
        gateway = self.in_front_of_partner(nginx.http2_address)
        for name, ask in ASKS:
            with self.subTest(client=name):
                self.assertEqual(ask(gateway, f"/put/{name[-1]}", method="PUT", body=MIB, length=False).status, 201)
                self.assertTrue(ask(gateway, f"/put/{name[-1]}").body == MIB)
        self.load(gateway, "/ok", 1000, "-c", "5", "-m", "20")
        self.assertEqual({protocol for _, protocol, _, _ in nginx.logged()}, {"HTTP/2.0"})

    def test_nghttpd(self):
        server = self.started(Nghttpd("--echo-upload", tls=self.made))
        gateway = self.in_front_of_partner(server.address)
        self.assert_echoes(gateway, MIB)

    def test_haproxy(self):
        def script(peer, request):
            peer.read_body(request)
            peer.reply(body=request.body)

        haproxy = self.started(HAProxy2(self.origin(script).address, tls=self.made))
        gateway = self.in_front_of_partner(haproxy.address)
        for name, ask in ASKS:
            with self.subTest(client=name):
                self.assertTrue(ask(gateway, "/", method="POST", body=MIB).body == MIB)
        self.load(gateway, "/", 1000, "-c", "5", "-m", "20")
