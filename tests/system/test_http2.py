"""HTTP/2 with clients: requests, fields, content, windows, ends."""
import socket
import struct
import threading

from harness import websocket
from harness.case import SystemTest, forwarding_to
from harness.certificates import Certificates
from harness.http2 import (
    CONTINUATION,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INTERNAL_ERROR,
    MAX_STREAMS,
    NO_ERROR,
    PROTOCOL_ERROR,
    REFUSED_STREAM,
    SETTINGS,
    Http2,
    frame,
    setting,
)
from harness.origin import answer_ok


class Requests(SystemTest):
    def test_a_request_reaches_the_upstream_as_http_1_1(self):
        gateway, origin = self.proxy()
        with Http2(gateway.address) as c:
            answer = c.ask("/a?b=c", [("x-test", "1"), ("cookie", "a=1"), ("cookie", "b=2")])
        self.assertEqual(answer.status, 200)
        self.assertIsNone(answer.get("connection"))
        self.assertRegex(answer.get("x-request-id"), "^[0-9a-f-]{36}$")
        request = origin.last()
        self.assertEqual((request.method, request.target), ("GET", "/a?b=c"))
        self.assertEqual(request.all("host"), ["gateway.test"])
        self.assertEqual(request.all("cookie"), ["a=1; b=2"])
        self.assertEqual(request.all("x-test"), ["1"])
        self.assertRegex(request.all("via")[0], "^2 gateway-")
        self.assertEqual(request.all("transfer-encoding"), [])

    def test_bodies_with_and_without_a_length(self):
        def script(peer, request):
            peer.read_body(request)
            return peer.reply(body=str(len(request.body)).encode())

        gateway, origin = self.proxy(script)
        with Http2(gateway.address) as c:
            for fields in ([], [("content-length", "200000")]):
                stream = c.request("/", fields, method="POST", end=False)
                sent = 0
                for _ in range(20):
                    c.data(stream, b"x" * 10000, end=sent == 190000)
                    sent += 10000
                    c.ping()
                self.assertEqual(c.wait_for(stream).body, b"200000")
        self.assertEqual(origin.last().all("content-length"), ["200000"])

    def test_streams_of_a_connection_share_a_limit_with_every_protocol(self):
        gateway = self.gateway(
            "limits: { l: { key: [client_ip], rate: 3/h } }\n" + forwarding_to("echo", "l")
        )
        with Http2(gateway.address) as c:
            streams = [c.request() for _ in range(5)]
            statuses = sorted(a.status for a in c.wait_for(*streams))
            rejected = c.ask()
        self.assertEqual(statuses, [200] * 3 + [429] * 2)
        self.assertEqual(rejected.get("x-ratelimit-limit"), "3")
        self.assertGreater(int(rejected.get("retry-after")), 0)
        self.assertEqual(gateway.get().status, 429)

    def test_a_large_response_waits_for_the_clients_window(self):
        size = 1_000_000
        gateway, _ = self.proxy(lambda peer, request: peer.reply(body=b"x" * size))
        with Http2(gateway.address, opens_windows=False) as c:
            slow, quick = c.request("/slow"), c.request("/quick")
            c.wait(lambda: len(c.answer(slow).body) + len(c.answer(quick).body) == 65535)
            c.open_window(0, 2 * size)
            c.open_window(quick, size)
            self.assertEqual(len(c.wait_for(quick).body), size)
            self.assertLess(len(c.answer(slow).body), 65536)
            c.open_window(slow, size)
            self.assertEqual(len(c.wait_for(slow).body), size)

    def test_heads_and_bodiless_responses(self):
        def script(peer, request):
            status = request.target[1:]
            peer.send(f"HTTP/1.1 {status} X\r\nContent-Length: {0 if status == '200' else 9}\r\n\r\n".encode())

        gateway, _ = self.proxy(script)
        with Http2(gateway.address) as c:
            for target, method in (("/304", "GET"), ("/204", "GET"), ("/200", "HEAD"), ("/200", "GET")):
                if target == "/204":
                    continue
                answer = c.ask(target, method=method)
                self.assertEqual((answer.status, answer.body), (int(target[1:]), b""))

    def test_a_head_in_pieces(self):
        gateway, origin = self.proxy()
        with Http2(gateway.address) as c:
            block = c.block([(":method", "GET"), (":scheme", "http"), (":authority", "g"), (":path", "/pieces"), ("x-a", "b" * 3000)])
            pieces = [block[i : i + 1000] for i in range(0, len(block), 1000)]
            c.send_frame(HEADERS, END_STREAM, 1, pieces[0])
            for piece in pieces[1:-1]:
                c.send_frame(CONTINUATION, 0, 1, piece)
            c.send_frame(CONTINUATION, END_HEADERS, 1, pieces[-1])
            self.assertEqual(c.wait_for(1).status, 200)
        self.assertEqual(origin.last().all("x-a"), ["b" * 3000])

    def test_interim_responses(self):
        def script(peer, request):
            peer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
            return answer_ok(peer, request)

        gateway, _ = self.proxy(script)
        with Http2(gateway.address) as c:
            answer = c.ask()
        self.assertEqual([dict(i) for i in answer.interim], [{":status": "103", "link": "</a.css>"}])
        self.assertEqual(answer.status, 200)

    def test_trailers_pass_both_ways(self):
        def script(peer, request):
            peer.read_body(request)
            peer.send(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n"
                b"2\r\nok\r\n0\r\nX-Sum: 5\r\nContent-Length: 9\r\n\r\n"
            )

        gateway, origin = self.proxy(script)
        with Http2(gateway.address) as c:
            stream = c.request("/", [("te", "trailers")], method="POST", end=False)
            c.data(stream, b"abc")
            c.trailers(stream, [("x-up", "1"), ("host", "evil.test")])
            answer = c.wait_for(stream)
        self.assertEqual((answer.body, dict(answer.trailers)), (b"ok", {"x-sum": "5"}))
        self.assertEqual(origin.last().all("te"), ["trailers"])


