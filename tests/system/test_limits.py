"""Limits as a client sees them: keys, several at once, shadow mode, header fields."""
import json
import time

from harness.case import SystemTest, forwarding_to
from harness.client import exchange_raw, get
from harness.process import wait_until


class Costs(SystemTest):
    def gateway_with(self, cost, more="burst: 10"):
        return self.gateway(
            f"limits: {{ l: {{ key: client_ip, rate: 1/h, cost: {cost}, {more} }} }}\n"
            + forwarding_to("echo", "l")
        )

    def left(self, c, target="/", headers=(), method="GET"):
        """(status, tokens left) after that request."""
        a = c.ask(target, list(headers), method)
        return a.status, a["X-RateLimit-Remaining"], a["Retry-After"]

    def test_of_methods(self):
        with self.gateway_with("{ methods: { POST: 5, HEAD: 0 }, default: 2 }").connect() as c:
            self.assertEqual(self.left(c, method="POST"), (200, "5", None))
            self.assertEqual(self.left(c), (200, "3", None))
            self.assertEqual(self.left(c, method="POST"), (429, "3", "7200"))
            self.assertEqual(self.left(c, method="HEAD"), (200, "3", None))
            self.assertEqual(self.left(c, method="PUT"), (200, "1", None))

    def said(self, c, value):
        return self.left(c, headers=[("X-Cost", value)])

    def test_said_by_a_header(self):
        with self.gateway_with("{ header: x-cost, max: 100 }").connect() as c:
            self.assertEqual(self.left(c), (200, "9", None))
            self.assertEqual(self.said(c, "0"), (200, "9", None))
            self.assertEqual(self.said(c, "7"), (200, "2", None))
            self.assertEqual(self.said(c, "3"), (429, "2", "3600"))
            self.assertEqual(self.said(c, "11"), (429, "2", None), "no time would help")
            self.assertEqual(self.said(c, "100"), (429, "2", None))
            for bad in ("", " ", "101", "-1", "+1", "1.0", "1e1", "0x1", "x", "1,1", "99999999999999999999"):
                self.assertEqual(self.said(c, bad)[0], 400, bad)
            twice = [("X-Cost", "1"), ("X-Cost", "2")]
            self.assertEqual(self.left(c, headers=twice)[0], 400)
            self.assertEqual(self.said(c, "2"), (200, "0", None), "nothing was charged")

    def test_said_by_a_query_parameter(self):
        with self.gateway_with("{ query: n, default: 4, max: 6 }").connect() as c:
            self.assertEqual(self.left(c, "/?n=6"), (200, "4", None))
            self.assertEqual(self.left(c, "/?n=7")[0], 400)
            for bad in ("n=1&n=2", "n=", "n", "n=+", "n=&n=1"):
                self.assertEqual(self.left(c, "/?" + bad)[0], 400, bad)
            self.assertEqual(self.left(c, "/?%6e=1"), (200, "3", None))
            self.assertEqual(self.left(c, "/"), (429, "3", "3600"))

    def test_in_shadow_mode_never_refuses(self):
        with self.gateway_with("{ header: x-cost, max: 10 }", "mode: shadow").connect() as c:
            self.assertEqual(self.said(c, "nonsense")[0], 200)
            self.assertEqual(self.said(c, "10")[0], 200)


class Jitter(SystemTest):
    def test_clients_are_told_different_times_and_none_too_early(self):
        g = self.gateway(
            "client: { trusted_proxies: [127.0.0.1] }\n"
            "limits: { l: { key: client_ip, rate: 1/1000s, jitter: 50 } }\n"
            + forwarding_to("echo", "l")
        )
        told = set()
        with g.connect() as c:
            for i in range(60):
                client = [("X-Forwarded-For", f"10.0.0.{i}")]
                self.assertEqual(c.ask("/", client).status, 200)
                told.add(int(c.ask("/", client)["Retry-After"]))
        self.assertGreaterEqual(min(told), 999)
        self.assertLessEqual(max(told), 1500)
        self.assertGreater(max(told) - min(told), 250, "of 60 the farthest are not that near")


