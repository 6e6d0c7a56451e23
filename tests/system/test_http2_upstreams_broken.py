"""Upstreams that break the rules of HTTP/2: a clear 502 or a cut response, and never that of another request."""
import json
import struct
import threading
import time

from harness.client import Closed
from harness.http2 import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    INTERNAL_ERROR,
    PING,
    PROTOCOL_ERROR,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Http2,
    frame,
)
from harness.http2_cases import block
from harness.http2_upstream_case import ASKS, Http2UpstreamTest, over_http2
from harness.listener import Listener
from harness.process import wait_until

OK = [(":status", "200")]
LARGEST_WINDOW = 2**31 - 1


def raw(kind, flags, payload, stream=None):
    """Sends a frame on the request's stream, or on that one."""
    return lambda call: call.peer.send_frame(kind, flags, call.number if stream is None else stream, payload)


def fields(*lines, end=True):
    """Sends a block of these fields, whatever they are; literals, so that no table of HPACK changes."""
    flags = END_HEADERS | (END_STREAM if end else 0)
    return raw(HEADERS, flags, block(lines))


def steps(*each):
    return lambda call: [step(call) for step in each]


def data(content, end=True):
    return raw(DATA, END_STREAM if end else 0, content)


def large_block(size):
    """HEADERS without an end, and CONTINUATION frames for as long as the gateway takes them."""

    def script(call):
        raw(HEADERS, END_STREAM, block(OK))(call)
        piece = block([("x-a", "v" * 16000)])
        for _ in range(size // len(piece)):
            raw(CONTINUATION, 0, piece)(call)
        raw(CONTINUATION, END_HEADERS, b"")(call)

    return script


# Responses that are malformed (RFC 9113 §8.1.1), while the connection is not: another request on it goes on.
MALFORMED = {
    "a name in upper case": fields(*OK, ("X-Upper", "1")),
    "no status": fields(("x-a", "1")),
    "no field at all": fields(),
    "an empty status": fields((":status", "")),
    "a status of two digits": fields((":status", "20")),
    "a status of four digits": fields((":status", "2000")),
    "a status that is no number": fields((":status", "2x0")),
    "status 099": fields((":status", "099")),
    "status 101": fields((":status", "101"), end=False),
    "two statuses": fields((":status", "200"), (":status", "200")),
    "a pseudo-field behind others": fields(("x-a", "1"), (":status", "200")),
    "a pseudo-field of requests": fields(*OK, (":path", "/")),
    "an unknown pseudo-field": fields(*OK, (":version", "2")),
    "connection": fields(*OK, ("connection", "close")),
    "keep-alive": fields(*OK, ("keep-alive", "timeout=5")),
    "proxy-connection": fields(*OK, ("proxy-connection", "close")),
    "transfer-encoding": fields(*OK, ("transfer-encoding", "chunked")),
    "upgrade": fields(*OK, ("upgrade", "h2c")),
    "an empty name": fields(*OK, ("", "1")),
    "a name with a space": fields(*OK, ("x a", "1")),
    "a name with a colon": fields(*OK, ("x:a", "1")),
    "a value with CR LF": fields(*OK, ("x-a", "1\r\nx-b: 2")),
    "a value with LF": fields(*OK, ("x-a", "1\nx-b: 2")),
    "a value with NUL": fields(*OK, ("x-a", "1\0")),
    "a length without content": fields(*OK, ("content-length", "5")),
    "two lengths": steps(fields(*OK, ("content-length", "5"), ("content-length", "6"), end=False), data(b"hello")),
    "a length that is no number": steps(fields(*OK, ("content-length", "5x"), end=False), data(b"hello")),
    "a length with a sign": steps(fields(*OK, ("content-length", "+5"), end=False), data(b"hello")),
    "a length beyond 63 bits": steps(fields(*OK, ("content-length", "9" * 20), end=False), data(b"hello")),
    "an interim response that ends the stream": fields((":status", "103")),
    "no final response": steps(fields((":status", "103"), end=False), data(b"")),
    "DATA behind an interim response": steps(fields((":status", "103"), end=False), data(b"hello")),
    "a reset": raw(RST_STREAM, 0, struct.pack(">I", INTERNAL_ERROR)),
}

# The same, behind a response's head and a part of its content.
CUT = {
    "content beyond its length": steps(fields(*OK, ("content-length", "3"), end=False), data(b"hello")),
    "content short of its length": steps(fields(*OK, ("content-length", "9"), end=False), data(b"hello")),
    "trailers with a status": steps(fields(*OK, end=False), data(b"hello", False), fields(*OK)),
    "trailers with a path": steps(fields(*OK, end=False), data(b"hello", False), fields((":path", "/"))),
    "trailers in upper case": steps(fields(*OK, end=False), data(b"hello", False), fields(("X-A", "1"))),
    "trailers with LF": steps(fields(*OK, end=False), data(b"hello", False), fields(("x-a", "1\nx-b: 2"))),
    "trailers that do not end the stream": steps(
        fields(*OK, end=False), data(b"hello", False), fields(("x-a", "1"), end=False)
    ),
    "a second response": steps(fields(*OK, end=False), data(b"hello", False), fields(*OK, ("x-a", "1"), end=False)),
    "an interim response behind the head": steps(
        fields(*OK, end=False), data(b"hello", False), fields((":status", "103"), end=False)
    ),
    "a reset": steps(
        fields(*OK, end=False), data(b"hello", False), raw(RST_STREAM, 0, struct.pack(">I", INTERNAL_ERROR))
    ),
    "trailers beyond the bound": steps(
        fields(*OK, end=False), data(b"hello", False), fields(*(("x-a", "v" * 1000) for _ in range(12)))
    ),
}

# Errors of the connection: the gateway ends it, and everything on it.
CONNECTION = {
    "DATA before HEADERS": data(b"hello"),
    "PUSH_PROMISE": raw(PUSH_PROMISE, END_HEADERS, struct.pack(">I", 2) + block([(":method", "GET")])),
    "an index of HPACK beyond the table": raw(HEADERS, END_HEADERS | END_STREAM, b"\xff\xff\xff\x7f"),
    "a block of HPACK that ends early": raw(HEADERS, END_HEADERS | END_STREAM, b"\x00\x05x"),
    "a table of HPACK beyond its bound": raw(HEADERS, END_HEADERS | END_STREAM, b"\x3f\xff\xff\x7f\x88"),
    "Huffman code that ends early": raw(HEADERS, END_HEADERS | END_STREAM, b"\x00\x82\xff\xff\x01a"),
    "a frame beyond the largest": raw(DATA, 0, b"x" * 16385),
    "DATA on stream 0": raw(DATA, 0, b"x", 0),
    "HEADERS on stream 0": raw(HEADERS, END_HEADERS, block(OK), 0),
    "RST_STREAM on stream 0": raw(RST_STREAM, 0, bytes(4), 0),
    "RST_STREAM on a stream that is none": raw(RST_STREAM, 0, bytes(4), 9999),
    "RST_STREAM of 3 bytes": raw(RST_STREAM, 0, bytes(3)),
    "HEADERS on a stream that is none": raw(HEADERS, END_HEADERS, block(OK), 9999),
    "HEADERS on a stream of the server's": raw(HEADERS, END_HEADERS, block(OK), 2),
    "DATA on a stream that is none": raw(DATA, 0, b"x", 9999),
    "WINDOW_UPDATE of 0": raw(WINDOW_UPDATE, 0, bytes(4), 0),
    "WINDOW_UPDATE beyond the largest": raw(WINDOW_UPDATE, 0, struct.pack(">I", LARGEST_WINDOW), 0),
    "SETTINGS on a stream": raw(SETTINGS, 0, b""),
    "SETTINGS of 5 bytes": raw(SETTINGS, 0, bytes(5), 0),
    "SETTINGS with a frame size of 1": raw(SETTINGS, 0, struct.pack(">HI", 5, 1), 0),
    "SETTINGS with a window beyond the largest": raw(SETTINGS, 0, struct.pack(">HI", 4, 2**31), 0),
    "SETTINGS that turn push on": raw(SETTINGS, 0, struct.pack(">HI", 2, 1), 0),
    "an acknowledgement with content": raw(SETTINGS, ACK, bytes(6), 0),
    "PING of 7 bytes": raw(PING, 0, bytes(7), 0),
    "PING on a stream": raw(PING, 0, bytes(8)),
    "GOAWAY on a stream": raw(GOAWAY, 0, bytes(8)),
    "CONTINUATION alone": raw(CONTINUATION, END_HEADERS, block(OK)),
    "a frame within a field block": steps(raw(HEADERS, 0, block(OK)), data(b"x")),
    "padding beyond the frame": raw(DATA, 0x8, b"\x09abc"),
    "GOAWAY with an error, and the end": steps(
        raw(GOAWAY, 0, struct.pack(">II", LARGEST_WINDOW, PROTOCOL_ERROR), 0), lambda call: call.peer.close()
    ),
    "the end": lambda call: call.peer.close(),
    "a reset of TCP": lambda call: call.peer.cut(),
}


class Broken(Http2UpstreamTest):
    def broken(self, **options):
        """A gateway and a server that does to requests for /N what the N-th of the scripts says, and answers
        others with their own target. A request for /held waits until `release` is set."""
        self.scripts, self.release = {}, threading.Event()
        self.addCleanup(self.release.set)

        def script(call):
            call.read_body()
            found = self.scripts.get(call.target)
            if found is not None:
                found(call)
                return
            if call.target.startswith("/held"):
                self.release.wait(20)
            call.reply(body=call.target.encode())

        return self.through(script, **options)

    def assert_fine(self, gateway, name):
        for _, ask in ASKS:
            got = ask(gateway, f"/fine/{name}".replace(" ", "_"))
            self.assertEqual((got.status, got.body), (200, f"/fine/{name}".replace(" ", "_").encode()))

    def assert_logged(self, gateway, target):
        """The access log says why."""

        def lines():
            with open(gateway.log_path, encoding="utf-8") as f:
                found = [json.loads(line) for line in f if line.endswith("\n")]
            return [line for line in found if line["target"] == target]

        for line in wait_until(lines, what="a line of the access log"):
            self.assertTrue(line["error"], line)

    def each(self, cases, check):
        gateway, origin = self.broken()
        self.assert_fine(gateway, "first")
        for number, (name, script) in enumerate(cases.items()):
            for client, ask in ASKS:
                with self.subTest(case=name, client=client):
                    target = f"/{number}/{client[:2]}"
                    self.scripts[target] = script
                    check(gateway, origin, lambda **more: ask(gateway, target, method="POST", **more))
                    self.assert_logged(gateway, target)
                    self.assert_fine(gateway, name)
                    self.assertEqual(origin.targets().count(target), 1)
        return gateway, origin


class Streams(Broken):
    def test_malformed_responses(self):
        def check(gateway, origin, ask):
            got = ask(body=b"x")
            self.assertEqual((got.status, got.whole), (502, True))
            self.assertEqual(got["content-type"], "application/problem+json")

        gateway, _ = self.each(MALFORMED, check)
        self.assertEqual(self.failures(gateway, "bad_response"), 2 * (len(MALFORMED) - 1))
        self.assertEqual(self.failures(gateway, "reset"), 2)

    def test_a_response_is_cut(self):
        def check(gateway, origin, ask):
            got = ask(body=b"x")
            self.assertIn(got.status, (None, 200, 502))
            self.assertTrue(got.status == 502 or not got.whole, got)

        self.each(CUT, check)

    def test_other_streams_go_on(self):
        gateway, origin = self.broken()
        cases = [*MALFORMED.values(), *CUT.values()]
        for number, script in enumerate(cases):
            self.scripts[f"/{number}"] = script
        with Http2(gateway.address) as c:
            held = [c.request(f"/held/{i}") for i in range(20)]
            self.wait_for_requests(origin, 20)
            for number in range(len(cases)):
                c.ask(f"/{number}", body=b"x", method="POST")
            self.release.set()
            for i, answer in enumerate(c.wait_for(*held)):
                self.assertEqual((answer.status, answer.body), (200, f"/held/{i}".encode()))
        self.assertEqual(origin.connections, 1)

    def test_content_where_none_may_be(self):
        gateway, _ = self.broken()
        cases = {
            "/head": ("HEAD", steps(fields(*OK, end=False), data(b"hello"))),
            "/204": ("GET", steps(fields((":status", "204"), end=False), data(b"hello"))),
            "/304": ("GET", steps(fields((":status", "304"), end=False), data(b"hello"))),
        }
        for target, (method, script) in cases.items():
            self.scripts[target] = script
            for client, ask in ASKS:
                with self.subTest(target=target, client=client):
                    got = ask(gateway, target, method=method)
                    self.assertIn(got.status, (None, 200, 204, 304, 502))
                    self.assertNotIn(b"hello", got.body)
                    self.assert_fine(gateway, target)
            with gateway.connect() as c:
                c.request(target, method=method)
                try:
                    c.response(head=method == "HEAD")
                    self.assertEqual(c.ask("/fine").body, b"/fine")
                except (Closed, ConnectionError):
                    pass  # it may be closed, but not carry what was not asked for

    def test_a_reset_without_an_error_is_no_response(self):
        gateway, _ = self.broken()
        self.scripts["/a"] = raw(RST_STREAM, 0, bytes(4))
        for client, ask in ASKS:
            with self.subTest(client=client):
                self.assertEqual(ask(gateway, "/a", method="POST", body=b"x").status, 502)

    def test_an_http_1_client_gets_no_other_response(self):
        """The next request of a connection has its own response, or there is no connection."""
        gateway, _ = self.broken()
        for number, script in enumerate([*MALFORMED.values(), *CUT.values(), *CONNECTION.values()]):
            self.scripts[f"/{number}"] = script
            with gateway.connect() as c:
                try:
                    c.ask(f"/{number}", method="POST", body=b"x")
                    self.assertEqual(c.ask(f"/fine/{number}").body, f"/fine/{number}".encode())
                except (Closed, ConnectionError):
                    pass

    def test_bounds_of_headers(self):
        many = fields(*OK, *((f"x-{i}", "1") for i in range(300)))
        long = fields(*OK, *((f"x-{i}", "v" * 1000) for i in range(15)))
        interims = steps(*[fields((":status", "103"), ("link", "</a>"), end=False)] * 6, fields(*OK))
        for bounds, script in (
            ("", many),
            (", max_response_header_bytes: 8KiB", long),
            (", max_response_headers: 10", fields(*OK, *((f"x-{i}", "1") for i in range(12)))),
            (", max_interim_responses: 5", interims),
        ):
            gateway, origin = self.broken(options=bounds)
            self.scripts["/a"] = script
            for client, ask in ASKS:
                with self.subTest(bounds=bounds, client=client):
                    self.assertEqual(ask(gateway, "/a", method="POST", body=b"x").status, 502)
                    self.assert_logged(gateway, "/a")
                    self.assert_fine(gateway, "bounds")
            origin.stop()

    def test_a_header_without_end(self):
        gateway, _ = self.broken()
        self.scripts["/a"] = large_block(2 << 20)
        before = gateway.memory()
        for client, ask in ASKS:
            with self.subTest(client=client):
                self.assertEqual(ask(gateway, "/a", method="POST", body=b"x").status, 502)
                self.assert_fine(gateway, "a header without end")
        self.assert_grew_less(gateway, before, 16 << 20)

    def test_a_bomb_of_hpack(self):
        """One field in the table, named twelve thousand times."""

        def script(call):
            field = b"\x40" + b"\x03x-a" + b"\x7f\xa1\x1e" + b"v" * 4000  # into the table: index 62
            bomb = b"\x88" + field + b"\xbe" * 12000
            raw(HEADERS, END_HEADERS | END_STREAM, bomb)(call)

        gateway, _ = self.broken()
        self.scripts["/a"] = script
        before = gateway.memory()
        for client, ask in ASKS:
            with self.subTest(client=client):
                self.assertEqual(ask(gateway, "/a", method="POST", body=b"x").status, 502)
                self.assert_fine(gateway, "a bomb")
        gateway.wait_for_diagnostic("a header is far larger than max_response_header_bytes")
        self.assert_grew_less(gateway, before, 16 << 20)


class Connections(Broken):
    def test_errors_of_the_connection(self):
        def check(gateway, origin, ask):
            self.assert_fine(gateway, "before")
            (peer,) = origin.open_peers()
            got = ask(body=b"x")
            self.assertEqual((got.status, got.whole), (502, True))
            wait_until(lambda: peer.closed, what="the end of the connection")

        self.each(CONNECTION, check)

    def test_everything_on_the_connection_ends_or_is_repeated(self):
        """A POST with content has no response; a GET may be asked once more."""
        gateway, origin = self.broken()
        self.assert_fine(gateway, "first")
        for number, script in enumerate(CONNECTION.values()):
            self.scripts[f"/{number}"] = script
        with Http2(gateway.address) as c:
            for number in range(len(CONNECTION)):
                self.release.clear()
                before = len(origin.requests)
                posts = [c.request(f"/held/post/{number}/{i}", method="POST", end=False) for i in range(3)]
                for stream in posts:
                    c.data(stream, b"x", end=True)
                gets = [c.request(f"/held/get/{number}/{i}") for i in range(3)]
                self.wait_for_requests(origin, before + 6)
                c.ask(f"/{number}", body=b"x", method="POST")
                for answer in c.wait_for(*posts):
                    self.assertEqual(answer.status, 502)
                self.release.set()
                for i, answer in enumerate(c.wait_for(*gets)):
                    self.assertEqual((answer.status, answer.body), (200, f"/held/get/{number}/{i}".encode()))
        targets = origin.targets()
        self.assertEqual({targets.count(t) for t in targets if "post" in t}, {1})

    def test_a_response_is_cut_with_its_connection(self):
        gateway, origin = self.broken()
        head = steps(fields(*OK, end=False), data(b"hello", False))
        for number, (name, script) in enumerate(CONNECTION.items()):
            if name == "DATA before HEADERS":
                continue
            self.scripts[f"/{number}"] = steps(head, script)
            for client, ask in ASKS:
                with self.subTest(case=name, client=client):
                    got = ask(gateway, f"/{number}")
                    self.assertTrue(got.status == 502 or not got.whole, got)
                    self.assert_fine(gateway, f"after {number}")

    def test_more_than_the_windows_hold(self):
        def script(call):
            call.head(200)
            for _ in range(65536):
                call.peer.send_frame(DATA, 0, call.number, b"x" * 16384)

        gateway, origin = self.broken()
        self.scripts["/a"] = script
        with gateway.connect(receive_buffer=4096) as c:
            c.request("/a")
            self.assertEqual(c.head().status, 200)
            peer = self.wait_for_requests(origin, 1).peer
            wait_until(lambda: peer.closed or origin.last().reset is not None, what="the flood's end")
        self.assert_grew_less(gateway, 0, 200 << 20)
        self.assert_fine(gateway, "a flood")

    def test_a_server_that_speaks_something_else(self):
        for answer in (
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
            b"SSH-2.0-OpenSSH_9.2\r\n",
            frame(PING, 0, 0, bytes(8)),
            b"\0" * 100,
            b"",
        ):
            with self.subTest(answer=answer[:20]):
                server = self.started(Listener(lambda connected, answer=answer: (connected.recv(1000), connected.sendall(answer))))
                gateway = self.gateway(over_http2(f"127.0.0.1:{server.port}"))
                began = time.monotonic()
                for client, ask in ASKS:
                    self.assertEqual(ask(gateway, "/a", method="POST", body=b"x").status, 502)
                self.assertLess(time.monotonic() - began, 10)
                self.assert_logged(gateway, "/a")

    def test_a_server_that_says_nothing(self):
        go = threading.Event()
        self.addCleanup(go.set)
        server = self.started(Listener(lambda connected: go.wait(30)))
        gateway = self.gateway(over_http2(f"127.0.0.1:{server.port}", options=", response_timeout: 500ms, connect_timeout: 500ms"))
        for client, ask in ASKS:
            with self.subTest(client=client):
                self.assertEqual(ask(gateway, "/a").status, 504)

    def test_frames_that_do_no_work(self):
        """A server may not keep the gateway busy for ever."""
        gateway, _ = self.broken()
        for name, one in (("SETTINGS", frame(SETTINGS, 0, 0)), ("PING", frame(PING, 0, 0, bytes(8)))):
            with self.subTest(flood=name):

                def script(call, one=one):
                    for _ in range(2000):
                        call.peer.send(one * 100)

                self.scripts["/a"] = script
                before = gateway.memory()
                got = ASKS[0][1](gateway, "/a", method="POST", body=b"x")
                self.assertEqual((got.status, got.whole), (502, True))
                self.assert_grew_less(gateway, before, 32 << 20)
                self.assert_fine(gateway, name)
