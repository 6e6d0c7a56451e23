"""Connections to upstreams that speak HTTP/2: streams and their bound, windows, GOAWAY."""
import threading

from harness.case import only_as_shipped
from harness.http2 import CANCEL, INITIAL_WINDOW, INTERNAL_ERROR, MAX_STREAMS, REFUSED_STREAM, Http2
from harness.http2_upstream_case import ASKS, StreamsTest, chunked
from harness.process import run_tool, wait_until

LATEST = 2**31 - 1
MIB = 1 << 20
# Bytes of content that the gateway keeps in case a server refuses the request.
KEPT = 16384


class Streams(StreamsTest):
    def test_requests_in_a_row_share_a_connection(self):
        gateway, origin = self.through()
        with gateway.connect() as c:
            for _ in range(300):
                self.assertEqual(c.ask().status, 200)
        self.assertEqual(origin.connections, 1)

    def test_requests_at_once_share_a_connection_up_to_a_hundred(self):
        gateway, origin, held = self.held(more="http2: { max_streams: 200 }\n")
        targets = [f"/{i}" for i in range(150)]
        with Http2(gateway.address) as c:
            streams = self.begin(c, *targets)
            self.wait_for_requests(origin, 150)
            self.assertEqual(origin.connections, 2)
            self.assertEqual(sorted(p.most_open for p in origin.peers), [50, 100])
            held.let_go(150)
            self.assert_all_well(c, streams, targets)

    def test_requests_wait_for_the_connection_that_is_being_made(self):
        gateway, origin, held = self.held()
        accepted, go = threading.Event(), threading.Event()
        self.addCleanup(go.set)

        def before(_):
            accepted.set()
            go.wait(10)

        origin.before = before
        targets = [f"/{i}" for i in range(30)]
        with Http2(gateway.address) as c, gateway.connect() as other:
            streams = self.begin(c, *targets[:1])
            self.assertTrue(accepted.wait(10))
            streams += self.begin(c, *targets[1:])
            other.request("/other")
            c.ping()
            go.set()
            self.wait_for_requests(origin, 31)
            self.assertEqual(origin.connections, 1)
            held.let_go(31)
            self.assert_all_well(c, streams, targets)
            self.assertEqual(other.response().body, b"/other")

    def test_the_servers_bound_of_streams(self):
        for bound in (1, 3):
            gateway, origin, held = self.held(settings={MAX_STREAMS: bound})
            targets = [f"/{i}" for i in range(10)]
            with Http2(gateway.address) as c:
                streams = self.begin(c, *targets)
                self.wait_for_requests(origin, 10)
                self.assertEqual({p.most_open for p in origin.peers if p.most_open > bound}, set())
                self.assertLessEqual(origin.connections, 10)
                held.let_go(10)
                self.assert_all_well(c, streams, targets)

    def test_content_is_not_lost_because_the_servers_bound_is_not_known_yet(self):
        """Large content cannot be sent again, so it must not meet that bound."""
        gateway, origin, held = self.held(settings={MAX_STREAMS: 2})
        held.let_go(100)
        targets = [f"/{i}" for i in range(12)]
        with Http2(gateway.address) as c:
            streams = [c.request(target, method="POST", end=False) for target in targets]
            for stream in streams:
                c.upload(stream, b"x" * 2 * KEPT)
            self.assert_all_well(c, streams, targets)
        self.assertEqual(len(origin.requests), 12)

    def test_a_bound_that_is_lowered_later(self):
        gateway, origin, held = self.held()
        with Http2(gateway.address) as c:
            first = self.begin(c, "/a", "/b", "/c")
            peer = self.wait_for_requests(origin, 3).peer
            peer.settle({MAX_STREAMS: 1})
            peer.wait_for_settled()
            second = self.begin(c, "/d")
            self.assertIsNot(self.wait_for_requests(origin, 4).peer, peer)
            held.let_go(4)
            self.assert_all_well(c, first + second, ["/a", "/b", "/c", "/d"])
            peer.settle({MAX_STREAMS: 100})
            peer.wait_for_settled()
            streams = self.begin(c, "/e", "/f")
            held.let_go(2)
            self.assert_all_well(c, streams, ["/e", "/f"])
        self.assertLessEqual(origin.connections, 3)

    def test_a_server_that_takes_no_stream(self):
        gateway, origin = self.through(settings={MAX_STREAMS: 0}, options=", connect_timeout: 500ms, response_timeout: 500ms")
        for name, ask in ASKS:
            with self.subTest(client=name):
                self.assertEqual(ask(gateway, "/a", method="POST", body=b"x").status, 502)
        self.assertLessEqual(origin.connections, 10)
        self.assertEqual(origin.requests, [])
        origin.settings = {}
        for peer in origin.open_peers():
            peer.settle({MAX_STREAMS: 100})
        wait_until(lambda: gateway.get().status == 200)

    def test_max_connections_bounds_streams_and_the_rest_wait(self):
        gateway, origin, held = self.held(options=", max_connections: 2, queue_timeout: 60s")
        queued = lambda: gateway.metrics().sum("gateway_upstream_queue_length")  # noqa: E731
        targets = [f"/{i}" for i in range(10)]
        with Http2(gateway.address) as c:
            streams = self.begin(c, *targets)
            wait_until(lambda: queued() == 8, what="eight to wait")
            self.wait_for_requests(origin, 2)
            self.assertEqual(len(origin.requests), 2)
            self.assertEqual(
                gateway.metrics().sum("gateway_upstream_server_connections", server=origin.address, state="active"), 2
            )
            held.let_go(10)
            self.assert_all_well(c, streams, targets)
        self.assertEqual(origin.connections, 1)
        self.assertEqual(queued(), 0)

    def test_a_full_queue_is_503(self):
        gateway, origin, held = self.held(options=", max_connections: 1, max_queue: 1, queue_timeout: 60s")
        with Http2(gateway.address) as c:
            streams = self.begin(c, "/a", "/b")
            wait_until(lambda: gateway.metrics().sum("gateway_upstream_queue_length") == 1)
            self.assertEqual(c.ask("/c").status, 503)
            held.let_go(2)
            self.assert_all_well(c, streams, ["/a", "/b"])

    def test_a_refused_stream_is_sent_again(self):
        refused = []

        def script(call):
            call.read_body()
            if call.target not in refused:
                refused.append(call.target)
                call.reset_with(REFUSED_STREAM)
            else:
                call.reply()

        gateway, origin = self.through(script)
        for name, ask in ASKS:
            for method in ("GET", "POST", "DELETE", "PATCH"):
                with self.subTest(client=name, method=method):
                    target = f"/{name[-1]}/{method}"
                    self.assertEqual(ask(gateway, target, method=method).status, 200)
                    self.assertEqual(origin.targets().count(target), 2)
            for size, status, count in ((1, 200, 2), (KEPT, 200, 2), (KEPT + 1, 502, 1), (10 * KEPT, 502, 1)):
                for length in (True, False):
                    with self.subTest(client=name, size=size, length=length):
                        target = f"/{name[-1]}/{size}/{length}"
                        body = b"x" * size
                        self.assertEqual(ask(gateway, target, method="POST", body=body, length=length).status, status)
                        self.assertEqual([c.body for c in origin.requests if c.target == target], [body] * count)
        self.assertGreaterEqual(gateway.metrics().count("gateway_upstream_retries_total", result="sent"), 8)

    def test_a_request_is_refused_while_its_content_comes(self):
        """It is sent again with what had come, and goes on; or it fails, and is never another one."""
        refused = []

        def script(call):
            if call.target not in refused:
                size = int(call.target.rpartition("/")[2])
                call.wait(lambda: len(call.body) >= size)
                refused.append(call.target)
                call.reset_with(REFUSED_STREAM)
            else:
                body = call.read_body()
                call.reply(body=body + repr(call.trailers).encode())

        gateway, origin = self.through(script)
        for size in (0, 1, 5000, KEPT):
            for rest in (b"", b"rest", b"r" * 3 * KEPT):
                with self.subTest(size=size, rest=len(rest)), Http2(gateway.address) as c, gateway.connect() as h1:
                    targets = [f"/{protocol}/{len(rest)}/{size}" for protocol in (1, 2)]
                    h1.send(f"POST {targets[0]} HTTP/1.1\r\nHost: gateway.test\r\nTransfer-Encoding: chunked\r\n\r\n")
                    h1.send(chunked(b"f" * size))
                    stream = c.request(targets[1], method="POST", end=False)
                    c.upload(stream, b"f" * size, end=False)
                    wait_until(lambda: [origin.targets().count(t) for t in targets] == [2, 2], what="a second attempt of both")
                    c.upload(stream, rest, end=False)
                    if not c.answer(stream).over:
                        c.trailers(stream, [("x-up", "1")])
                    h1.send(chunked(rest) + b"0\r\nX-Up: 1\r\n\r\n")
                    whole = b"f" * size + rest + b"[('x-up', '1')]"
                    for answer in (c.wait_for(stream), h1.response()):
                        self.assertEqual((answer.status, answer.body), (200, whole))
        self.assertEqual(gateway.get("/0").status, 200)
        self.assertLessEqual(origin.connections, 2)

    def test_a_stream_that_is_always_refused(self):
        def script(call):
            call.reset_with(REFUSED_STREAM)

        gateway, origin = self.through(script)
        for name, ask in ASKS:
            with self.subTest(client=name):
                before = len(origin.requests)
                self.assertIn(ask(gateway).status, (502, 503))
                self.assertLessEqual(len(origin.requests) - before, 5)

    def test_a_response_too_late(self):
        gateway, origin, held = self.held(options=", response_timeout: 300ms")
        with Http2(gateway.address) as c:
            for count in range(1, 4):
                stream = self.begin(c, "/late")[0]
                call = self.wait_for_requests(origin, count)
                self.assertEqual(call.wait_for_reset(), CANCEL)
                self.assertEqual(c.wait_for(stream).status, 504)
            held.let_go(4)
            self.assertEqual(c.ask("/fine").body, b"/fine")
        self.assertEqual(origin.connections, 1)

    def test_a_body_that_stops(self):
        def script(call):
            call.head(200)
            call.data(b"abc")

        gateway, origin = self.through(script, more="http: { body_timeout: 300ms }\n")
        for count, (name, ask) in enumerate(ASKS, 1):
            with self.subTest(client=name):
                self.assertFalse(ask(gateway).whole)
                self.assertEqual(origin.requests[count - 1].wait_for_reset(), CANCEL)
        self.assertEqual(origin.connections, 1)


