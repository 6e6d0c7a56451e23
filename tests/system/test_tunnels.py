"""WebSockets: the handshake, the tunnel, and every way out of it."""
import signal
import socket
import threading
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Closed
from harness.clock import running
from harness.process import PATIENCE, SLOW, wait_until
from harness.websocket import (
    BINARY,
    CLOSE,
    HANDSHAKE,
    PING,
    PONG,
    TEXT,
    WebSocket,
    echo_frames,
    frame,
    grant_of,
    handshake,
    random_bytes,
)

GET = b"GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n"


def grant_and_hold(peer, request):
    """Grants, and then says nothing until the gateway closes."""
    peer.send(grant_of())
    peer.wait_for_end()
    return False


class TunnelTest(SystemTest):
    def tunnels(self, script=echo_frames, extra=""):
        return self.proxy(script, extra)

    def until_open(self, gateway, count):
        wait_until(
            lambda: gateway.metrics().sum("gateway_tunnels") == count, what=f"{count} tunnels"
        )


class Tunnels(TunnelTest):
    def test_frames_pass_both_ways_and_the_end_is_in_order(self):
        gateway, origin = self.tunnels()
        with gateway.connect() as c:
            ws = WebSocket(c, "/chat?room=1", [("Sec-WebSocket-Protocol", "chat")])
            self.assertEqual((ws.granted["upgrade"], ws.granted["connection"]), ("websocket", "upgrade"))
            self.assertEqual(ws.echo(b"hello"), (BINARY, b"hello"))
            ws.send(TEXT, b"GET / HTTP/1.1\r\n\r\n")
            self.assertEqual(ws.receive(), (TEXT, b"GET / HTTP/1.1\r\n\r\n"))
            ws.send(PING, b"?")
            self.assertEqual(ws.receive(), (PONG, b"?"))
            self.until_open(gateway, 1)
            ws.send(CLOSE, b"\x03\xe8")
            self.assertEqual(ws.receive(), (CLOSE, b"\x03\xe8"))
            self.assertTrue(c.ends())
        self.assertEqual(origin.last().target, "/chat?room=1")
        self.assertEqual(origin.last()["sec-websocket-protocol"], "chat")
        self.assertEqual(origin.last()["x-forwarded-for"], "127.0.0.1")
        self.until_open(gateway, 0)
        wait_until(lambda: origin.open_connections() == 0)

    def test_it_is_counted_and_logged_as_one_request(self):
        gateway, _ = self.tunnels()
        with gateway.connect() as c:
            ws = WebSocket(c)
            self.assertEqual(ws.echo(b"12345"), (BINARY, b"12345"))
            m = gateway.metrics()
            self.assertEqual(m.sum("gateway_requests_total", code="101"), 1)
            self.assertEqual(m.sum("gateway_request_duration_seconds_count"), 1)
            self.assertEqual(m.sum("gateway_tunnels_total"), 1)
            self.assertEqual(m.sum("gateway_tunnel_bytes_total", side="client"), 11)
            self.assertEqual(m.sum("gateway_tunnel_bytes_total", side="upstream"), 7)
            with open(gateway.log_path, encoding="utf-8") as log:
                self.assertEqual(log.read(), "", "it is not over")
            self.assertTrue(c.silent_for(0.3))
        [line] = gateway.log_lines(1)
        self.assertEqual(
            (line["status"], line["target"], line["request_bytes"], line["response_bytes"]),
            (101, "/ws", 11, 7),
        )
        self.assertGreaterEqual(line["duration_seconds"], 0.3)
        self.assertGreaterEqual(line["upstream_seconds"], 0)
        self.assertLess(line["upstream_seconds"], 0.3 * PATIENCE)
        m = gateway.metrics()
        self.assertEqual(m.sum("gateway_requests_total"), 1)
        self.assertLess(m.sum("gateway_request_duration_seconds_sum"), 0.3 * PATIENCE)
        self.assertEqual(m.sum("gateway_tunnels"), 0)

    def test_large_frames_both_ways_at_once_arrive_whole(self):
        gateway, _ = self.tunnels()
        payloads = [random_bytes(size) for size in (1, 125, 126, 65535, 65536, 3_000_000)]
        with gateway.connect() as c:
            ws = WebSocket(c)
            sending = threading.Thread(target=lambda: [ws.send(BINARY, p) for p in payloads])
            sending.start()
            for p in payloads:
                self.assertEqual(ws.receive(), (BINARY, p))
            sending.join()

    def test_many_at_once(self):
        gateway, origin = self.tunnels()
        count = 100 if SLOW else 300
        connections = [self.enterContext(gateway.connect()) for _ in range(count)]
        sockets = [WebSocket(c) for c in connections]
        self.until_open(gateway, count)
        for i, ws in enumerate(sockets):
            self.assertEqual(ws.echo(str(i).encode()), (BINARY, str(i).encode()))
        self.assertEqual(origin.open_connections(), count)
        for c in connections:
            c.close()
        self.until_open(gateway, 0)
        wait_until(lambda: origin.open_connections() == 0)

    def test_a_kept_connection_may_become_one_and_the_upstreams_too(self):
        gateway, origin = self.tunnels(extra="workers: 1\n")
        with gateway.connect() as c:
            self.assertEqual(c.ask().status, 200)
            self.assertEqual(WebSocket(c).echo(b"x"), (BINARY, b"x"))
        self.assertEqual(origin.connections, 1)

    def test_what_the_upstream_says_with_its_grant_arrives(self):
        def script(peer, request):
            peer.send(grant_of() + frame(TEXT, b"welcome", masked=False))
            return False

        gateway, _ = self.tunnels(script)
        with gateway.connect() as c:
            self.assertEqual(WebSocket(c).receive(), (TEXT, b"welcome"))
            self.assertTrue(c.ends())


