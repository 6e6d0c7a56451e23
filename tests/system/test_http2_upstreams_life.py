"""Upstreams that speak HTTP/2: clients that leave or are slow, servers that end or are silent, reloads."""
import signal
import threading

from harness import websocket
from harness.http2 import CANCEL, INITIAL_WINDOW, INTERNAL_ERROR, REFUSED_STREAM, Http2
from harness.http2_origin import answer_ok
from harness.http2_upstream_case import ASKS, Held, StreamsTest, over_http2
from harness.process import wait_until

MIB = 1 << 20


class Clients(StreamsTest):
    """Clients that leave, and those that are slow."""

    def test_a_client_that_leaves_resets_its_stream_alone(self):
        gateway, origin, held = self.held()
        with Http2(gateway.address) as c:
            stays = self.begin(c, "/stays")
            leaves = self.begin(c, "/leaves")[0]
            call = self.wait_for_requests(origin, 2)
            c.reset(leaves)
            self.assertEqual(call.wait_for_reset(), CANCEL)
            h1 = gateway.connect()
            h1.request("/too")
            call = self.wait_for_requests(origin, 3)
            h1.reset()
            self.assertEqual(call.wait_for_reset(), CANCEL)
            held.let_go(4)
            self.assert_all_well(c, stays, ["/stays"])
            self.assertEqual(c.ask("/again").body, b"/again")
        self.assertEqual(origin.connections, 1)
        self.assertEqual([line["status"] for line in gateway.log_lines(4)].count(499), 2)

    def test_a_client_that_leaves_in_the_middle_of_a_body(self):
        def endless(call):
            call.head(200)
            while True:
                call.data(b"x" * 10000)

        gateway, origin = self.through(lambda call: endless(call) if call.target == "/endless" else answer_ok(call))
        with Http2(gateway.address) as c:
            stream = self.begin(c, "/endless")[0]
            c.wait(lambda: len(c.answer(stream).body) > MIB)
            c.reset(stream)
            self.assertEqual(self.wait_for_requests(origin, 1).wait_for_reset(), CANCEL)
        h1 = gateway.connect()
        h1.request("/endless")
        h1.read_exactly(MIB)
        h1.reset()
        self.assertEqual(self.wait_for_requests(origin, 2).wait_for_reset(), CANCEL)
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual(origin.connections, 1)

    def test_an_upload_that_its_client_cuts(self):
        gateway, origin = self.through(answer_ok)
        with Http2(gateway.address) as c:
            stream = c.request(method="POST", end=False)
            c.data(stream, b"abc")
            self.wait_for_requests(origin, 1).wait(lambda: origin.last().body)
            c.reset(stream)
            self.assertEqual(origin.last().wait_for_reset(), CANCEL)
        h1 = gateway.connect()
        h1.send("POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 10\r\n\r\nabc")
        self.wait_for_requests(origin, 2).wait(lambda: origin.last().body)
        h1.reset()
        self.assertEqual(origin.last().wait_for_reset(), CANCEL)
        self.assertFalse(any(call.ended for call in origin.requests))

    def test_an_upload_that_breaks_the_rules_does_not_end_at_the_server(self):
        """A server that saw the end of the stream would take a half of the content for the whole."""
        gateway, origin = self.through(answer_ok, more="http: { max_body_bytes: 1000 }\n")
        count = 0
        for fields, content, status in (
            ("Transfer-Encoding: chunked", "3\r\nabc\r\nxyz\r\n", 400),
            ("Transfer-Encoding: chunked", "3\r\nabcd\r\n0\r\n\r\n", 400),
            ("Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\nx y\r\n\r\n", 400),
            ("Transfer-Encoding: chunked", "3\r\nabc\r\n400\r\n" + "x" * 1024 + "\r\n0\r\n\r\n", 413),
        ):
            with self.subTest(content=content[:30]), gateway.connect() as c:
                c.send(f"POST / HTTP/1.1\r\nHost: gateway.test\r\n{fields}\r\n\r\n{content[:8]}")
                count += 1
                call = self.wait_for_requests(origin, count)
                c.send(content[8:])
                self.assertEqual(c.response().status, status)
                self.assertIsNotNone(call.wait_for_reset())
                self.assertFalse(call.ended)
        for length, content in (("5", b"abc"), ("2", b"abc")):
            with self.subTest(length=length), Http2(gateway.address) as c:
                stream = c.request("/", [("content-length", length)], method="POST", end=False)
                c.data(stream, content[:1])
                count += 1
                call = self.wait_for_requests(origin, count)
                c.data(stream, content[1:], end=True)
                self.assertIsNotNone(c.wait_for(stream).reset)
                self.assertIsNotNone(call.wait_for_reset())
                self.assertFalse(call.ended)
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual(origin.connections, 1)

    def test_a_client_that_leaves_frees_its_permit(self):
        held = Held()
        self.addCleanup(held.let_go, 1000)
        gateway, origin = self.through(
            held,
            more="limits: { l: { key: [], algorithm: concurrency, max: 1 } }\nroutes: [ { upstream: up, limits: [l] } ]\n",
            options=", response_timeout: 1h",
        )
        with Http2(gateway.address) as c:
            for count in range(1, 4):
                stream = self.begin(c, "/a")[0]
                call = self.wait_for_requests(origin, count)
                self.assertEqual(c.ask("/b").status, 429)
                c.reset(stream)
                self.assertEqual(call.wait_for_reset(), CANCEL)
                c.ping()
            stream = self.begin(c, "/c")
            self.wait_for_requests(origin, 4)
            held.let_go(4)
            self.assert_all_well(c, stream, ["/c"])

    def test_on_client_abort_finish(self):
        gateway, origin, held = self.held(more="routes: [ { upstream: up, on_client_abort: finish } ]\n")
        abandoned = lambda: gateway.metrics().sum("gateway_exchanges_abandoned")  # noqa: E731
        with Http2(gateway.address) as c:
            stream = self.begin(c, "/a")[0]
            call = self.wait_for_requests(origin, 1)
            c.reset(stream)
            wait_until(lambda: abandoned() == 1)
            held.let_go()
            wait_until(lambda: abandoned() == 0)
            self.assertIsNone(call.reset)
            held.let_go()
            self.assertEqual(c.ask("/b").body, b"/b")
        self.assertEqual(origin.connections, 1)

    def test_a_slow_client_stalls_no_other(self):
        """Neither another client's download nor an upload, on one upstream connection."""

        def script(call):
            body = call.read_body()
            call.reply(body=b"x" * (8 * MIB if call.target == "/slow" else 4 * MIB if not body else 10))

        gateway, origin = self.through(script)
        with Http2(gateway.address, opens_windows=False) as slow, gateway.connect(receive_buffer=4096) as slow_1:
            stuck = self.begin(slow, "/slow")[0]
            slow.wait(lambda: len(slow.answer(stuck).body) == 65535)
            slow_1.request("/slow")
            self.assertEqual(slow_1.head().status, 200)
            before = gateway.memory()
            for name, ask in ASKS:
                for _ in range(3):
                    with self.subTest(client=name):
                        self.assertEqual(len(ask(gateway, "/fast").body), 4 * MIB)
                        self.assertEqual(len(ask(gateway, "/fast", method="POST", body=b"u" * MIB).body), 10)
            self.assert_grew_less(gateway, before, 16 * MIB)
            slow.open_window(0, 64 * MIB)
            slow.open_window(stuck, 64 * MIB)
            self.assertEqual(len(slow.wait_for(stuck, seconds=30).body), 8 * MIB)
        self.assertEqual(origin.connections, 1)

    def test_a_slow_server_stalls_no_other_upload(self):
        gateway, origin = self.through(answer_ok, settings={INITIAL_WINDOW: 1000})
        origin.opens_windows = False
        with Http2(gateway.address) as c:
            self.assertEqual(c.ask("/first").status, 200)
            stuck = c.request("/stuck", method="POST", end=False)
            c.data(stuck, b"x" * 5000, end=True)
            call = self.wait_for_requests(origin, 2)
            call.wait(lambda: len(call.body) == 1000)
            for _ in range(10):
                self.assertEqual(c.ask("/small", method="POST", body=b"x" * 500).status, 200)
            for size in (1, 999, 3000):
                call.peer.open_window(call.number, size)
                call.peer.open_window(0, size)
            self.assertEqual(c.wait_for(stuck).status, 200)
            self.assertEqual(call.body, b"x" * 5000)