class Windows(StreamsTest):
    """The server's harness fails the test if the gateway sends more than the windows hold."""

    def test_tiny_windows_of_the_server(self):
        for window in (1, 10, 1000):
            gateway, origin = self.through(settings={INITIAL_WINDOW: window})
            for name, ask in ASKS:
                with self.subTest(window=window, client=name):
                    body = bytes(range(200)) * (1 if window == 1 else 20)
                    self.assertEqual(ask(gateway, method="POST", body=body).status, 200)
                    self.assertEqual(origin.last().body, body)

    def test_a_window_that_is_shut_at_first_and_changes(self):
        gateway, origin = self.through(settings={INITIAL_WINDOW: 0})
        origin.opens_windows = False
        with gateway.connect() as c:
            self.assertEqual(c.ask("/first").status, 200)
            origin.last().peer.wait_for_settled()
            c.request(method="POST", body=b"x" * 100)
            call = self.wait_for_requests(origin, 2)
            call.peer.settle({INITIAL_WINDOW: 10})
            call.wait(lambda: len(call.body) == 10)
            call.peer.settle({INITIAL_WINDOW: 5})
            call.peer.wait_for_settled()
            call.peer.open_window(call.number, 6)  # to 1 from -5
            call.wait(lambda: len(call.body) == 11)
            call.peer.settle({INITIAL_WINDOW: 1000})
            self.assertEqual(c.response().status, 200)
        self.assertEqual(call.body, b"x" * 100)

    def test_the_connections_window(self):
        gateway, origin = self.through(settings={INITIAL_WINDOW: MIB})
        origin.opens_windows = False
        with Http2(gateway.address) as c, gateway.connect() as other:
            stream = c.request("/large", method="POST", end=False)
            sender = threading.Thread(target=c.upload, args=(stream, b"x" * 100000))
            sender.start()
            call = self.wait_for_requests(origin, 1)
            call.wait(lambda: len(call.body) == 65535)
            self.assertEqual(other.ask("/get").status, 200)
            other.request("/post", method="POST", body=b"y" * 10)
            call.peer.open_window(0, 40000)
            self.assertEqual(other.response().status, 200)
            sender.join(10)
            self.assertEqual(c.wait_for(stream).status, 200)
        self.assertEqual((len(call.body), origin.connections), (100000, 1))

    def test_frames_no_larger_than_the_server_takes(self):
        gateway, origin = self.through(settings={INITIAL_WINDOW: 4 * MIB, 5: 1 << 20})
        for name, ask in ASKS:
            with self.subTest(client=name):
                self.assertEqual(ask(gateway, method="PUT", body=b"x" * 2 * MIB).status, 200)
                self.assertEqual(len(origin.last().body), 2 * MIB)


    def test_an_upload_that_its_server_does_not_take_is_not_kept(self):
        def script(call):
            call.wait_for_reset() if call.method == "POST" else call.reply()

        gateway, origin = self.through(script, settings={INITIAL_WINDOW: 0})
        origin.opens_windows = False
        self.assertEqual(gateway.get("/first").status, 200)
        before = gateway.memory()
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 100000000\r\n\r\n")
            self.wait_for_requests(origin, 2)
            c.socket.settimeout(0.5)
            with self.assertRaises(TimeoutError):
                for _ in range(1000):
                    c.send(b"x" * 100000)
            c.reset()
        self.assert_grew_less(gateway, before, 8 * MIB)
        self.assertEqual(origin.last().wait_for_reset(), CANCEL)


