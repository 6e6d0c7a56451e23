"""What a response says, or how long it is, settles the charge of its request."""
import gzip

from harness.http2_origin import Http2Origin
from harness.http2_upstream_case import ask_over_1, over_http2
from harness.message_case import BURST, JSON, MessageTest, reading
from harness.model_shapes import (
    ANTHROPIC,
    GEMINI,
    OLLAMA,
    OPENAI,
    RESPONSES,
    Answering,
    anthropic,
    anthropic_stream,
    events,
    gemini,
    gemini_array,
    gemini_stream,
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


class SettleTest(MessageTest):
    def settling(self, settle, more="", **options):
        """A gateway whose limit reserves RESERVE tokens of each request."""
        self.answers, self.taken = Answering(), 0
        return self.limited(f"key: [], cost: {RESERVE}, settle: {settle}{more}", self.answers, **options)

    def by_usage(self, paths=OPENAI, more="max: 200000", **options):
        return self.settling(f"{{ json: {paths}, {more} }}", **options)

    def assert_costs(self, gateway, expected, what="", ask=ask_over_1, method="POST"):
        """One request, whose answer is as `self.answers` says."""
        got = ask(gateway, "/", [JSON], method=method, body=b"{}")
        if not self.answers.breaks and self.answers.status == 200:
            self.assertEqual((got.status, got.whole), (200, True))
            self.assertTrue(got.body == b"".join(self.answers.parts), "the content is unchanged")
        self.taken += expected
        self.assert_used(self.taken, gateway, what=what or str(self.answers.parts)[:200])
        return got


class Plain(SettleTest):
    def test_each_number_counts_by_its_weight(self):
        g = self.by_usage()
        for ask in self.over_each_protocol():
            for given, made in ((19, 10), (0, 0), (1, 0), (0, 1), (1000, 900), (12345, 6789)):
                for framing in ("length", "chunked", "close"):
                    self.answers.say("application/json", openai(given, made), framing=framing)
                    self.assert_costs(g, price(given, made), ask=ask)

    def test_one_path(self):
        g = self.by_usage("usage.total_tokens")
        self.answers.say("application/json; charset=utf-8", openai(19, 10))
        self.assert_costs(g, 29)

    def test_one_stanza_for_anthropic(self):
        g = self.by_usage(ANTHROPIC)
        self.answers.say("application/json", anthropic(30, 7))
        self.assert_costs(g, price(30, 7))

    def test_pretty_printed_and_as_an_array(self):
        g = self.by_usage(GEMINI)
        for content in (gemini(8, 5), gemini_array(8, 5)):
            self.answers.say("application/json", content)
            self.assert_costs(g, price(8, 5))

    def test_at_most_max(self):
        g = self.by_usage(more="max: 5000")
        for given, made in ((5000, 0), (5001, 0), (0, 1250), (0, 1251), (10**9, 10**9), (9007199254740991, 9007199254740991),
                            (2**63 - 1, 2**63 - 1)):
            self.answers.say("application/json", openai(given, made))
            got = ask_over_1(g, "/")
            self.assertEqual(got.status, 200)
            self.taken += min(5000, price(given, made))
            self.assert_used(self.taken, g, what=f"{given} {made}")

    def test_weights_to_a_million(self):
        g = self.by_usage("{ a: 1000000, b: 1 }", more="max: 900000")
        self.answers.say("application/json", b'{"a":0,"b":3}')
        self.assert_costs(g, 3)
        g = self.with_numbers("a: 1000000, b: 3", "rate: 100000/s, burst: 1000000", RESERVE)
        self.answers.say("application/json", b'{"a":7,"b":1}')
        with g.connect() as c:
            self.assertEqual(c.ask().status, 200)
            refused = c.ask()
        self.assertEqual(refused.status, 429)
        self.assertIn(int(refused["retry-after"]), range(50, 62), "6,000,003 are owed, and 1000 reserved")

    def test_a_path_alone_weighs_one(self):
        g = self.by_usage("a.b.0.c")
        self.answers.say("application/json", b'{"a":{"b":[{"c":17},{"c":5}]}}')
        self.assert_costs(g, 17)

    def test_names_may_be_spelt_otherwise(self):
        g = self.by_usage()
        self.answers.say("application/json", rb'{"us\u0061ge":{"prompt\u005ftokens":3e0,"completion_tokens":2.0}}')
        self.assert_costs(g, 11)

    def test_of_errors_too(self):
        g = self.by_usage()
        self.answers.say("application/json", openai(3, 2))
        for ask in self.over_each_protocol():
            for status in (400, 404, 500, 503):
                self.answers.status = status
                self.assert_costs(g, price(3, 2), ask=ask)

    def test_with_charge_on_a_failure_costs_nothing(self):
        g = self.by_usage(more="max: 200000 }, charge_on: { status: [2xx]")
        self.answers.say("application/json", openai(3, 2))
        self.assert_costs(g, price(3, 2))
        self.answers.status = 500
        self.assert_costs(g, 0)

    def with_numbers(self, paths, numbers, cost):
        text = reading(self.origin_.address, f"key: [], cost: {cost}, settle: {{ json: {{ {paths} }}, max: 1000000000000 }}")
        return self.gateway(text.replace(f"rate: 100/d, burst: {BURST}", numbers))

    def test_a_debt_is_repaid(self):
        self.by_usage()
        g = self.with_numbers("usage.prompt_tokens: 1", "rate: 100/h, burst: 100", 10)
        self.answers.say("application/json", openai(150, 0))
        with g.connect() as c:
            self.assertEqual(c.ask().status, 200)
            refused = c.ask()
        self.assertEqual(refused.status, 429)
        self.assertIn(int(refused["retry-after"]), range(36 * 60 - 10, 36 * 60 + 1), "50 owed and 10 reserved, of 36 s each")


class Missing(SettleTest):
    NOTHING = (b"{}", b'{"usage":null}', b'{"usage":{}}', b'{"usage":{"prompt_tokens":null}}', b'{"usage":{"prompt_tokens":"5"}}',
               b'{"usage":{"prompt_tokens":-5}}', b'{"usage":{"prompt_tokens":1.5}}', b'{"usage":{"prompt_tokens":true}}',
               b'{"usage":{"prompt_tokens":[5]}}', b'{"usage":[{"prompt_tokens":5}]}', b'{"x":{"usage":{"prompt_tokens":5}}}',
               b'{"usage.prompt_tokens":5}', b"", b"nonsense", b'"usage"', b"[]")  # fmt: skip

    def judge(self, gateway, expected):
        for ask in self.over_each_protocol():
            for content in self.NOTHING:
                self.answers.say("application/json", content)
                self.assert_costs(gateway, expected, ask=ask)
            for kind in ("text/html", "text/plain", "application/octet-stream", None):
                self.answers.say(kind, openai(3, 2))
                self.assert_costs(gateway, expected, kind, ask=ask)

    def test_the_reserve_is_kept(self):
        self.judge(self.by_usage(), RESERVE)

    def test_and_so_if_that_is_written(self):
        self.judge(self.by_usage(more="max: 200000, missing: keep"), RESERVE)

    def test_or_refunded(self):
        self.judge(self.by_usage(more="max: 200000, missing: refund"), 0)

    def test_one_number_of_two_is_no_missing_one(self):
        g = self.by_usage()
        self.answers.say("application/json", b'{"usage":{"prompt_tokens":5,"total_tokens":5}}')
        self.assert_costs(g, 5)
        self.answers.say("application/json", b'{"usage":{"prompt_tokens":"x","completion_tokens":5}}')
        self.assert_costs(g, 20)

    def test_responses_without_content(self):
        g = self.by_usage()
        self.answers.say(None, framing="close")
        self.answers.status = 204
        self.assert_costs(g, RESERVE)
        self.answers.status = 200
        self.answers.say("application/json", openai(3, 2), framing="length")
        self.answers.parts = []
        self.assert_costs(g, RESERVE, method="HEAD")

    def test_what_the_gateway_answers_itself(self):
        for missing, expected in (("keep", RESERVE), ("refund", 0)):
            g = self.by_usage(more=f"max: 200000, missing: {missing}")
            self.origin_.stop()
            self.assertEqual(ask_over_1(g).status, 502)
            self.assert_used(expected, g)


class Streams(SettleTest):
    SHAPES = (
        (OPENAI, openai_stream),
        (OPENAI, vllm_stream),
        (RESPONSES, openai_response_stream),
        (ANTHROPIC, anthropic_stream),
        (GEMINI, gemini_stream),
    )

    def test_the_last_value_of_each_counts_with_every_end_of_line(self):
        for paths, shape in self.SHAPES:
            with self.subTest(shape.__name__):
                g = self.by_usage(paths)
                for ask in self.over_each_protocol():
                    for end in ("\n", "\r\n", "\r"):
                        self.answers.say(SSE, shape(19, 10, end))
                        self.assert_costs(g, price(19, 10), end, ask=ask)

    def test_lines_of_json(self):
        g = self.by_usage(OLLAMA)
        for kind in ("application/x-ndjson", "application/x-ndjson; charset=utf-8", "application/jsonl"):
            for end in ("\n", "\r\n"):
                self.answers.say(kind, ollama_stream(26, 29, end))
                self.assert_costs(g, price(26, 29), kind)
            self.answers.say(kind, ollama_stream(26, 29).rstrip())
            self.assert_costs(g, price(26, 29), "the last line without its end")

    def test_a_line_that_is_no_json_hides_no_other(self):
        g = self.by_usage(OLLAMA)
        self.answers.say("application/x-ndjson", b'{"eval_count":\n\n{"prompt_eval_count":3,"eval_count":2}\nx\n[[[\n"\n')
        self.assert_costs(g, price(3, 2))

    def judge(self, *streams, paths=OPENAI, cost=price(3, 2)):
        g = self.by_usage(paths)
        for stream in streams:
            with self.subTest(stream):
                self.answers.say(SSE, stream)
                self.assert_costs(g, cost)

    USAGE = b'{"usage":{"prompt_tokens":3,"completion_tokens":2}}'

    def test_comments_other_fields_and_marks(self):
        self.judge(
            b"data:" + self.USAGE + b"\n\n",
            b"data: " + self.USAGE + b"\n\ndata: [DONE]\n\n",
            b"\xef\xbb\xbfdata: " + self.USAGE + b"\n\n",
            b": comment\n:\n\n: ping\n\ndata: " + self.USAGE + b"\n\n: end\n\n",
            b"id: 1\nevent: x\nretry: 3\ndata: " + self.USAGE + b"\nid: 2\n\n",
            b"\n\n\ndata: " + self.USAGE + b"\n\n\n\n",
            b"data\n\ndata\ndata\n\ndata:\n\ndata: " + self.USAGE + b"\n\n",
            b"datax: {}\nDATA: x\n data: y\ndata: " + self.USAGE + b"\n\n",
            b"\r\n\r\ndata: " + self.USAGE + b"\r\n\r\n",
            b"\rdata: " + self.USAGE + b"\r\rdata: [DONE]\r\r",
            b"data: " + self.USAGE + b"\n\r\n\r",
            b"data:  " + self.USAGE + b" \n\n")

    def test_an_event_of_several_lines_is_one_text(self):
        self.judge(
            b'data: {"usage":\ndata: {"prompt_tokens":3,\ndata:"completion_tokens":2}\ndata: }\n\n',
            b'data: {"usage":\r\ndata:\r\n: between\r\ndata: {"prompt_tokens":3,"completion_tokens":2}}\r\n\r\n',
            b'data: {"usage":\rdata: {"prompt_tokens":3,\rid: 7\rdata:"completion_tokens":2}}\r\r',
            b'data\ndata: {"usage":{"prompt_tokens":3,"completion_tokens":2}\ndata: }\n\n')

    def test_lines_outside_of_an_event_are_no_part_of_it(self):
        """Two events are two texts, though they would be one together."""
        g = self.by_usage()
        self.answers.say(SSE, b'data: {"usage":\n\ndata: {"prompt_tokens":3}}\n\n')
        self.assert_costs(g, RESERVE)

    def test_what_a_model_writes_is_no_usage(self):
        g = self.by_usage()
        text = '{"usage":{"prompt_tokens":9}}\n\ndata: {"usage":{"prompt_tokens":9}}\n\n'
        self.answers.say("application/json", openai(3, 2, text))
        self.assert_costs(g, price(3, 2))
        self.answers.say(SSE, openai_stream(3, 2, words=(text, '","usage":{"prompt_tokens":8}')))
        self.assert_costs(g, price(3, 2))

    def test_an_event_that_is_no_json_hides_no_other(self):
        self.judge(
            b'data: {"usage":{"prompt_tokens":\n\ndata: ' + self.USAGE + b"\n\n",
            b"data: " + self.USAGE + b"\n\ndata: {\n\ndata: " + b"[" * 100 + b"\n\ndata: \xff\n\n",
            b'data: "\n\ndata: ' + self.USAGE + b'\n\ndata: "\n\n')

    def test_null_takes_no_value_away(self):
        self.judge(b"data: " + self.USAGE + b'\n\ndata: {"usage":null}\n\ndata: {"usage":{"prompt_tokens":null}}\n\ndata: {}\n\n')

    def test_values_may_come_in_different_events(self):
        self.judge(events([{"usage": {"prompt_tokens": 3}}, {"usage": {"completion_tokens": 9}}, {"usage": {"completion_tokens": 2}}]))

    def test_the_last_of_alternatives_counts(self):
        both = ({"usage": {"input_tokens": 8}}, {"message": {"usage": {"input_tokens": 5}}})
        self.judge(events(both), paths='{ "usage.input_tokens | message.usage.input_tokens": 2 }', cost=10)
        self.judge(events(both[::-1]), paths='{ "usage.input_tokens | message.usage.input_tokens": 2 }', cost=16)

    def test_a_long_stream(self):
        g = self.by_usage()
        self.answers.say(SSE, openai_stream(3, 2, words=["word" * 70] * 2000))
        self.assert_costs(g, price(3, 2))
        self.answers.say(SSE, openai_stream(3, 2, words=["x" * 2_000_000, "\\" * 100_000]))
        self.assert_costs(g, price(3, 2))


class Codings(SettleTest):
    def test_the_upstream_is_asked_for_plain_content(self):
        g = self.by_usage()
        self.answers.say("application/json", openai(3, 2))
        for ask in self.over_each_protocol():
            for sent in ([], [("Accept-Encoding", "gzip, br")], [("Accept-Encoding", "identity;q=0, *")],
                         [("Accept-Encoding", "gzip"), ("Accept-Encoding", "br")]):
                self.assertEqual(ask(g, "/", sent).status, 200)
                self.assertEqual(self.origin_.last().all("accept-encoding"), ["identity"], sent)

    def test_other_routes_ask_as_the_client_did(self):
        g = self.limited("key: []")
        self.assertEqual(ask_over_1(g, "/", [("Accept-Encoding", "gzip, br")]).status, 200)
        self.assertEqual(self.origin_.last().all("accept-encoding"), ["gzip, br"])

    def judge(self, missing, expected):
        g = self.by_usage(more=f"max: 200000, missing: {missing}")
        before = g.metrics().count("gateway_settlements_missing_total", limit="l")
        coded = gzip.compress(openai(3, 2))
        for coding, content in (("gzip", coded), ("br", openai(3, 2)), ("x-unknown", openai(3, 2))):
            self.answers.say("application/json", content)
            self.answers.fields = [("Content-Encoding", coding)]
            got = self.assert_costs(g, expected, coding)
            self.assertEqual(got["content-encoding"], coding)
        counted = g.metrics().count("gateway_settlements_missing_total", limit="l")
        self.assertEqual(counted - before, 3)
        told = [line for line in g.diagnostics if "limit" in line and ("compress" in line or "ncod" in line)]
        self.assertEqual(len(told), 1, g.diagnostics)
        self.answers.fields = [("Content-Encoding", "identity")]
        self.answers.say("application/json", openai(3, 2))
        self.assert_costs(g, price(3, 2))

    def test_a_compressed_response_is_missing(self):
        self.judge("keep", RESERVE)

    def test_and_refunded_if_that_is_said(self):
        self.judge("refund", 0)


class ResponseBytes(SettleTest):
    def test_a_token_for_each_kibibyte_begun(self):
        g = self.settling("{ response_bytes: 1024 }")
        for ask in self.over_each_protocol():
            for framing in ("length", "chunked", "close"):
                for size in (0, 1, 1023, 1024, 1025, 100_000):
                    self.answers.say("application/octet-stream", b"x" * size, framing=framing)
                    self.assert_costs(g, (size + 1023) // 1024, ask=ask)

    def test_of_coded_content_what_was_sent(self):
        g = self.settling("{ response_bytes: 10 }")
        content = gzip.compress(bytes(range(256)) * 10)
        self.answers.say("application/json", content)
        self.answers.fields = [("Content-Encoding", "gzip")]
        self.assert_costs(g, (len(content) + 9) // 10)

    def test_a_body_that_breaks_costs_what_came(self):
        g = self.settling("{ response_bytes: 1024 }")
        self.answers.say("application/octet-stream", b"x" * 10240, breaks=True)
        self.assert_costs(g, 10)

    def test_head_has_none(self):
        g = self.settling("{ response_bytes: 1024 }")
        self.answers.say("text/plain")
        self.answers.fields, self.answers.framing = [], "length"
        self.assert_costs(g, 0, method="HEAD")

    def test_the_gateways_own_answers_cost_their_bytes_or_the_reserve(self):
        g = self.settling("{ response_bytes: 1024 }")
        self.origin_.stop()
        self.assertEqual(ask_over_1(g).status, 502)
        wait_until(lambda: self.used(g) in (0, 1, RESERVE), 3)


class OverHttp2(SettleTest):
    """Upstreams that speak HTTP/2."""

    def settled(self, content, kind, trailers=None):
        def script(call):
            call.read_body()
            call.head(200, [("content-type", kind)])
            for at in range(0, len(content), 50):
                call.data(content[at : at + 50], end=trailers is None and at + 50 >= len(content))
            if trailers is not None:
                call.send_fields(trailers, end=True)

        origin = self.started(Http2Origin(script))
        more = (f"limits: {{ l: {{ key: [], rate: 100/d, burst: {BURST}, cost: {RESERVE}, settle: {{ json: {ANTHROPIC}, max: 200000 }} }} }}\n"
                "routes: [ { limits: [l], upstream: up } ]\n" + self.token_of_admin())  # fmt: skip
        return self.gateway(over_http2(origin.address, more=more)), origin

    def test_it_is_the_same(self):
        for content, kind in ((anthropic(30, 7), "application/json"), (anthropic_stream(30, 7), SSE)):
            for trailers in (None, [("x-sum", "1")]):
                g, origin = self.settled(content, kind, trailers)
                for count, ask in enumerate(self.over_each_protocol()):
                    got = ask(g, "/", [("Accept-Encoding", "gzip")])
                    self.assertTrue(got.body == content)
                    self.assertEqual(origin.last().all("accept-encoding"), ["identity"])
                    self.assert_used((count + 1) * price(30, 7), g)


class Configurations(SettleTest):
    def checked(self, settle):
        return self.check(reading("127.0.0.1:1", f"key: [], cost: 10, settle: {settle}"))

    def test_good_ones(self):
        for settle in (f"{{ json: {OPENAI}, max: 5 }}", f"{{ json: {ANTHROPIC}, max: 5, missing: refund }}", "{ json: a, max: 5 }",
                       "{ response_bytes: 1024 }", "{ json: { a: 1000000 }, max: 1000000000000 }", "{ header: x-used, max: 5 }"):
            self.assertEqual(self.checked(settle), (0, ""), settle)

    def test_bad_ones_name_the_place(self):
        for settle in ("{ json: {}, max: 5 }", "{ json: { a: 0 }, max: 5 }", "{ json: { a: -1 }, max: 5 }", "{ json: { a: 1000001 }, max: 5 }",
                       "{ json: { a: 1.5 }, max: 5 }", '{ json: { "a | ": 1 }, max: 5 }', "{ json: a..b, max: 5 }", "{ json: a, missing: no, max: 5 }",
                       "{ json: a, header: x, max: 5 }", "{ response_bytes: 0 }", "{ jsn: a, max: 5 }", "{ max: 5 }"):
            with self.subTest(settle):
                status, complaint = self.checked(settle)
                self.assertEqual(status, 2)
                self.assertIn("settle", complaint)


class Soft(SettleTest):
    """Above its `soft` part a limit warns, and refuses nobody."""

    def test_responses_carry_the_limits_name(self):
        self.origin_ = self.origin()
        g = self.gateway(reading(self.origin_.address, "key: [], soft: 80%, cost: { header: x-cost, default: 1, max: 100 }")
                         .replace(f"burst: {BURST}", "burst: 100"))
        for ask in self.over_each_protocol():
            first = ask is ask_over_1
            for cost, warned in ((79, False), (2, True), (1, True)) if first else ((1, True), (17, True)):
                got = ask(g, "/", [("X-Cost", str(cost))])
                self.assertEqual((got.status, got["x-ratelimit-warning"]), (200, "l" if warned else None), cost)
        self.assertEqual(ask_over_1(g).status, 429)
        self.assertGreaterEqual(sum(value for name, _, value in g.metrics().rows if "warn" in name or "soft" in name), 4)

    def test_bad_ones(self):
        for soft in ("0%", "101%", "80", "much"):
            status, complaint = self.check(reading("127.0.0.1:1", f"key: [], soft: {soft}"))
            self.assertEqual(status, 2, soft)
            self.assertIn("soft", complaint)