class Connecting(StreamsTest):
    """What happens while the first connection is being made."""

    def connecting(self, **options):
        """As `held`, with a server that greets nobody until `go` is set."""
        gateway, origin, held = self.held(**options)
        self.accepted, self.go = threading.Semaphore(0), threading.Event()
        self.addCleanup(self.go.set)

        def before(_):
            self.accepted.release()
            self.go.wait(20)

        origin.before = before
        return gateway, origin, held

    def test_clients_that_leave(self):
        gateway, origin, held = self.connecting()
        targets = [f"/{i}" for i in range(20)]
        with Http2(gateway.address) as c, gateway.connect() as h1:
            streams = self.begin(c, *targets)
            h1.request("/h1")
            self.assertTrue(self.accepted.acquire(timeout=10))
            c.ping()
            for stream in streams[:10]:
                c.reset(stream)
            c.ping()
            h1.reset()
            self.go.set()
            self.wait_for_requests(origin, 10)
            held.let_go(20)
            self.assert_all_well(c, streams[10:], targets[10:])
            self.assertEqual(c.ask("/fine").body, b"/fine")
        self.assertEqual(origin.connections, 1)

    def test_a_greeting_that_does_not_come(self):
        gateway, origin, held = self.connecting(options=", connect_timeout: 300ms, queue_timeout: 5s")
        with Http2(gateway.address) as c, gateway.connect() as h1:
            streams = self.begin(c, *(f"/{i}" for i in range(20)))
            h1.request("/h1", method="POST", body=b"x")
            self.assertEqual({a.status for a in c.wait_for(*streams)}, {504})
            self.assertEqual(h1.response().status, 504)
            self.assertEqual(origin.requests, [])
            self.go.set()
            held.let_go()
            self.assertEqual(c.ask("/fine").body, b"/fine")
        self.assertLess(origin.connections, 10)

    def test_a_reload(self):
        gateway, origin, held = self.connecting()
        other = self.http2_origin()
        with Http2(gateway.address) as c:
            stream = self.begin(c, "/a", method="POST", body=b"x")
            self.assertTrue(self.accepted.acquire(timeout=10))
            gateway.reload(over_http2(other.address))
            self.go.set()
            held.let_go(2)
            self.assert_all_well(c, stream, ["/a"])

    def test_a_drain(self):
        gateway, origin, held = self.connecting()
        held.let_go(2)
        with Http2(gateway.address) as c:
            stream = self.begin(c, "/a", method="POST", body=b"x")
            self.assertTrue(self.accepted.acquire(timeout=10))
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("drain")
            self.go.set()
            self.assert_all_well(c, stream, ["/a"])
        self.assertEqual(gateway.wait(), 0)


