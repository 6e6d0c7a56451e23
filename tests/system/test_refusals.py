"""What the gateway refuses, with which status, and that nothing of it reaches the upstream."""
import json

from harness.case import SystemTest
from harness.client import Closed, exchange_raw

HOST = "Host: gateway.test\r\n"

MALFORMED = {
    "bare line feeds": "GET / HTTP/1.1\nHost: h\n\n",
    "two Host fields": "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no Host": "GET / HTTP/1.1\r\n\r\n",
    "a bad Host": "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    "userinfo in Host": "GET / HTTP/1.1\r\nHost: u@h\r\n\r\n",
    "a folded line": f"GET / HTTP/1.1\r\n{HOST}A: b\r\n c\r\n\r\n",
    "a space before the colon": f"GET / HTTP/1.1\r\n{HOST}A : b\r\n\r\n",
    "a field without a colon": f"GET / HTTP/1.1\r\n{HOST}nonsense\r\n\r\n",
    "NUL in a value": f"GET / HTTP/1.1\r\n{HOST}A: b\0c\r\n\r\n",
    "CR in a value": f"GET / HTTP/1.1\r\n{HOST}A: b\rc\r\n\r\n",
    "two spaces in the request line": f"GET  / HTTP/1.1\r\n{HOST}\r\n",
    "a space in the target": f"GET /a b HTTP/1.1\r\n{HOST}\r\n",
    "a fragment": f"GET /a#b HTTP/1.1\r\n{HOST}\r\n",
    "a relative target": f"GET a HTTP/1.1\r\n{HOST}\r\n",
    "* for a GET": f"GET * HTTP/1.1\r\n{HOST}\r\n",
    "a target of another scheme": f"GET ftp://h/ HTTP/1.1\r\n{HOST}\r\n",
    "length and chunks": f"POST / HTTP/1.1\r\n{HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": f"POST / HTTP/1.1\r\n{HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "a list of lengths": f"POST / HTTP/1.1\r\n{HOST}Content-Length: 5, 5\r\n\r\nhello",
    "a signed length": f"POST / HTTP/1.1\r\n{HOST}Content-Length: +5\r\n\r\nhello",
    "a length past 63 bits": f"POST / HTTP/1.1\r\n{HOST}Content-Length: 99999999999999999999\r\n\r\n",
    "chunked in HTTP/1.0": f"POST / HTTP/1.0\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "another coding": f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an empty coding": f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding:\r\n\r\n",
    "a TLS greeting": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "a" * 40 + "\r\n\r\n",
    "a preface of HTTP/3": "PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": "GET /\r\n\r\n",
}


