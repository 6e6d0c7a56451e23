"""How bodies are read ahead of requests: as they come, up to a bound, and forwarded byte for byte."""
import re
import threading

from harness.client import Closed, Connection
from harness.clock import running
from harness.http2 import Http2
from harness.http2_origin import Http2Origin
from harness.http2_upstream_case import ask_over_1, chunked, over_http2
from harness.message_case import BURST, JSON, MessageTest, Whole, post, reading
from harness.process import PATIENCE, SLOW, wait_until

KEY = "key: 'json:k', missing_key: skip"
SMALL = "max_inspected_body: 4KiB"
BOUND = 4096
MIB = 1024 * 1024
OVER_HTTP2 = (
    f"http: {{ {SMALL} }}\nlimits: {{ l: {{ {KEY}, rate: 100/d, burst: {BURST} }} }}\n"
    "routes: [ { limits: [l], upstream: up } ]\n"
)


def padded(size, before='{"k":"a","x":"', after='"}'):
    """A body of that size, whose member `k` is at its beginning."""
    return (before + "x" * (size - len(before) - len(after)) + after).encode()


def late(size):
    """A body of that size, whose member `k` is at its end."""
    return padded(size, '{"x":"', '","k":"a"}')


def head(*more, length=None):
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return "\r\n".join(["POST / HTTP/1.1", "Host: gateway.test", "Content-Type: application/json", framing, *more, "", ""])


class BodyTest(MessageTest):
    def setUp(self):
        self.whole = Whole()

    def by_k(self, http=SMALL, script=None, **options):
        return self.limited(KEY, script or self.whole, http=http, **options)

    def each_framing(self):
        """Yields ways to post a body: over each protocol, with its length and without."""
        for ask in self.over_each_protocol():
            for length in (True, False):
                yield lambda g, body, ask=ask, length=length, **o: post(ask, g, body, length=length, **o)

    def charges(self, got):
        left = got["x-ratelimit-remaining"]
        return None if left is None else BURST - int(left)


