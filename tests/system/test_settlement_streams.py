"""Streams as they pass: bytes reach the client at once, cut anywhere they say the same, and what was seen counts
when they break."""
import threading

from harness.client import Closed
from harness.http2 import Http2
from harness.http2_upstream_case import ask_over_1
from harness.message_case import JSON, Chunks, MessageTest
from harness.model_shapes import (
    ANTHROPIC,
    GEMINI,
    OLLAMA,
    OPENAI,
    RESPONSES,
    Answering,
    anthropic_delta,
    anthropic_start,
    anthropic_stream,
    gemini_array,
    gemini_stream,
    named_events,
    ollama_stream,
    openai,
    openai_response_stream,
    openai_stream,
    price,
    vllm_stream,
)
from harness.process import wait_until

RESERVE = 1000
SSE = "text/event-stream"
NDJSON = "application/x-ndjson"


class StreamTest(MessageTest):
    def by_usage(self, paths, more="max: 200000", **options):
        self.answers, self.taken = Answering(), 0
        return self.limited(f"key: [], cost: {RESERVE}, settle: {{ json: {paths}, {more} }}", self.answers, **options)

    def assert_costs(self, gateway, expected, what=""):
        self.taken += expected
        self.assert_used(self.taken, gateway, what=what)


class Reader1:
    """Reads responses over HTTP/1.1 part by part."""

    def __init__(self, gateway):
        self._c = gateway.connect()

    def read(self, parts, let_go):
        self._c.request("/", [JSON], "POST", b"{}")
        assert self._c.head().status == 200
        chunks = Chunks(self._c)
        for part in parts:
            assert chunks.exactly(len(part)) == part
            let_go()
        chunks.end()

    def stop(self):
        self._c.close()


class Reader2:
    """The same over HTTP/2."""

    def __init__(self, gateway):
        self._c = Http2(gateway.address)

    def read(self, parts, let_go):
        stream = self._c.request(fields=[("content-type", "application/json")], method="POST", end=False)
        self._c.data(stream, b"{}", end=True)
        answer, count = self._c.answer(stream), 0
        for part in parts:
            count += len(part)
            assert self._c.wait(lambda: len(answer.body) >= count)
            let_go()
        assert self._c.wait_for(stream).body == b"".join(parts)

    def stop(self):
        self._c.raw.close()


class CutAnywhere(StreamTest):
    """The second part is not sent before the client has the first."""

    def read(self, reader, parts):
        parts = [p for p in parts if p]
        self.answers.say(self.kind, *parts, waits=True)
        reader.read(parts, self.answers.let_go)

    def judge(self, paths, kind, content, cost=price(19, 10)):
        g = self.by_usage(paths)
        self.kind = kind
        for reader in (self.started(Reader1(g)), self.started(Reader2(g))):
            with self.subTest(type(reader).__name__):
                for at in range(1, len(content)):
                    self.read(reader, (content[:at], content[at:]))
                    self.assert_costs(g, cost, content[:at][-40:])
                self.read(reader, [content[i : i + 1] for i in range(len(content))])
                self.assert_costs(g, cost, "byte by byte")

    def test_events_that_end_with_crlf(self):
        self.judge(OPENAI, SSE, b'\xef\xbb\xbf: hi\r\n\r\ndata: {"usage":null}\r\n\r\nid: 1\r\ndata: {"usa\\u0067e":\r\ndata: '
                   b'{"prompt_tokens":19,"x":"\\u00e9\xc3\xa9","completion_tokens":1e1}}\r\n\r\ndata: [DONE]\r\n\r\n')

    def test_events_that_end_with_cr(self):
        self.judge(OPENAI, SSE, b'data: {"usage":\rdata:{"prompt_tokens":19,"completion_tokens":10}}\r\rdata: [DONE]\r\r')

    def test_events_that_end_with_lf(self):
        self.judge(ANTHROPIC, SSE, b'event: message_start\ndata: {"message":{"usage":{"input_tokens":19,"output_tokens":1}}}\n\n'
                   b'event: message_delta\ndata: {"usage":{"output_tokens":10}}\n\n')

    def test_lines_of_json(self):
        self.judge(OLLAMA, NDJSON, b'{"done":false,"message":"\\"\\n{"}\r\n\n{"done":true,"prompt_eval_count":19,"eval_count":10}\n')

    def test_a_plain_text(self):
        self.judge(OPENAI, "application/json", rb' {"x":[{"usage":1}, "\ud83d\ude00\\" ],"usage" : {"prompt_tokens":19,"completion_tokens":10} } ')

    def test_streams_of_each_server(self):
        """Only every seventh cut, as these are long."""
        for paths, kind, content in ((OPENAI, SSE, openai_stream(19, 10)), (OPENAI, SSE, vllm_stream(19, 10)),
                                     (RESPONSES, SSE, openai_response_stream(19, 10)), (ANTHROPIC, SSE, anthropic_stream(19, 10)),
                                     (GEMINI, SSE, gemini_stream(19, 10)), (GEMINI, "application/json", gemini_array(19, 10)),
                                     (OLLAMA, NDJSON, ollama_stream(19, 10)), (OPENAI, "application/json", openai(19, 10))):
            with self.subTest(paths=paths, kind=kind):
                g = self.by_usage(paths)
                self.kind = kind
                reader = self.started(Reader1(g))
                for at in range(1, len(content), 7):
                    self.read(reader, (content[:at], content[at:]))
                    self.assert_costs(g, price(19, 10), content[:at][-40:])


