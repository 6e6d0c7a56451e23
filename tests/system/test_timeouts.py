"""Deadlines: each kind of slowness ends, in time and with the right answer."""
import signal
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Closed
from harness.clock import running
from harness.origin import pause
from harness.process import PATIENCE, wait_until
from harness.websocket import grant_of, handshake

SHORT = "http: { header_timeout: 300ms, idle_timeout: 400ms, body_timeout: 500ms }\n"


def hang(peer, request):
    peer.wait_for_end()
    return False


class Clients(SystemTest):
    def timed(self, action, at_least, at_most=2.0):
        began, began_running = time.monotonic(), running()
        result = action()
        self.assertGreaterEqual(time.monotonic() - began, at_least - 0.05)
        self.assertLess(running() - began_running, at_most * PATIENCE)
        return result

    def test_a_header_that_does_not_end_gets_408(self):
        gateway, origin = self.proxy(extra=SHORT)
        with gateway.connect() as c:
            c.send("GET / HTTP/1.1\r\nHost:")
            r = self.timed(c.response, 0.3)
            self.assertEqual((r.status, r["connection"]), (408, "close"))
            self.assertTrue(c.ends())
        self.assertEqual(origin.requests, [])

    def test_dripping_does_not_extend_the_header_deadline(self):
        gateway, _ = self.proxy(extra=SHORT)
        with gateway.connect() as c:
            c.send("GET / HTTP/1.1\r\nHost: h\r\n")
            began = running()
            ended = False
            while not ended and running() - began < 5:
                ended = not c.silent_for(0.03)
                if not ended:
                    c.send("A")
            self.assertTrue(ended, "still waiting after 5 s")
            self.assertLess(running() - began, 1.5 * PATIENCE)
            self.assertEqual(c.response().status, 408)

    def test_an_idle_connection_is_closed_without_a_word(self):
        gateway, _ = self.proxy(extra=SHORT)
        with gateway.connect() as c:
            self.assertTrue(self.timed(c.ends, 0.4))
        with gateway.connect() as c:
            self.assertEqual(c.ask().status, 200)
            self.assertTrue(self.timed(c.ends, 0.4))

    def test_a_body_that_stops_gets_408_and_the_upstream_is_let_go(self):
        gateway, origin = self.proxy(extra=SHORT)
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nonly this")
            r = self.timed(c.response, 0.5)
            self.assertEqual((r.status, r["connection"]), (408, "close"))
        wait_until(lambda: origin.open_connections() == 0, what="the upstream connection is closed")

    def test_a_body_that_moves_slowly_is_fine(self):
        gateway, origin = self.proxy(extra=SHORT)
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n")
            for byte in b"0123456789":
                self.assertTrue(c.silent_for(0.1))
                c.send(bytes([byte]))
            self.assertEqual(c.response().status, 200)
        self.assertEqual(origin.last().body, b"0123456789")

    def test_a_reader_that_stops_is_cut_off(self):
        origin = self.origin(lambda peer, request: peer.reply(body=b"x" * 20_000_000))
        gateway = self.gateway(SHORT + forwarding_to(origin.address))
        with gateway.connect(receive_buffer=4096) as c:
            c.request()
            wait_until(lambda: origin.requests)
            wait_until(
                lambda: origin.open_connections() == 0, 5, "the upstream connection is closed"
            )
            with self.assertRaises((Closed, ConnectionError)):
                c.response()
        wait_until(
            lambda: gateway.metrics().sum("gateway_connections", side="client", state="active") == 0
        )