class Ends(StreamsTest):
    def test_a_connection_that_dies(self):
        gateway, origin, held = self.held()
        held.let_go()
        self.assertEqual(gateway.get("/first").status, 200)
        with Http2(gateway.address) as c:
            again = self.begin(c, "/get", "/get2") + self.begin(c, "/put", method="PUT")
            lost = self.begin(c, "/post", method="POST") + self.begin(c, "/body", method="PUT", body=b"x")
            self.wait_for_requests(origin, 6).peer.cut()
            self.assertEqual([a.status for a in c.wait_for(*lost)], [502, 502])
            self.wait_for_requests(origin, 9)
            held.let_go(9)
            self.assert_all_well(c, again, ["/get", "/get2", "/put"])
        targets = origin.targets()
        self.assertEqual([targets.count(t) for t in ("/get", "/put", "/post", "/body")], [2, 2, 1, 1])

    def test_a_connection_that_dies_behind_heads(self):
        def script(call):
            call.head(200, [("content-length", "10")])
            call.data(b"abc")

        gateway, origin = self.through(script)
        with Http2(gateway.address) as c:
            streams = self.begin(c, *(f"/{i}" for i in range(5)))
            c.wait(lambda: all(c.answer(s).body for s in streams))
            self.wait_for_requests(origin, 5).peer.cut()
            self.assertEqual([(a.ended, a.body) for a in c.wait_for(*streams)], [(False, b"abc")] * 5)
        self.assertEqual(len(origin.requests), 5)

    def test_idle_timeout_closes_the_connection(self):
        gateway, origin = self.through(options=", idle_timeout: 300ms")
        for count in range(1, 4):
            self.assertEqual(gateway.get().status, 200)
            wait_until(lambda: not origin.open_peers(), what="the idle connection's end")
            self.assertEqual(origin.connections, count)

    def test_a_connection_with_requests_is_not_idle(self):
        gateway, origin, held = self.held(options=", idle_timeout: 100ms")
        with Http2(gateway.address) as c:
            stream = self.begin(c, "/a")
            call = self.wait_for_requests(origin, 1)
            with self.assertRaises(AssertionError):
                wait_until(lambda: call.peer.closed or call.reset is not None, 0.5)
            held.let_go()
            self.assert_all_well(c, stream, ["/a"])
            wait_until(lambda: call.peer.closed)


    def test_without_max_idle_no_connection_is_kept(self):
        gateway, origin, held = self.held(options=", max_idle: 0")
        with Http2(gateway.address) as c:
            streams = self.begin(c, "/a", "/b")
            peer = self.wait_for_requests(origin, 2).peer
            held.let_go(2)
            self.assert_all_well(c, streams, ["/a", "/b"])
            wait_until(lambda: peer.closed, what="the end of the connection")