class Stalls(TunnelTest):
    def test_a_client_that_does_not_read_holds_the_upstream_back_in_bounded_memory(self):
        def script(peer, request):
            peer.send(grant_of())
            peer.socket.settimeout(1.0 * PATIENCE)
            piece = b"x" * 65536
            try:
                while True:
                    sent.append(peer.socket.send(piece))
            except TimeoutError:
                stalled.set()
            peer.socket.settimeout(None)
            peer.wait_for_end()
            return False

        sent, stalled = [], threading.Event()
        gateway, _ = self.tunnels(script)
        before = gateway.memory()
        with gateway.connect(receive_buffer=4096) as c:
            WebSocket(c)
            self.assertTrue(stalled.wait(20 * PATIENCE), "the upstream is never held back")
            self.assertLess(sum(sent), 30_000_000)
            self.assertLess(gateway.memory() - before, 4_000_000 * PATIENCE)
            self.assertEqual(c.read_exactly(sum(sent)), b"x" * sum(sent))

    def test_an_upstream_that_does_not_read_holds_the_client_back_in_bounded_memory(self):
        def script(peer, request):
            peer.send(grant_of())
            release.wait(30 * PATIENCE)
            peer.exactly(1)
            peer.wait_for_end()
            return False

        release = threading.Event()
        gateway, _ = self.tunnels(script)
        before = gateway.memory()
        with gateway.connect() as c:
            WebSocket(c)
            c.socket.settimeout(1.0 * PATIENCE)
            sent = 0
            with self.assertRaises(TimeoutError):
                while True:
                    sent += c.socket.send(b"x" * 65536)
            self.assertLess(sent, 30_000_000)
            self.assertLess(gateway.memory() - before, 4_000_000 * PATIENCE)
            release.set()
            c.socket.settimeout(10 * PATIENCE)
            c.send(b"x")

    def test_a_side_that_never_takes_its_bytes_is_cut_off(self):
        def script(peer, request):
            peer.send(grant_of())
            try:
                while True:
                    peer.send(b"x" * 65536)
            finally:
                peer.close()

        gateway, origin = self.tunnels(script, "http: { body_timeout: 300ms }\n")
        with gateway.connect(receive_buffer=4096) as c:
            WebSocket(c)
            [line] = gateway.log_lines(1)
            self.assertIn("nothing moved through the tunnel within http.body_timeout", line["error"])
            with self.assertRaises(ConnectionError):
                c.rest()
        self.until_open(gateway, 0)

    def test_an_idle_tunnel_ends_and_one_that_moves_does_not(self):
        gateway, origin = self.tunnels(extra="http: { tunnel_idle_timeout: 500ms }\n")
        with gateway.connect() as idle, gateway.connect() as busy:
            began, began_running = time.monotonic(), running()
            WebSocket(idle)
            ws = WebSocket(busy)
            while idle_open := idle.silent_for(0.1):
                self.assertEqual(ws.echo(b"x"), (BINARY, b"x"))
                self.assertLess(running() - began_running, 5 * PATIENCE)
            self.assertFalse(idle_open)
            self.assertTrue(idle.ends())
            self.assertGreaterEqual(time.monotonic() - began, 0.45)
            self.assertEqual(ws.echo(b"still"), (BINARY, b"still"))
        errors = [line.get("error", "") for line in gateway.log_lines(2)]
        self.assertEqual(["nothing moved" in error for error in sorted(errors)], [False, True])
        wait_until(lambda: origin.open_connections() == 0)

    def test_an_idle_tunnel_outlives_the_timeouts_of_requests(self):
        short = "http: { header_timeout: 100ms, idle_timeout: 100ms, body_timeout: 100ms }\n"
        gateway, _ = self.tunnels(extra=short)
        with gateway.connect() as c:
            ws = WebSocket(c)
            self.assertTrue(c.silent_for(0.5))
            self.assertEqual(ws.echo(b"x"), (BINARY, b"x"))


