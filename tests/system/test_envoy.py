"""The rate-limit service for Envoy, asked by gRPC's own client."""
from concurrent.futures import ThreadPoolExecutor

from harness.case import SystemTest, only_as_shipped
from harness.envoy import HOUR, MINUTE, OK, OVER_LIMIT, Envoy, descriptor, grpc, text
from harness.http2 import Http2
from harness.process import wait_until
from harness.redis_server import RedisServer

LISTENER = "listeners: [ { address: 127.0.0.1:0, rate_limit_service: edge } ]\n"
ROUTES = "routes: [ { upstream: up } ]\nupstreams: { up: { servers: [echo] } }\n"
ADDRESS = ("remote_address", "203.0.113.7")


class EnvoyTest(SystemTest):
    def asked(self, limits, descriptors, extra=""):
        """A gateway, and Envoy that asks it."""
        gateway = self.gateway(
            LISTENER
            + f"rate_limit_service: {{ edge: {{ domain: edge, descriptors: [ {descriptors} ] }} }}\n"
            + f"limits: {{ {limits} }}\n" + extra + ROUTES
        )
        return gateway, self.started(Envoy(gateway.address))


class Decisions(EnvoyTest):
    def test_a_descriptor_is_charged_under_its_limits(self):
        gateway, envoy = self.asked(
            "l: { key: descriptor:remote_address, rate: 3/h }", "{ match: [remote_address], limits: [l] }"
        )
        answers = [envoy.ask(descriptor(ADDRESS)) for _ in range(5)]
        self.assertEqual([a.code for a in answers], [OK] * 3 + [OVER_LIMIT] * 2)
        self.assertEqual([a.statuses[0].remaining for a in answers], [2, 1, 0, 0, 0])
        self.assertEqual({a.statuses[0].limit[0] for a in answers}, {3})
        self.assertGreater(answers[-1].statuses[0].seconds_until_reset, 0)
        self.assertEqual(answers[-1].headers["X-RateLimit-Limit"], "3")
        self.assertEqual(envoy.ask(descriptor(("remote_address", "203.0.113.8"))).code, OK)
        lines = gateway.log_lines(6)
        self.assertEqual(sorted(line["outcome"] for line in lines), ["allowed"] * 4 + ["rejected"] * 2)

    def test_the_first_rule_that_matches_counts(self):
        _, envoy = self.asked(
            "login: { key: descriptor:remote_address, rate: 1/h }, any: { key: [], rate: 3/h }",
            "{ match: [{ generic_key: login }, remote_address], limits: [login] },"
            " { match: [{ generic_key: '*' }], limits: [any] }",
        )
        login = descriptor(("generic_key", "login"), ADDRESS)
        self.assertEqual([envoy.ask(login).code for _ in range(2)], [OK, OVER_LIMIT])
        other = descriptor(("generic_key", "other"))
        self.assertEqual([envoy.ask(other).code for _ in range(4)], [OK] * 3 + [OVER_LIMIT])

    def test_several_descriptors_are_charged_all_or_none(self):
        _, envoy = self.asked(
            "small: { key: descriptor:a, rate: 2/h }, large: { key: descriptor:b, rate: 10/h }",
            "{ match: [a], limits: [small] }, { match: [b], limits: [large] }",
        )
        both = descriptor(("a", "1")), descriptor(("b", "1"))
        answers = [envoy.ask(*both) for _ in range(5)]
        self.assertEqual([a.code for a in answers], [OK, OK] + [OVER_LIMIT] * 3)
        self.assertEqual([s.code for s in answers[-1].statuses], [OVER_LIMIT, OK])
        self.assertEqual(envoy.ask(both[1]).statuses[0].remaining, 7)

    def test_hits_are_the_cost(self):
        _, envoy = self.asked("l: { key: [], rate: 10/h }", "{ match: [a], limits: [l] }")
        one = ("a", "1")
        self.assertEqual(envoy.ask(descriptor(one), hits=4).statuses[0].remaining, 6)
        self.assertEqual(envoy.ask(descriptor(one, hits=5), hits=4).statuses[0].remaining, 1)
        self.assertEqual(envoy.ask(descriptor(one, hits=0)).statuses[0].remaining, 1)
        self.assertEqual(envoy.ask(descriptor(one), hits=11).code, OVER_LIMIT)
        self.assertEqual(envoy.ask(descriptor(one)).code, OK)
        self.assertEqual(envoy.ask(descriptor(one)).code, OVER_LIMIT)

    def test_a_descriptor_brings_its_own_numbers(self):
        _, envoy = self.asked(
            "l: { key: descriptor:a, rate: 100/h }", "{ match: [a], limits: [l] }"
        )
        own = descriptor(("a", "1"), limit=(2, MINUTE))
        self.assertEqual([envoy.ask(own).code for _ in range(3)], [OK, OK, OVER_LIMIT])

    def test_shadow_mode_answers_ok(self):
        gateway, envoy = self.asked(
            "l: { key: [], rate: 1/h, mode: shadow }", "{ match: [a], limits: [l] }"
        )
        self.assertEqual([envoy.ask(descriptor(("a", "1"))).code for _ in range(3)], [OK] * 3)
        wait_until(lambda: gateway.metrics().sum("gateway_decisions_total", outcome="shadow_rejected") == 2)

    def test_what_is_unknown_is_ok_and_what_says_nothing_is_an_error(self):
        _, envoy = self.asked("l: { key: [], rate: 1/h }", "{ match: [a], limits: [l] }")
        for _ in range(3):
            self.assertEqual(envoy.ask(descriptor(("b", "1"))).code, OK)
        for descriptors, domain in (((), None), ((descriptor(("a", "1")),), "")):
            with self.assertRaises(grpc.RpcError) as raised:
                envoy.ask(*descriptors, domain=domain)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