class Silence(StreamsTest):
    """PING finds out whether a silent server is alive."""

    long = True

    def test_a_server_that_answers_pings_may_take_its_time(self):
        gateway, origin, held = self.held(options=", response_timeout: 2m")
        with Http2(gateway.address) as c:
            stream = self.begin(c, "/a", method="POST", body=b"x")
            peer = self.wait_for_requests(origin, 1).peer
            wait_until(lambda: peer.pings, 40, "PING in the silence")
            with self.assertRaises(AssertionError):
                wait_until(lambda: peer.closed, 7)
            held.let_go()
            self.assert_all_well(c, stream, ["/a"])
        # Servers of gRPC take more PINGs in so short a time for an attack.
        self.assertEqual((origin.connections, peer.pings), (1, 1))

    def test_a_server_that_answers_no_ping_is_given_up(self):
        gateway, origin, held = self.held(options=", response_timeout: 2m")
        origin.answers_pings = False
        with Http2(gateway.address) as c:
            stream = self.begin(c, "/a", method="POST", body=b"x")[0]
            peer = self.wait_for_requests(origin, 1).peer
            wait_until(lambda: peer.pings, 40, "PING in the silence")
            c.wait(lambda: c.answer(stream).over, 60)
            self.assertIn(c.answer(stream).status, (502, 504))
            wait_until(lambda: peer.closed)
            origin.answers_pings = True
            held.let_go(2)
            self.assertEqual(c.ask("/fine").body, b"/fine")
        self.assertTrue(gateway.log_lines(2)[0]["error"])

    def test_an_idle_connection_is_not_asked(self):
        gateway, origin, held = self.held()
        held.let_go()
        self.assertEqual(gateway.get().status, 200)
        (peer,) = origin.open_peers()
        before = peer.pings
        held.let_go()
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual((peer.pings, peer.closed), (before, False))