class Forwarded(BodyTest):
    def test_bodies_arrive_byte_for_byte(self):
        g = self.by_k()
        for send in self.each_framing():
            for size in (20, BOUND - 1, BOUND, BOUND + 1, 2 * BOUND, 65535, 65536, 65537, 300000):
                body = padded(size)
                got = send(g, body)
                self.assertEqual((got.status, got.body), (200, b"ok"), size)
                self.assertTrue(self.whole.bodies[-1] == body, size)
                self.assertIsNotNone(got["x-ratelimit-remaining"], size)

    def test_so_do_those_that_are_no_json(self):
        g = self.by_k()
        for send in self.each_framing():
            for body in (b"", b"\0", bytes(range(256)), b"[" * 1000, b"\xff" * BOUND):
                self.assertEqual(send(g, body).status, 200)
                self.assertTrue(self.whole.bodies[-1] == body, body[:20])

    def test_the_length_is_forwarded_as_it_was(self):
        g = self.by_k()
        post(ask_over_1, g, padded(100))
        self.assertEqual(self.origin_.last()["content-length"], "100")

    def test_trailers_follow_a_held_body(self):
        g = self.by_k()
        got = post(ask_over_1, g, padded(100), [JSON, ("TE", "trailers")], length=False, trailers=[("X-Sum", "7")])
        self.assertEqual((got.status, self.charges(got)), (200, 1))
        self.assertEqual(self.origin_.last().trailers, [("x-sum", "7")])

    def test_the_upstream_is_asked_when_the_body_is_whole(self):
        g = self.by_k()
        body = padded(2000)
        with g.connect() as c:
            c.send(head(length=len(body)).encode() + body[:-1])
            self.assertTrue(c.silent_for(0.2))
            self.assertEqual((self.origin_.requests, self.origin_.connections), ([], 0))
            c.send(body[-1:])
            self.assertEqual(c.response().status, 200)

    def test_a_long_body_streams_from_the_bound_on(self):
        g = self.by_k()
        body = padded(1000000)
        with g.connect() as c:
            c.send(head(length=len(body)).encode() + body[: 2 * BOUND])
            wait_until(lambda: self.origin_.requests, what="the upstream is asked")
            c.send(body[2 * BOUND :])
            self.assertEqual(c.response().status, 200)
        self.assertTrue(self.whole.bodies == [body])

    def test_other_routes_stream_from_the_first_byte(self):
        routes = "routes: [ { match: { path: /plain }, upstream: up }, { limits: [l], upstream: up } ]\n"
        self.origin_ = self.origin(self.whole)
        text = reading(self.origin_.address, KEY)
        text = "".join(line for line in text.splitlines(True) if not line.startswith("routes")) + routes
        g = self.gateway(text)
        with g.connect() as c:
            c.send(head(length=10).replace("POST /", "POST /plain") + "[")
            wait_until(lambda: self.origin_.requests, what="the upstream is asked")
            c.send("[" * 9)
            self.assertEqual(c.response().status, 200)

    def test_two_requests_in_one_packet_are_two(self):
        g = self.by_k()
        bodies = (b'{"k":"a"}', b'{"k":"b"}', b'{"k":"a"}', b"{", padded(2 * BOUND), b'{"k":"b"}')
        with g.connect() as c:
            c.send(b"".join(head(length=len(b)).encode() + b for b in bodies))
            charges = [self.charges(c.response()) for _ in bodies]
        self.assertEqual(charges, [1, 1, 2, None, 3, 2])
        self.assertEqual(self.whole.bodies, list(bodies))

    def test_upstreams_of_http2_get_the_same(self):
        origin = self.started(Http2Origin())
        g = self.gateway(over_http2(origin.address, more=OVER_HTTP2))
        for count, send in enumerate(self.each_framing()):
            for size in (20, BOUND, 200000):
                body = padded(size)
                self.assertEqual(send(g, body).status, 200)
                self.assertTrue(origin.last().body == body, size)


class Pieces(BodyTest):
    """Packets, chunks and frames cut a body anywhere, and the key is the same."""

    BODY = r'{"x":{"k":[1,"\u00e9\\"]},"k":"a\u002d\ud83d\ude00","y":-1.5e1}'.encode() + b"\r\n"

    def assert_same(self, responses, first):
        self.assertEqual([self.charges(r) for r in responses], list(range(first, first + len(responses))))
        self.assertEqual(set(self.whole.bodies), {self.BODY})

    def test_in_two_parts_over_http1(self):
        g, body = self.by_k(), self.BODY
        with g.connect() as c:
            responses = []
            for at in range(len(body) + 1):
                c.send(head(length=len(body)).encode() + body[:at])
                c.send(body[at:])
                responses.append(c.response())
            for at in range(1, len(body)):
                c.send(head().encode() + b"%x\r\n%s\r\n" % (at, body[:at]))
                c.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body) - at, body[at:]))
                responses.append(c.response())
        self.assert_same(responses, 1)

    def test_byte_by_byte_over_http1(self):
        g = self.by_k()
        with g.connect() as c:
            c.send(head().encode() + chunked(self.BODY, 1) + b"0\r\n\r\n")
            responses = [c.response()]
            c.send(head(length=len(self.BODY)))
            for byte in self.BODY:
                c.send(bytes([byte]))
            responses.append(c.response())
        self.assert_same(responses, 1)

    def test_in_two_parts_over_http2(self):
        g, body = self.by_k(), self.BODY
        answers = []
        with Http2(g.address) as c:
            for at in range(len(body) + 1):
                stream = c.request(fields=[("content-type", "application/json")], method="POST", end=False)
                c.data(stream, body[:at])
                if at % 5 == 0:
                    c.ping()  # the first part has been looked at
                c.data(stream, body[at:], end=True)
                answers.append(c.wait_for(stream))
        left = [int(a.get("x-ratelimit-remaining")) for a in answers]
        self.assertEqual(left, [BURST - 1 - n for n in range(len(answers))])
        self.assertEqual(set(self.whole.bodies), {body})

    def test_what_lies_past_the_bound_is_absent_however_it_comes(self):
        g = self.by_k()
        for size in (BOUND + 500, 3 * BOUND, 100000):
            body = late(size)
            with g.connect() as c:
                c.send(head(length=size).encode() + body)
                answers = [c.response()]
                for step in (100, 1000, BOUND):
                    c.send(head().encode() + chunked(body, step) + b"0\r\n\r\n")
                    answers.append(c.response())
            self.assertEqual([(a.status, self.charges(a)) for a in answers], [(200, None)] * 4, size)

    def test_a_body_that_was_cut_is_invalid(self):
        g = self.by_k()
        body = self.BODY.rstrip()
        with g.connect() as c:
            for at in range(len(body)):
                c.send(head(length=at).encode() + body[:at])
                self.assertIsNone(self.charges(c.response()), body[:at])

    def test_a_client_that_leaves_before_the_end_asks_nobody(self):
        g, body = self.by_k(), b'{"k":"a"}'
        for at in range(len(body)):
            for framing in (head(length=len(body)).encode() + body[:at], head().encode() + (b"%x\r\n%s" % (len(body), body[:at]))):
                with g.connect() as c:
                    c.send(framing)
                    c.finish_sending()
                    try:
                        c.rest()
                    except ConnectionError:
                        pass
        with Http2(g.address) as c:
            for at in range(len(body)):
                stream = c.request(fields=[("content-type", "application/json")], method="POST", end=False)
                c.data(stream, body[:at])
                c.reset(stream)
            c.ping()
        self.assertEqual(self.origin_.requests, [])
        self.assertEqual(self.charges(post(ask_over_1, g, body)), 1, "nobody was charged")