class Upstreams(SystemTest):
    def gateway_to(self, origin_address, times="response_timeout: 300ms, connect_timeout: 300ms"):
        return self.gateway(
            SHORT
            + f"routes: [ {{ upstream: up }} ]\nupstreams: {{ up: {{ servers: ['{origin_address}'], {times} }} }}\n"
        )

    def test_no_answer_in_time_is_504_and_the_client_may_go_on(self):
        origin = self.origin()
        gateway = self.gateway_to(origin.address)
        with gateway.connect() as c:
            origin.script = hang
            began = time.monotonic()
            r = c.ask()
            self.assertGreaterEqual(time.monotonic() - began, 0.25)
            self.assertEqual(
                (r.status, r["content-type"], r["connection"]),
                (504, "application/problem+json", None),
            )
            origin.script = lambda peer, request: peer.reply()
            self.assertEqual(c.ask().status, 200)
        m = gateway.metrics()
        self.assertEqual(
            m.sum("gateway_upstream_failures_total", upstream="up", reason="response_timeout"), 1
        )

    def test_a_slow_body_upwards_does_not_run_into_the_response_timeout(self):
        origin = self.origin()
        gateway = self.gateway_to(origin.address)
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n")
            for byte in b"abcdef":
                self.assertTrue(c.silent_for(0.12))
                c.send(bytes([byte]))
            self.assertEqual(c.response().status, 200)

    def test_a_response_body_that_stops_is_cut_so_that_nobody_takes_it_for_whole(self):
        def script(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            peer.wait_for_end()
            return False

        gateway, origin = self.proxy(script, extra=SHORT)
        with gateway.connect() as c:
            c.request()
            with self.assertRaises((Closed, ConnectionError)):
                c.response()
        wait_until(lambda: origin.open_connections() == 0)

    def test_a_slow_response_body_is_fine_as_long_as_it_moves(self):
        def script(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n")
            for byte in b"slow but sure":
                pause(0.15)
                peer.send(bytes([byte]))

        gateway, _ = self.proxy(script, extra="http: { body_timeout: 1500ms }\n")
        self.assertEqual(gateway.get().body, b"slow but sure")

    def test_an_upstream_that_does_not_accept_is_502(self):
        gateway = self.gateway_to("127.0.0.1:1")
        with gateway.connect() as c:
            for _ in range(3):
                r = c.ask()
                self.assertEqual(
                    (r.status, r["content-type"], r["connection"]),
                    (502, "application/problem+json", None),
                )
        self.assertEqual(
            gateway.metrics().sum(
                "gateway_upstream_failures_total", upstream="up", reason="connect"
            ),
            3,
        )

    def test_an_upstream_whose_name_does_not_resolve_is_502(self):
        gateway = self.gateway_to("no-such-name.invalid:80")
        self.assertEqual(gateway.get().status, 502)

    def test_an_upstream_may_have_a_name_and_the_gateway_still_ends(self):
        origin = self.origin()
        gateway = self.gateway_to(origin.address.replace("127.0.0.1", "localhost"))
        self.assertEqual(gateway.get().status, 200)
        gateway.signal(signal.SIGTERM)
        self.assertEqual(gateway.wait(3), 0)


class WholeRequests(SystemTest):
    """`timeout` of a route."""

    def to_origin(self, script=hang, route="timeout: 300ms", more=""):
        origin = self.origin(script)
        return origin, self.gateway(
            f"routes: [ {{ upstream: up, {route} }} ]\nupstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
            + more
        )

    def test_a_silent_server_gets_504_and_the_client_may_go_on(self):
        origin, gateway = self.to_origin()
        with gateway.connect() as c:
            began = time.monotonic()
            r = c.ask()
            self.assertGreaterEqual(time.monotonic() - began, 0.25)
            self.assertEqual((r.status, r["connection"]), (504, None))
            origin.script = lambda peer, request: peer.reply()
            self.assertEqual(c.ask().status, 200)
        self.assertEqual(
            gateway.metrics().sum("gateway_upstream_failures_total", upstream="up", reason="response_timeout"), 1
        )

    def test_a_response_that_takes_too_long_is_cut(self):
        def drip(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(100):
                pause(0.05)
                peer.send(b"x")

        _, gateway = self.to_origin(drip)
        with gateway.connect() as c, self.assertRaises((Closed, ConnectionError)):
            c.ask()
        (line,) = gateway.log_lines(1)
        self.assertEqual(
            line["error"], "the request took longer than its route allows (routes.timeout)"
        )

    def test_a_body_that_drips_is_bounded(self):
        origin, gateway = self.to_origin()
        with gateway.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n")
            for _ in range(100):
                c.send(b"x")
                if not c.silent_for(0.05):
                    break
            self.assertEqual(c.response().status, 504)
        wait_until(lambda: origin.open_connections() == 0)
        self.assertEqual(gateway.metrics().sum("gateway_upstream_failures_total"), 0)

    def test_one_that_waits_for_its_tokens_is_not_charged(self):
        origin, gateway = self.to_origin(
            lambda peer, request: peer.reply(), "timeout: 200ms, limits: [slow]",
            "limits: { slow: { key: [], rate: 1/m, burst: 1, max_wait: 2m, max_reserved: 5 } }\n",
        )  # fmt: skip
        answers = [gateway.get() for _ in range(3)]
        self.assertEqual([a.status for a in answers], [200, 504, 504])
        self.assertEqual(len(origin.requests), 1)
        self.assertEqual(gateway.metrics().sum("gateway_requests_waiting"), 0)

    def test_a_websocket_may_go_on(self):
        def switch(peer, request):
            peer.send(grant_of())
            pause(0.5)
            peer.send(b"late")
            peer.wait_for_end()
            return False

        _, gateway = self.to_origin(switch)
        with gateway.connect() as c:
            c.send(handshake())
            self.assertEqual(c.head().status, 101)
            self.assertEqual(c.read_exactly(4), b"late")


class TheLog(SystemTest):
    """Names the key whose time-out ended a request."""

    def logged(self, script, ask, more=SHORT, route="", upstream=""):
        origin = self.origin(script)
        gateway = self.gateway(
            f"{more}routes: [ {{ upstream: up{route} }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}']{upstream} }} }}\n"
        )
        with gateway.connect() as c:
            ask(c)
            (line,) = gateway.log_lines(1)
        return line["status"], line["error"]

    def test_names_the_key(self):
        def answered(text):
            def ask(c):
                c.send(text)
                c.response()

            return ask

        def cut(c):
            c.request()
            with self.assertRaises((Closed, ConnectionError)):
                c.response()

        def half(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            return hang(peer, request)

        def grant(peer, request):
            peer.send(grant_of())
            return hang(peer, request)

        def tunnelled(c):
            c.send(handshake())
            self.assertEqual(c.response().status, 101)
            self.assertTrue(c.ends())

        whole = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        body = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc"
        for key, status, script, ask, how in (
            ("http.header_timeout", 408, hang, answered("GET / HTTP/1.1\r\nHost:"), {}),
            ("http.body_timeout", 408, hang, answered(body), {}),
            ("http.body_timeout", 200, half, cut, {}),
            ("http.max_body_bytes", 413, hang, answered(body), {"more": "http: { max_body_bytes: 2 }\n"}),
            ("upstreams.response_timeout", 504, hang, answered(whole), {"upstream": ", response_timeout: 200ms"}),
            ("routes.timeout", 504, hang, answered(whole), {"route": ", timeout: 200ms"}),
            ("routes.timeout", 504, hang, answered(body), {"route": ", timeout: 200ms"}),
            ("routes.timeout", 200, half, cut, {"route": ", timeout: 200ms"}),
        ):
            with self.subTest(key=key, status=status):
                got, error = self.logged(script, ask, **how)
                self.assertEqual(got, status)
                self.assertTrue(error.endswith(f" ({key})"), error)
        _, error = self.logged(grant, tunnelled, more="http: { tunnel_idle_timeout: 200ms }\n")
        self.assertIn("http.tunnel_idle_timeout", error)

    def test_names_the_bound_of_an_upstream_that_is_full(self):
        origin = self.origin(hang)
        gateway = self.gateway(
            "routes: [ { upstream: up } ]\nupstreams: { up: { "
            f"servers: ['{origin.address}'], max_connections: 1, max_queue: 1, queue_timeout: 2s }} }}\n"
        )
        with gateway.connect() as served, gateway.connect() as queued:
            served.request()
            wait_until(lambda: origin.requests)
            queued.request()
            wait_until(lambda: gateway.metrics().sum("gateway_upstream_queue_length") == 1)
            self.assertEqual(gateway.get().status, 503)
            self.assertEqual(queued.response().status, 503)
            errors = [line["error"] for line in gateway.log_lines(2)]
        self.assertIn("(upstreams.max_queue)", errors[0])
        self.assertIn("(upstreams.queue_timeout)", errors[1])