class Refused(SystemTest):
    """What HTTP/2 forbids is a stream error, and nothing of it reaches the upstream."""

    PSEUDO = [(":method", "GET"), (":scheme", "http"), (":authority", "g.test"), (":path", "/")]

    def test_malformed_requests(self):
        gateway, origin = self.proxy()
        p = self.PSEUDO
        for fields in (
            p + [("connection", "close")],
            p + [("keep-alive", "1")],
            p + [("proxy-connection", "close")],
            p + [("transfer-encoding", "chunked")],
            p + [("upgrade", "h2c")],
            p + [("te", "gzip")],
            p + [("X-Upper", "1")],
            p + [("x a", "1")],
            p + [("", "1")],
            p + [("x-a", "1\r\nx-b: 2")],
            p + [("x-a", "1\0")],
            p + [(":unknown", "1")],
            p + [(":path", "/again")],
            p + [("x-a", "1"), (":late", "1")],
            p + [("host", "other.test")],
            p + [(":status", "200")],
            p[1:],
            p[:3],
            p[:1] + p[2:],
            p[:3] + [(":path", "")],
            p[:3] + [(":path", "a")],
            p[:3] + [(":path", "http://x/")],
            p[:3] + [(":path", "/a b")],
            p[:3] + [(":path", "/a\r\nx: y")],
            [(":method", "G T")] + p[1:],
            p + [("content-length", "5")],
        ):
            with self.subTest(fields=fields), Http2(gateway.address) as c:
                answer = c.wait_for(c.request_of(fields))
                self.assertEqual((answer.reset, answer.fields), (PROTOCOL_ERROR, None))
                self.assertEqual(c.ask("/fine").status, 200)
        self.assertEqual({r.target for r in origin.requests}, {"/fine"})

    def test_content_that_contradicts_its_length(self):
        gateway, _ = self.proxy(lambda peer, request: peer.read_body(request) and False)
        for length, content in (("5", b"abc"), ("2", b"abc")):
            with Http2(gateway.address) as c:
                stream = c.request("/", [("content-length", length)], method="POST", end=False)
                c.data(stream, content, end=True)
                self.assertEqual(c.wait_for(stream).reset, PROTOCOL_ERROR)

    def test_what_http_1_refuses_has_the_same_status(self):
        gateway, origin = self.proxy()
        for options, status in (
            ({"target": "/a%2"}, gateway.get("/a%2").status),
            ({"target": "/%c0%af"}, gateway.get("/%c0%af").status),
            ({"target": "/" + "a" * 20000}, 414),
            ({"fields": [("x-a", "b" * 20000)]}, 431),
            ({"fields": [("x-a", "b")] * 101}, 431),
            ({"scheme": "ftp"}, 400),
            ({"method": "get"}, 400),
            ({"method": "M" * 40}, 501),
        ):
            with self.subTest(options=str(options)[:60]), Http2(gateway.address) as c:
                self.assertEqual(c.ask(**options).status, status)
                self.assertEqual(c.ask("/fine").status, 200)
        self.assertEqual({r.target for r in origin.requests}, {"/fine"})

    def test_a_user_in_the_authority_is_refused(self):
        """By the gateway, or by nghttp2 from 1.64 on, as malformed."""
        gateway, origin = self.proxy()
        with Http2(gateway.address) as c:
            answer = c.wait_for(c.request(authority="a@b"))
            self.assertTrue(answer.reset == PROTOCOL_ERROR or answer.status == 400)
            self.assertEqual(c.ask("/fine").status, 200)
        self.assertEqual({r.target for r in origin.requests}, {"/fine"})

    def test_a_refused_body_is_read_away(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h } }\nhttp: { linger_timeout: 300ms }\n" + forwarding_to("echo", "l")
        )
        with Http2(gateway.address) as c:
            c.ask()
            stream = c.request("/", method="POST", end=False)
            c.wait(lambda: c.answer(stream).ended)
            self.assertEqual(c.answer(stream).status, 429)
            c.data(stream, b"x" * 16000)
            c.wait(lambda: c.answer(stream).reset is not None)
            self.assertEqual(c.answer(stream).reset, NO_ERROR)
            self.assertEqual(c.ask().status, 429)


