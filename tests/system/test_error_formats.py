"""`format` of a route's rejection: errors as clients of some APIs read them, in both protocols."""
import json

from harness.both_protocols import Message, OneByOne
from harness.case import SystemTest

LIMITS = """
limits:
  few: { key: 'header:x-key', missing_key: reject, rate: 1/h, headers: tokens }
  dear: { key: [], rate: 1/h, cost: { header: x-cost, default: 1, max: 9 } }
"""


class Formats(SystemTest):
    def answers(self, gateway, target, fields=(), method="GET"):
        """The answers in HTTP/1.1 and HTTP/2."""
        both = OneByOne(gateway.address, gateway.connect)
        try:
            asked = Message(method, target, [("Host", "gateway.test"), *fields])
            return [both.over_http1(asked), both.over_http2(asked)]
        finally:
            both.stop()

    def gateway_with(self, rejection, more=""):
        return self.gateway(
            LIMITS + f"routes:\n  - {{ match: {{ path: /few }}, limits: [few], rejection: {rejection}, upstream: up }}\n"
            f"  - {{ match: {{ path: /dear }}, limits: [dear], rejection: {rejection}, upstream: up }}\n"
            f"  - {{ match: {{ path: /dead }}, rejection: {rejection}, upstream: dead }}\n"
            f"upstreams: {{ up: {{ servers: ['{self.origin().address}'] }}, dead: {{ servers: ['127.0.0.1:1'] }} }}\n{more}"
        )

    def rejected(self, gateway):
        """The answers to a client that has used its limit."""
        key = [("X-Key", "a")]
        self.assertEqual(gateway.get("/few", key).status, 200)
        return self.answers(gateway, "/few", key)

    def body_of(self, answer, status):
        self.assertEqual((answer.status, answer["content-type"]), (status, "application/json"))
        self.assertEqual(answer["cache-control"], "no-store")
        return json.loads(answer.body)

    def test_openai(self):
        gateway = self.gateway_with("{ format: openai }")
        for answer in self.rejected(gateway):
            error = self.body_of(answer, 429)["error"]
            self.assertRegex(
                error.pop("message"),
                r"^Rate limit reached for few: the limit is exhausted; retry later\. "
                r"Please try again in (59m\d+s|1h0m0s)\.$",
            )
            self.assertEqual(error, {"type": "tokens", "param": None, "code": "rate_limit_exceeded"})
            self.assertLessEqual(int(answer["retry-after"]), 3600)
            self.assertIsNone(answer["x-should-retry"])
        for answer in self.answers(gateway, "/dear", [("X-Cost", "2")]):
            self.assertEqual(self.body_of(answer, 429)["error"]["type"], "rate_limit_exceeded")
            self.assertEqual((answer["retry-after"], answer["x-should-retry"]), (None, "false"))
        for answer in self.answers(gateway, "/few"):
            error = self.body_of(answer, 400)["error"]
            self.assertEqual((error["type"], error["code"]), ("invalid_request_error", None))
            self.assertIn("header:x-key", error["message"])
        for answer in self.answers(gateway, "/dead"):
            error = self.body_of(answer, 502)["error"]
            self.assertEqual((error["type"], error["code"]), ("server_error", "server_error"))

    def test_anthropic(self):
        gateway = self.gateway_with("{ format: anthropic }")
        for answer in self.rejected(gateway):
            body = self.body_of(answer, 429)
            self.assertEqual((body["type"], body["error"]["type"]), ("error", "rate_limit_error"))
            self.assertEqual(body["request_id"], answer["x-request-id"])
        for answer in self.answers(gateway, "/dear", [("X-Cost", "2")]):
            self.assertEqual((answer.status, answer["x-should-retry"]), (429, "false"))
        for answer in self.answers(gateway, "/dead"):
            self.assertEqual(self.body_of(answer, 502)["error"]["type"], "api_error")

    def test_jsonrpc_with_either_status(self):
        for rejection, status in (("{ format: jsonrpc }", 429), ("{ format: jsonrpc, status: 200 }", 200)):
            gateway = self.gateway_with(rejection)
            for answer in self.rejected(gateway):
                body = self.body_of(answer, status)
                self.assertEqual((body["jsonrpc"], body["id"], body["error"]["code"]), ("2.0", None, -32029))
                self.assertEqual(body["error"]["data"]["violated-policies"], ["few"])
                self.assertEqual(str(body["error"]["data"]["retry_after"]), answer["retry-after"])
            for answer in self.answers(gateway, "/dead"):
                self.assertEqual(self.body_of(answer, 502)["error"]["code"], -32603)
            self.assertEqual(gateway.metrics().sum("gateway_requests_total", code="429"), 2)

    def test_a_store_that_fails_is_told_in_the_same_form(self):
        gateway = self.gateway(
            "stores: { gone: { url: 'redis://127.0.0.1:1' } }\n"
            "limits: { l: { key: [], rate: 1/h, store: gone, on_store_failure: closed } }\n"
            "routes: [ { limits: [l], rejection: { format: anthropic }, upstream: up } ]\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        for answer in self.answers(gateway, "/"):
            self.assertEqual(self.body_of(answer, 503)["error"]["type"], "overloaded_error")
            self.assertEqual(answer["retry-after"], "1")

    def test_problems_are_the_default_and_another_status_another_type(self):
        for answer in self.rejected(self.gateway_with("{ format: problem }")):
            self.assertEqual(answer["content-type"], "application/problem+json")
            self.assertEqual(json.loads(answer.body)["violated-policies"], ["few"])
        for answer in self.rejected(self.gateway_with("{ format: anthropic, status: 503 }")):
            self.assertEqual(self.body_of(answer, 503)["error"]["type"], "overloaded_error")

    def test_a_head_has_the_head_alone(self):
        gateway = self.gateway_with("{ format: openai }")
        whole = self.rejected(gateway)[0]
        for answer in self.answers(gateway, "/few", [("X-Key", "a")], method="HEAD"):
            self.assertEqual((answer.status, answer.body), (429, b""))
            self.assertEqual(answer["content-type"], whole["content-type"])

    def test_before_its_route_is_known_a_request_gets_problems(self):
        gateway = self.gateway_with("{ format: openai }")
        for answer in self.answers(gateway, "/none"):
            self.assertEqual((answer.status, answer["content-type"]), (404, "application/problem+json"))

    def test_a_decide_listener_answers_429_in_the_format(self):
        gateway = self.gateway(
            "listeners: [ { address: 127.0.0.1:0, decide: true } ]\n"
            "limits: { l: { key: [], rate: 1/h } }\n"
            "routes: [ { limits: [l], rejection: { format: jsonrpc, status: 200 }, upstream: up } ]\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        self.assertEqual(gateway.get("/").status, 200)
        for answer in self.answers(gateway, "/"):
            self.assertEqual(self.body_of(answer, 429)["error"]["code"], -32029)
