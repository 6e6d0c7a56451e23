"""What responses report of limits: `headers` and `soft`, in both protocols."""
import json

from harness.both_protocols import Message, OneByOne
from harness.case import SystemTest
from harness.client import get

USUAL = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")


def about_limits(response):
    return {n.lower(): v for n, v in response.fields if "ratelimit" in n.lower() or n.lower() == "retry-after"}


class LimitFields(SystemTest):
    def gateway_with(self, limits, script=None, more=""):
        origin = self.origin(script) if script else self.origin()
        names = ", ".join(limits)
        stanzas = "".join(f"  {name}: {{ key: [], {keys} }}\n" for name, keys in limits.items())
        return self.gateway(
            f"limits:\n{stanzas}routes: [ {{ upstream: up, limits: [{names}] }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n{more}"
        )

    def in_turn(self, gateway):
        """Asks in one protocol after the other."""
        both = OneByOne(gateway.address, gateway.connect)
        self.addCleanup(both.stop)
        asked = Message("GET", "/", [("Host", "gateway.test")])
        while True:
            yield both.over_http1(asked)
            yield both.over_http2(asked)

    def test_a_word_makes_fields_as_those_of_openai(self):
        gateway = self.gateway_with(
            {
                "tokens": "rate: 360/h, burst: 100, cost: 36, headers: tokens",
                "requests": "rate: 1/h, burst: 60, headers: requests",
            }
        )
        ask = self.in_turn(gateway)
        for left, minutes in ((64, 6), (28, 12)):
            response = next(ask)
            told = about_limits(response)
            self.assertEqual(response.status, 200)
            self.assertEqual(told["x-ratelimit-limit-tokens"], "100")
            self.assertEqual(told["x-ratelimit-remaining-tokens"], str(left))
            self.assertRegex(told["x-ratelimit-reset-tokens"], rf"^({minutes}m0s|{minutes - 1}m59(\.\d+)?s)$")
            self.assertEqual(told["x-ratelimit-limit-requests"], "60")
            self.assertRegex(told["x-ratelimit-reset-requests"], r"^[12]h|59m")
            self.assertEqual([told.get(name) for name in USUAL], [None] * 3)
        for _ in range(2):
            rejected = next(ask)
            told = about_limits(rejected)
            self.assertEqual(rejected.status, 429)
            self.assertEqual(told["x-ratelimit-remaining-tokens"], "28")
            self.assertIn(int(told["retry-after"]), range(75, 81))

    def test_a_hidden_limit_is_in_no_field_but_retry_after(self):
        gateway = self.gateway_with(
            {"flood": "rate: 2/h, headers: false", "quota": "rate: 100/h"},
            more="response_headers: { ratelimit: true }\n",
        )
        ask = self.in_turn(gateway)
        for left in (99, 98):
            told = about_limits(next(ask))
            self.assertEqual(told["x-ratelimit-remaining"], str(left))
            self.assertNotIn("flood", told["ratelimit"] + told["ratelimit-policy"])
        for _ in range(2):
            rejected = next(ask)
            told = about_limits(rejected)
            self.assertEqual((rejected.status, told["x-ratelimit-limit"]), (429, "100"))
            self.assertIn(int(told["retry-after"]), range(1780, 1801))
            self.assertEqual(json.loads(rejected.body)["violated-policies"], ["flood"])

    def test_fields_of_the_upstream_give_way_to_those_of_its_route_only(self):
        theirs = {
            "x-ratelimit-limit": "7",
            "x-ratelimit-limit-tokens": "8",
            "X-RateLimit-Remaining-Requests": "9",
            "x-ratelimit-warning": "theirs",
        }

        def script(peer, request):
            peer.read_body(request)
            peer.reply(fields=list(theirs.items()))

        kept = self.gateway_with({"flood": "rate: 100/h, headers: false"}, script)
        replaced = self.gateway_with({"t": "rate: 100/h, headers: tokens, soft: 99%"}, script)
        for gateway, expected in (
            (kept, {n.lower(): v for n, v in theirs.items()}),
            (
                replaced,
                {
                    "x-ratelimit-limit": "7",
                    "x-ratelimit-limit-tokens": "100",
                    "x-ratelimit-remaining-requests": "9",
                },
            ),
        ):
            ask = self.in_turn(gateway)
            for _ in range(2):
                told = about_limits(next(ask))
                told.pop("x-ratelimit-remaining-tokens", None)
                told.pop("x-ratelimit-reset-tokens", None)
                self.assertEqual(told, expected)

    def test_a_soft_threshold_warns_and_refuses_nothing(self):
        gateway = self.gateway_with(
            {
                "a": "rate: 5/h, soft: 60%",
                "b": "rate: 5/h, soft: 80%, headers: tokens",
                "quiet": "rate: 5/h, soft: 1%, headers: false",
                "tried": "rate: 5/h, soft: 1%, mode: shadow",
            },
            more="response_headers: { x_ratelimit: false }\n",
        )
        ask = self.in_turn(gateway)
        told = [next(ask) for _ in range(7)]
        self.assertEqual([r.status for r in told], [200] * 5 + [429] * 2)
        warnings = [about_limits(r).get("x-ratelimit-warning") for r in told]
        self.assertEqual(warnings, [None, None, None, "a", "a, b", None, None])
        metrics = gateway.metrics()
        counted = {n: metrics.sum("gateway_soft_limit_exceeded_total", limit=n) for n in ("a", "b", "quiet", "tried")}
        self.assertEqual(counted, {"a": 2, "b": 1, "quiet": 5, "tried": 5})

    def test_requests_in_flight_have_a_threshold_and_no_reset(self):
        gateway = self.gateway_with({"c": "algorithm: concurrency, max: 20, headers: requests, soft: 1%"})
        ask = self.in_turn(gateway)
        for _ in range(2):
            told = about_limits(next(ask))
            self.assertLess(int(told.pop("x-ratelimit-remaining-requests")), 20)
            self.assertEqual(told, {"x-ratelimit-limit-requests": "20", "x-ratelimit-warning": "c"})

    def test_the_admin_api_knows_them(self):
        gateway = self.gateway_with(
            {"a": "rate: 5/h, soft: 60%", "b": "rate: 5/h, headers: tokens", "c": "rate: 5/h, headers: false"}
        )
        shown = {limit["limit"]: limit for limit in json.loads(get(gateway.admin, "/v1/limits").text)["limits"]}
        self.assertEqual(
            {name: (limit.get("headers"), limit.get("soft")) for name, limit in shown.items()},
            {"a": (None, 60), "b": ("tokens", None), "c": (False, None)},
        )
