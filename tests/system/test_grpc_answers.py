"""What becomes of calls of gRPC: the gateway's own answers, deadlines, outcomes, and what is told of them."""
import json
import sys
import threading
import time

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, whichever Python runs

import grpc  # noqa: E402

from harness.case import SystemTest, forwarding_to
from harness.documents import documented
from harness.gateway import run_command
from harness.http2 import INTERNAL_ERROR, Http2
from harness.http2_origin import Http2Origin
from harness.message_case import MessageTest
from harness.process import free_port, wait_until

TYPE = ("content-type", "application/grpc")
CALL = [TYPE, ("te", "trailers")]
HTTP1_CALL = [TYPE, ("TE", "trailers")]
CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED = 1, 2, 3, 4
PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNIMPLEMENTED = 7, 8, 12
UNAVAILABLE, UNAUTHENTICATED = 14, 16


def message(content):
    return b"\0" + len(content).to_bytes(4, "big") + content


class Service:
    """An upstream over HTTP/1.1 that ends a call as its path says: /svc/16 with that status in the
    trailers, /svc/head7 in the head, /svc/none without one, /svc/cut in the middle; /svc/wait waits."""

    def __init__(self):
        self.go = threading.Event()
        self.asked = threading.Semaphore(0)

    def __call__(self, peer, request):
        peer.read_body(request)
        how = request.target.rpartition("/")[2]
        self.asked.release()
        if how == "wait":
            self.go.wait(20)
        if how.startswith("head"):
            return peer.send(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nContent-Length: 0\r\n"
                b"grpc-status: %d\r\n\r\n" % int(how[4:])
            )
        if how.startswith("http"):
            return peer.reply(int(how[4:]))
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n")
        answer = message(request.body[5:])
        peer.send(b"%x\r\n%b\r\n" % (len(answer), answer))
        if how == "stall":
            self.go.wait(20)
        if how in ("cut", "stall"):
            return False
        status = how if how.isdigit() else "0"
        fields = "" if how == "none" else f"grpc-status: {status}\r\ngrpc-message: as told\r\n"
        return peer.send(f"0\r\n{fields}\r\n".encode())


class GrpcTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.service = Service()
        self.addCleanup(self.service.go.set)

    def calls(self, address, *targets, fields=()):
        """The outcome of each call, on one connection."""
        with Http2(address) as c:
            return [self.code(self.call(c, target, fields)) for target in targets]

    @staticmethod
    def call(c, target, fields=()):
        return c.ask(target, [*CALL, *fields], body=message(b"hello"), method="POST")

    @staticmethod
    def code(answer):
        found = dict(answer.trailers or answer.fields).get("grpc-status")
        return None if found is None else int(found)

    def assert_own(self, answer, code, told=None):
        """The answer is one head of trailers."""
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.get("content-type"), "application/grpc")
        self.assertEqual((answer.frames, answer.body, answer.trailers, answer.ended), (0, b"", None, True))
        self.assertEqual(int(answer.get("grpc-status")), code, answer.fields)
        self.assertTrue(answer.get("grpc-message"))
        self.assertRegex(answer.get("x-request-id"), "^[0-9a-f-]{36}$")
        if told is not None:
            self.assertIn(told, answer.get("grpc-message"))