class LongBodies(BodyTest):
    def test_missing(self):
        g = self.by_k(SMALL + ", on_long_body: missing")
        for send in self.each_framing():
            got = send(g, late(3 * BOUND))
            self.assertEqual((got.status, self.charges(got)), (200, None))
            self.assertTrue(self.whole.bodies[-1] == late(3 * BOUND))

    def test_missing_may_be_rejected(self):
        g = self.limited("key: 'json:k', missing_key: reject", http=SMALL)
        for send in self.each_framing():
            self.assertEqual(send(g, late(3 * BOUND)).status, 400)
        self.assertEqual(self.origin_.requests, [])

    def test_413(self):
        g = self.by_k(SMALL + ", on_long_body: 413")
        for send in self.each_framing():
            got = send(g, late(3 * BOUND))
            self.assertEqual((got.status, got["content-type"]), (413, "application/problem+json"))
            self.assertEqual(send(g, late(BOUND - 1)).status, 200)
        self.assertEqual([len(b) for b in self.whole.bodies], [BOUND - 1] * 4)

    def test_413_is_not_for_members_that_are_found_in_time(self):
        g = self.by_k(SMALL + ", on_long_body: 413")
        for count, send in enumerate(self.each_framing()):
            got = send(g, padded(5 * BOUND))
            self.assertEqual((got.status, self.charges(got)), (200, count + 1))

    def test_a_route_has_its_own_bound(self):
        g = self.by_k(SMALL + ", on_long_body: 413", route="max_inspected_body: 64KiB, on_long_body: missing")
        for send in self.each_framing():
            self.assertIsNotNone(self.charges(send(g, late(60000))))
            got = send(g, late(70000))
            self.assertEqual((got.status, self.charges(got)), (200, None))

    def test_a_bound_of_a_mebibyte(self):
        g = self.by_k(route="max_inspected_body: 1MiB")
        for send in self.each_framing():
            self.assertIsNotNone(self.charges(send(g, late(MIB - 100))))
            self.assertIsNone(self.charges(send(g, late(MIB + 1000))))

    def test_64_kib_by_default(self):
        g = self.by_k("")
        for send in self.each_framing():
            self.assertIsNotNone(self.charges(send(g, late(65000))))
            self.assertIsNone(self.charges(send(g, late(66000))))