class Goaway(StreamsTest):
    def test_requests_in_flight_finish_and_new_ones_have_a_new_connection(self):
        gateway, origin, held = self.held()
        with Http2(gateway.address) as c:
            first = self.begin(c, "/a") + self.begin(c, "/b", method="POST", body=b"x")
            old = self.wait_for_requests(origin, 2).peer
            old.say_goodbye(LATEST)
            old.say_goodbye(max(old.calls))
            held_by_new = self.begin(c, "/c")
            self.assertIsNot(self.wait_for_requests(origin, 3).peer, old)
            held.let_go(3)
            self.assert_all_well(c, first + held_by_new, ["/a", "/b", "/c"])
            wait_until(lambda: old.closed, what="the old connection's end")
        self.assertEqual((origin.connections, len(origin.requests)), (2, 3))

    def test_streams_above_the_last_are_sent_again_if_that_is_safe(self):
        gateway, origin, held = self.held()
        with Http2(gateway.address) as c:
            kept = self.begin(c, "/kept", method="POST", body=b"x")
            last = self.wait_for_requests(origin, 1)
            again = self.begin(c, "/get") + self.begin(c, "/post", method="POST")
            again += self.begin(c, "/small", method="POST", body=b"small")
            lost = c.request("/large", method="POST", end=False)
            c.upload(lost, b"x" * 2 * KEPT)
            self.wait_for_requests(origin, 5).read_body()
            last.peer.say_goodbye(last.number)
            self.wait_for_requests(origin, 8)
            self.assertEqual(c.wait_for(lost).status, 502)
            held.let_go(10)
            self.assert_all_well(c, kept + again, ["/kept", "/get", "/post", "/small"])
        targets = origin.targets()
        self.assertEqual([targets.count(t) for t in ("/kept", "/get", "/post", "/small", "/large")], [1, 2, 2, 2, 1])
        self.assertEqual([c.body for c in origin.requests if c.target == "/small"], [b"small"] * 2)
        self.assertEqual(origin.connections, 2)

    def test_an_idle_connection(self):
        gateway, origin = self.through()
        for count in range(1, 5):
            self.assertEqual(gateway.get().status, 200)
            (peer,) = origin.open_peers()
            peer.say_goodbye(max(peer.calls))
            wait_until(lambda: peer.closed)
            self.assertEqual(origin.connections, count)

    def test_goodbye_with_an_error(self):
        gateway, origin, held = self.held()
        with Http2(gateway.address) as c:
            lost = self.begin(c, "/body", method="POST", body=b"x")
            peer = self.wait_for_requests(origin, 1).peer
            peer.say_goodbye(LATEST, INTERNAL_ERROR)
            peer.close()
            self.assertEqual(c.wait_for(*lost).status, 502)
            held.let_go(2)
            self.assertEqual(c.ask("/fine").body, b"/fine")

    def test_a_server_that_says_goodbye_after_each_request(self):
        def script(call):
            call.read_body()
            call.peer.say_goodbye(call.number)
            call.reply(body=call.target.encode())

        gateway, origin = self.through(script)
        targets = [f"/{i}" for i in range(20)]
        with gateway.connect() as c:
            for target in targets:
                self.assertEqual(c.ask(target, method="POST", body=b"x").body, target.encode())
        self.assertEqual(origin.connections, 20)

    @only_as_shipped
    def test_restarts_under_load_lose_nothing(self):
        """The server says goodbye as RFC 9113 §6.8 wants: it waits a round trip between its two frames."""

        def script(call):
            call.read_body()
            call.reply()
            if call.number % 200 == 199:
                pings = call.peer.pongs
                call.peer.say_goodbye(LATEST)
                call.peer.ping()
                call.peer.wait(lambda: call.peer.pongs > pings)
                call.peer.say_goodbye(max(call.peer.calls))

        gateway, origin = self.through(script, options=", max_idle: 8")
        path = self.directory().file("body", "x" * 1000)
        url = "http://%s:%d/" % gateway.address
        status, said, _ = run_tool(["h2load", "-n", "2000", "-c", "4", "-m", "10", "-d", path, url])
        self.assertEqual(status, 0)
        self.assertIn("status codes: 2000 2xx", said)
        self.assertGreater(origin.connections, 5)