class Answers(GrpcTest):
    def answering(self):
        """A gateway that answers calls itself, each path in its way."""
        origin = self.origin(self.service)
        nobody = f"127.0.0.1:{free_port()}"
        return self.gateway(
            "workers: 1\n"  # so that the log is in order
            "http: { max_header_bytes: 2KiB }\n"
            "plans: { p: { key: 'header:x-key', members: { closed: [c] } } }\n"
            "limits:\n"
            "  one: { key: [path], rate: 1/h }\n"
            "  dear: { key: [], rate: 5/h, cost: { header: x-cost, default: 1, max: 9 } }\n"
            "  named: { key: 'header:x-key', missing_key: reject, rate: 100/h, plan: p, plans: { closed: blocked } }\n"
            "routes:\n"
            "  - { match: { path: /limited }, limits: [one], upstream: up }\n"
            "  - { match: { path: /dear }, limits: [dear], upstream: up }\n"
            "  - { match: { path: /page }, limits: [one], upstream: up, rejection: { status: 503 } }\n"
            "  - { match: { path: /named }, limits: [named], upstream: up }\n"
            "  - { match: { path: /gone }, upstream: gone }\n"
            "  - { match: { path: /slow }, upstream: up, response_timeout: 200ms }\n"
            "  - { match: { path: /short }, upstream: up, timeout: 200ms }\n"
            "  - { match: { path: /small }, upstream: up, max_body_bytes: 4 }\n"
            "  - { match: { path: /closed }, respond: { status: 503 } }\n"
            "  - { match: { path: /svc }, upstream: up }\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }}, gone: {{ servers: ['{nobody}'] }} }}\n"
        )

    # Path, code, a part of the message, and the status in counters and in the log.
    OWN = (
        ("/limited/0", RESOURCE_EXHAUSTED, "the limit is exhausted; retry later", 429),
        ("/page/0", UNAVAILABLE, "the limit is exhausted", 503),
        ("/named/0", INVALID_ARGUMENT, "header:x-key", 400),
        ("/nowhere", UNIMPLEMENTED, "route", 404),
        ("/gone/0", UNAVAILABLE, "cannot be reached", 502),
        ("/slow/wait", DEADLINE_EXCEEDED, "did not respond in time", 504),
        ("/short/wait", DEADLINE_EXCEEDED, "did not respond in time", 504),
        ("/small/0", RESOURCE_EXHAUSTED, "body is larger", 413),
        ("/svc/%", INVALID_ARGUMENT, "malformed percent-encoding", 400),
    )

    def test_are_trailers_alone_over_http_2(self):
        gateway = self.answering()
        with Http2(gateway.address) as c:
            for target in ("/limited/0", "/page/0"):
                self.assertEqual(self.code(self.call(c, target)), 0)
            for target, code, told, _ in self.OWN:
                with self.subTest(target):
                    self.assert_own(self.call(c, target), code, told)
            self.assert_own(self.call(c, "/named/0", [("x-key", "c")]), PERMISSION_DENIED)
            large = [("x-large", "a" * 3000)]
            self.assert_own(self.call(c, "/svc/0", large), RESOURCE_EXHAUSTED, "header is longer")
            self.assertEqual(self.code(self.call(c, "/svc/0")), 0, "the connection serves on")

    def test_are_a_head_alone_over_http_1_1(self):
        gateway = self.answering()
        c = self.enterContext(gateway.connect())
        for target, code, told, _ in self.OWN:
            with self.subTest(target):
                if target in ("/limited/0", "/page/0"):
                    c.ask(target, HTTP1_CALL, "POST")
                answer = c.ask(target, HTTP1_CALL, "POST", message(b"") if "small" in target else None)
                self.assertEqual((answer.status, answer.body, answer["content-length"]), (200, b"", "0"))
                self.assertEqual(answer["content-type"], "application/grpc")
                self.assertEqual(answer["grpc-status"], str(code))
                self.assertIn(told, answer["grpc-message"])
            self.assertEqual(answer["connection"], "close" if "small" in target else None)
            if "small" in target:
                c = self.enterContext(gateway.connect())
        with gateway.connect() as c:
            answer = c.ask("/svc/0", [*HTTP1_CALL, ("x-large", "a" * 3000)], "POST")
            self.assertEqual((answer["grpc-status"], answer["connection"]), ("8", "close"))

    def test_of_a_limit_say_when_to_come_again(self):
        gateway = self.answering()
        with Http2(gateway.address) as c:
            self.assertEqual(self.code(self.call(c, "/limited/0")), 0)
            rejected = self.call(c, "/limited/0")
            self.assertIn(int(rejected.get("grpc-retry-pushback-ms")), range(3_590_000, 3_600_001))
            self.assertEqual(rejected.get("x-ratelimit-limit"), "1")
            self.assertEqual(rejected.get("x-ratelimit-remaining"), "0")
            self.assertIsNone(rejected.get("retry-after"))
            never = self.call(c, "/dear/0", [("x-cost", "9")])
            self.assert_own(never, RESOURCE_EXHAUSTED)
            self.assertEqual(never.get("grpc-retry-pushback-ms"), "-1", "it would never pass")
            self.assertIsNone(self.call(c, "/named/0").get("grpc-retry-pushback-ms"))

    def test_that_the_configuration_writes_stay_http(self):
        gateway = self.answering()
        with Http2(gateway.address) as c:
            self.assertEqual(self.call(c, "/closed").status, 503)
        self.assertEqual(gateway.metrics().count("gateway_grpc_responses_total", grpc_status="14"), 1)

    def test_to_others_stay_http(self):
        gateway = self.answering()
        with Http2(gateway.address) as c:
            for kind in ("application/grpc-web", "application/grpc-web+proto", "application/grpcx", "text/plain"):
                answer = c.ask("/nowhere", [("content-type", kind)], method="POST", body=b"")
                self.assertEqual((answer.status, answer.get("grpc-status")), (404, None), kind)
            for kind in ("application/grpc+proto", "application/grpc;a=b", "Application/GRPC+json"):
                answer = c.ask("/nowhere", [("content-type", kind)], method="POST", body=b"")
                self.assert_own(answer, UNIMPLEMENTED)
        lines = gateway.log_lines(7)
        self.assertEqual([line.get("grpc_status") for line in lines], [None] * 4 + [UNIMPLEMENTED] * 3)

    def test_to_a_proxy_that_asks_stay_http(self):
        gateway = self.gateway(
            "listeners: [ { address: '127.0.0.1:0', decide: true } ]\n"
            "limits: { l: { key: [], rate: 1/h } }\n" + forwarding_to("echo", "l")
        )
        with gateway.connect() as c:
            self.assertEqual([c.ask("/", [TYPE]).status for _ in range(2)], [200, 429])

    def test_are_counted_by_what_they_mean_over_http(self):
        gateway = self.answering()
        targets = [target for target, *_ in self.OWN]
        self.assertEqual(self.calls(gateway.address, "/limited/0", "/page/0"), [0, 0])
        self.assertEqual(self.calls(gateway.address, *targets), [code for _, code, *_ in self.OWN])
        lines = gateway.log_lines(2 + len(self.OWN))[2:]
        self.assertEqual(
            [(line["target"], line["grpc_status"], line["status"]) for line in lines],
            [(target, code, status) for target, code, _, status in self.OWN],
        )
        metrics = gateway.metrics()
        self.assertEqual(metrics.count("gateway_requests_total", code="429"), 1)
        self.assertEqual(metrics.count("gateway_grpc_responses_total", route="/limited", grpc_status="8"), 1)
        self.assertEqual(metrics.count("gateway_grpc_responses_total", route="/limited", grpc_status="0"), 1)
        self.assertEqual(metrics.count("gateway_grpc_responses_total"), len(lines) + 2)
        self.assertEqual(metrics.count("gateway_server_errors_total"), 3, "but for the page of a limit")


