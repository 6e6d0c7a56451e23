"""Trailers behind chunked bodies, from and to both sides."""
from harness.case import SystemTest, forwarding_to
from harness.client import Closed
from harness.http2 import Http2

HEAD = "Host: gateway.test\r\nTransfer-Encoding: chunked\r\n"
TE = ("TE", "trailers")

# Fields of a head that no trailer may pass itself off as.
HOSTILE = (
    "Content-Length: 7",
    "Transfer-Encoding: chunked",
    "Host: evil.test",
    "host:evil.test",
    "Connection: close",
    "Authorization: Bearer stolen",
    "Proxy-Authorization: Basic x",
    "Cookie: session=stolen",
    "Set-Cookie: session=fixed",
    "X-Api-Key: stolen",
    "X-Forwarded-For: 203.0.113.1",
    "X_Forwarded_For: 203.0.113.1",
    "Forwarded: for=203.0.113.1",
    "X-Real-IP: 203.0.113.1",
    "X-Original-URL: /admin",
    "X-HTTP-Method-Override: DELETE",
    "Content-Type: text/html",
    "Content-Encoding: gzip",
    "Content_Length: 7",
    "Cache-Control: public",
    "X-RateLimit-Remaining: 1000000",
    "X-Request-Id: forged",
    "Retry-After: 0",
)
MALFORMED = (
    "X-A: 1\r\n folded\r\n\r\n",
    "X-A : 1\r\n\r\n",
    "X-A\r\n\r\n",
    ": 1\r\n\r\n",
    "X-A: 1\nX-B: 2\r\n\r\n",
    "X-A: 1\rX-B: 2\r\n\r\n",
    "X-A: \x00\r\n\r\n",
    "X-A: \x7f\r\n\r\n",
    "X-A: " + "a" * 9 * 1024 + "\r\n\r\n",
    "X-A: a\r\n" * 1200 + "\r\n",
    "X-A: 1\r\n\n",
    "X-A: 1\r\n\rGET / HTTP/1.1\r\n",
)


def chunked(trailers, status="200 OK", fields=""):
    """A script that answers with a chunked body and these trailers."""

    def script(peer, request):
        peer.read_body(request)
        head = f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n{fields}\r\n"
        body = "" if request.method == "HEAD" or status[:3] == "304" else f"2\r\nok\r\n0\r\n{trailers}"
        peer.send((head + body).encode("latin-1"))

    return script


