"""Limits that read messages, two features at a time: what the next request is told adds up, however the last one
was framed, and no framing or spelling is a way round."""
import itertools
import json

from harness import websocket
from harness.gateway import run_command
from harness.http2 import Http2
from harness.http2_upstream_case import ask_over_1, ask_over_2
from harness.message_case import BURST, JSON, MessageTest, post, reading
from harness.model_shapes import OPENAI, Answering, openai_stream, price
from harness.process import wait_until

TEXT = ("Content-Type", "text/plain")


def in_units(size, unit):
    return (size + unit - 1) // unit


class Told(MessageTest):
    """By the fields of the next request. Another worker could be asked before a shared store knows of the last one."""

    def test_each_request_sees_what_the_last_one_cost(self):
        answers = Answering()
        answers.say("text/event-stream", openai_stream(19, 10))
        origin, body = self.origin(answers), b'{"max_tokens":500}'
        for store in self.every_store():
            where = "" if store is None else ", store: s, on_store_failure: closed"
            more = "" if store is None else f"stores: {{ s: {{ url: '{store.url}', timeout: 5s }} }}\n"
            cost = "{ sum: [ { json: max_tokens, default: 1024 }, { request_bytes: 4 } ] }"
            limit = f"key: [], headers: tokens, cost: {cost}, settle: {{ json: {OPENAI}, max: 200000 }}{where}"
            g = self.gateway(reading(origin.address, limit, more=more))
            if store is not None:
                wait_until(lambda g=g: g.metrics().sum("gateway_store_up", store="s"), what="store")
            for number in range(60):
                ask, length = (ask_over_1, ask_over_2)[number % 2], number % 3 != 0
                got = post(ask, g, body, length=length)
                reserve = 500 + (in_units(len(body), 4) if length else 0)
                left = BURST - number * price(19, 10) - reserve
                # A bucket that was full is refunded a moment less than its request took: that which the answer of a
                # shared store may have been on its way. The next request may find that moment still owed.
                told = {str(left), str(left - 1)} if number == 1 and store is not None else {str(left)}
                self.assertEqual(got.status, 200, number)
                self.assertIn(got["x-ratelimit-remaining-tokens"], told, number)


class Framed(MessageTest):
    """A body costs the same with and without an announced length, whatever the response says."""

    COSTS = (
        ("{ request_bytes: 4, default: 33 }", lambda body: in_units(len(body), 4)),
        (
            "{ sum: [ { json: n, default: 50 }, { request_bytes: 4, default: 5 } ] }",
            lambda body: 50 + in_units(len(body), 4),
        ),
    )
    BODIES = (b"", b"xyz", b'{"x":"' + b"y" * 3000 + b'"}')

    def judge(self, settle, status, response, fields, expected):
        """`expected` is None where the request alone says what it costs."""
        def script(peer, request):
            peer.read_body(request)
            peer.reply(status, response, [JSON, *fields])

        for cost, of_body in self.COSTS:
            g = self.limited(f"key: [], cost: {cost}, settle: {settle}", script)
            taken = 0
            for ask in self.over_each_protocol():
                for body, length in itertools.product(self.BODIES, (True, False)):
                    self.assertEqual(post(ask, g, body, length=length).status, status)
                    taken += of_body(body) if expected is None else expected
                    self.assert_used(taken, g, what=f"{cost} {body[:10]} {'announced' if length else 'in chunks'}")

    def test_the_header_of_the_response_says_it(self):
        self.judge("{ header: x-used, max: 500 }", 200, b"ok", [("X-Used", "44")], 44)

    def test_without_that_header_the_cost_stays(self):
        self.judge("{ header: x-used, max: 500 }", 200, b"ok", [], None)

    def test_the_content_of_the_response_says_it(self):
        self.judge("{ json: used, max: 500 }", 200, b'{"used":44}', [], 44)

    def test_if_it_says_nothing_the_cost_stays(self):
        self.judge("{ json: used, max: 500 }", 500, b"{}", [], None)

    def test_or_is_refunded(self):
        self.judge("{ json: used, max: 500, missing: refund }", 200, b"{}", [], 0)

    def test_the_bytes_of_the_response_say_it(self):
        self.judge("{ response_bytes: 4 }", 404, b"0123456789", [], 3)

    def test_a_client_that_leaves_before_the_response_pays_the_reserve(self):
        def script(peer, request):
            peer.read_body(request)
            peer.wait_for_end()
            return False

        for settle in ("{ json: used, max: 500 }", "{ header: x-used, max: 500 }", "{ response_bytes: 1 }"):
            with self.subTest(settle):
                g = self.limited(f"key: [], cost: 100, settle: {settle}", script)
                with g.connect() as c:
                    c.request()
                    wait_until(lambda: len(self.origin_.requests) == 1)
                wait_until(lambda g=g: len(g.log_lines(1)) == 1)
                self.assert_used(100, g)
                with Http2(g.address) as c:
                    stream = c.request()
                    wait_until(lambda: len(self.origin_.requests) == 2)
                    c.reset(stream)
                    c.ping()
                wait_until(lambda g=g: len(g.log_lines(2)) == 2)
                self.assert_used(200, g)