class Ends(SystemTest):
    def test_a_client_that_resets_is_499_and_charged(self):
        release = threading.Event()
        self.addCleanup(release.set)
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 10/h } }\n"
            + forwarding_to(self.origin(lambda peer, request: release.wait(10) and False).address, "l")
        )
        with Http2(gateway.address) as c:
            stream = c.request()
            c.ping()
            c.reset(stream)
            (line,) = gateway.log_lines(1)
        self.assertEqual((line["status"], line["error"]), (499, "the client closed the connection"))

    def test_content_and_trailers_that_are_malformed_are_400(self):
        def script(peer, _request):
            peer.wait_for_end()  # an answer could overtake the trailers
            return False

        gateway, _ = self.proxy(script)
        declared = [("content-length", "5")]
        for number, (content, end, trailers) in enumerate((
            (b"abc", True, None),
            (b"abcdefgh", False, None),
            (b"abcde", False, [(":path", "/")]),
            (b"abcde", False, [("content-length", "5")]),
        )):
            with self.subTest(number), Http2(gateway.address) as c:
                stream = c.request("/", declared, method="POST", end=False)
                c.ping()
                c.data(stream, content, end=end)
                if trailers is not None:
                    c.trailers(stream, trailers)
                answer = c.wait_for(stream)
                self.assertEqual((answer.reset, answer.fields), (PROTOCOL_ERROR, None))
                line = gateway.log_lines(number + 1)[number]
                self.assertEqual(
                    (line["status"], line["error"]),
                    (400, "content that contradicts Content-Length, or malformed trailers"),
                )

    def test_an_upstream_that_breaks_off(self):
        def script(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            return False

        gateway, _ = self.proxy(script)
        with Http2(gateway.address) as c:
            answer = c.ask()
            self.assertEqual((answer.status, answer.ended, answer.reset), (200, False, INTERNAL_ERROR))

    def test_idle_connections_end_with_goaway(self):
        gateway = self.gateway("http: { idle_timeout: 200ms }\n" + forwarding_to("echo"))
        with Http2(gateway.address) as c:
            c.ask()
            self.assertEqual(c.wait_for_end(), (1, NO_ERROR))

    def test_a_head_that_does_not_end(self):
        gateway = self.gateway("http: { header_timeout: 200ms }\n" + forwarding_to("echo"))
        with Http2(gateway.address) as c:
            c.send_frame(HEADERS, END_STREAM, 1, c.block(Refused.PSEUDO))
            c.wait_for_end()

    def test_a_drain_serves_what_runs(self):
        entered, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)

        def script(peer, request):
            entered.set()
            release.wait(10)
            return answer_ok(peer, request)

        gateway, _ = self.proxy(script)
        with Http2(gateway.address) as c:
            stream = c.request()
            self.assertTrue(entered.wait(10))
            gateway.signal(15)
            c.wait(lambda: c.goaways == 2)
            self.assertEqual(c.goaway, (stream, NO_ERROR))
            release.set()
            self.assertEqual(c.wait_for(stream).status, 200)
            c.wait_for_end()
        self.assertEqual(gateway.wait(), 0)

    def test_age_and_number_of_requests(self):
        gateway = self.gateway("http2: { max_requests: 3 }\n" + forwarding_to("echo"))
        with Http2(gateway.address) as c:
            self.assertEqual([c.ask().status for _ in range(3)], [200] * 3)
            self.assertEqual(c.wait_for_end(), (5, NO_ERROR))
        gateway = self.gateway("http2: { max_connection_age: 200ms }\n" + forwarding_to("echo"))
        with Http2(gateway.address) as c:
            self.assertEqual(c.ask().status, 200)
            self.assertEqual(c.wait_for_end(), (1, NO_ERROR))

    def test_one_stream_too_many_is_refused(self):
        release = threading.Event()
        self.addCleanup(release.set)

        def script(peer, request):
            release.wait(10)
            return answer_ok(peer, request)

        gateway, _ = self.proxy(script, "http2: { max_streams: 3 }\n")
        with Http2(gateway.address) as c:
            streams = [c.request() for _ in range(4)]
            self.assertEqual(c.wait_for(streams[3]).reset, REFUSED_STREAM)
            self.assertEqual(c.settings[MAX_STREAMS], 3)
            release.set()
            self.assertEqual([a.status for a in c.wait_for(*streams[:3])], [200] * 3)