class Requests(SystemTest):
    def post(self, connection, trailers, fields=""):
        connection.send(f"POST / HTTP/1.1\r\n{HEAD}{fields}\r\n3\r\nabc\r\n0\r\n{trailers}")
        return connection.response()

    def test_they_reach_the_upstream_behind_the_body(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            for _ in range(2):
                r = self.post(c, "X-Sum: 1\r\ngrpc-status:0\r\nX-Sum: 2\r\n\r\n", "Trailer: X-Sum\r\n")
                self.assertEqual(r.status, 200)
                last = origin.last()
                self.assertEqual((last.body, last["trailer"]), (b"abc", "X-Sum"))
                self.assertEqual(
                    last.trailers, [("x-sum", "1"), ("grpc-status", "0"), ("x-sum", "2")]
                )
            self.assertEqual(self.post(c, "\r\n").status, 200)
            self.assertEqual((origin.last().trailers, origin.last()["trailer"]), ([], None))
        self.assertEqual(origin.connections, 1)

    def test_they_arrive_however_their_bytes_come(self):
        gateway, origin = self.proxy()
        text = "0\r\nX-A: 1\r\nX-B: 2\r\n\r\n"
        with gateway.connect() as c:
            for at in range(1, len(text)):
                c.send(f"POST / HTTP/1.1\r\n{HEAD}\r\n3\r\nabc\r\n" + text[:at])
                c.send(text[at:])
                self.assertEqual(c.response().status, 200)
                self.assertEqual(origin.last().trailers, [("x-a", "1"), ("x-b", "2")])

    def test_those_that_a_head_could_have_do_not(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            for line in HOSTILE:
                with self.subTest(line):
                    self.assertEqual(self.post(c, f"{line}\r\nX-A: 1\r\n\r\n").status, 200)
                    self.assertEqual(origin.last().trailers, [("x-a", "1")])

    def test_those_that_the_configuration_reads_or_removes_do_not(self):
        origin = self.origin()
        gateway = self.gateway(
            "client: { header: X-Edge-Client, trusted_proxies: [127.0.0.0/8] }\n"
            "limits: { l: { key: 'header:X-Tenant', missing_key: skip, rate: 100/s } }\n"
            "routes:\n"
            "  - { upstream: up, limits: [l], request_headers: { remove: [X-Debug] } }\n"
            "  - { upstream: up, match: { headers: { X-Beta: 'yes' } } }\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )
        with gateway.connect() as c:
            for name in ("X-Edge-Client", "x_edge_client", "X-Tenant", "x_tenant", "X-Debug", "x-beta"):
                with self.subTest(name):
                    self.assertEqual(self.post(c, f"{name}: 1\r\nX-A: 1\r\n\r\n").status, 200)
                    self.assertEqual(origin.last().trailers, [("x-a", "1")])

    def test_a_head_that_nominates_fields_loses_them_all(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            r = self.post(c, "X-A: 1\r\nX-B: 1\r\n\r\n", "Connection: X-A\r\nTrailer: X-B\r\n")
            self.assertEqual(r.status, 200)
        self.assertEqual((origin.last().trailers, origin.last()["trailer"]), ([], None))

    def test_malformed_ones_are_refused_and_none_arrives(self):
        gateway, origin = self.proxy()
        for text in MALFORMED:
            with self.subTest(text[:20]), gateway.connect() as c:
                r = self.post(c, text)
                self.assertEqual((r.status, r["connection"]), (400, "close"))
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual([r.trailers for r in origin.requests if r.method == "POST" and r.trailers], [])

    def test_over_http2_their_lines_are_bounded_as_well(self):
        gateway, origin = self.proxy(extra="http: { max_trailer_bytes: 8KiB }\n")
        with Http2(gateway.address) as c:
            for count, status in ((1500, 200), (1700, 400)):
                stream = c.request("/", method="POST", end=False)
                c.data(stream, b"abc")
                c.trailers(stream, [("a", "")] * count)
                self.assertEqual(c.wait_for(stream).status, status)
        self.assertEqual([len(r.trailers) for r in origin.requests if r.trailers], [1500])

    def test_a_section_without_end_is_no_request(self):
        gateway, origin = self.proxy(extra="http: { body_timeout: 300ms }\n")
        with gateway.connect() as c:
            self.assertEqual(self.post(c, "X-A: 1\r\n").status, 408)
        self.assertEqual(origin.last().trailers, [])


class Responses(SystemTest):
    GIVEN = "X-Sum: 1\r\nServer-Timing:a\r\n\r\n"

    def test_a_client_that_accepts_them_gets_them(self):
        gateway, origin = self.proxy(chunked(self.GIVEN, fields="Trailer: X-Sum, Set-Cookie\r\n"))
        with gateway.connect() as c:
            for _ in range(2):
                r = c.ask(headers=[TE, ("Connection", "TE")])
                self.assertEqual((r.body, r["trailer"]), (b"ok", "X-Sum"))
                self.assertEqual(r.trailers, [("x-sum", "1"), ("server-timing", "a")])
                self.assertEqual((origin.last()["te"], origin.last()["connection"]), ("trailers", "TE"))
            r = c.ask()
            self.assertEqual((r.body, r["trailer"], r.trailers), (b"ok", None, []))
            self.assertEqual((origin.last()["te"], origin.last()["connection"]), (None, None))
        self.assertEqual(origin.connections, 1)

    def test_other_codings_do_not_pass(self):
        gateway, origin = self.proxy(chunked(self.GIVEN))
        with gateway.connect() as c:
            c.accepts_trailers = True
            c.send("GET / HTTP/1.1\r\nHost: h\r\nTE: gzip;q=0.5, Trailers\r\nConnection: TE\r\n\r\n")
            self.assertEqual(len(c.response().trailers), 2)
            self.assertEqual(origin.last()["te"], "trailers")
            for other in ("gzip", "trailers;q=0.5", ""):
                self.assertEqual(c.ask(headers=[("TE", other)]).trailers, [])
                self.assertEqual(origin.last()["te"], None)

    def test_they_arrive_however_their_bytes_come(self):
        text = "2\r\nok\r\n0\r\n" + self.GIVEN
        at = 0

        def script(peer, request):
            peer.read_body(request)
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text[:at].encode())
            peer.send(text[at:].encode())

        gateway, _ = self.proxy(script)
        with gateway.connect() as c:
            for at in range(1, len(text)):
                r = c.ask(headers=[TE])
                self.assertEqual(r.body, b"ok")
                self.assertEqual(r.trailers, [("x-sum", "1"), ("server-timing", "a")])

    def test_those_that_a_head_could_have_do_not_pass(self):
        for line in HOSTILE:
            gateway, _ = self.proxy(chunked(f"{line}\r\nX-A: 1\r\n\r\n"))
            with self.subTest(line), gateway.connect() as c:
                r = c.ask(headers=[TE])
                self.assertEqual((r.status, r.trailers), (200, [("x-a", "1")]))

    def test_those_that_the_configuration_removes_do_not_pass(self):
        origin = self.origin(chunked("X-Cost: 1\r\nx_cost: 1\r\nX-Debug: 1\r\nX-A: 1\r\n\r\n"))
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 100/s, settle: { header: X-Cost, max: 9 } } }\n"
            "routes: [ { upstream: up, limits: [l], response: { remove: [X-Debug] } } ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )
        with gateway.connect() as c:
            self.assertEqual(c.ask(headers=[TE]).trailers, [("x-a", "1")])

    def test_a_response_that_nominates_fields_loses_them_all(self):
        gateway, _ = self.proxy(chunked("X-A: 1\r\nX-B: 1\r\n\r\n", fields="Connection: X-A\r\n"))
        with gateway.connect() as c:
            self.assertEqual(c.ask(headers=[TE]).trailers, [])

    def test_malformed_ones_never_make_a_whole_response(self):
        for text in MALFORMED:
            gateway, _ = self.proxy(chunked(text))
            with self.subTest(text[:20]), gateway.connect() as c:
                with self.assertRaises((Closed, ConnectionError)):
                    c.ask(headers=[TE])

    def test_a_section_without_end_is_no_whole_response(self):
        def script(peer, request):
            chunked("X-A: 1\r\n")(peer, request)
            return False

        gateway, _ = self.proxy(script)
        with gateway.connect() as c, self.assertRaises((Closed, ConnectionError)):
            c.ask(headers=[TE])

    def test_an_old_client_gets_none(self):
        gateway, origin = self.proxy(chunked(self.GIVEN))
        with gateway.connect() as c:
            r = c.ask(headers=[TE], version="1.0")
            self.assertEqual((r.framing, r.body, r["trailer"]), ("close", b"ok", None))
        self.assertEqual(origin.last()["te"], None)

    def test_responses_without_a_body_have_none(self):
        gateway, _ = self.proxy(chunked(self.GIVEN))
        with gateway.connect() as c:
            for _ in range(2):
                r = c.ask(method="HEAD", headers=[TE])
                self.assertEqual((r.status, r.trailers), (200, []))
        gateway, _ = self.proxy(chunked(self.GIVEN, status="304 Not Modified"))
        with gateway.connect() as c:
            for _ in range(2):
                self.assertEqual(c.ask(headers=[TE]).status, 304)

    def test_a_rejection_has_none(self):
        origin = self.origin(chunked(self.GIVEN))
        limits = "limits: { l: { key: [], rate: 1/d } }\n"
        gateway = self.gateway(limits + forwarding_to(origin.address, "l"))
        with gateway.connect() as c:
            self.assertEqual(len(c.ask(headers=[TE]).trailers), 2)
            r = c.ask(headers=[TE])
            self.assertEqual((r.status, r.framing, r.trailers), (429, "length", []))