class Ends(TunnelTest):
    def test_a_clients_half_close_is_passed_on_and_the_answer_still_comes(self):
        def script(peer, request):
            peer.send(grant_of())
            got = []
            while data := peer.socket.recv(65536):
                got.append(data)
            peer.send(b"you said " + b"".join(got))
            return False

        gateway, _ = self.tunnels(script)
        with gateway.connect() as c:
            WebSocket(c)
            c.send(b"all of it")
            c.finish_sending()
            self.assertEqual(c.rest(), b"you said all of it")
        [line] = gateway.log_lines(1)
        self.assertNotIn("error", line)

    def test_an_upstreams_half_close_is_passed_on_and_the_client_may_go_on(self):
        def script(peer, request):
            peer.send(grant_of() + b"done")
            peer.socket.shutdown(socket.SHUT_WR)
            while data := peer.socket.recv(65536):
                heard.append(data)
            return False

        heard = []
        gateway, _ = self.tunnels(script)
        with gateway.connect() as c:
            WebSocket(c)
            self.assertEqual(c.rest(), b"done")
            c.send(b"not yet")
        wait_until(lambda: b"".join(heard) == b"not yet")

    def test_a_half_closed_tunnel_does_not_last(self):
        def script(peer, request):
            peer.send(grant_of())
            stay.wait(20 * PATIENCE)
            return False

        stay = threading.Event()
        self.addCleanup(stay.set)
        gateway, _ = self.tunnels(script, "http: { body_timeout: 300ms }\n")
        with gateway.connect() as c:
            WebSocket(c)
            c.finish_sending()
            self.assertTrue(c.ends())
        self.until_open(gateway, 0)
        self.assertIn("nothing moved", gateway.log_lines(1)[0]["error"])

    def test_a_large_last_word_arrives_before_the_end(self):
        words = random_bytes(5_000_000)

        def script(peer, request):
            peer.send(grant_of())
            peer.send(words)
            return False

        gateway, _ = self.tunnels(script)
        with gateway.connect(receive_buffer=8192) as c:
            WebSocket(c)
            self.assertEqual(c.rest(), words)

    def test_a_reset_of_either_side_ends_the_other(self):
        gateway, origin = self.tunnels(grant_and_hold)
        c = gateway.connect()
        WebSocket(c)
        c.reset()
        wait_until(lambda: origin.open_connections() == 0)

        def breaks(peer, request):
            peer.send(grant_of())
            peer.exactly(1)
            peer.reset()
            return False

        origin.script = breaks
        with gateway.connect() as c:
            WebSocket(c)
            c.send(b"x")
            with self.assertRaises(ConnectionError):
                c.rest()
        self.assertEqual(
            {line["error"] for line in gateway.log_lines(2)},
            {"the client reset the connection", "the upstream reset the connection"},
        )
        self.until_open(gateway, 0)

    def test_a_reset_of_an_upstream_that_had_ended_takes_nothing_from_the_client(self):
        def script(peer, request):
            peer.send(grant_of() + words)
            peer.close()  # whoever still sends gets a reset
            gone.set()
            return False

        words = random_bytes(12_000)  # more than the client's kernel takes, less than the gateway's
        gone = threading.Event()
        gateway, _ = self.tunnels(script)
        carried = lambda side: gateway.metrics().sum("gateway_tunnel_bytes_total", side=side)  # noqa: E731
        with gateway.connect(receive_buffer=4096) as c:
            WebSocket(c)
            self.assertTrue(gone.wait(5 * PATIENCE))
            wait_until(lambda: carried("upstream") == len(words))
            c.send(b"x")
            wait_until(lambda: carried("client") == 1)
            c.send(b"x")
            self.until_open(gateway, 0)
            self.assertEqual(c.rest(), words)
        self.assertEqual(gateway.log_lines(1)[0]["error"], "the upstream reset the connection")

    def test_a_client_that_leaves_before_the_grant_leaves_nothing(self):
        def script(peer, request):
            asked.set()
            peer.wait_for_end()
            return False

        asked = threading.Event()
        gateway, origin = self.tunnels(script)
        with gateway.connect() as c:
            c.send(handshake())
            asked.wait(5 * PATIENCE)
        wait_until(lambda: origin.open_connections() == 0)
        self.assertEqual(gateway.log_lines(1)[0]["status"], 499)

    def test_tunnels_leak_nothing(self):
        gateway, origin = self.tunnels()
        open_after = []
        for _ in range(3):
            connections = [gateway.connect() for _ in range(50)]
            for i, c in enumerate(connections):
                ws = WebSocket(c)
                self.assertEqual(ws.echo(b"x" * 1000), (BINARY, b"x" * 1000))
                c.reset() if i % 2 else c.close()
            self.until_open(gateway, 0)
            wait_until(lambda: origin.open_connections() == 0)
            wait_until(lambda: gateway.metrics().sum("gateway_connections", side="client") == 0)
            open_after.append(gateway.descriptors())
        self.assertLessEqual(open_after[-1], open_after[0] + 1, "one may be of the scrape")
        self.assertEqual(gateway.metrics().sum("gateway_connections", side="upstream"), 0)