class Deadlines(GrpcTest):
    def test_of_the_client_ends_a_call(self):
        gateway, origin = self.proxy(self.service)
        with Http2(gateway.address) as c:
            began = time.monotonic()
            answer = self.call(c, "/svc/wait", [("grpc-timeout", "300m")])
            self.assertGreaterEqual(time.monotonic() - began, 0.3)
            self.assert_own(answer, DEADLINE_EXCEEDED, "longer than its client allows")
        self.assertEqual(origin.last()["grpc-timeout"], "300m", "as it came")
        line = gateway.log_lines(1)[0]
        self.assertEqual((line["status"], line["grpc_status"]), (504, DEADLINE_EXCEEDED))
        metrics = gateway.metrics()
        self.assertEqual(metrics.count("gateway_server_errors_total"), 0, "the client has chosen it")
        self.assertEqual(metrics.count("gateway_upstream_failures_total"), 0)

    def test_of_the_route_counts_if_it_is_shorter(self):
        origin = self.origin(self.service)
        for route, client, told in (
            ("300ms", "5S", "the upstream did not respond in time"),
            ("20s", "300m", "longer than its client allows"),
            ("300ms", "9x", "the upstream did not respond in time"),
        ):
            with self.subTest(client):
                gateway = self.gateway(
                    f"routes: [ {{ upstream: up, timeout: {route} }} ]\n"
                    f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
                )
                with Http2(gateway.address) as c:
                    answer = self.call(c, "/svc/wait", [("grpc-timeout", client)])
                self.assert_own(answer, DEADLINE_EXCEEDED, told)

    def test_that_is_malformed_or_of_no_call_is_none(self):
        gateway, _ = self.proxy(self.service)
        with Http2(gateway.address) as c:
            for text in ("", "1", "0m", "-1m", "1 m", "123456789n", "1m,1m"):
                self.assertEqual(self.code(self.call(c, "/svc/0", [("grpc-timeout", text)])), 0, text)
            twice = [("grpc-timeout", "1n"), ("grpc-timeout", "1n")]
            self.assertEqual(self.code(self.call(c, "/svc/0", twice)), 0)
            stream = c.request("/svc/wait", [("grpc-timeout", "1m")], method="POST")
            self.assertTrue(self.service.asked.acquire(timeout=10))
            self.service.go.set()
            self.assertEqual(c.wait_for(stream).status, 200)

    def test_cuts_a_response_that_has_begun(self):
        gateway, _ = self.proxy(self.service)
        with Http2(gateway.address) as c:
            answer = self.call(c, "/svc/stall", [("grpc-timeout", "300m")])
            self.assertEqual((answer.status, answer.reset), (200, INTERNAL_ERROR))
        self.assertEqual(gateway.log_lines(1)[0]["grpc_status"], DEADLINE_EXCEEDED)


