"""The duties of one who stands between: Date, Via and loops, Max-Forwards, responses' framing."""
import email.utils
import os
import time

from harness.case import SystemTest, forwarding_to
from harness.client import exchange_raw, get
from harness.clock import running
from harness.process import wait_until


def request(method, target="/", *lines):
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: h", *lines]) + "\r\n\r\n"


def sending(text):
    def script(peer, request):
        peer.read_body(request)
        peer.send(text)

    return script


class Date(SystemTest):
    def is_now(self, text):
        self.assertRegex(text, r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
        self.assertLess(abs(email.utils.parsedate_to_datetime(text).timestamp() - time.time()), 5)

    def test_is_added_where_the_upstream_gives_none(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            self.is_now(c.ask()["date"])
            origin.script = sending(b"HTTP/1.1 200 x\r\nDate: then\r\nContent-Length: 0\r\n\r\n")
            self.assertEqual(c.ask()["date"], "then")
            origin.script = sending(
                b"HTTP/1.1 200 x\r\nDate: a\r\nConnection: date\r\nContent-Length: 0\r\n\r\n"
            )
            self.is_now(c.ask()["date"])

    def test_is_in_our_own_answers(self):
        gateway, _ = self.proxy()
        for text in ("nonsense\r\n\r\n", request("GET", "/../a"), request("CONNECT", "h:1")):
            self.is_now(exchange_raw(gateway.address, text)["date"])
        for path in ("/healthz", "/nowhere"):
            self.is_now(get(gateway.admin, path)["date"])

    def test_goes_on_with_the_clock(self):
        gateway, _ = self.proxy()
        with gateway.connect() as c:
            first = c.ask()["date"]
            until = running() + 5
            while c.ask()["date"] == first:
                self.assertLess(running(), until)


class Via(SystemTest):
    def test_each_process_has_a_name_of_its_own_and_so_a_chain_is_no_loop(self):
        origin = self.origin()
        address = origin.address
        for _ in range(6):
            gateway = self.gateway("workers: 1\n" + forwarding_to(address))
            address = "%s:%d" % gateway.address
        self.assertEqual(gateway.get("/", [("Via", "1.0 first")]).status, 200)
        names = origin.last().all("via")
        self.assertEqual(len(set(names)), 7)
        self.assertEqual(names[0], "1.0 first")
        for name in names[1:]:
            self.assertRegex(name, r"^1\.1 gateway-[0-9a-f]{8}$")

    def test_a_loop_ends_with_508(self):
        path = os.path.join(self.directory().path, "loop")
        gateway = self.gateway(
            f"listeners: [ {{ address: 127.0.0.1:0 }}, {{ address: 'unix:{path}' }} ]\n"
            + forwarding_to(f"unix:{path}")
        )
        r = gateway.get()
        self.assertEqual((r.status, r["content-type"]), (508, "application/problem+json"))
        wait_until(lambda: gateway.metrics().sum("gateway_requests_total", code="508") == 5)
        self.assertEqual(gateway.metrics().sum("gateway_requests_total", route="/"), 4)

    def test_a_request_may_come_by_a_few_times(self):
        gateway, origin = self.proxy()
        self.assertEqual(gateway.get().status, 200)
        ours = origin.last()["via"]
        for passes, status in ((1, 200), (3, 200), (4, 508), (5, 508)):
            with self.subTest(passes):
                one_line = [("Via", ", ".join([ours] * passes))]
                lines = [("Via", ours)] * passes
                self.assertEqual(gateway.get("/", one_line).status, status)
                self.assertEqual(gateway.get("/", lines).status, status)

    def test_the_response_s_own_is_left_alone(self):
        gateway, _ = self.proxy(
            sending(b"HTTP/1.1 200 x\r\nVia: 1.1 cache\r\nContent-Length: 0\r\n\r\n")
        )
        self.assertEqual(gateway.get()["via"], "1.1 cache")


class MaxForwards(SystemTest):
    def test_0_ends_here(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            for target in ("/", "*", "/%zz"):
                c.send(request("OPTIONS", target, "Max-Forwards: 0"))
                r = c.response()
                self.assertEqual((r.status, r["allow"], r.body), (200, "OPTIONS", b""))
                self.assertEqual((r["content-length"], r["content-type"]), ("0", None))
            c.send(request("TRACE", "/", "Max-Forwards: 0", "Cookie: secret", "X-Key: secret"))
            r = c.response()
            self.assertEqual((r.status, r["allow"]), (405, "OPTIONS"))
            self.assertNotIn(b"secret", r.body)
        self.assertEqual(origin.requests, [])

    def test_more_is_one_less_upstream(self):
        gateway, origin = self.proxy()
        for method in ("OPTIONS", "TRACE"):
            for given, told in (("1", "0"), ("10", "9"), ("9" * 30, "999999")):
                r = exchange_raw(gateway.address, request(method, "/", f"Max-Forwards: {given}"))
                self.assertEqual((r.status, origin.last().all("max-forwards")), (200, [told]))

    def test_what_is_no_number_is_400(self):
        gateway, origin = self.proxy()
        for lines in (["Max-Forwards: a"], ["Max-Forwards:"], ["Max-Forwards: 1"] * 2):
            r = exchange_raw(gateway.address, request("OPTIONS", "*", *lines))
            self.assertEqual(r.status, 400)
        self.assertEqual(origin.requests, [])

    def test_means_nothing_to_other_methods(self):
        gateway, origin = self.proxy()
        self.assertEqual(gateway.get("/", [("Max-Forwards", "0")]).status, 200)
        self.assertEqual(origin.last()["max-forwards"], "0")


class Methods(SystemTest):
    def test_trace_has_no_content(self):
        gateway, origin = self.proxy()
        for framing in ("Content-Length: 3", "Transfer-Encoding: chunked"):
            text = request("TRACE", "/", framing) + "3\r\nabc\r\n0\r\n\r\n"
            self.assertEqual(exchange_raw(gateway.address, text).status, 400)
        self.assertEqual(origin.requests, [])

    def test_connect_is_501_and_the_connection_ends(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            c.send("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n" + request("GET"))
            r = c.response()
            self.assertEqual((r.status, r["connection"], c.rest()), (501, "close", b""))
        self.assertEqual(origin.requests, [])

    def test_options_of_the_server_is_forwarded_as_such(self):
        gateway, origin = self.proxy()
        for target in ("*", "http://h"):
            self.assertEqual(exchange_raw(gateway.address, request("OPTIONS", target)).status, 200)
            self.assertEqual(origin.last().target, "*")
        self.assertEqual(
            exchange_raw(gateway.address, request("OPTIONS", "http://h/")).status, 200
        )
        self.assertEqual(origin.last().target, "/")


class Framing(SystemTest):
    """What an upstream says of a body that cannot be there."""

    def outcome(self, text, method="GET"):
        """Status of the response, and whether the upstream connection was used again."""
        gateway, origin = self.proxy(sending(text.encode()), extra="workers: 1\n")
        with gateway.connect() as c:
            status = c.ask(method=method).status
            origin.script = sending(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine")
            self.assertEqual(c.ask().body, b"fine", "the next response is its own")
        return status, origin.connections == 1

    def test_table(self):
        fine = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        for text, method, expected in (
            ("HTTP/1.1 204 x\r\n\r\n", "GET", (204, True)),
            ("HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n", "GET", (204, True)),
            ("HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n", "GET", (204, False)),
            ("HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n", "GET", (204, False)),
            ("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n", "GET", (304, False)),
            ("HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n\r\n", "GET", (304, False)),
            ("HTTP/1.1 304 x\r\n\r\n", "GET", (304, True)),
            ("HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", "HEAD", (200, False)),
            ("HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD", (200, False)),
            ("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", "HEAD", (200, True)),
            ("HTTP/1.1 200 x\r\n\r\n", "HEAD", (200, False)),
            ("HTTP/1.1 304 x\r\n\r\n", "HEAD", (304, True)),
            ("HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\nhello", "HEAD", (200, False)),
            ("HTTP/1.0 200 x\r\nContent-Length: 0\r\n\r\n", "GET", (200, False)),
            ("HTTP/1.0 204 x\r\nConnection: keep-alive\r\n\r\n", "GET", (204, True)),
            ("HTTP/1.1 103 x\r\nContent-Length: 0\r\n\r\n" + fine, "GET", (200, True)),
            ("HTTP/1.1 103 x\r\nContent-Length: 1\r\n\r\n" + fine, "GET", (502, False)),
            ("HTTP/1.1 100 x\r\nTransfer-Encoding: chunked\r\n\r\n" + fine, "GET", (502, False)),
            ("HTTP/1.1 200 x\r\n" + "Content-Length: 0\r\n" * 2 + "\r\n", "GET", (502, False)),
            ("HTTP/1.1 200 x\r\nContent-Length: 0, 0\r\n\r\n", "GET", (502, False)),
            ("HTTP/1.0 200 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET", (502, False)),
            ("HTTP/1.1 200 x\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n", "GET", (502, False)),
            ("HTTP/1.1 200 x\r\nA : b\r\nContent-Length: 0\r\n\r\n", "GET", (502, False)),
            ("HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n", "GET", (502, False)),
            ("\r\nHTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", "GET", (502, False)),
            ("HTTP/1.1 200 x\nContent-Length: 0\n\n", "GET", (502, False)),
        ):
            with self.subTest(text):
                self.assertEqual(self.outcome(text, method), expected)