class WebSockets(SystemTest):
    """Extended CONNECT (RFC 8441), which an upstream sees as a handshake."""

    HEAD = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "http"),
        (":authority", "gateway.test"),
        (":path", "/ws"),
        ("sec-websocket-version", "13"),
    ]

    def test_bytes_pass_both_ways(self):
        def script(peer, request):
            peer.send(websocket.grant_of(request["sec-websocket-key"]))
            peer.send(peer.exactly(5)[::-1])
            return False

        gateway, origin = self.proxy(script)
        with Http2(gateway.address) as c:
            c.wait(lambda: c.settings)
            self.assertEqual(c.settings[8], 1)
            stream = c.request_of(self.HEAD, end=False)
            c.wait(lambda: c.answer(stream).fields)
            answer = c.answer(stream)
            self.assertEqual(answer.status, 200)
            self.assertIsNone(answer.get("sec-websocket-accept"))
            c.data(stream, b"hello")
            c.wait_for(stream)
            self.assertEqual((answer.body, answer.ended), (b"olleh", True))
        request = origin.last()
        self.assertEqual((request.method, request.target), ("GET", "/ws"))
        self.assertEqual([v.lower() for v in request.all("upgrade")], ["websocket"])

    def test_the_end_of_a_handshake_is_that_of_its_tunnel(self):
        """On the CONNECT itself, or on a frame without content before the server has granted anything."""
        def script(peer, request):
            peer.send(websocket.grant_of(request["sec-websocket-key"]))
            peer.wait_for_end()
            peer.send(b"last")
            return False

        gateway, _ = self.proxy(script)
        with Http2(gateway.address) as c:
            for at_once in (True, False):
                stream = c.request_of(self.HEAD, end=at_once)
                if not at_once:
                    c.data(stream, b"", end=True)
                c.wait_for(stream)
                answer = c.answer(stream)
                self.assertEqual((answer.status, answer.body, answer.ended), (200, b"last", True))

    def test_a_client_that_goes_ends_its_tunnels(self):
        """The server may have something to say still; there is nobody to hear it."""
        ended = threading.Event()

        def script(peer, request):
            peer.send(websocket.grant_of(request["sec-websocket-key"]))
            peer.wait_for_end()
            ended.set()
            return False

        gateway, _ = self.proxy(script)
        with Http2(gateway.address) as c:
            streams = [c.request_of(self.HEAD, end=False) for _ in range(5)]
            c.wait(lambda: all(c.answer(s).fields for s in streams))
        self.assertTrue(ended.wait(10))
        self.assertEqual({line["status"] for line in gateway.log_lines(5)}, {101})

    def test_limits_hold(self):
        gateway = self.gateway("limits: { l: { key: [], rate: 1/h } }\n" + forwarding_to("echo", "l"))
        with Http2(gateway.address) as c:
            c.ask()
            self.assertEqual(c.wait_for(c.request_of(self.HEAD)).status, 429)

    def test_other_protocols_are_not_carried(self):
        gateway, origin = self.proxy()
        with Http2(gateway.address) as c:
            head = [(n, "connect-udp" if n == ":protocol" else v) for n, v in self.HEAD]
            self.assertEqual(c.wait_for(c.request_of(head)).status, 501)
            self.assertEqual(c.wait_for(c.request_of([(":method", "CONNECT"), (":authority", "a:1")])).status, 501)
        self.assertEqual(origin.requests, [])

    def test_what_is_no_handshake_goes_nowhere(self):
        gateway, origin = self.proxy()
        for head in (self.HEAD[:-1], self.HEAD + [self.HEAD[-1]], self.HEAD + [("content-length", "5")]):
            with Http2(gateway.address) as c:
                self.assertEqual(c.wait_for(c.request_of(head, end=False)).status, 400)
        self.assertEqual(origin.requests, [])

    def test_an_answer_of_the_route_opens_nothing(self):
        gateway = self.gateway("routes: [ { respond: { status: 200, body: ok } } ]\nupstreams: {}\n")
        with Http2(gateway.address) as c:
            self.assertEqual(c.wait_for(c.request_of(self.HEAD, end=False)).status, 502)

    def test_a_server_that_grants_nothing_opens_nothing(self):
        gateway, _ = self.proxy()
        with Http2(gateway.address) as c:
            self.assertEqual(c.wait_for(c.request_of(self.HEAD, end=False)).status, 502)