class Keys(SystemTest):
    def gateway_with(self, key, more=""):
        return self.gateway(
            f"limits: {{ l: {{ key: {key}, rate: 1/h, burst: 1 {more} }} }}\n"
            + forwarding_to("echo", "l")
        )

    def check(self, gateway, rows):
        """rows: (request, expected status)."""
        with gateway.connect() as c:
            for (target, headers, method), status in rows:
                with self.subTest(target=target, headers=headers, method=method):
                    self.assertEqual(c.ask(target, headers, method).status, status)

    def test_a_header(self):
        g = self.gateway_with("'header:X-Api-Key'", ", missing_key: reject")
        self.check(
            g,
            [
                (("/", [("X-Api-Key", "a")], "GET"), 200),
                (("/", [("x-api-key", "a")], "GET"), 429),
                (("/", [("X-API-KEY", "A")], "GET"), 200),
                (("/", [("X-Api-Key", "b")], "GET"), 200),
                (("/", [], "GET"), 400),
                (("/", [("X-Api-Key", "a")], "BREW"), 429),
            ],
        )

    def test_tiers_of_one_address(self):
        g = self.gateway(
            "client: { trusted_proxies: [127.0.0.1] }\n"
            "limits: { l64: { key: client_ip, rate: 1/h }, l48: { key: client_ip/48, rate: 2/h } }\n"
            + forwarding_to("echo", "l64, l48")
        )
        rows = [("2001:db8:0:1::1", 200), ("2001:db8:0:1::2", 429), ("2001:db8:0:2::1", 200),
                ("2001:db8:0:3::1", 429), ("2001:db8:1::1", 200), ("192.0.2.1", 200),
                ("192.0.2.2", 200), ("192.0.2.2", 429)]
        self.check(g, [(("/", [("X-Forwarded-For", a)], "GET"), status) for a, status in rows])

    def test_a_cookie(self):
        g = self.gateway_with("'cookie:session'", ", missing_key: reject")
        self.check(
            g,
            [
                (("/", [("Cookie", "a=1; session=x; b=2")], "GET"), 200),
                (("/", [("Cookie", "session=x")], "GET"), 429),
                (("/", [("Cookie", "a=1"), ("Cookie", "session=x")], "GET"), 429),
                (("/", [("Cookie", "xsession=x")], "GET"), 400),
                (("/", [("Cookie", "session=y")], "GET"), 200),
            ],
        )

    def test_a_query_parameter(self):
        g = self.gateway_with("'query:key'", ", missing_key: reject")
        self.check(
            g,
            [
                (("/?key=a", [], "GET"), 200),
                (("/other?x=1&key=a", [], "GET"), 429),
                (("/?k%65y=%61", [], "GET"), 429),
                (("/?key=b", [], "GET"), 200),
                (("/?keys=a", [], "GET"), 400),
                (("/", [], "GET"), 400),
            ],
        )

    def test_a_repeated_header_cannot_be_used_to_change_buckets(self):
        g = self.gateway_with("'header:X-Api-Key'", ", missing_key: reject")
        answers = []
        with g.connect() as c:
            for i in range(6):
                c.send("GET / HTTP/1.1\r\nHost: h\r\nX-Api-Key: real\r\nX-Api-Key: %d\r\n\r\n" % i)
                answers.append(c.response().status)
        self.assertLessEqual(answers.count(200), 1)

    def test_method_host_path_and_route(self):
        g = self.gateway_with("[method, host, path, route]")
        self.check(
            g,
            [
                (("/a", [], "GET"), 200),
                (("/a", [], "GET"), 429),
                (("/a", [], "POST"), 200),
                (("/b", [], "GET"), 200),
                (("/a?x", [], "GET"), 429),
                (("//a", [], "GET"), 429),
                (("/%61", [], "GET"), 429),
                (("/./a", [], "GET"), 429),
                (("/a", [("Host", "GATEWAY.test.:80")], "GET"), 429),
                (("/a", [("Host", "other.test")], "GET"), 200),
            ],
        )

    def test_a_route_is_part_of_the_key(self):
        gateway = self.gateway(
            "limits: { l: { key: route, rate: 1/h } }\n"
            "routes:\n - { match: { path: /a }, limits: [l], upstream: up }\n"
            " - { match: { path: /b }, limits: [l], upstream: up }\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        self.assertEqual(
            [gateway.get(t).status for t in ("/a", "/b", "/a/x", "/b/x")], [200, 200, 429, 429]
        )

    def test_an_empty_list_is_one_bucket_for_everybody(self):
        g = self.gateway_with("[]")
        self.assertEqual([g.get("/").status, g.get("/x", [("X", "y")]).status], [200, 429])

    def test_different_tuples_never_share_a_bucket(self):
        g = self.gateway_with("['header:a', 'header:b']", ", missing_key: reject")
        pairs = [
            ("xy", "z"),
            ("x", "yz"),
            ("x,y", "z"),
            ("x", "y,z"),
            ("xyz", "0"),
            ("x|y", "z"),
            ("x", "|yz"),
            ("1:x", "y"),
            ("1", "x:y"),
        ]
        for a, b in pairs:
            self.assertEqual(g.get("/", [("A", a), ("B", b)]).status, 200, (a, b))

    def test_missing_key_skip_and_client_ip(self):
        g = self.gateway_with("'header:key'", ", missing_key: skip")
        with g.connect() as c:
            for _ in range(3):
                r = c.ask()
                self.assertEqual((r.status, r["x-ratelimit-limit"]), (200, None))
            self.assertEqual([c.ask(headers=[("Key", "k")]).status for _ in range(2)], [200, 429])
        g = self.gateway_with("'header:key'", ", missing_key: client_ip")
        with g.connect() as c:
            self.assertEqual([c.ask().status for _ in range(2)], [200, 429])
            self.assertEqual(
                [c.ask(headers=[("Key", "127.0.0.1")]).status for _ in range(2)],
                [200, 429],
                "nobody can name another's address to drain its bucket",
            )