class Broken(StreamTest):
    START = named_events([anthropic_start(30)])
    MORE = named_events([anthropic_delta(7, None)])

    def broken(self, *parts, kind=SSE, **options):
        self.answers.say(kind, *parts, breaks=True, **options)
        return ask_over_1(self.g)

    def setUp(self):
        self.g = self.by_usage(ANTHROPIC)

    def test_what_was_seen_counts(self):
        self.assertFalse(self.broken(self.START).whole)
        self.assert_costs(self.g, price(30, 1))
        self.broken(self.START + self.MORE)
        self.assert_costs(self.g, price(30, 7))
        self.broken(self.START + self.MORE + self.MORE[:-20])
        self.assert_costs(self.g, price(30, 7))

    def test_also_of_a_plain_text(self):
        self.broken(b'{"usage":{"input_tokens":30,"output_tokens":7},"content":[{"te', kind="application/json")
        self.assert_costs(self.g, price(30, 7))

    def test_if_nothing_was_seen_it_is_missing(self):
        self.broken(b"event: ping\ndata: {}\n\n")
        self.assert_costs(self.g, RESERVE)
        self.broken(b"")
        self.assert_costs(self.g, RESERVE)

    def test_which_may_be_refunded(self):
        self.g = self.by_usage(ANTHROPIC, "max: 200000, missing: refund")
        self.broken(b"event: ping\ndata: {}\n\n")
        self.assert_costs(self.g, 0)
        self.broken(self.START)
        self.assert_costs(self.g, price(30, 1))

    def test_an_upstream_that_falls_silent(self):
        def silent(peer, request):
            peer.read_body(request)
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            peer.send(b"%x\r\n%s\r\n" % (len(self.START), self.START))
            peer.wait_for_end()
            return False

        self.g = self.limited(f"key: [], cost: {RESERVE}, settle: {{ json: {ANTHROPIC}, max: 200000 }}", silent, route="body_timeout: 500ms")
        self.assertFalse(ask_over_1(self.g).whole)
        self.taken = 0
        self.assert_costs(self.g, price(30, 1))

    def test_a_reset_of_the_upstreams(self):
        def reset(peer, request):
            peer.read_body(request)
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            peer.send(b"%x\r\n%s\r\n" % (len(self.START), self.START))
            self.seen.wait(10)
            peer.reset()
            return False

        self.seen = threading.Event()
        self.g = self.limited(f"key: [], cost: {RESERVE}, settle: {{ json: {ANTHROPIC}, max: 200000 }}", reset)
        with self.g.connect() as c:
            c.request()
            c.head()
            self.assertEqual(Chunks(c).exactly(len(self.START)), self.START)
            self.seen.set()
            self.assertRaises((Closed, ConnectionError), c.read_exactly, 1000)
        self.taken = 0
        self.assert_costs(self.g, price(30, 1))

    def test_a_clients_last_bytes_are_settled_though_the_upstream_never_ends(self):
        """A usage that has come counts when the stream is over, however late that is."""
        self.answers.say(SSE, self.START, self.MORE, waits=True)
        with self.g.connect() as c:
            c.request()
            c.head()
            chunks = Chunks(c)
            chunks.exactly(len(self.START))
            self.assertEqual(self.used(self.g), RESERVE, "the reserve is held until then")
            self.answers.let_go()
            chunks.exactly(len(self.MORE))
            chunks.end()
        self.assert_costs(self.g, price(30, 7))