class Outcomes(GrpcTest, MessageTest):
    LOGIN = "charge_on: { grpc: [UNAUTHENTICATED, 7] }"

    def limited(self, more, route="", store=None):
        origin = self.origin(self.service)
        text, where = f"workers: 1\n{self.token_of_admin()}", ""
        if store is not None:
            text += f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = "store: r, on_store_failure: closed, "
        gateway = self.gateway(
            f"{text}limits: {{ l: {{ key: client_ip, rate: 3/h, {where}{more} }} }}\n"
            f"routes: [ {{ upstream: up, limits: [l]{route} }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def test_that_are_named_keep_the_charge(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.limited(self.LOGIN, store=store)
                self.assertEqual(self.calls(g.address, *["/svc/0"] * 5), [0] * 5)
                others = ["/svc/5", "/svc/none", "/svc/head13", "/svc/4711"]
                self.assertEqual(self.calls(g.address, *others), [5, None, 13, 4711])
                self.assert_used(0, g, ["127.0.0.1"], burst=3)
                named = ["/svc/16", "/svc/head7", "/svc/16", "/svc/16", "/svc/0"]
                self.assertEqual(self.calls(g.address, *named), [16, 7, 16, 8, 8])
                lines = g.log_lines(14)
                self.assertEqual([line["cost"] for line in lines[:12]], [0] * 9 + [1] * 3)
                self.assertEqual(
                    [line["grpc_status"] for line in lines[5:]], [5, UNKNOWN, 13, 17, 16, 7, 16, 8, 8]
                )

    def test_are_replayed_as_they_were(self):
        g = self.limited(self.LOGIN)
        targets = ["/svc/0", "/svc/16", "/svc/5", "/svc/head7", "/svc/none", "/svc/cut"] * 3
        with Http2(g.address) as c:
            rejected = [self.code(self.call(c, t)) for t in targets].count(RESOURCE_EXHAUSTED)
        self.assertEqual(rejected, 10)
        g.log_lines(len(targets))
        words = ("replay", "--config", g.config_path, "--format", "json", g.log_path)
        status, out, err = run_command(*words)
        self.assertEqual((status, err), (0, ""))
        done = json.loads(out)
        self.assertEqual((done["allowed"], done["rejected"]), (8, 10))
        self.assertEqual((done["logged"]["newly_rejected"], done["logged"]["newly_allowed"]), (0, 0))

    def test_are_documented_by_an_example(self):
        def by_metadata(call):
            answer = message(call.read_body()[5:])
            call.reply(body=answer, fields=[TYPE], trailers=[("grpc-status", call["x-outcome"])])

        origin = self.started(Http2Origin(by_metadata))
        text = documented("grpc.md", "yaml").replace("0.0.0.0:8080", "127.0.0.1:0")
        g = self.gateway(text.replace("127.0.0.1:9000", origin.address))
        with Http2(g.address) as c:
            outcomes = [
                self.code(self.call(c, target, [("x-outcome", outcome)]))
                for target, outcome in [("/shop.Accounts/Login", "0")] * 9
                + [("/SHOP.accounts/Login", "16"), ("/shop.Accounts/Login", "7")] * 3
                + [("/shop.Orders/List", "16")]
            ]
        self.assertEqual(outcomes, [0] * 9 + [16, 7, 16, 7, 16, RESOURCE_EXHAUSTED, 16])

    def test_are_what_clients_make_of_a_response_without_one(self):
        g = self.limited("charge_on: { grpc: [UNAUTHENTICATED] }")
        self.assertEqual(self.calls(g.address, *["/svc/http200", "/svc/http503"] * 5), [None] * 10)
        self.assertEqual(self.calls(g.address, *["/svc/http401"] * 4), [None] * 3 + [RESOURCE_EXHAUSTED])

    def test_are_unknown_after_a_reset(self):
        g = self.limited("charge_on: { grpc: [UNKNOWN] }")
        self.assertEqual(self.calls(g.address, *["/svc/0"] * 5), [0] * 5)
        with Http2(g.address) as c:
            for _ in range(3):
                self.assertEqual(self.call(c, "/svc/cut").reset, INTERNAL_ERROR)
            self.assert_own(self.call(c, "/svc/0"), RESOURCE_EXHAUSTED)

    def test_of_the_gateways_own_answers_count(self):
        for named in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
            with self.subTest(named):
                text = f"limits: {{ l: {{ key: [], rate: 3/h, charge_on: {{ grpc: [{named}] }} }} }}\n"
                g = self.gateway(text + forwarding_to(f"127.0.0.1:{free_port()}", "l"))
                rejected = RESOURCE_EXHAUSTED if named == "UNAVAILABLE" else UNAVAILABLE
                self.assertEqual(self.calls(g.address, *["/svc/0"] * 4), [UNAVAILABLE] * 3 + [rejected])

    def test_may_refill_the_bucket(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.limited("reset_on: { grpc: [OK] }", store=store)
                self.assertEqual(self.calls(g.address, "/svc/16", "/svc/16", "/svc/0"), [16, 16, 0])
                self.assertEqual(self.calls(g.address, *["/svc/16"] * 4), [16] * 3 + [8])

    def test_count_beside_statuses(self):
        g = self.limited("charge_on: { status: [4xx], grpc: [UNAUTHENTICATED] }")
        with Http2(g.address) as c:
            self.assertEqual(self.code(self.call(c, "/svc/0")), 0)
            for _ in range(4):
                self.assertEqual(c.ask("/svc/http200").status, 200)
            self.assertEqual(c.ask("/svc/http404").status, 404)
            self.assertEqual(self.call(c, "/svc/http404").status, 404)
            self.assertEqual(self.code(self.call(c, "/svc/16")), 16)
            self.assertEqual(c.ask("/svc/http200").status, 429)

    def test_of_other_requests_are_none_and_keep_the_charge(self):
        g = self.limited(self.LOGIN)
        with Http2(g.address) as c:
            web = [("content-type", "application/grpc-web+proto")]
            answers = [c.ask("/svc/http200", web, method="POST", body=b"").status for _ in range(4)]
        self.assertEqual(answers, [200] * 3 + [429])

    def test_a_client_that_does_not_wait_stays_charged(self):
        g = self.limited(self.LOGIN)
        with Http2(g.address) as c:
            self.assertEqual(self.code(self.call(c, "/svc/wait", [("grpc-timeout", "200m")])), DEADLINE_EXCEEDED)
            self.assertEqual(self.call(c, "/svc/stall", [("grpc-timeout", "200m")]).reset, INTERNAL_ERROR)
            stream = c.request("/svc/stall", CALL, method="POST")
            c.wait(lambda: c.answer(stream).body)
            c.reset(stream)
            self.assertEqual([line["grpc_status"] for line in g.log_lines(3)], [4, 4, CANCELLED])
            self.assert_own(self.call(c, "/svc/0"), RESOURCE_EXHAUSTED)

    def test_are_awaited_without_the_client_if_the_route_wants_that(self):
        g = self.limited(self.LOGIN, route=", on_client_abort: finish")
        with Http2(g.address) as c:
            stream = c.request("/svc/wait", CALL, method="POST")
            self.assertTrue(self.service.asked.acquire(timeout=10))
            c.reset(stream)
            wait_until(lambda: g.metrics().count("gateway_exchanges_abandoned") == 1, what="it goes on")
            for _ in range(2):
                self.assertEqual(self.code(self.call(c, "/svc/16")), 16)
            self.assert_own(self.call(c, "/svc/0"), RESOURCE_EXHAUSTED)
            self.service.go.set()
            wait_until(lambda: self.code(self.call(c, "/svc/0")) == 0, what="it was good")

    def test_over_http_1_1_count_the_same(self):
        g = self.limited(self.LOGIN)
        with g.connect() as c:
            for target, status in (("/svc/0", "0"), ("/svc/16", "16"), ("/svc/16", "16"), ("/svc/16", "16")):
                self.assertEqual(dict(c.ask(target, HTTP1_CALL, "POST").trailers)["grpc-status"], status)
            self.assertEqual(c.ask("/svc/0", HTTP1_CALL, "POST")["grpc-status"], "8")


class Clients(GrpcTest):
    """A client of gRPC, from Debian's python3-grpcio."""

    def channel(self, gateway, **options):
        channel = grpc.insecure_channel("%s:%d" % gateway.address, options=list(options.items()))
        self.addCleanup(channel.close)
        return channel

    @staticmethod
    def method(channel, name):
        return channel.unary_unary(name, request_serializer=bytes, response_deserializer=bytes)

    def failure(self, channel, name, **options):
        with self.assertRaises(grpc.RpcError) as failed:
            self.method(channel, name)(b"hello", timeout=options.pop("timeout", 10), **options)
        return failed.exception

    def test_calls_a_service_and_is_told_of_its_errors(self):
        gateway, origin = self.proxy(self.service)
        channel = self.channel(gateway)
        self.assertEqual(self.method(channel, "/svc/0")(b"hello", timeout=10), b"hello")
        self.assertEqual(origin.last().body, message(b"hello"))
        failed = self.failure(channel, "/svc/16")
        self.assertEqual((failed.code(), failed.details()), (grpc.StatusCode.UNAUTHENTICATED, "as told"))
        self.assertEqual(self.failure(channel, "/svc/http503").code(), grpc.StatusCode.UNAVAILABLE)

    def test_is_told_of_a_limit(self):
        origin = self.origin(self.service)
        gateway = self.gateway("limits: { l: { key: [], rate: 1/h } }\n" + forwarding_to(origin.address, "l"))
        channel = self.channel(gateway)
        self.assertEqual(self.method(channel, "/svc/0")(b"hello", timeout=10), b"hello")
        failed = self.failure(channel, "/svc/0")
        self.assertEqual(failed.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertEqual(failed.details(), "the limit is exhausted; retry later")
        told = dict(failed.trailing_metadata())
        self.assertEqual((told["x-ratelimit-limit"], told["x-ratelimit-remaining"]), ("1", "0"))

    def test_has_its_deadline(self):
        gateway, origin = self.proxy(self.service)
        failed = self.failure(self.channel(gateway), "/svc/wait", timeout=0.5)
        self.assertEqual(failed.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertRegex(origin.last()["grpc-timeout"], "^[0-9]{1,8}[HMSmun]$")
        line = gateway.log_lines(1)[0]
        self.assertIn(line["grpc_status"], (CANCELLED, DEADLINE_EXCEEDED), "whoever was first")

    def test_repeats_a_call_when_it_may(self):
        """By a policy of the client, which the pushback overrides."""
        origin = self.origin(self.service)
        gateway = self.gateway("limits: { l: { key: [], rate: 1/300ms } }\n" + forwarding_to(origin.address, "l"))
        policy = (
            '{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "9s",'
            ' "maxBackoff": "9s", "backoffMultiplier": 1, "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]}'
        )
        channel = self.channel(gateway, **{"grpc.enable_retries": 1, "grpc.service_config": policy})
        began = time.monotonic()
        for _ in range(2):
            self.assertEqual(self.method(channel, "/svc/0")(b"hello", timeout=30), b"hello")
        self.assertLess(time.monotonic() - began, 6)
        self.assertEqual(gateway.metrics().count("gateway_grpc_responses_total", grpc_status="8"), 1)