class Several(SystemTest):
    TEXT = """
limits:
  wide: { key: [], rate: 1/h, burst: 5 }
  narrow: { key: client_ip, rate: 1/h, burst: 2 }
response_headers: { ratelimit: true }
client: { trusted_proxies: [127.0.0.1] }
"""

    def test_all_must_allow_and_a_rejection_costs_nothing(self):
        gateway = self.gateway(self.TEXT + forwarding_to("echo", "wide, narrow"))
        with gateway.connect() as c:

            def ask(client):
                r = c.ask(headers=[("X-Forwarded-For", client)])
                return r.status, r["x-ratelimit-limit"], r["x-ratelimit-remaining"], r

            self.assertEqual(ask("192.0.2.1")[:3], (200, "2", "1"))
            self.assertEqual(ask("192.0.2.1")[:3], (200, "2", "0"))
            for _ in range(10):
                status, limit, remaining, r = ask("192.0.2.1")
                self.assertEqual((status, limit, remaining), (429, "2", "0"))
                self.assertEqual(json.loads(r.body)["violated-policies"], ["narrow"])
                self.assertIn('"wide";r=3;', r["ratelimit"])
            self.assertEqual(ask("192.0.2.2")[0], 200)
            self.assertEqual(
                ask("192.0.2.3")[:3], (200, "5", "1"), "among equals: the one that takes longer"
            )
            self.assertEqual(ask("192.0.2.4")[:3], (200, "5", "0"))
            status, limit, remaining, r = ask("192.0.2.5")
            self.assertEqual((status, limit, remaining), (429, "5", "0"))
            self.assertEqual(json.loads(r.body)["violated-policies"], ["wide"])
            status, _, _, r = ask("192.0.2.1")
            self.assertEqual(json.loads(r.body)["violated-policies"], ["wide", "narrow"])
            self.assertGreaterEqual(int(r["retry-after"]), 3590)

    def test_cost_is_taken_at_once_or_not_at_all(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h, burst: 10, cost: 4 } }\n"
            + forwarding_to("echo", "l")
        )
        with gateway.connect() as c:
            answers = [c.ask() for _ in range(4)]
        self.assertEqual(
            [(r.status, r["x-ratelimit-remaining"]) for r in answers],
            [(200, "6"), (200, "2"), (429, "2"), (429, "2")],
        )
        self.assertEqual(answers[-1]["retry-after"], "7200")