class Connections(SystemTest):
    """What one stream, or one connection, leaves behind for the next."""

    def test_a_client_that_does_not_read_leaves_later_ones_alone(self):
        gateway, _ = self.proxy(lambda peer, request: peer.reply(body=b"x" * 4_000_000), "workers: 1\n")
        for _ in range(3):
            c = Http2(gateway.address, settings=setting(_4=2**31 - 1), opens_windows=False)
            c.open_window(0, 2**30)
            streams = [c.request() for _ in range(3)]
            c.wait(lambda: all(c.answer(s).fields for s in streams))
            c.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.raw.close()
        with Http2(gateway.address) as c:
            for _ in range(10):
                self.assertEqual(len(c.ask().body), 4_000_000)

    def test_bodies_that_nobody_took_open_the_window_again(self):
        gateway = self.gateway(forwarding_to("127.0.0.1:1"))
        with Http2(gateway.address) as c:
            for _ in range(40):
                answer = c.ask(body=b"x" * 16000, method="POST")
                self.assertEqual(answer.status, 502)
                c.ping()

    def test_a_head_in_two_segments_while_another_stream_ends(self):
        entered, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)

        def script(peer, request):
            if request.target == "/first":
                entered.set()
                release.wait(10)
            return answer_ok(peer, request)

        gateway, _ = self.proxy(script, "http: { header_timeout: 500ms }\n")
        with Http2(gateway.address, opens_windows=False) as c:  # it must send nothing in between
            c.ping()
            first = c.request("/first")
            self.assertTrue(entered.wait(10))
            head = frame(HEADERS, END_HEADERS | END_STREAM, 3, c.block(Refused.PSEUDO + [("x-a", "b" * 500)]))
            c.send(head[:200])
            release.set()
            self.assertEqual(c.wait_for(first).status, 200)
            c.send(head[200:])
            self.assertEqual(c.wait_for(3).status, 200)
            c.send(frame(HEADERS, END_HEADERS | END_STREAM, 5, c.block(Refused.PSEUDO + [("x-a", "c" * 500)]))[:100])
            c.wait_for_end()

    def test_large_heads_of_responses(self):
        fields = "".join(f"X-A{i}: {'b' * 1000}\r\n" for i in range(120))
        gateway = self.gateway(
            forwarding_to(self.origin(lambda peer, request: peer.send(
                f"HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n".encode())).address).replace(
                    "servers:", "max_response_header_bytes: 1MiB, servers:"))  # fmt: skip
        with Http2(gateway.address) as c:
            self.assertEqual(len([n for n, _ in c.ask().fields if n.startswith("x-a")]), 120)

    def test_a_reset_of_a_body_too_long_comes_by_itself(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h } }\nhttp: { max_refused_body_bytes: 1KiB }\n"
            + forwarding_to("echo", "l")
        )
        with Http2(gateway.address) as c:
            c.ask()
            stream = c.request(method="POST", end=False)
            c.wait(lambda: c.answer(stream).ended)
            c.data(stream, b"x" * 3000)
            c.wait(lambda: c.answer(stream).reset is not None, seconds=1)
            self.assertEqual(c.answer(stream).reset, NO_ERROR)