class Servers(StreamsTest):
    def test_round_robin(self):
        origins = [self.http2_origin() for _ in range(2)]
        gateway = self.in_front_of(*origins, options=", balance: round_robin")
        with gateway.connect() as c:
            for _ in range(40):
                self.assertEqual(c.ask().status, 200)
        self.assertEqual([len(o.requests) for o in origins], [20, 20])
        self.assertEqual([o.connections for o in origins], [1, 1])

    def test_a_busy_server_gets_less(self):
        held = Held()
        self.addCleanup(held.let_go, 1000)
        busy, quick = self.http2_origin(held), self.http2_origin()
        gateway = self.in_front_of(busy, quick)
        with Http2(gateway.address) as c:
            for _ in range(60):
                before = len(busy.requests)
                stream = c.request("/")
                c.ping()
                wait_until(lambda: len(busy.requests) > before or c.answer(stream).over or not c.ping())
        self.assertLess(len(busy.requests), 10)
        self.assertGreater(len(quick.requests), 50)

    def test_a_server_that_dies_is_passed_over_and_comes_back(self):
        origins = [self.http2_origin() for _ in range(2)]
        gateway = self.in_front_of(
            *origins, options=", balance: round_robin, ejection: { failures: 3, time: 300ms, max_time: 300ms }, slow_start: 100ms"
        )
        up = lambda: gateway.metrics().sum("gateway_upstream_server_up", server=origins[0].address)  # noqa: E731
        with gateway.connect() as c:
            for _ in range(4):
                self.assertEqual(c.ask().status, 200)
            origins[0].stop()
            for _ in range(40):
                self.assertEqual(c.ask(method="POST", body=b"x").status, 200)
            self.assertGreaterEqual(
                gateway.metrics().sum("gateway_upstream_server_ejections_total", server=origins[0].address), 1
            )
            again = self.http2_origin(port=origins[0].port)
            wait_until(lambda: c.ask().status == 200 and len(again.requests) > 3)
            self.assertEqual(up(), 1)

    def test_a_server_that_fails_requests_is_passed_over(self):
        def reset(call):
            call.read_body()
            call.reset_with(INTERNAL_ERROR)

        bad, good = self.http2_origin(reset), self.http2_origin()
        gateway = self.in_front_of(bad, good, options=", balance: round_robin, ejection: { failures: 3, time: 1h }")
        statuses = [gateway.get(method="POST", body=b"x").status for _ in range(30)]
        self.assertEqual((statuses.count(502), len(bad.requests)), (3, 3))
        self.assertEqual(gateway.metrics().sum("gateway_upstream_server_up", server=bad.address), 0)

    def test_a_refused_stream_goes_to_the_other_server(self):
        refusing, good = self.http2_origin(lambda call: call.reset_with(REFUSED_STREAM)), self.http2_origin()
        gateway = self.in_front_of(refusing, good, options=", balance: round_robin, ejection: { failures: 0 }")
        for method in ("GET", "POST"):
            for _ in range(10):
                self.assertEqual(gateway.get(method=method).status, 200)
        self.assertTrue(refusing.requests)

    def test_health_checks_speak_http_2(self):
        def script(call):
            call.read_body()
            call.reply(status=int(health[0]) if call.target == "/healthz" else 200)

        health = ["200"]
        origin, other = self.http2_origin(script), self.http2_origin()
        gateway = self.in_front_of(
            origin, other, options=", health: { path: /healthz, interval: 50ms, unhealthy: 2, healthy: 2 }"
        )
        up = lambda: gateway.metrics().sum("gateway_upstream_server_up", server=origin.address)  # noqa: E731
        wait_until(lambda: origin.targets().count("/healthz") > 3, what="checks")
        self.assertEqual(up(), 1)
        health[0] = "503"
        wait_until(lambda: up() == 0)
        health[0] = "200"
        wait_until(lambda: up() == 1)
        self.assertEqual(gateway.get().status, 200)


    def test_proxy_headers_give_each_client_a_connection(self):
        heads = []
        origin = self.http2_origin()
        origin.before = lambda peer: heads.append(peer.take(28))
        gateway = self.in_front_of(origin, options=", proxy_protocol: v2")
        for source in ("127.0.0.5", "127.0.0.6"):
            with gateway.connect(source=source) as c:
                for _ in range(3):
                    self.assertEqual(c.ask().status, 200)
        self.assertEqual([h[:12] for h in heads], [b"\r\n\r\n\0\r\nQUIT\n"] * 2)
        self.assertEqual([tuple(h[16:20]) for h in heads], [(127, 0, 0, 5), (127, 0, 0, 6)])