class LateErrors(BodyTest):
    """What is wrong past the bound ends the exchange before the upstream has the whole body."""

    BEGINNING = '{"k":"a","x":"' + "x" * 20000 + '"'
    ENDS = {
        "twice": ',"k":"b"}',
        "twice, spelt otherwise": r',"\u006b":"b"}',
        "behind the root": "}x",
        "a second root": '}{"k":"b"}',
        "without an end": "",
        "in a string": ',"y":"abc',
        "a comma too many": ",}",
        "a bad escape": r',"y":"\q"}',
        "no UTF-8": b',"y":"\xff"}',
        "cut UTF-8": b',"y":"\xe2\x82"}',
        "too deep": ',"y":' + "[" * 40 + "]" * 40 + "}",
        "a bad number": ',"y":01}',
    }

    def assert_no_end(self):
        """The upstream has seen the end of no body, and waits for none."""
        wait_until(lambda: self.whole.bodies or self.origin_.open_connections() == 0, what="the upstream is let go")
        self.assertEqual(len(self.whole.bodies), 0, f"the upstream has the whole of {[b[-20:] for b in self.whole.bodies]}")

    def bodies(self):
        for name, end in self.ENDS.items():
            yield name, self.BEGINNING.encode() + (end if isinstance(end, bytes) else end.encode())

    def test_400_and_the_charge_stays(self):
        g = self.by_k()
        charged = 0
        for send in self.each_framing():
            for name, body in self.bodies():
                with self.subTest(name):
                    self.assertEqual(send(g, body).status, 400)
                    charged += 1
        self.assert_no_end()
        self.assertEqual(self.charges(post(ask_over_1, g, '{"k":"a"}')), charged + 1)

    def test_400_beside_a_member_that_was_ambiguous_before(self):
        """It counts as absent, and excuses no other."""
        limits = "key: ['json:k', 'json:model'], missing_key: skip"
        self.origin_ = self.origin(self.whole)
        g = self.gateway(reading(self.origin_.address, limits, http=SMALL))
        early = b'{"model":1,"model":2,"k":"a","x":"' + b"x" * 20000 + b'"'
        for send in self.each_framing():
            for end in (b',"k":"b"}', b",}"):
                self.assertEqual(send(g, early + end).status, 400)
            self.assertEqual(send(g, early + b',"model":3}').status, 200)
            self.assertEqual(self.whole.bodies.pop(), early + b',"model":3}')
        self.assertEqual(self.whole.bodies, [])

    def test_400_also_where_the_member_was_absent(self):
        g = self.by_k()
        for send in self.each_framing():
            self.assertEqual(send(g, b'{"x":"' + b"x" * 20000 + b'"').status, 400)
        self.assert_no_end()

    def test_a_length_that_is_reached_is_the_end(self):
        """Over HTTP/2 the end of the stream may come later, and an upstream of HTTP/1.1 does not wait for it."""
        g = self.by_k()
        body = self.BEGINNING.encode()
        with Http2(g.address) as c:
            fields = [("content-type", "application/json"), ("content-length", str(len(body)))]
            stream = c.request(fields=fields, method="POST", end=False)
            c.upload(stream, body, end=False)
            c.ping()
            c.data(stream, b"", end=True)
            self.assertEqual(c.wait_for(stream).status, 400)
        self.assert_no_end()

    def test_the_end_is_not_forwarded_when_it_comes_late(self):
        g = self.by_k()
        body = self.BEGINNING.encode() + b',"k":"b"}'
        with g.connect() as c:
            c.send(head(length=len(body)).encode() + body[:-9])
            wait_until(lambda: self.origin_.requests, what="the upstream is asked")
            c.send(body[-9:])
            self.assertEqual(c.response().status, 400)
        self.assert_no_end()

    def test_a_response_that_has_begun_is_cut(self):
        def early(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            self.whole(peer, request)

        g = self.by_k(script=early)
        body = self.BEGINNING.encode() + b',"k":"b"}'
        with g.connect() as c:
            c.send(head(length=len(body)).encode() + body[:-9])
            self.assertEqual(c.head().status, 200)
            c.send(body[-9:])
            self.assertRaises((Closed, ConnectionError), c.read_exactly, 100)
        self.assert_no_end()

    def test_an_upstream_of_http2_has_its_stream_reset(self):
        origin = self.started(Http2Origin())
        g = self.gateway(over_http2(origin.address, more=OVER_HTTP2))
        for send in self.each_framing():
            self.assertEqual(send(g, self.BEGINNING.encode() + b',"k":"b"}').status, 400)
        for call in origin.requests:
            wait_until(lambda call=call: call.reset is not None or call.ended, what="the stream is over")
            self.assertFalse(call.ended)

    def test_so_it_is_when_the_end_comes_late(self):
        origin = self.started(Http2Origin())
        g = self.gateway(over_http2(origin.address, more=OVER_HTTP2))
        body = self.BEGINNING.encode() + b',"k":"b"}'
        with g.connect() as c:
            c.send(head(length=len(body)).encode() + body[:-9])
            wait_until(lambda: origin.requests, what="the upstream is asked")
            c.send(body[-9:])
            self.assertEqual(c.response().status, 400)
        origin.last().wait_for_reset()
        self.assertFalse(origin.last().ended)


class Slowness(BodyTest):
    TIMES = "body_timeout: 700ms, " + SMALL

    def gateway_in_haste(self):
        self.origin_ = self.origin(self.whole)
        text = reading(self.origin_.address, KEY, http=self.TIMES).replace("body_timeout: 20s, ", "")
        return self.gateway(text)

    def drip(self, send_byte, is_over):
        """Seconds until it is over, while a byte moves long before each deadline."""
        began = running()
        while not is_over():
            self.assertLess(running() - began, 5 * PATIENCE, "still held")
            send_byte()
        return running() - began

    def test_a_byte_now_and_then_is_held_no_longer_than_body_timeout(self):
        g = self.gateway_in_haste()
        for framing, byte in ((head(length=1000), " "), (head(), "1\r\n \r\n")):
            with g.connect() as c:
                c.send(framing)
                took = self.drip(lambda: c.send(byte), lambda: not c.silent_for(0.05))
                self.assertLess(took, 2.5 * PATIENCE)
                self.assertGreater(took, 0.5)
                self.assertEqual(c.response().status, 408)
        self.assertEqual(self.origin_.requests, [])

    def test_nor_over_http2(self):
        g = self.gateway_in_haste()
        with Http2(g.address) as c:
            stream = c.request(fields=[("content-type", "application/json")], method="POST", end=False)

            def waited():
                try:
                    c.wait(lambda: c.answer(stream).over, 0.05)
                except AssertionError:
                    pass
                return c.answer(stream).over

            took = self.drip(lambda: c.data(stream, b" "), waited)
            self.assertLess(took, 2.5 * PATIENCE)
            self.assertEqual(c.answer(stream).status, 408)
        self.assertEqual(self.origin_.requests, [])

    def test_past_the_bound_a_body_may_move_slowly(self):
        g = self.gateway_in_haste()
        body = padded(BOUND + 40)
        with g.connect() as c:
            c.send(head(length=len(body)).encode() + body[: BOUND + 20])
            for byte in body[BOUND + 20 :]:
                self.assertTrue(c.silent_for(0.06))
                c.send(bytes([byte]))
            self.assertEqual(c.response().status, 200)
        self.assertTrue(self.whole.bodies == [body])


class Expecting(BodyTest):
    """Who expects 100 gets it from the gateway, which needs the body first."""

    def test_over_http1(self):
        g = self.by_k()
        with g.connect() as c:
            for number, body in enumerate((b'{"k":"a"}', padded(3 * BOUND), b'{"k":"a"}')):
                c.send(head("Expect: 100-continue", length=len(body)))
                self.assertEqual(c.head().status, 100)
                c.send(body)
                r = c.response()
                self.assertEqual((r.status, self.charges(r)), (200, number + 1))
                self.assertTrue(self.whole.bodies[-1] == body)

    def test_over_http2(self):
        g = self.by_k()
        with Http2(g.address) as c:
            fields = [("content-type", "application/json"), ("expect", "100-continue")]
            stream = c.request(fields=fields, method="POST", end=False)
            c.wait(lambda: c.answer(stream).interim or c.answer(stream).over)
            self.assertEqual(dict(c.answer(stream).interim[0])[":status"], "100")
            c.data(stream, b'{"k":"a"}', end=True)
            answer = c.wait_for(stream)
        self.assertEqual((answer.status, answer.get("x-ratelimit-remaining")), (200, str(BURST - 1)))

    def test_a_length_past_the_bound_of_bodies_is_refused_at_once(self):
        g = self.by_k(SMALL + ", max_body_bytes: 1KiB")
        with g.connect() as c:
            c.send(head("Expect: 100-continue", length=5000))
            self.assertEqual(c.response().status, 413)

    def test_a_body_in_chunks_past_that_bound_asks_nobody(self):
        g = self.by_k(SMALL + ", max_body_bytes: 1KiB")
        for ask in self.over_each_protocol():
            self.assertEqual(post(ask, g, padded(2000), length=False).status, 413)
        self.assertEqual(self.origin_.requests, [])


class Memory(BodyTest):
    """Bodies that are held together have a bound."""

    # Far more than a worker should hold.
    BODIES = 100 if SLOW else 600

    def holding(self, g, count):
        """Connections with all but the last byte of a large body, until one is answered."""
        body = padded(MIB - 10)
        held = []
        for _ in range(count):
            c = Connection(g.address)
            self.addCleanup(c.close)
            c.socket.setblocking(True)
            sender = threading.Thread(target=self.send_most, args=(c, body), daemon=True)
            sender.start()
            sender.join(10)
            held.append(c)
            if not c.silent_for(0.05):
                break
        return held

    @staticmethod
    def send_most(c, body):
        try:
            c.send(head(length=len(body)).encode() + body[:-1])
        except OSError:
            pass  # refused meanwhile

    def test_past_the_bound_503_and_others_go_on(self):
        g = self.by_k("", route="max_inspected_body: 1MiB")
        before = g.memory()
        held = self.holding(g, self.BODIES)
        refused = held.pop().response()
        self.assertEqual((refused.status, refused["content-type"]), (503, "application/problem+json"))
        self.assertIsNotNone(refused["retry-after"])
        self.assertGreaterEqual(len(held), 8, "so many are held")
        if not SLOW:
            self.assertLess(g.memory() - before, (len(held) + 64) * MIB)
        self.assertEqual(self.origin_.requests, [])
        self.assertEqual(g.metrics().count("gateway_contents_refused_total"), 1)
        held.pop().send("}")
        wait_until(lambda: self.whole.bodies, what="a body that is whole is forwarded")
        held.pop().close()
        wait_until(lambda: post(ask_over_1, g, '{"k":"b"}').status == 200, what="there is room again")

    def test_it_comes_back(self):
        g = self.by_k("", route="max_inspected_body: 1MiB")
        for _ in range(3):
            held = self.holding(g, 40)
            for c in held:
                c.close()
            wait_until(lambda: g.metrics().sum("gateway_connections", side="client", state="active") == 0)
        self.assertEqual(post(ask_over_1, g, padded(MIB - 10)).status, 200)
        if not SLOW:
            self.assertLess(g.memory(), 200 * MIB)
