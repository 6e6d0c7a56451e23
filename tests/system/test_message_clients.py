"""The clients that people have, of OpenAI's and Anthropic's APIs and of the Model Context Protocol: what they use is
settled, and they understand a rejection."""
import json

from harness.case import only_as_shipped
from harness.http2_upstream_case import ask_over_1, ask_over_2
from harness.message_case import BURST, JSON, MessageTest, post, reading
from harness.model_clients import McpServer, calls_of, tool_calls, url
from harness.model_shapes import (
    ANTHROPIC,
    OPENAI,
    RESPONSES,
    WORDS,
    Answering,
    anthropic,
    anthropic_stream,
    openai,
    openai_response_stream,
    openai_stream,
    price,
)

SSE = "text/event-stream"
RESERVE = "{ sum: [ { json: max_tokens, default: 1024 }, { request_bytes: 4 } ] }"
TEXT = "".join(WORDS)


class ClientTest(MessageTest):
    def of_model(self, paths, key, burst=BURST, rejection=None):
        """A gateway that settles by these paths, in front of `self.answers`."""
        self.answers = Answering()
        self.origin_ = self.origin(self.answers)
        limit = f"key: ['{key}', 'json:model'], missing_key: reject, cost: {RESERVE}, settle: {{ json: {paths}, max: 200000 }}"
        route = f"rejection: {rejection}" if rejection else ""
        text = reading(self.origin_.address, limit, route=route, more=self.token_of_admin())
        return self.gateway(text.replace(f"burst: {BURST}", f"burst: {burst}"))

    def assert_limited(self, result, kind, code, **expected):
        """The client has understood it, and would wait."""
        self.assertEqual((result.get("error"), result.get("limited"), result.get("status")), ("RateLimitError", True, 429), result)
        self.assertEqual((result["type"], result["code"]), (kind, code), result)
        self.assertTrue(result["text"], "a text for people")
        self.assertGreaterEqual(int(result["retryAfter"]), 1)
        self.assertLessEqual(expected.items(), result.items())