class Charges(SystemTest):
    def test_the_headers_speak_of_the_limit_that_lets_the_fewest_requests_pass(self):
        gateway = self.gateway(
            "limits:\n"
            "  requests: { key: client_ip, rate: 20/h }\n"
            "  weight: { key: client_ip, rate: 100/h, cost: 30 }\n"
            "routes: [ { limits: [requests, weight], respond: { status: 204 } } ]\n"
        )
        told = [(r.status, r["X-RateLimit-Limit"], r["X-RateLimit-Remaining"])
                for r in (get(gateway.address, "/") for _ in range(4))]  # fmt: skip
        self.assertEqual(told, [(204, "100", "70"), (204, "100", "40"), (204, "100", "10"), (429, "100", "10")])

    def test_a_retry_of_ours_is_not_charged_again(self):
        origin = self.origin()
        gateway = self.gateway(
            "workers: 1\nlimits: { l: { key: [], rate: 1/h, burst: 100 } }\n"
            + forwarding_to(origin.address, "l")
        )
        with gateway.connect() as c:
            for left in range(99, 79, -1):
                self.assertEqual(c.ask()["x-ratelimit-remaining"], str(left))
                origin.close_connections()

    def test_a_request_is_charged_even_if_its_client_or_upstream_leaves(self):
        origin = self.origin(lambda peer, request: False)
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h, burst: 3 } }\n" + forwarding_to(origin.address, "l")
        )
        self.assertEqual(
            [gateway.get(method="POST", body=b"x").status for _ in range(4)], [502, 502, 502, 429]
        )
        hanging = self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h, burst: 3 } }\n"
            + forwarding_to(hanging.address, "l")
        )
        for sent in (1, 2, 3):
            c = gateway.connect()
            c.request()
            wait_until(lambda: len(hanging.requests) == sent)
            c.reset()
        self.assertEqual(gateway.get().status, 429)


class Shadow(SystemTest):
    def test_it_decides_counts_and_logs_but_never_rejects(self):
        gateway = self.gateway(
            "limits: { s: { key: [], rate: 1/h, burst: 2, mode: shadow } }\n"
            + forwarding_to("echo", "s")
        )
        with gateway.connect() as c:
            self.assertEqual([c.ask().status for _ in range(5)], [200] * 5)
        m = gateway.metrics()
        self.assertEqual(m.count("gateway_decisions_total", limit="s", outcome="allowed"), 2)
        self.assertEqual(
            m.count("gateway_decisions_total", limit="s", outcome="shadow_rejected"), 3
        )
        self.assertEqual(m.count("gateway_decisions_total", limit="s", outcome="rejected"), 0)
        self.assertEqual(
            [l["outcome"] for l in gateway.log_lines(5)], ["allowed"] * 2 + ["shadow_rejected"] * 3
        )

    def test_it_does_not_keep_an_enforced_limit_from_working(self):
        gateway = self.gateway(
            "limits:\n  s: { key: [], rate: 1/h, burst: 1, mode: shadow }\n"
            "  e: { key: [], rate: 1/h, burst: 3 }\n" + forwarding_to("echo", "s, e")
        )
        with gateway.connect() as c:
            answers = [c.ask() for _ in range(5)]
        self.assertEqual([r.status for r in answers], [200] * 3 + [429] * 2)
        self.assertEqual(json.loads(answers[-1].body)["violated-policies"], ["e"])