class Handshakes(TunnelTest):
    def test_limits_apply_to_the_handshake_and_not_to_frames(self):
        origin = self.origin(echo_frames)
        gateway = self.gateway(
            "limits: { l: { key: client_ip, rate: 2/h } }\n" + forwarding_to(origin.address, "l")
        )
        with gateway.connect() as c:
            ws = WebSocket(c)
            self.assertEqual(ws.granted["x-ratelimit-limit"], "2")
            self.assertEqual(ws.granted["x-ratelimit-remaining"], "1")
            for _ in range(10):
                self.assertEqual(ws.echo(b"x"), (BINARY, b"x"))
        with gateway.connect() as c:
            WebSocket(c)
        with gateway.connect() as c:
            for _ in range(3):
                r = c.ask("/ws", HANDSHAKE)
                self.assertEqual((r.status, r["connection"]), (429, None))
        self.assertEqual(len(origin.requests), 2)

    def test_other_protocols_go_no_further(self):
        gateway, origin = self.tunnels()
        rest = [("Sec-WebSocket-Key", HANDSHAKE[2][1]), ("Sec-WebSocket-Version", "13")]
        for fields in (
            [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMA")],
            [("Connection", "upgrade"), ("Upgrade", "TLS/1.0, HTTP/2.0")],
            [("Connection", "upgrade"), ("Upgrade", "websocket")],
            [("Upgrade", "websocket")] + rest,
        ):
            with gateway.connect() as c:
                self.assertEqual(c.ask("/", fields).status, 200)
                self.assertEqual(c.ask("/", fields).status, 200, "the connection goes on")
            seen = origin.last()
            for name in ("upgrade", "connection", "http2-settings"):
                self.assertEqual(seen.all(name), [], fields)
        with gateway.connect() as c:
            r = c.ask("/", HANDSHAKE, method="POST", body=b"x")
            self.assertEqual((r.status, origin.last()["upgrade"]), (200, None))
        with gateway.connect() as c:
            mixed = [("Connection", "HTTP2-Settings, X-Mine"), ("X-Mine", "1"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMA")]
            self.assertEqual(WebSocket(c, headers=mixed).echo(b"x"), (BINARY, b"x"))
        self.assertEqual(origin.last().all("upgrade"), ["websocket"])
        self.assertEqual(origin.last().all("x-mine") + origin.last().all("http2-settings"), [])

    def test_connect_is_refused(self):
        gateway, origin = self.tunnels()
        with gateway.connect() as c:
            c.send("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
            self.assertEqual(c.response().status, 501)
        self.assertEqual(origin.requests, [])

    def test_another_answer_is_an_ordinary_one(self):
        def script(peer, request):
            peer.reply(403, b"no", [("Upgrade", "websocket"), ("Connection", "upgrade")])

        gateway, origin = self.tunnels(script, "workers: 1\n")
        with gateway.connect() as c:
            for _ in range(3):
                r = c.ask("/ws", HANDSHAKE)
                self.assertEqual((r.status, r.body, r["connection"], r["upgrade"]), (403, b"no", None, None))
        self.assertEqual(origin.connections, 1)

    def test_a_101_to_anything_else_is_502_and_the_connection_is_gone(self):
        def script(peer, request):
            peer.send(self.answer + b"smuggled")
            peer.wait_for_end()
            return False

        gateway, origin = self.tunnels(script)
        other = b"HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
        h2c = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMA")]
        for fields, answer in (([], grant_of()), (h2c, other), (HANDSHAKE, other)):
            self.answer = answer
            with gateway.connect() as c:
                self.assertEqual(c.ask("/", fields).status, 502)
                self.assertTrue(c.silent_for(0.05))
            wait_until(lambda: origin.open_connections() == 0)
        self.assertEqual(
            gateway.metrics().sum("gateway_upstream_failures_total", reason="bad_response"), 3
        )

    def test_early_bytes_are_the_tunnels_if_there_will_be_one(self):
        gateway, _ = self.tunnels()
        with gateway.connect() as c:
            c.send(handshake() + frame(TEXT, b"early", masked=True))
            self.assertEqual(c.head().status, 101)
            self.assertEqual(c.read_exactly(7), frame(TEXT, b"early", masked=False))

    def test_early_bytes_are_never_requests(self):
        def script(peer, request):
            asked.set()
            go.wait(10 * PATIENCE)
            peer.reply()

        asked, go = threading.Event(), threading.Event()
        go.set()
        gateway, origin = self.tunnels(script)
        with gateway.connect() as c:
            c.send(handshake() + GET)
            self.assertEqual(c.response()["connection"], "close")
            self.assertTrue(c.ends())
        asked.clear()
        go.clear()
        with gateway.connect() as c:
            c.send(handshake())
            asked.wait(5 * PATIENCE)
            c.send(GET)
            self.assertTrue(c.silent_for(0.2))
            go.set()
            self.assertEqual(c.response()["connection"], "close")
            self.assertTrue(c.ends())
        self.assertEqual({r.target for r in origin.requests}, {"/ws"})

    def test_no_grant_in_time_is_504(self):
        origin = self.origin(lambda peer, request: peer.wait_for_end() or False)
        gateway = self.gateway(
            "routes: [ { upstream: up } ]\nupstreams: { up: { servers: "
            f"['{origin.address}'], response_timeout: 300ms }} }}\n"
        )
        with gateway.connect() as c:
            self.assertEqual(c.ask("/ws", HANDSHAKE).status, 504)


class Lifecycle(TunnelTest):
    def test_a_reload_keeps_tunnels_even_of_an_upstream_that_is_gone(self):
        gateway, _ = self.tunnels()
        other = self.origin()
        with gateway.connect() as c:
            ws = WebSocket(c)
            gateway.reload(forwarding_to(other.address))
            self.assertEqual(gateway.get().status, 200)
            self.assertTrue(c.silent_for(0.1))
            self.assertEqual(ws.echo(b"still"), (BINARY, b"still"))
        self.until_open(gateway, 0)

    def test_a_drain_waits_for_tunnels_to_end(self):
        gateway, _ = self.tunnels(extra="drain_timeout: 20s\n")
        with gateway.connect() as c:
            ws = WebSocket(c)
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("draining")
            self.assertTrue(c.silent_for(0.7), "longer than an idle connection is given")
            self.assertEqual(ws.echo(b"still"), (BINARY, b"still"))
            ws.send(CLOSE)
            self.assertEqual(ws.receive(), (CLOSE, b""))
        self.assertEqual(gateway.wait(10), 0)

    def test_a_drain_waits_no_longer_than_its_timeout(self):
        gateway, origin = self.tunnels(extra="drain_timeout: 500ms\n")
        with gateway.connect() as c:
            ws = WebSocket(c)
            began = time.monotonic()
            gateway.signal(signal.SIGTERM)
            try:
                while True:
                    ws.echo(b"x")
            except (Closed, ConnectionError):
                pass
            self.assertGreaterEqual(time.monotonic() - began, 0.45)
            self.assertEqual(gateway.wait(5), 0)
        self.assertIn("the gateway ended", gateway.log_lines(1)[0]["error"])
        wait_until(lambda: origin.open_connections() == 0)
