"""Clients and upstreams that leave in the middle or talk nonsense harm nobody else."""
import random

from harness.case import SystemTest
from harness.client import Closed
from harness.process import SLOW, wait_until


def sending(text):
    def script(peer, request):
        peer.read_body(request)
        peer.send(text)
        return False

    return script


BAD_RESPONSES = {
    "nonsense": b"\x00\x01\x02 no HTTP at all\r\n\r\n",
    "a bad version": b"HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "a bad status": b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
    "length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n",
    "an unknown coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
    "a bad field name": b"HTTP/1.1 200 OK\r\nBad Name: x\r\nContent-Length: 0\r\n\r\n",
    "NUL in a value": b"HTTP/1.1 200 OK\r\nA: b\x00c\r\nContent-Length: 0\r\n\r\n",
    "switching protocols unasked": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "interim answers without end": b"HTTP/1.1 102 Processing\r\n\r\n" * 1000,
    "a header without end": b"HTTP/1.1 200 OK\r\n" + b"A: " + b"b" * 3_000_000,
    "a cut header": b"HTTP/1.1 200 OK\r\nContent-Le",
    "nothing": b"",
}


class Upstreams(SystemTest):
    def test_a_response_that_is_no_http_is_502_and_its_connection_is_not_used_again(self):
        gateway, origin = self.proxy()
        for name, text in BAD_RESPONSES.items():
            with self.subTest(name):
                origin.script = sending(text)
                with gateway.connect() as c:
                    r = c.ask(method="POST", body=b"x")
                    self.assertEqual(
                        (r.status, r["content-type"]), (502, "application/problem+json")
                    )
                    origin.script = lambda peer, request: peer.reply(body=b"fine")
                    self.assertEqual(c.ask().body, b"fine")

    def test_a_body_that_is_cut_is_cut_for_the_client_too(self):
        for name, text in {
            "length": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
            "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
            "bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n",
        }.items():
            with self.subTest(name):
                gateway, _ = self.proxy(sending(text))
                with gateway.connect() as c:
                    c.request()
                    with self.assertRaises((Closed, ConnectionError)):
                        c.response()

    def test_bytes_after_a_response_are_no_answer_to_anybody(self):
        text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        gateway, origin = self.proxy(sending(text + poison))
        with gateway.connect() as c:
            for _ in range(5):
                self.assertEqual(c.ask().body, b"ok")
        self.assertEqual(origin.connections, 5)

    def test_a_reset_is_502(self):
        def script(peer, request):
            peer.reset()
            return False

        gateway, origin = self.proxy(script)
        self.assertEqual(gateway.get(method="POST", body=b"x").status, 502)
        self.assertEqual(len(origin.requests), 1, "a POST is not sent twice")
        self.assertEqual(
            gateway.metrics().sum("gateway_upstream_failures_total", upstream="up", reason="reset"),
            1,
        )

    def test_a_server_that_is_away_does_not_hurt_another_route(self):
        good, away = self.origin(), self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.gateway(
            "routes:\n - { match: { path: /good }, upstream: good }\n"
            " - { match: { path: /away }, upstream: away }\n"
            f"upstreams: {{ good: {{ servers: ['{good.address}'] }}, away: {{ servers: ['{away.address}'] }} }}\n"
        )
        waiting = [gateway.connect() for _ in range(50)]
        for c in waiting:
            c.request("/away")
        wait_until(lambda: len(away.requests) == 50)
        for _ in range(50):
            self.assertEqual(gateway.get("/good").status, 200)
        for c in waiting:
            c.reset()
        wait_until(
            lambda: away.open_connections() == 0,
            what="the upstream connections of clients that left are closed",
        )


class Clients(SystemTest):
    def quiet(self, gateway, origin):
        """Nothing of a client is left."""

        def nothing():
            m = gateway.metrics()
            return (
                m.sum("gateway_connections", side="client", state="active") == 0
                and m.sum("gateway_connections", side="client", state="idle") == 0
            )

        wait_until(nothing, what="no client connection is left")
        self.assertLessEqual(origin.open_connections(), 128)

    def test_leaving_at_every_byte_harms_nobody(self):
        gateway, origin = self.proxy()
        text = b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        before = gateway.descriptors()
        for cut in range(1, len(text), 3 if SLOW else 1):
            for leave in ("reset", "close", "half"):
                c = gateway.connect()
                c.send(text[:cut])
                if leave == "reset":
                    c.reset()
                elif leave == "close":
                    c.close()
                else:
                    c.finish_sending()
                    c.rest()
                    c.close()
        self.assertEqual(gateway.get().status, 200)
        self.quiet(gateway, origin)
        self.assertLess(
            gateway.descriptors(), before + 40, "some idle upstream connections, and no more"
        )

    def test_leaving_while_waiting_cancels_the_request(self):
        gateway, origin = self.proxy(lambda peer, request: peer.wait_for_end())
        for leave in ("reset", "close"):
            c = gateway.connect()
            c.request()
            wait_until(lambda: origin.open_connections() == 1)
            getattr(c, leave)()
            wait_until(
                lambda: origin.open_connections() == 0, what="the upstream connection is closed"
            )
        self.quiet(gateway, origin)

    def test_leaving_during_a_response_ends_the_upstream_connection(self):
        gateway, origin = self.proxy(lambda peer, request: peer.reply(body=b"x" * 50_000_000))
        for leave in ("reset", "close"):
            c = gateway.connect()
            c.request()
            c.head()
            getattr(c, leave)()
            wait_until(
                lambda: origin.open_connections() == 0, what="the upstream connection is closed"
            )
        self.quiet(gateway, origin)

    def test_leaving_during_a_request_body_never_completes_it_upstream(self):
        complete = []

        def script(peer, request):
            peer.read_body(request)
            complete.append(request)
            peer.reply()

        gateway, origin = self.proxy(script)
        for framing in ("Content-Length: 1000", "Transfer-Encoding: chunked"):
            for leave in ("reset", "close"):
                c = gateway.connect()
                seen = len(origin.requests)
                c.send(f"POST / HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n3\r\nabc\r\n")
                wait_until(lambda: len(origin.requests) > seen)
                getattr(c, leave)()
        self.quiet(gateway, origin)
        self.assertEqual(complete, [])

    def test_random_bytes_never_break_it(self):
        gateway, origin = self.proxy()
        random_bytes = random.Random(7)
        for _ in range(50 if SLOW else 300):
            c = gateway.connect()
            try:
                c.send(
                    bytes(
                        random_bytes.choices(
                            b"GET / HTTP/1.1\r\n:\x00\xff chunked0",
                            k=random_bytes.randrange(1, 2000),
                        )
                    )
                )
            except ConnectionError:
                pass
            c.reset()
        self.assertEqual(gateway.get().status, 200)
        self.quiet(gateway, origin)