class Protocols(SystemTest):
    def test_a_preface_in_pieces(self):
        gateway, _ = self.proxy()
        with Http2(gateway.address, begins=False) as c:
            for byte in b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":
                c.send(bytes([byte]))
            c.send_frame(SETTINGS)
            self.assertEqual(c.ask().status, 200)

    def test_what_only_begins_like_a_preface(self):
        gateway, _ = self.proxy()
        with gateway.connect() as c:
            c.send(b"P")
            c.send(b"UT / HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n")
            self.assertEqual(c.response().status, 200)

    def test_listeners_speak_what_they_are_told(self):
        listeners = "listeners: [ { address: 127.0.0.1:0, protocols: [http/1.1] } ]\n"
        gateway = self.gateway(listeners + forwarding_to("echo"))
        with Http2(gateway.address) as c:
            c.wait_for_end()
            self.assertEqual(c.settings, {})
        self.assertEqual(gateway.get().status, 200)


class OverTls(SystemTest):
    def setUp(self):
        self.tls = Certificates(self.directory())
        self.tls.issue("gateway.test", "DNS:gateway.test")

    def test_alpn_chooses(self):
        gateway, origin = self.proxy()
        with Http2(gateway.address) as c:
            self.assertEqual(c.raw.selected_alpn_protocol(), "h2")
            self.assertEqual(c.ask("/two").status, 200)
        self.assertEqual(gateway.get("/one").status, 200)
        self.assertEqual([r.target for r in origin.requests], ["/two", "/one"])
        self.assertEqual(origin.last().all("x-forwarded-proto"), ["https"])