class Lifecycle(StreamsTest):
    def test_a_reload_with_requests_in_flight(self):
        gateway, origin, held = self.held()
        other = self.http2_origin()
        with Http2(gateway.address) as c, gateway.connect() as h1:
            first = self.begin(c, "/a") + self.begin(c, "/b", method="POST", body=b"x")
            h1.request("/c")
            self.wait_for_requests(origin, 3)
            gateway.reload(over_http2(origin.address, options=", max_idle: 3"))
            second = self.begin(c, "/d")
            self.wait_for_requests(origin, 4)
            gateway.reload(over_http2(other.address))
            wait_until(lambda: c.ask("/new").status == 200 and other.requests)
            held.let_go(4)
            self.assert_all_well(c, first + second, ["/a", "/b", "/d"])
            self.assertEqual(h1.response().body, b"/c")
        wait_until(lambda: not origin.open_peers(), what="the end of connections to a server that is gone")

    def test_a_reload_from_http_1_to_http_2_and_back(self):
        old, new = self.origin(), self.http2_origin()
        gateway = self.gateway(over_http2(old.address).replace("protocol: h2", "protocol: http/1.1"))
        self.assertEqual(gateway.get().status, 200)
        gateway.reload(over_http2(new.address))
        wait_until(lambda: gateway.get().status == 200 and new.requests)
        gateway.reload(over_http2(old.address).replace("protocol: h2", "protocol: http/1.1"))
        before = len(old.requests)
        wait_until(lambda: gateway.get().status == 200 and len(old.requests) > before)

    def test_a_drain_with_requests_in_flight(self):
        gateway, origin, held = self.held()
        with Http2(gateway.address) as c, gateway.connect() as h1:
            streams = self.begin(c, "/a") + self.begin(c, "/b", method="POST", body=b"x")
            h1.request("/c")
            self.wait_for_requests(origin, 3)
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("drain")
            held.let_go(3)
            self.assert_all_well(c, streams, ["/a", "/b"])
            self.assertEqual(h1.response().body, b"/c")
        self.assertEqual(gateway.wait(), 0)
        wait_until(lambda: not origin.open_peers())

    def test_gauges_return_to_nothing(self):
        gateway, origin, held = self.held(options=", idle_timeout: 300ms", workers=2)
        with Http2(gateway.address) as c:
            streams = self.begin(c, *(f"/{i}" for i in range(50)))
            self.wait_for_requests(origin, 50)
            for stream in streams[:25]:
                c.reset(stream)
            held.let_go(60)
            for stream in streams[25:]:
                c.wait_for(stream)
        wait_until(lambda: not origin.open_peers(), what="the idle connections' end")
        gauge = lambda **labels: gateway.metrics().count("gateway_upstream_server_connections", **labels)  # noqa: E731
        wait_until(lambda: gauge(state="active") == 0 and gauge(state="idle") == 0)

    def test_an_idle_connection_counts_as_idle(self):
        gateway, origin = self.through()
        self.assertEqual(gateway.get().status, 200)
        gauge = lambda name, state, **labels: gateway.metrics().sum(name, state=state, **labels)  # noqa: E731
        wait_until(lambda: gauge("gateway_connections", "active", side="upstream") == 0)
        self.assertEqual(gauge("gateway_connections", "idle", side="upstream"), 1)
        self.assertEqual(gauge("gateway_upstream_server_connections", "idle", server=origin.address), 1)
        self.assertEqual(gauge("gateway_upstream_server_connections", "active", server=origin.address), 0)

    def test_tunnels_that_are_refused_leave_nothing(self):
        gateway, origin = self.through()
        for _ in range(20):
            with gateway.connect() as c:
                self.assertEqual(c.ask("/ws", websocket.HANDSHAKE).status, 501)
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual(origin.connections, 1)
