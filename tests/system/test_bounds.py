"""Bounds are keys: what the file says is what holds, and a reload changes it."""
from harness.case import SystemTest, forwarding_to
from harness.client import Closed, Connection, exchange_raw
from harness.origin import answer_ok, pause
from harness.process import wait_until

HOST = "Host: gateway.test\r\n"


class Requests(SystemTest):
    def refused_post(self, gateway, length):
        """A rejected POST with a body; whether its connection was kept."""
        with gateway.connect() as c:
            c.send(f"POST / HTTP/1.1\r\n{HOST}Content-Length: {length}\r\n\r\n" + "x" * length)
            r = c.response()
            self.assertEqual(r.status, 429)
            kept = r["connection"] != "close"
            if not kept:
                self.assertEqual(c.rest(), b"")
            return kept

    def test_a_reload_changes_how_much_of_a_refused_body_is_read_away(self):
        limited = "limits: { l: { key: [], rate: 1/d } }\n" + forwarding_to("echo", "l")
        gateway = self.gateway("http: { max_refused_body_bytes: 10 }\n" + limited)
        self.assertEqual(gateway.get().status, 200)
        self.assertTrue(self.refused_post(gateway, 10))
        self.assertFalse(self.refused_post(gateway, 11))
        self.assertIn("reloaded", gateway.reload("http: { max_refused_body_bytes: 11 }\n" + limited))
        wait_until(lambda: self.refused_post(gateway, 11), what="every worker has the new bound")
        self.assertFalse(self.refused_post(gateway, 12))

    def test_a_closed_connection_is_listened_on_no_longer_than_linger_timeout(self):
        gateway = self.gateway("http: { linger_timeout: 100ms }\n" + forwarding_to("echo"))
        with gateway.connect() as c:
            c.send("nonsense\r\n\r\n")
            self.assertEqual(c.response().status, 400)
            self.assertEqual(c.rest(), b"")
            m = gateway.metrics
            wait_until(
                lambda: m().sum("gateway_connections", side="client") == 0, 1.5, "it is let go"
            )

    def test_chunks_are_held_to_their_bounds(self):
        bounds = "max_chunk_line_bytes: 16, max_chunk_extension_bytes: 20, max_trailer_bytes: 16"
        gateway = self.gateway("http: { " + bounds + " }\n" + forwarding_to("echo"))
        for body, status in (
            ("1;" + "x" * 14 + "\r\na\r\n0\r\n\r\n", 200),
            ("1;" + "x" * 15 + "\r\na\r\n0\r\n\r\n", 400),
            ("1;" + "x" * 10 + "\r\na\r\n1;" + "y" * 11 + "\r\nb\r\n0\r\n\r\n", 400),
            ("0\r\nA: 234567890\r\n\r\n", 200),
            ("0\r\nA: 2345678901\r\n\r\n", 400),
        ):
            with self.subTest(body), gateway.connect() as c:
                c.send(f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n" + body)
                self.assertEqual(c.response().status, status)


class Upstreams(SystemTest):
    def behind(self, script, keys):
        self.served = self.origin(script)
        up = f"{{ servers: ['{self.served.address}'], {keys} }}"
        return self.gateway(f"routes: [ {{ upstream: up }} ]\nupstreams: {{ up: {up} }}\n")

    def test_response_heads_are_held_to_their_bounds(self):
        def padded(peer, request):
            peer.reply(fields=[("A", "x" * int(request.target[1:]))])

        gateway = self.behind(padded, "max_response_header_bytes: 256, max_response_headers: 2")
        self.assertEqual(gateway.get("/150").status, 200)
        self.assertEqual(gateway.get("/250").status, 502)
        gateway = self.behind(padded, "max_response_headers: 1")
        self.assertEqual(gateway.get("/1").status, 502)

    def test_interim_responses_may_be_none(self):
        def hinting(peer, request):
            peer.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            peer.reply()

        gateway = self.behind(hinting, "max_interim_responses: 0")
        self.assertEqual(gateway.get().status, 502)

    def test_an_idle_connection_is_kept_for_idle_timeout(self):
        def plain(peer, request):
            peer.reply()

        gateway = self.behind(plain, "idle_timeout: 50ms")
        self.assertEqual(gateway.get().status, 200)
        wait_until(lambda: self.served.open_connections() == 0, 1.5)


class Admin(SystemTest):
    def test_has_no_more_connections_than_it_may_and_drops_the_silent(self):
        admin = "admin: { address: 127.0.0.1:0, max_connections: 2, timeout: %s }\n"
        gateway = self.gateway(admin % "1h" + forwarding_to("echo"))
        first, second, third = (Connection(gateway.admin) for _ in range(3))
        self.assertTrue(first.ends(), "it has been silent for longest")
        for c in (second, third):
            self.assertEqual(c.ask("/healthz").status, 200)
        for c in (first, second, third):
            c.close()

        quick = self.gateway(admin % "50ms" + forwarding_to("echo"))
        with Connection(quick.admin) as c:
            self.assertTrue(c.ends())

    def test_takes_no_descriptors_that_clients_and_upstreams_need(self):
        # A quarter is kept from clients, 100 at least if that is no more than half, and a quarter
        # of that is the admin API's.
        for descriptors, most in ((160, 20), (200, 25), (600, 37), (1000, 62)):
            with self.subTest(descriptors=descriptors):
                origin = self.origin()
                text = "admin: { address: 127.0.0.1:0, timeout: 1h }\n" + forwarding_to(origin.address)
                gateway = self.gateway(text, descriptors=descriptors)
                gateway.wait_for_diagnostic(f"gives the admin API {most} connections")
                crowd = [Connection(gateway.admin) for _ in range(256)]
                gone = 256 - most
                self.assertTrue(all(c.ends() for c in crowd[:gone]))
                clients = [gateway.connect() for _ in range(20)]
                for c in clients:  # all at once, each with an upstream connection of its own
                    c.request()
                self.assertEqual({c.response().status for c in clients}, {200})
                self.assertEqual({c.ask("/healthz").status for c in crowd[gone:]}, {200})
                for c in clients + crowd:
                    c.close()


class Routes(SystemTest):
    """`max_body_bytes`, `body_timeout` and `response_timeout` of a route."""

    TEXT = """
workers: 1
http: {{ max_body_bytes: 10, body_timeout: 300ms }}
routes:
  - {{ name: uploads, match: {{ path: /uploads }}, max_body_bytes: 100, upstream: up }}
  - {{ name: any, match: {{ path: /any }}, max_body_bytes: 0, upstream: up }}
  - {{ name: stream, match: {{ path: /stream }}, body_timeout: 1h, upstream: up }}
  - {{ name: report, match: {{ path: /report }}, response_timeout: 1h, upstream: up }}
  - {{ name: hasty, match: {{ path: /hasty }}, response_timeout: 100ms, body_timeout: 200ms, upstream: up }}
  - {{ name: rest, upstream: up }}
upstreams: {{ up: {{ servers: ['{address}'], response_timeout: 300ms }} }}
"""

    def gateway_to(self, script=answer_ok):
        return self.gateway(self.TEXT.format(address=self.origin(script).address))

    def test_a_body_is_as_large_as_its_route_allows(self):
        gateway = self.gateway_to()
        cases = (
            ("/", 10, 200, None), ("/", 11, 413, "http.max_body_bytes"),
            ("/uploads", 100, 200, None), ("/uploads", 101, 413, "routes.max_body_bytes"),
            ("/any", 100_000, 200, None),
        )  # fmt: skip
        for path, size, status, _ in cases:
            head = f"POST {path} HTTP/1.1\r\n{HOST}"
            for framed in (
                f"Content-Length: {size}\r\n\r\n" + "x" * size,
                f"Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n" + "x" * size + "\r\n0\r\n\r\n",
            ):
                with self.subTest(path=path, size=size, framed=framed[:10]):
                    self.assertEqual(exchange_raw(gateway.address, head + framed).status, status)
        lines = gateway.log_lines(2 * len(cases))
        for line, (path, _, status, key) in zip(lines, [c for c in cases for _ in range(2)], strict=True):
            self.assertEqual((line["method"], line["target"], line["host"]), ("POST", path, "gateway.test"))
            self.assertEqual((line["status"], line["route"]), (status, path[1:] or "rest"))
            if key is not None:
                self.assertIn(f"({key})", line["error"])

    def test_a_body_that_is_announced_too_large_never_reaches_its_upstream(self):
        origin = self.origin()
        gateway = self.gateway(self.TEXT.format(address=origin.address))
        head = f"POST /uploads HTTP/1.1\r\n{HOST}Expect: 100-continue\r\nContent-Length: 101\r\n\r\n"
        self.assertEqual(exchange_raw(gateway.address, head).status, 413)
        self.assertEqual(origin.requests, [])

    def test_a_response_may_take_as_long_as_its_route_allows(self):
        def late(peer, request):
            pause(0.6)
            peer.reply()

        gateway = self.gateway_to(late)
        with gateway.connect() as c:  # each request has its own time, on one connection
            for path, status in (("/report", 200), ("/x", 504), ("/hasty", 504), ("/report", 200)):
                self.assertEqual(c.ask(path).status, status, path)
        keys = [line.get("error", "")[-30:] for line in gateway.log_lines(4)]
        self.assertIn("(upstreams.response_timeout)", keys[1])
        self.assertIn("(routes.response_timeout)", keys[2])

    def test_a_stream_may_pause_as_long_as_its_route_allows(self):
        def pausing(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
            pause(0.8)
            peer.send(b"cd")

        gateway = self.gateway_to(pausing)
        self.assertEqual(gateway.get("/stream").body, b"abcd")
        for path, key in (("/x", "http.body_timeout"), ("/hasty", "routes.body_timeout")):
            with self.assertRaises((Closed, ConnectionError)):
                gateway.get(path)
            self.assertIn(f"({key})", gateway.log_lines(2 if path == "/x" else 3)[-1]["error"])

    def test_a_reload_changes_them(self):
        origin = self.origin()
        gateway = self.gateway(self.TEXT.format(address=origin.address))
        text = self.TEXT.replace("max_body_bytes: 100,", "max_body_bytes: 200,")
        self.assertIn("reloaded", gateway.reload(text.format(address=origin.address)))
        wait_until(lambda: gateway.get("/uploads", method="POST", body=b"x" * 200).status == 200)
        self.assertEqual(gateway.get("/uploads", method="POST", body=b"x" * 201).status, 413)