class Fields(SystemTest):
    LIMIT = "limits: { per_client: { key: client_ip, rate: 20/12s, burst: 20 } }\n"

    def test_x_ratelimit_counts_down_and_tells_when_full(self):
        gateway = self.gateway(self.LIMIT + forwarding_to("echo", "per_client"))
        with gateway.connect() as c:
            r = c.ask()
            self.assertEqual(
                (r["x-ratelimit-limit"], r["x-ratelimit-remaining"], r["x-ratelimit-reset"]),
                ("20", "19", "1"),
            )
            self.assertEqual((r["ratelimit"], r["ratelimit-policy"]), (None, None))
            for _ in range(9):
                r = c.ask()
            self.assertEqual((r["x-ratelimit-remaining"], r["x-ratelimit-reset"]), ("10", "6"))

    def test_reset_as_unix_time(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h, burst: 2 } }\nresponse_headers: { reset: epoch }\n"
            + forwarding_to("echo", "l")
        )
        for tokens in (1, 2):
            told = int(gateway.get()["x-ratelimit-reset"])
            self.assertAlmostEqual(told, time.time() + tokens * 3600, delta=3)

    def test_the_fields_of_the_draft(self):
        gateway = self.gateway(
            self.LIMIT
            + "response_headers: { x_ratelimit: false, ratelimit: true }\n"
            + forwarding_to("echo", "per_client")
        )
        r = gateway.get()
        self.assertEqual(
            (r["ratelimit-policy"], r["ratelimit"]),
            ('"per_client";q=20;w=12', '"per_client";r=19;t=1'),
        )
        self.assertIsNone(r["x-ratelimit-limit"])

    def test_none_at_all(self):
        gateway = self.gateway(
            self.LIMIT
            + "response_headers: { x_ratelimit: false }\n"
            + forwarding_to("echo", "per_client")
        )
        r = gateway.get()
        self.assertEqual([n for n, _ in r.fields if "ratelimit" in n], [])

    def test_ours_replace_those_of_the_upstream_on_a_limited_route(self):
        origin = self.origin(
            lambda peer, request: peer.reply(
                fields=[
                    ("X-RateLimit-Limit", "1000"),
                    ("X-RateLimit-Remaining", "999"),
                    ("X-RateLimit-Reset", "9"),
                ]
            )
        )
        gateway = self.gateway(self.LIMIT + forwarding_to(origin.address, "per_client"))
        r = gateway.get()
        self.assertEqual(
            (r.all("x-ratelimit-limit"), r.all("x-ratelimit-remaining")), (["20"], ["19"])
        )

    def test_retry_after_is_never_too_early(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 2/s, burst: 1 } }\n" + forwarding_to("echo", "l")
        )
        for _ in range(3):
            wait_until(lambda: gateway.get().status == 200)
            r = gateway.get()
            self.assertEqual((r.status, r["retry-after"]), (429, "1"))

    def test_rejections_keep_the_connection_and_never_reach_the_upstream(self):
        origin = self.origin()
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h } }\n" + forwarding_to(origin.address, "l")
        )
        with gateway.connect() as c:
            self.assertEqual(c.ask().status, 200)
            for _ in range(20):
                r = c.ask(method="POST", body=b"x" * 30000)
                self.assertEqual(
                    (r.status, r["connection"], r["cache-control"]), (429, None, "no-store")
                )
            c.send(
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
                "0\r\n\r\n"
            )
            self.assertEqual(c.response().status, 429)
            self.assertEqual(c.ask(method="HEAD").status, 429)
            self.assertEqual(c.ask().status, 429)
        self.assertEqual(len(origin.requests), 1)

    def test_a_body_too_large_to_drain_closes_the_connection(self):
        origin = self.origin()
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h } }\n" + forwarding_to(origin.address, "l")
        )
        self.assertEqual(gateway.get().status, 200)
        r = exchange_raw(
            gateway.address, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n\r\n"
        )
        self.assertEqual((r.status, r["connection"]), (429, "close"))