class Leaving(StreamTest):
    """Clients that leave in the middle."""

    START, MORE = Broken.START, Broken.MORE

    def begin_1(self, g, count):
        c = g.connect()
        c.request()
        c.head()
        Chunks(c).exactly(count)
        return c.close

    def begin_2(self, g, count):
        c = Http2(g.address)
        stream = c.request()
        c.wait(lambda: len(c.answer(stream).body) >= count)

        def leave():
            c.reset(stream)
            c.ping()
            c.raw.close()

        return leave

    def leave_after(self, g, part, then=b""):
        """Yields when a client over each protocol has left, before the upstream says anything else."""
        for begin in (self.begin_1, self.begin_2):
            self.answers.say(SSE, part, then, waits=True)
            leave = begin(g, len(part))
            leave()
            yield
            self.answers.let_go()
            self.answers.ended.acquire(timeout=20)

    def test_what_was_seen_counts(self):
        g = self.by_usage(ANTHROPIC)
        for _ in self.leave_after(g, self.START):
            self.assert_costs(g, price(30, 1))
        for _ in self.leave_after(g, self.START + self.MORE, self.MORE):
            self.assert_costs(g, price(30, 7))

    def test_if_nothing_was_seen_it_is_missing(self):
        for missing, cost in (("keep", RESERVE), ("refund", 0)):
            g = self.by_usage(ANTHROPIC, f"max: 200000, missing: {missing}")
            for _ in self.leave_after(g, b": ping\n\n", self.MORE):
                self.assert_costs(g, cost)

    def test_with_finish_all_of_it_counts(self):
        g = self.by_usage(ANTHROPIC, route="on_client_abort: finish")
        for _ in self.leave_after(g, self.START, self.MORE):
            pass
        self.assert_costs(g, 2 * price(30, 7))

    def test_a_client_that_leaves_before_the_head(self):
        g = self.by_usage(ANTHROPIC)
        self.answers.say(SSE, self.START)
        go = threading.Event()
        answer = self.answers._answer
        self.answers._answer = lambda peer: go.wait(20) and answer(peer)
        with g.connect() as c:
            c.request()
            wait_until(lambda: self.origin_.requests)
        self.assert_costs(g, RESERVE)
        go.set()


class ManyAtOnce(StreamTest):
    def test_streams_of_one_connection_are_settled_one_by_one(self):
        g = self.by_usage(OPENAI)
        self.answers.say(SSE, openai_stream(19, 10))
        with Http2(g.address) as c:
            streams = [c.request() for _ in range(50)]
            answers = c.wait_for(*streams)
        self.assertEqual({a.status for a in answers}, {200})
        self.assert_costs(g, 50 * price(19, 10))

    def test_two_limits_settle_by_different_numbers(self):
        self.answers = Answering()
        self.answers.say(SSE, anthropic_stream(30, 7))
        origin = self.origin(self.answers)
        g = self.gateway(
            "workers: 1\nlimits:\n"
            "  given: { key: [], rate: 100/d, burst: 1000, cost: 10, settle: { json: message.usage.input_tokens, max: 500 } }\n"
            "  made: { key: client_ip, rate: 100/d, burst: 1000, cost: 10, settle: { json: { usage.output_tokens: 3 }, max: 500 } }\n"
            "  bytes: { key: [], rate: 100/d, burst: 1000, cost: 10, settle: { response_bytes: 100 } }\n"
            "  plain: { key: [], rate: 100/d, burst: 1000, cost: 10 }\n"
            "routes: [ { limits: [given, made, bytes, plain], upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n" + self.token_of_admin())
        self.assertEqual(ask_over_1(g).status, 200)
        size = (len(anthropic_stream(30, 7)) + 99) // 100
        for limit, key, cost in (("given", (), 30), ("made", ("127.0.0.1",), 21), ("bytes", (), size), ("plain", (), 10)):
            self.assert_used(cost, g, key, limit, 1000, limit)