class Routed(MessageTest):
    """By a member."""

    MATCHED, NEXT = "1000001", "1000002"

    def routed(self, value):
        origin = self.origin()
        return self.gateway(
            "workers: 1\nlimits:\n"
            f"  one: {{ key: [], rate: 100/d, burst: {self.MATCHED} }}\n"
            f"  two: {{ key: [], rate: 100/d, burst: {self.NEXT} }}\n"
            "routes:\n"
            f"  - {{ match: {{ path: /m, json: {{ n: '{value}' }} }}, limits: [one], upstream: up }}\n"
            "  - { match: { path: /m }, limits: [two], upstream: up }\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )

    def test_a_number_that_servers_round_to_the_value_is_no_way_round(self):
        for value, spellings in (
            ("7", ("7.00000000000000000001", "6.99999999999999999999", "7.0000000000000001", "700000000000000000001e-20")),
            ("0", ("1e-400", "-1e-999", "0." + "0" * 400 + "1")),
            ("9007199254740991", ("9007199254740991.4", "9007199254740990.9999999")),
        ):
            g = self.routed(value)
            for ask in self.over_each_protocol():
                for text in spellings:
                    with self.subTest(text[:30]):
                        self.assertEqual(json.loads(text), int(value), "as servers read it")
                        got = post(ask, g, f'{{"n":{text}}}', target="/m")
                        self.assertNotEqual(got["x-ratelimit-limit"], self.NEXT)

    def test_other_numbers_go_on_to_the_next_route(self):
        g = self.routed("7")
        for ask in self.over_each_protocol():
            for text in ("8", "7.5", "70", "0.7", "-7", "7e1", "7.001"):
                got = post(ask, g, f'{{"n":{text}}}', target="/m")
                self.assertEqual((got.status, got["x-ratelimit-limit"]), (200, self.NEXT), text)

    def test_a_request_without_content_goes_on_to_the_next_route_however_it_is_framed(self):
        g = self.routed("7")
        for ask in self.over_each_protocol():
            for length, fields in itertools.product((True, False), ((), (JSON,), (TEXT,))):
                with self.subTest(length=length, fields=fields):
                    got = post(ask, g, b"", fields, target="/m", length=length)
                    self.assertEqual((got.status, got["x-ratelimit-limit"]), (200, self.NEXT))
        with Http2(g.address) as c:
            stream = c.request("/m", method="POST", end=False)
            c.trailers(stream, [("x-sum", "1")])
            self.assertEqual(c.wait_for(stream).status, 200)


class Explained(MessageTest):
    def test_what_lies_behind_the_part_that_counts_is_looked_at_too(self):
        origin = self.origin()
        limit = "key: ['json:model'], missing_key: reject"
        g = self.gateway(reading(origin.address, limit, http="max_inspected_body: 64"))
        filler = "y" * 100
        for body, status in (
            (f'{{"model":"m","x":"{filler}"}}', 200),
            (f'{{"model":"m","x":"{filler}","model":"n"}}', 400),
            (f'{{"model":"m","x":"{filler}"', 400),
        ):
            with self.subTest(body[-12:]):
                self.assertEqual(post(ask_over_1, g, body.encode()).status, status)
                done, out, _ = run_command(
                    "explain", "--config", g.config_path, "POST", "/", "-H", "Content-Type: application/json", "--data", body
                )
                self.assertEqual(done, 0)
                self.assertEqual("refused with 400" in out, status == 400, out)


class RejectedHandshakes(MessageTest):
    """Of WebSockets, where a rejection has status 200: that must grant no tunnel."""

    def test_a_handshake_gets_429(self):
        origin = self.origin(websocket.echo_frames)
        g = self.gateway(
            "workers: 1\nlimits: { l: { key: [], rate: 1/d } }\n"
            "routes: [ { limits: [l], rejection: { format: jsonrpc, status: 200 }, upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )
        self.assertEqual(g.get().status, 200)
        with Http2(g.address) as c:
            head = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":authority", "gateway.test")]
            stream = c.request_of([*head, (":path", "/ws"), ("sec-websocket-version", "13")], end=False)
            answer = c.wait_for(stream)
            self.assertEqual(answer.status, 429)
            self.assertEqual(json.loads(answer.body)["error"]["code"], -32029)
            self.assertEqual(c.wait_for(c.request()).status, 200, "which is no handshake")
        with g.connect() as c:
            c.request("/ws", websocket.HANDSHAKE)
            answer = c.response()
            self.assertIn(answer.status, (200, 429))
            self.assertEqual(json.loads(answer.body)["error"]["code"], -32029)
        self.assertEqual(len(origin.requests), 1)
        self.assertEqual(g.metrics().sum("gateway_requests_total", code="429"), 3)
