"""HTTP/1.1 as clients use it: persistence, pipelining, framing, methods, versions."""
import json

from harness.case import SystemTest, forwarding_to
from harness.client import exchange_raw
from harness.process import wait_until


def reply_with(text):
    def script(peer, request):
        peer.read_body(request)
        peer.send(text)
        return b"close" not in text.lower() and b"HTTP/1.0" not in text

    return script


class Persistence(SystemTest):
    def test_one_connection_carries_many_requests_on_both_sides(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            for i in range(50):
                self.assertEqual(c.ask(f"/{i}").status, 200)
        self.assertEqual(origin.connections, 1)
        self.assertEqual([r.target for r in origin.requests], [f"/{i}" for i in range(50)])

    def test_pipelined_requests_are_answered_in_order(self):
        def script(peer, request):
            peer.read_body(request)
            peer.reply(body=request.target.encode() + b"|" + request.body)

        gateway, _ = self.proxy(script)
        with gateway.connect() as c:
            for i in range(100):
                if i % 3 == 0:
                    c.request(f"/{i}", method="POST", body=b"x" * i)
                else:
                    c.request(f"/{i}")
            for i in range(100):
                self.assertEqual(
                    c.response().body, f"/{i}|".encode() + (b"x" * i if i % 3 == 0 else b"")
                )

    def test_a_request_may_come_byte_by_byte(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            for (
                byte
            ) in b"POST /drip HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n":
                c.send(bytes([byte]))
            self.assertEqual(c.response().status, 200)
        self.assertEqual(origin.last().body, b"abc")

    def test_connection_close_of_the_client_is_obeyed(self):
        gateway, origin = self.proxy(extra="workers: 1\n")
        with gateway.connect() as c:
            r = c.ask(headers=[("Connection", "close")])
            self.assertEqual((r.status, r["connection"]), (200, "close"))
            self.assertTrue(c.ends())
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual(origin.connections, 1, "the upstream connection is kept all the same")

    def test_connection_close_of_the_upstream_stays_between_it_and_us(self):
        gateway, origin = self.proxy(
            reply_with(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        )
        with gateway.connect() as c:
            for _ in range(3):
                r = c.ask()
                self.assertEqual((r.status, r["connection"]), (200, None))
        self.assertEqual(origin.connections, 3)

    def test_an_idle_upstream_connection_that_was_closed_is_not_noticed_by_the_client(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            for _ in range(5):
                self.assertEqual(c.ask().status, 200)
                origin.close_connections()
                self.assertEqual(c.ask().status, 200)

    def test_at_most_max_idle_connections_are_kept(self):
        origin = self.origin()
        gateway = self.gateway(
            f"workers: 1\nroutes: [ {{ upstream: up }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'], max_idle: 2 }} }}\n"
        )
        clients = [gateway.connect() for _ in range(8)]
        for c in clients:
            c.request()
        for c in clients:
            self.assertEqual(c.response().status, 200)
        wait_until(
            lambda: origin.open_connections() <= 2, what="surplus upstream connections are closed"
        )
        for c in clients:
            c.close()


class Http10(SystemTest):
    def test_it_gets_a_length_or_a_close_and_never_chunks(self):
        gateway, origin = self.proxy(
            reply_with(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        )
        with gateway.connect() as c:
            r = c.ask(version="1.0")
            self.assertEqual((r.status, r.framing, r.body), (200, "close", b"ok"))
            self.assertTrue(c.ends())
        self.assertTrue(origin.last()["via"].startswith("1.0 gateway-"))

    def test_without_keep_alive_the_connection_ends(self):
        gateway, _ = self.proxy()
        with gateway.connect() as c:
            self.assertEqual(c.ask(version="1.0").body, b"ok")
            self.assertTrue(c.ends())

    def test_keep_alive_on_request(self):
        gateway, _ = self.proxy()
        with gateway.connect() as c:
            for _ in range(3):
                r = c.ask(version="1.0", headers=[("Connection", "keep-alive")])
                self.assertEqual((r.status, r["connection"].lower()), (200, "keep-alive"))

    def test_a_host_is_not_needed_but_the_upstream_gets_one(self):
        gateway, origin = self.proxy()
        self.assertEqual(exchange_raw(gateway.address, "GET / HTTP/1.0\r\n\r\n").status, 200)
        self.assertTrue(origin.last()["host"])


class Bodies(SystemTest):
    def test_a_chunked_request_is_decoded_and_encoded_anew(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            c.send(
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
                '4;ext="a;b"\r\nwiki\r\n5\r\npedia\r\n0\r\n\r\n'
            )
            self.assertEqual(c.response().status, 200)
            self.assertEqual(c.ask().status, 200)
        self.assertEqual(origin.requests[0].body, b"wikipedia")

    def test_a_chunked_response_keeps_the_connection(self):
        text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: t\r\n\r\n"
        gateway, origin = self.proxy(reply_with(text))
        with gateway.connect() as c:
            for _ in range(3):
                r = c.ask()
                self.assertEqual((r.framing, r.body), ("chunked", b"hello!"))
        self.assertEqual(origin.connections, 1)

    def test_a_response_until_close_becomes_chunks_or_a_close(self):
        gateway, _ = self.proxy(reply_with(b"HTTP/1.0 200 OK\r\n\r\nall of it"))
        with gateway.connect() as c:
            r = c.ask()
            self.assertEqual(r.body, b"all of it")
            self.assertIn(r.framing, ("chunked", "close"))

    def test_responses_without_a_body_are_not_waited_for(self):
        for status in (204, 304):
            gateway, _ = self.proxy(reply_with(b'HTTP/1.1 %d X\r\nETag: "a"\r\n\r\n' % status))
            with gateway.connect() as c:
                for _ in range(2):
                    r = c.ask()
                    self.assertEqual((r.status, r["etag"]), (status, '"a"'))

    def test_head_gets_the_header_of_get_and_no_body(self):
        for framing in (b"Content-Length: 12345", b"Transfer-Encoding: chunked"):
            gateway, origin = self.proxy(reply_with(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n\r\n"))
            with gateway.connect() as c:
                for _ in range(2):
                    r = c.ask(method="HEAD")
                    self.assertEqual((r.status, r.body), (200, b""))
                    if b"Length" in framing:
                        self.assertEqual(r["content-length"], "12345")
            self.assertEqual(origin.last().method, "HEAD")

    def test_own_answers_to_head_have_no_body(self):
        gateway = self.gateway(
            "routes: [ { match: { path: /x }, upstream: up } ]\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        with gateway.connect() as c:
            for _ in range(2):
                self.assertEqual(c.ask("/y", method="HEAD").status, 404)
            self.assertEqual(c.ask("/x").status, 200)

    def test_an_answer_before_the_body_reaches_the_client_and_frames_nothing_wrong(self):
        def script(peer, request):
            peer.reply(403, b"no")
            return False

        gateway, origin = self.proxy(script)
        with gateway.connect() as c:
            c.send("POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n" + "x" * 1000)
            r = c.response()
            self.assertEqual((r.status, r.body), (403, b"no"))
            try:
                c.send("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n" * 100)
                c.rest()
            except OSError:
                pass
        self.assertEqual([r.target for r in origin.requests], ["/early"])


    def test_a_response_that_begins_early_keeps_both_connections_if_all_is_whole_in_the_end(self):
        def echo(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            peer.read_body(request, peer.send)

        gateway, origin = self.proxy(echo, extra="workers: 1\n")
        with gateway.connect() as c:
            for _ in range(3):
                c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello")
                r = c.head()
                self.assertEqual((r.status, r["connection"]), (200, None))
                self.assertEqual(c.read_exactly(5), b"hello")
                c.send("again")
                self.assertEqual(c.read_exactly(5), b"again")
        self.assertEqual(origin.connections, 1)

    def test_after_a_whole_early_response_the_rest_of_the_body_is_no_request(self):
        def script(peer, request):
            peer.reply(body=request.target.encode())
            peer.wait_for_end()
            return False

        gateway, origin = self.proxy(script, extra="workers: 1\n")
        with gateway.connect() as c:
            inner = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
            c.send(f"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: {len(inner)}\r\n\r\n")
            self.assertEqual(c.response().body, b"/a")
            c.send(inner)
            self.assertEqual(c.ask("/b").body, b"/b")
        self.assertEqual([r.target for r in origin.requests], ["/a", "/b"])

    def test_a_426_says_what_to_upgrade_to(self):
        text = b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: TLS/1.0\r\nConnection: upgrade\r\nContent-Length: 0\r\n\r\n"
        gateway, origin = self.proxy(reply_with(text), extra="workers: 1\n")
        with gateway.connect() as c:
            for _ in range(2):
                r = c.ask()
                self.assertEqual(
                    (r.status, r["upgrade"], r["connection"]), (426, "TLS/1.0", "upgrade")
                )
            r = c.ask(headers=[("Connection", "close")])
            self.assertEqual((r["upgrade"], r["connection"]), ("TLS/1.0", "upgrade, close"))
        self.assertEqual(origin.connections, 1)


class Lengths(SystemTest):
    SPELLINGS = ("05", "5\t", "5 ", " \t 5", "000000000000000000000000000005")

    def test_are_written_as_the_number_they_are(self):
        def script(peer, request):
            peer.read_body(request)
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length:%s\r\n\r\nhello" % answer)

        gateway, origin = self.proxy(script)
        with gateway.connect() as c:
            for spelling in self.SPELLINGS:
                answer = spelling.encode()
                c.send(f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:{spelling}\r\n\r\nhello")
                head = c.read_until(b"\r\n\r\n") + b"\r\n"
                self.assertIn(b"\r\nContent-Length: 5\r\n", head)
                self.assertEqual(c.read_exactly(5), b"hello")
                self.assertIn(b"\r\nContent-Length: 5\r\n", origin.last().head)


class ChunkExtensions(SystemTest):
    GOOD = ("", ";a", ";a=b", ' ; a = "b;\\"c" ;d')
    BAD = (";", ";a=", ";a b", ";a ", ';a="b', ";=b", ";a=b=c", " ")

    def test_of_requests(self):
        gateway, origin = self.proxy()
        for extension in self.GOOD + self.BAD:
            r = exchange_raw(
                gateway.address,
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                f"1{extension}\r\na\r\n0{extension}\r\n\r\n",
            )
            self.assertEqual(r.status, 200 if extension in self.GOOD else 400, extension)
        self.assertEqual([r.body for r in origin.requests if r.body], [b"a"] * len(self.GOOD))

    def test_of_responses(self):
        for extension in self.GOOD + self.BAD:
            text = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1{extension}\r\na\r\n0\r\n\r\n"
            gateway, _ = self.proxy(reply_with(text.encode()))
            with gateway.connect() as c:
                c.request()
                if extension in self.GOOD:
                    self.assertEqual(c.response().body, b"a", extension)
                else:
                    with self.assertRaises((ConnectionError, AssertionError), msg=extension):
                        c.response()


class LateContent(SystemTest):
    """An upstream that sends what a response must not have, when the next request comes."""

    POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

    def test_reaches_nobody(self):
        for method, status in (("HEAD", 200), ("GET", 304), ("GET", 204)):
            for framing in (b"Content-Length: 6", b"Transfer-Encoding: chunked"):

                def script(peer, request, status=status, framing=framing):
                    if request.target == "/first":
                        peer.send(b"HTTP/1.1 %d X\r\n%s\r\n\r\n" % (status, framing))
                        if peer.read_head() is not None:
                            peer.send(self.POISON)
                        return False
                    peer.reply(body=b"mine")

                with self.subTest((method, status, framing)):
                    gateway, origin = self.proxy(script, extra="workers: 1\n")
                    with gateway.connect() as c:
                        self.assertEqual(c.ask("/first", method=method).status, status)
                        self.assertEqual(c.ask("/next").body, b"mine")
                    self.assertEqual(origin.connections, 2)

    def test_leaves_no_port_waiting(self):
        """A client could have all of them used up, by HEAD after HEAD."""

        def script(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")

        def waiting_for(port):
            """Local addresses of connections in TIME_WAIT."""
            with open("/proc/net/tcp", encoding="ascii") as f:
                lines = [line.split() for line in f.readlines()[1:]]
            return {w[1] for w in lines if w[3] == "06" and int(w[2].partition(":")[2], 16) == port}

        gateway, origin = self.proxy(script, extra="workers: 1\n")
        port = int(origin.address.rpartition(":")[2])
        before = waiting_for(port)  # another server may have had that port
        with gateway.connect() as c:
            for _ in range(20):
                self.assertEqual(c.ask(method="HEAD").status, 200)
        self.assertEqual(origin.connections, 20)
        self.assertEqual(waiting_for(port) - before, set())


class Expect(SystemTest):
    def test_one_that_names_nothing_is_none(self):
        gateway, origin = self.proxy()
        with gateway.connect() as c:
            for value in ("", " ", ",", ", ,\t"):
                c.send(f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect:{value}\r\n\r\nhi")
                self.assertEqual(c.response().status, 200)
                self.assertEqual((origin.last().all("expect"), origin.last().body), ([], b"hi"))

    def test_the_upstream_decides_about_100_continue(self):
        def script(peer, request):
            self.assertEqual(request["expect"], "100-continue")
            peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            peer.read_body(request)
            peer.reply(body=request.body)

        gateway, _ = self.proxy(script)
        with gateway.connect() as c:
            for _ in range(2):
                c.send(
                    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"
                    "\r\n"
                )
                self.assertEqual(c.head().status, 100)
                c.send("hello")
                self.assertEqual(c.response().body, b"hello")

    def test_a_final_answer_instead_of_100_continue_makes_the_rest_no_request(self):
        def script(peer, request):
            peer.reply(417, b"no")
            return False

        gateway, origin = self.proxy(script)
        with gateway.connect() as c:
            c.send(
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 44\r\nExpect: 100-continue\r\n\r\n"
            )
            self.assertEqual(c.response().status, 417)
            try:
                c.send("GET /smuggled HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
                c.rest()
            except OSError:
                pass
        self.assertEqual(len(origin.requests), 1)

    def test_a_rejection_needs_no_body(self):
        gateway = self.gateway(
            "limits: { one: { key: [], rate: 1/h } }\n" + forwarding_to("echo", "one")
        )
        self.assertEqual(gateway.get().status, 200)
        with gateway.connect() as c:
            c.send(
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
            )
            self.assertEqual(c.response().status, 429)

    def test_other_expectations_get_417(self):
        gateway, origin = self.proxy()
        r = exchange_raw(
            gateway.address,
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nExpect: tea\r\n\r\n",
        )
        self.assertEqual((r.status, r["content-type"]), (417, "application/problem+json"))
        self.assertEqual(origin.requests, [])

    def test_http_1_0_expects_nothing(self):
        gateway, origin = self.proxy()
        r = exchange_raw(
            gateway.address,
            "POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nhi",
        )
        self.assertEqual(
            (r.status, origin.last().all("expect"), origin.last().body), (200, [], b"hi")
        )

    def test_interim_responses_pass(self):
        def script(peer, request):
            peer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n")
            peer.reply()

        gateway, _ = self.proxy(script)
        with gateway.connect() as c:
            c.request()
            hints = c.head()
            self.assertEqual((hints.status, hints["link"]), (103, "</a>; rel=preload"))
            self.assertEqual(c.response().status, 200)


class Echo(SystemTest):
    def test_it_answers_with_what_it_received(self):
        gateway = self.gateway(forwarding_to("echo"))
        with gateway.connect() as c:
            for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"):
                r = c.ask(
                    "/a/b?c=d", headers=[("X-Test", "äö")], method=method, body=b"body\x00\xff"
                )
                self.assertEqual((r.status, r["content-type"]), (200, "application/json"))
                told = json.loads(r.body)
                self.assertEqual((told["method"], told["target"]), (method, "/a/b?c=d"))
                self.assertEqual(told["body"].encode("latin-1"), b"body\x00\xff")
                self.assertIn(["x-test", "äö"], [[n.lower(), v] for n, v in told["headers"]])
            self.assertEqual(c.ask(method="HEAD").body, b"")
            self.assertEqual(c.ask().status, 200)