class Malformed(SystemTest):
    def test_is_refused_and_the_connection_closed(self):
        gateway, origin = self.proxy()
        for name, text in MALFORMED.items():
            with self.subTest(name), gateway.connect() as c:
                c.send(text + f"GET /smuggled HTTP/1.1\r\n{HOST}\r\n")
                r = c.response()
                self.assertIn(r.status, (400, 413, 501, 505))
                self.assertEqual(
                    (r["content-type"], r["connection"]), ("application/problem+json", "close")
                )
                self.assertEqual(json.loads(r.body)["status"], r.status)
                self.assertEqual(c.rest(), b"")
        self.assertEqual(origin.requests, [])
        self.assertEqual(gateway.get().status, 200)

    def test_statuses_that_have_their_own_number(self):
        gateway, origin = self.proxy()
        for status, text in (
            (505, f"GET / HTTP/2.0\r\n{HOST}\r\n"),
            (505, f"GET / HTTP/1.2\r\n{HOST}\r\n"),
        ):
            with self.subTest(text):
                self.assertEqual(exchange_raw(gateway.address, text).status, status)
        self.assertIn(
            exchange_raw(gateway.address, f"CONNECT h:443 HTTP/1.1\r\n{HOST}\r\n").status,
            (400, 405, 501),
        )
        self.assertEqual(origin.requests, [])

    def test_a_bad_chunk_in_the_middle_ends_both_sides(self):
        for bad in (
            "zz\r\n",
            "5\r\nhelloX\r\n",
            "-1\r\n",
            "0x5\r\nhello\r\n",
            "fffffffffffffffff\r\n",
            "5;" + "x" * 70000 + "\r\nhello\r\n",
        ):
            with self.subTest(bad[:10]):
                gateway, origin = self.proxy()
                with gateway.connect() as c:
                    c.send(
                        f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
                    )
                    c.send(bad)
                    r = c.response()
                    self.assertEqual((r.status, r["connection"]), (400, "close"))
                self.assertEqual(gateway.get().status, 200)
                self.assertLessEqual(len(origin.requests), 2)

    def test_trailers_without_end_are_refused(self):
        gateway, _ = self.proxy()
        with gateway.connect() as c:
            c.send(f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n")
            try:
                for _ in range(200):
                    c.send("X-Trailer: " + "t" * 1000 + "\r\n")
            except OSError:
                pass
            try:
                self.assertIn(c.response().status, (400, 431))
            except (Closed, ConnectionError):
                pass  # our own flood may have reset the connection before the answer was read
        self.assertEqual(gateway.get().status, 200)


class Bounds(SystemTest):
    def test_header_bounds_414_and_431(self):
        gateway, origin = self.proxy(extra="http: { max_header_bytes: 1KiB, max_headers: 20 }\n")
        long_target = "/" + "a" * 1100
        long_field = "A: " + "b" * 1100 + "\r\n"
        for status, text in (
            (414, f"GET {long_target} HTTP/1.1\r\n{HOST}\r\n"),
            (414, f"GET {long_target}"),
            (431, f"GET / HTTP/1.1\r\n{HOST}{long_field}\r\n"),
            (431, f"GET / HTTP/1.1\r\n{HOST}{long_field.strip()}"),
            (431, f"GET / HTTP/1.1\r\n{HOST}" + "A: b\r\n" * 20 + "\r\n"),
        ):
            with self.subTest(text[:40], status=status), gateway.connect() as c:
                c.send(text)
                r = c.response()
                self.assertEqual((r.status, r["connection"]), (status, "close"))
                self.assertEqual(r["content-type"], "application/problem+json")
        self.assertEqual(origin.requests, [])
        within = f"GET / HTTP/1.1\r\n{HOST}" + "A: b\r\n" * 19
        self.assertEqual(exchange_raw(gateway.address, within + "\r\n").status, 200)
        exactly = f"GET / HTTP/1.1\r\n{HOST}A: "
        exactly += "b" * (1024 - len(exactly) - 4) + "\r\n\r\n"
        self.assertEqual(len(exactly), 1024)
        self.assertEqual(exchange_raw(gateway.address, exactly).status, 200)
        self.assertEqual(
            exchange_raw(gateway.address, exactly.replace("A: b", "A: bb")).status, 431
        )

    def test_body_bound_413_by_length_and_by_chunks(self):
        gateway, origin = self.proxy(extra="http: { max_body_bytes: 10 }\n")
        post = f"POST / HTTP/1.1\r\n{HOST}"
        self.assertEqual(
            exchange_raw(gateway.address, post + "Content-Length: 10\r\n\r\n0123456789").status, 200
        )
        chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
        self.assertEqual(
            exchange_raw(gateway.address, chunked + "a\r\n0123456789\r\n0\r\n\r\n").status, 200
        )
        self.assertEqual(len(origin.requests), 2)
        r = exchange_raw(gateway.address, post + "Content-Length: 11\r\n\r\n01234567890")
        self.assertEqual((r.status, r["content-type"]), (413, "application/problem+json"))
        self.assertEqual(
            len(origin.requests), 2, "by its length it is refused before the upstream hears of it"
        )
        (line,) = [one for one in gateway.log_lines(3) if one["status"] == 413]
        self.assertEqual(
            [line.get(k) for k in ("method", "host", "target", "route")],
            ["POST", "gateway.test", "/", "/"],
        )
        self.assertEqual(
            exchange_raw(
                gateway.address, chunked + "6\r\n012345\r\n6\r\n678901\r\n0\r\n\r\n"
            ).status,
            413,
        )

    def test_the_default_takes_headers_of_16_kib_and_any_body(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            self.assertEqual(c.ask(headers=[("Cookie", "c" * 15000)]).status, 200)
            self.assertEqual(c.ask(method="POST", body=b"x" * 3_000_000).status, 200)
            self.assertEqual(c.ask(headers=[("Cookie", "c" * 17000)]).status, 431)
        self.assertEqual(len(origin.requests[1].body), 3_000_000)


class Routes(SystemTest):
    TEXT = """
routes:
  - { name: exact, match: { path_exact: /a/b }, upstream: one }
  - { name: prefix, match: { path: /a }, upstream: one }
  - { name: loose, match: { path: /l, ignore_case: true }, upstream: one }
  - { name: loose exact, match: { path_exact: /L/b, ignore_case: true }, upstream: one }
  - { name: host, match: { host: API.example.com., path: /a }, upstream: one }
  - { name: posts, match: { path: /a, methods: [POST] }, upstream: one }
upstreams: { one: { servers: [echo] } }
"""

    def test_the_most_specific_route_wins(self):
        gateway = self.gateway(self.TEXT)
        wanted = [
            ("/a/b", "gateway.test", "GET", "exact"),
            ("/a/b/", "gateway.test", "GET", "exact"),
            ("/a/b/c", "gateway.test", "GET", "prefix"),
            ("/L/c", "gateway.test", "GET", "loose"),
            ("/L/B/c", "gateway.test", "GET", "loose"),
            ("/L/B/", "gateway.test", "GET", "loose exact"),
            ("/a", "gateway.test", "GET", "prefix"),
            ("/a?x", "gateway.test", "GET", "prefix"),
            ("/a/b", "api.EXAMPLE.com:8080", "GET", "host"),
            ("/a/c", "api.example.com.", "POST", "host"),
            ("/a/c", "gateway.test", "POST", "posts"),
            ("/a//b", "gateway.test", "GET", "exact"),
            ("/a/./b", "gateway.test", "GET", "exact"),
            ("/%61/%62", "gateway.test", "GET", "exact"),
            ("/a;p=1/b", "gateway.test", "GET", "exact"),
            ("/a%2fb", "gateway.test", "GET", "exact"),
        ]
        with gateway.connect() as c:
            for target, host, method, _ in wanted:
                r = c.ask(target, [("Host", host)], method)
                self.assertEqual(r.status, 200, target)
                self.assertEqual(json.loads(r.body)["target"], target, "forwarded as it came")
        self.assertEqual(
            [line["route"] for line in gateway.log_lines(len(wanted))], [w[3] for w in wanted]
        )

    def test_a_path_that_servers_read_differently_is_400_and_keeps_the_connection(self):
        gateway, origin = self.proxy()
        targets = (
            "/%zz",
            "/%4",
            "/../x",
            "/a/../x",
            "/a/%2e%2e/x",
            "/a//../x",
            "/a\\b",
            "/a%00",
            "/a%0d%0ab",
            "/a/..;x/b",
            "/a/..%2Fb",
            "/a;x=%2Fb/c",
        )
        with gateway.connect() as c:
            for target in targets:
                r = c.ask(target)
                self.assertEqual(
                    (r.status, r["content-type"]), (400, "application/problem+json"), target
                )
        self.assertEqual(origin.requests, [])

    def test_no_route_is_404_and_keeps_the_connection(self):
        gateway = self.gateway(self.TEXT)
        with gateway.connect() as c:
            for target in ("/", "/ab", "/A", "/a%25", "/metrics"):
                r = c.ask(target)
                self.assertEqual((r.status, r["content-type"]), (404, "application/problem+json"))
            self.assertEqual(c.ask("/notfound", method="POST", body=b"x" * 5000).status, 404)
            self.assertEqual(c.ask("/a").status, 200, "the body was drained")
        self.assertEqual(
            gateway.metrics().sum("gateway_requests_total", route="none", code="404"), 6
        )

    def test_a_large_body_of_a_refused_request_is_not_taken_for_requests(self):
        gateway, origin = self.proxy()
        gateway.reload(
            "routes: [ { match: { path: /x }, upstream: up } ]\n"
            "upstreams: { up: { servers: ['%s'] } }\n" % origin.address
        )
        smuggled = f"GET /x HTTP/1.1\r\n{HOST}\r\n".encode()
        with gateway.connect() as c:
            c.request("/y", method="POST", body=b"")
            self.assertEqual(c.response().status, 404)
            c.send(f"POST /y HTTP/1.1\r\n{HOST}Content-Length: {len(smuggled) * 20000}\r\n\r\n")
            r = c.response()
            self.assertEqual((r.status, r["connection"]), (404, "close"))
            try:
                c.send(smuggled * 20000)
                c.rest()
            except OSError:
                pass
        self.assertEqual(origin.requests, [])

    def test_a_forwarded_host_is_the_one_that_was_matched(self):
        gateway, origin = self.proxy()
        r = exchange_raw(
            gateway.address, "GET http://Real.test:81/x?y HTTP/1.1\r\nHost: fake.test\r\n\r\n"
        )
        self.assertEqual(r.status, 200)
        self.assertEqual(
            (origin.last().target, origin.last().all("host")[0].lower()), ("/x?y", "real.test:81")
        )