class Calls(EnvoyTest):
    def setUp(self):
        self.target, self.envoy = self.asked(
            "l: { key: descriptor:a, rate: 1/h, burst: 100000 }", "{ match: [a], limits: [l] }"
        )

    def test_other_methods_are_not_implemented(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.envoy.method("/envoy.service.ratelimit.v3.RateLimitService/Other")(b"", timeout=10)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_messages_that_are_none(self):
        for message in (b"\xff", b"\x0a\x05ab", text(1, b"\xff\xfe"), b"x" * 70000):
            with self.assertRaises(grpc.RpcError) as raised:
                self.envoy.send(message)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertEqual(self.envoy.ask(descriptor(("a", "1"))).code, OK)

    def test_http_1_is_told_what_is_spoken_here(self):
        self.assertEqual(self.target.get().status, 505)

    def test_a_call_that_is_given_up_changes_nothing(self):
        with Http2(self.target.address) as c:
            for _ in range(50):
                c.reset(c.request("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
                                  [("content-type", "application/grpc"), ("te", "trailers")],
                                  method="POST", end=False))  # fmt: skip
            c.ping()
        self.assertEqual(self.envoy.ask(descriptor(("a", "1"))).statuses[0].remaining, 99999)

    def test_many_calls_at_a_time(self):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.envoy.ask(descriptor(("a", "x"))).code, range(800)))
        self.assertEqual(answers, [OK] * 800)
        self.assertEqual(self.envoy.ask(descriptor(("a", "x"))).statuses[0].remaining, 99199)


@only_as_shipped
class Shared(EnvoyTest):
    def test_one_call_on_one_connection_is_answered(self):
        """Nothing else wakes the connection while the store decides."""
        redis = self.started(RedisServer())
        store = f"stores: {{ shared: {{ url: '{redis.url}' }} }}\n"
        limit = "l: { key: [], rate: 1/h, store: shared }"
        _, envoy = self.asked(limit, "{ match: [a], limits: [l] }", store)
        self.assertEqual(envoy.ask(descriptor(("a", "1"))).code, OK)

    def test_three_gateways_on_redis_grant_as_many_as_one(self):
        redis = self.started(RedisServer())
        store = f"stores: {{ shared: {{ url: '{redis.url}' }} }}\n"
        asked = [
            self.asked(
                "l: { key: descriptor:a, rate: 1/h, burst: 200, store: shared }",
                "{ match: [a], limits: [l] }",
                store,
            )[1]
            for _ in range(3)
        ]
        with ThreadPoolExecutor(9) as pool:
            codes = list(
                pool.map(lambda i: asked[i % 3].ask(descriptor(("a", "1"))).code, range(600))
            )
        self.assertEqual((codes.count(OK), codes.count(OVER_LIMIT)), (200, 400))

    def test_every_store_decides_about_one_bucket_alike(self):
        """Descriptors of one question that share a bucket: with other numbers, and more than it holds together."""
        def told(r):
            return r.code, [(s.code, s.remaining) for s in r.statuses]

        answers = []
        for store in self.every_store():
            at, more = ("", "") if store is None else (", store: s", f"stores: {{ s: {{ url: '{store.url}', timeout: 10s }} }}\n")
            gateway, envoy = self.asked(f"l: {{ key: descriptor:a, rate: 100/h{at} }}", "{ match: [a], limits: [l] }", more)
            if store is not None:
                wait_until(lambda g=gateway: g.metrics().sum("gateway_store_up", store="s"), what="store")
            of = lambda value, hits, limit=None: descriptor(("a", value), hits=hits, limit=limit)
            answers.append([
                told(envoy.ask(*question)) for question in (
                    (of("w", 1000, (3600, HOUR)), of("w", 1)), (of("w", 1, (3600, HOUR)),),
                    (of("x", 1, (2, HOUR)), of("x", 1, (4, HOUR))), (of("x", 1, (4, HOUR)),),
                    (of("y", 60), of("y", 60)), (of("y", 60),), (of("y", 40),), (of("y", 1),),
                    (of("z", 1), of("z", 1), of("v", 1)), (of("z", 98),), (of("z", 1),),
                )
            ])
            envoy.stop()
            gateway.stop()
        self.assertEqual(answers[0][4:8], [
            (OVER_LIMIT, [(OK, 100), (OVER_LIMIT, 40)]), (OK, [(OK, 40)]), (OK, [(OK, 0)]), (OVER_LIMIT, [(OVER_LIMIT, 0)]),
        ])
        for other in answers[1:]:
            self.assertEqual(other, answers[0])