@only_as_shipped
class OpenAI(ClientTest):
    KEY = ("Bearer sk-test", "m")

    def calls(self, gateway, *calls):
        return calls_of("openai", url(gateway, "/v1"), *calls)

    def test_a_completion(self):
        g = self.of_model(OPENAI, "header:authorization")
        self.answers.say("application/json", openai(19, 10), framing="length")
        (result,) = self.calls(g, {"stream": False})
        self.assertEqual((result["text"], result["usage"]["total_tokens"]), ("Hello", 29))
        self.assertEqual(self.origin_.last()["accept-encoding"], "identity")
        self.assert_used(price(19, 10), g, self.KEY)

    def test_a_stream(self):
        g = self.of_model(OPENAI, "header:authorization")
        self.answers.say(SSE, openai_stream(19, 10))
        (result,) = self.calls(g, {"stream": True})
        self.assertEqual((result["text"], result["usage"]["total_tokens"]), (TEXT, 29))
        self.assert_used(price(19, 10), g, self.KEY)

    def test_a_stream_of_responses(self):
        g = self.of_model(RESPONSES, "header:authorization")
        self.answers.say(SSE, openai_response_stream(19, 10))
        (result,) = self.calls(g, {"api": "responses"})
        self.assertEqual((result["text"], result["usage"]["total_tokens"]), ("Hi", 29))
        self.assert_used(price(19, 10), g, self.KEY)

    def test_a_client_that_stops_reading(self):
        """Its usage is in the last chunk, which nobody has seen."""
        g = self.of_model(OPENAI, "header:authorization")
        stream = openai_stream(19, 10)
        first = stream.index(b"\n\n", stream.index(b"\n\n") + 2) + 2
        self.answers.say(SSE, stream[:first], stream[first:], waits=True)
        (result,) = self.calls(g, {"stream": True, "stop": 1})
        self.assertIsNone(result["usage"])
        size = len(self.origin_.last().body)
        self.answers.let_go()
        self.answers.ended.acquire(timeout=20)
        self.assert_used(50 + (size + 3) // 4, g, self.KEY, what="the reserve")

    def test_beyond_the_limit(self):
        g = self.of_model(OPENAI, "header:authorization", burst=200, rejection="{ format: openai }")
        self.answers.say("application/json", openai(180, 10))
        first, *others = self.calls(g, {"stream": False}, {"stream": False}, {"stream": True})
        self.assertEqual(first["text"], "Hello")
        for result in others:
            self.assert_limited(result, result["type"], "rate_limit_exceeded")
            self.assertIn(result["type"], ("tokens", "requests", "rate_limit_error", "rate_limit_exceeded"))
            self.assertIn("message", result["body"])
        self.assertEqual(len(self.origin_.requests), 1)


@only_as_shipped
class Anthropic(ClientTest):
    KEY = ("Bearer sk-test", "m")

    def calls(self, gateway, *calls):
        return calls_of("anthropic", url(gateway), *calls)

    def test_a_message(self):
        g = self.of_model(ANTHROPIC, "header:authorization")
        self.answers.say("application/json", anthropic(30, 7), framing="length")
        (result,) = self.calls(g, {"stream": False})
        self.assertEqual((result["text"], result["usage"]["output_tokens"]), ("Hello", 7))
        self.assert_used(price(30, 7), g, self.KEY)

    def test_a_stream(self):
        g = self.of_model(ANTHROPIC, "header:authorization")
        self.answers.say(SSE, anthropic_stream(30, 7))
        (result,) = self.calls(g, {"stream": True})
        self.assertEqual((result["text"], result["usage"]["input_tokens"], result["usage"]["output_tokens"]), (TEXT, 30, 7))
        self.assert_used(price(30, 7), g, self.KEY)

    def test_a_client_that_stops_reading(self):
        g = self.of_model(ANTHROPIC, "header:authorization")
        stream = anthropic_stream(30, 7)
        half = stream.index(b"event: content_block_stop")
        self.answers.say(SSE, stream[:half], stream[half:], waits=True)
        (result,) = self.calls(g, {"stream": True, "stop": 3})
        self.assertEqual(result["usage"]["input_tokens"], 30)
        self.answers.let_go()
        self.answers.ended.acquire(timeout=20)
        self.assert_used(price(30, 1), g, self.KEY, what="what was seen")

    def test_beyond_the_limit(self):
        g = self.of_model(ANTHROPIC, "header:authorization", burst=200, rejection="{ format: anthropic }")
        self.answers.say("application/json", anthropic(180, 7))
        first, *others = self.calls(g, {"stream": False}, {"stream": False}, {"stream": True})
        self.assertEqual(first["text"], "Hello")
        for result in others:
            self.assert_limited(result, "rate_limit_error", None)
            self.assertEqual(result["body"]["type"], "error")
        self.assertEqual(len(self.origin_.requests), 1)


MCP = """
workers: 1
%s
limits:
  calls: { key: [client_ip, "json:params.name"], missing_key: reject, rate: 100/d, burst: 1000, cost: 20,
           settle: { json: result._meta.usage.tokens, max: 1000 } }
  few: { key: [client_ip, "json:params.name"], missing_key: reject, rate: 2/h }
routes:
  - { match: { path: /mcp, json: { method: tools/call } }, limits: [calls], upstream: tools }
  - { match: { path: /json, json: { method: tools/call } }, limits: [calls], upstream: tools }
  - { match: { path: /few, json: { method: tools/call } }, limits: [few], upstream: tools%s }
  - { upstream: tools }
upstreams: { tools: { servers: ['%s'] } }
"""


@only_as_shipped
class ModelContextProtocol(ClientTest):
    def of_tools(self, rejection=""):
        server = self.started(McpServer())
        return self.gateway(MCP % (self.token_of_admin(), f", rejection: {rejection}" if rejection else "", server.address))

    def test_each_call_is_settled_by_its_result(self):
        for path in ("/mcp", "/json"):
            with self.subTest(path):
                g = self.of_tools()
                results = tool_calls(url(g, path), "search", "fetch", "search")
                self.assertEqual([r["tokens"] for r in results], [7, 40, 7])
                self.assert_used(14, g, ("127.0.0.1", "search"), "calls", 1000)
                self.assert_used(40, g, ("127.0.0.1", "fetch"), "calls", 1000)

    def test_each_tool_has_its_limit(self):
        g = self.of_tools("{ format: jsonrpc, status: 200 }")
        results = tool_calls(url(g, "/few"), "search", "search", "search", "fetch", "search", "fetch", "fetch")
        said = [r.get("text") or r["error"] for r in results]
        self.assertEqual(said, ["search is done"] * 2 + ["McpError", "fetch is done", "McpError", "fetch is done", "McpError"])
        refused = results[2]
        self.assertIsInstance(refused["code"], int)
        self.assertTrue(refused["message"])

    def test_a_429_is_an_error_too(self):
        for rejection in ("", "{ format: jsonrpc, status: 429 }"):
            g = self.of_tools(rejection)
            results = tool_calls(url(g, "/few"), "search", "search", "search", "fetch")
            said = [r.get("text") or (r["error"], r["code"]) for r in results]
            self.assertEqual(said, ["search is done"] * 2 + [("StreamableHTTPError", 429), "fetch is done"])

    def test_the_error_has_the_requests_id(self):
        g = self.of_tools("{ format: jsonrpc, status: 200 }")
        call = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"none"}}'
        accept = ("Accept", "application/json, text/event-stream")
        for _ in range(2):
            post(ask_over_1, g, call % 1, [JSON, accept], target="/few")
        for ask in (ask_over_1, ask_over_2):
            for given in ("7", '"a\\u0062\\"c"', "0", "-3", '""'):
                got = post(ask, g, call % given, [JSON, accept], target="/few")
                self.assertEqual((got.status, got["content-type"]), (200, "application/json"))
                self.assertIsNotNone(got["retry-after"])
                body = json.loads(got.body)
                self.assertEqual((body["jsonrpc"], body["id"]), ("2.0", json.loads(given)))
                self.assertIsInstance(body["error"]["code"], int)
                self.assertTrue(body["error"]["message"])
