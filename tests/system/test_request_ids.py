"""The id of each request, and W3C traces, over real sockets."""
import re
import time

from harness.case import SystemTest
from harness.client import exchange_raw

UUID7 = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TRUSTING = "client: { trusted_proxies: [127.0.0.1] }\n"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def said(response):
    """The one id that a response says."""
    (value,) = response.all("x-request-id")
    return value


class RequestIds(SystemTest):
    def to_an_origin(self, extra="", script=None):
        origin = self.origin(script) if script else self.origin()
        return (
            self.gateway(
                f"workers: 1\nroutes: [ {{ upstream: up }} ]\n"
                f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n" + extra
            ),
            origin,
        )

    def test_one_is_made_and_told_to_both_sides_and_to_the_log(self):
        gateway, origin = self.to_an_origin()
        before = int(time.time() * 1000)
        ids = []
        for value in (None, "of-a-stranger"):
            answer = gateway.get("/", [("X-Request-Id", value)] if value else [])
            ids.append(said(answer))
            gateway.log_lines(len(ids))  # Another worker may write the next one.
            self.assertRegex(ids[-1], UUID7)
            self.assertEqual(origin.last().all("x-request-id"), [ids[-1]])
            moment = int(ids[-1].replace("-", "")[:12], 16)
            self.assertLess(before - 100, moment)
            self.assertLess(moment, time.time() * 1000 + 100)
        self.assertEqual(len(set(ids)), 2)
        self.assertEqual([line["request_id"] for line in gateway.log_lines(2)], ids)

    def test_that_of_a_trusted_proxy_is_kept_if_it_is_one(self):
        gateway, origin = self.to_an_origin(TRUSTING)
        good = ["0190a2b4-7c", 'a"}\\,', "x" * 128]
        for value in good:
            self.assertEqual(said(gateway.get("/", [("x-request-id", value)])), value)
            self.assertEqual(origin.last().all("x-request-id"), [value])
        bad = [[("X-Request-Id", value)] for value in ("", "x" * 129, "a b", "\xe9")]
        for headers in (*bad, [("X-Request-Id", "a"), ("X-Request-Id", "a")]):
            made = said(gateway.get("/", headers))
            self.assertRegex(made, UUID7)
            self.assertEqual(origin.last().all("x-request-id"), [made])
        self.assertEqual([line["request_id"] for line in gateway.log_lines(8)][:3], good)

    def test_an_upstreams_own_is_replaced(self):
        gateway, _ = self.to_an_origin(
            script=lambda peer, request: peer.reply(fields=[("X-Request-Id", "theirs")])
        )
        self.assertRegex(said(gateway.get()), UUID7)

    def test_answers_of_the_gateway_say_it_too(self):
        gateway = self.gateway(
            "listeners: [ { address: '127.0.0.1:0' }, { address: '127.0.0.1:0', decide: true } ]\n"
            "routes: [ { match: { path: /a }, limits: [few], upstream: up } ]\n"
            "limits: { few: { key: [], rate: 1/h } }\nupstreams: { up: { servers: [echo] } }\n"
            + TRUSTING
        )
        answers = [gateway.get(target, [("X-Request-Id", "k")]) for target in ("/a", "/a", "/b")]
        self.assertEqual([a.status for a in answers], [200, 429, 404])
        self.assertEqual([said(a) for a in answers], ["k"] * 3)
        host, _, port = gateway.addresses()[1].rpartition(":")
        asked = exchange_raw(
            (host, int(port)), b"GET /a HTTP/1.1\r\nHost: a\r\nX-Request-Id: q\r\n\r\n"
        )
        self.assertEqual((asked.status, said(asked)), (429, "q"))
        refused = exchange_raw(gateway.address, b"GET /a HTTP/9.9\r\nHost: a\r\n\r\n")
        self.assertEqual(refused.status, 505)
        self.assertRegex(said(refused), UUID7)
        ids = [line["request_id"] for line in gateway.log_lines(5)]
        self.assertEqual(sorted(ids), sorted(["k", "k", "k", "q", said(refused)]))

    def test_a_trace_is_passed_on_and_begun_anew_if_malformed(self):
        gateway, origin = self.to_an_origin()
        state = ("tracestate", "vendor=1")
        gateway.get("/", [("traceparent", TRACE), state])
        self.assertEqual(origin.last().all("traceparent"), [TRACE])
        self.assertEqual(origin.last().all("tracestate"), ["vendor=1"])
        gateway.get("/")
        self.assertEqual(origin.last().all("traceparent"), [])
        seen = set()
        for bad in (TRACE.upper(), TRACE[:-1], TRACE.replace("b7ad6b7169203331", "0" * 16)):
            gateway.get("/", [("traceparent", bad), state])
            (made,) = origin.last().all("traceparent")
            self.assertRegex(made, "^00-[0-9a-f]{32}-[0-9a-f]{16}-00$")
            self.assertEqual(origin.last().all("tracestate"), [])
            seen.add(made)
        self.assertEqual(len(seen), 3)
