"""Decisions for other proxies: what they ask, and what they are told."""
import json
import os
import random as random_module
import re

from harness.case import SystemTest
from harness.client import Connection, get
from harness.nginx import Nginx
from harness.origin import Origin
from harness.process import free_port

LIMITS = (
    "limits: { get: { key: client_ip, rate: 2/h }, key: { key: 'header:x-key', missing_key: reject, rate: 2/h } }\n"
    "routes:\n"
    "  - { match: { path: /api, methods: [GET] }, limits: [get], upstream: up }\n"
    "  - { match: { host: keys.example, path: /k }, limits: [key], upstream: up }\n"
    "upstreams: { up: { servers: ['127.0.0.1:1'] } }\n"
)
TRUSTING = "client: { trusted_proxies: [127.0.0.1] }\n"


DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")


def documented(language):
    """The block of that language in docs/decide.md."""
    with open(os.path.join(DOCS, "decide.md"), encoding="utf-8") as f:
        return re.search(rf"```{language}\n(.*?)```", f.read(), re.S).group(1)


class Decide(SystemTest):
    def gateway_that_decides(self, decide="true", more=TRUSTING):
        port = free_port()
        self.gateway(
            f"listeners: [ {{ address: '127.0.0.1:0' }}, {{ address: '127.0.0.1:{port}', decide: {decide} }} ]\n"
            + more
            + LIMITS
        )
        return Connection(("127.0.0.1", port))

    def test_explain_says_of_the_original_request_what_is_answered(self):
        token = self.directory().file("token", "s3cret\n")
        port = free_port()
        gateway = self.gateway(
            f"admin: {{ address: 127.0.0.1:0, token_file: '{token}' }}\n"
            f"listeners: [ {{ address: '127.0.0.1:0' }}, {{ address: '127.0.0.1:{port}', decide: true }} ]\n"
            + TRUSTING + LIMITS
        )

        def explained(method, host, target, headers):
            body = {"method": method, "url": f"http://{host}{target}", "headers": dict(headers), "peer": "127.0.0.1"}
            fields = [("Authorization", "Bearer s3cret"), ("Content-Type", "application/json")]
            response = get(gateway.admin, "/v1/explain", fields, method="POST", body=json.dumps(body).encode())
            self.assertEqual(response.status, 200, response.text)
            return json.loads(response.text)

        told = [("X-Forwarded-For", "192.0.2.7")]
        with Connection(("127.0.0.1", port)) as c:
            for method, host, target, headers in (
                [("GET", "h", "/api//x?y=1", told)] * 4
                + [("GET", "keys.example", "/k/1", told + [("X-Key", "a")])] * 3
                + [("GET", "keys.example", "/k/1", told), ("POST", "h", "/api/x", told), ("GET", "h", "/%2e/%", told)]
            ):
                with self.subTest(method=method, host=host, target=target):
                    said = explained(method, host, target, headers)
                    asked = [("X-Forwarded-Method", method), ("X-Forwarded-Host", host), ("X-Forwarded-Uri", target)]
                    answer = c.ask("/", asked + headers)
                    verdict = said["verdict"]
                    if verdict["says"] == "allowed":
                        self.assertEqual(answer.status, 200)
                        self.assertEqual(int(answer["X-RateLimit-Remaining"]), said["limits"][0]["remaining"] - 1)
                    elif verdict["status"] == 404:
                        self.assertEqual(answer.status, 200, "no route: it may pass")
                    else:
                        self.assertEqual(answer.status, verdict["status"])
                        self.assertEqual(answer["Retry-After"], str(verdict["retry_after"]) if verdict.get("retry_after") else None)

    def test_a_request_has_one_verdict_in_every_form(self):
        """A target, method and host that a listener refuses is refused with the same status where a
        header carries it, and by explain; what it takes, they take."""
        token = self.directory().file("token", "s3cret\n")
        port = free_port()
        gateway = self.gateway(
            f"admin: {{ address: 127.0.0.1:0, token_file: '{token}' }}\n"
            f"listeners: [ {{ address: '127.0.0.1:0' }}, {{ address: '127.0.0.1:{port}', decide: true }} ]\n"
            + TRUSTING + "routes: [ { respond: { status: 204 } } ]\n"
        )

        def by_listener(method, host, target):
            with Connection(gateway.address) as c:
                c.send(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1"))
                return c.response(method).status

        def by_headers(method, host, target, names):
            with Connection(("127.0.0.1", port)) as c:
                fields = zip(names, (method, host, target))
                lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
                c.send(f"GET / HTTP/1.1\r\nHost: question\r\n{lines}\r\n".encode("latin-1"))
                return c.response("GET").status

        def by_explain(method, host, target):
            body = {"method": method, "url": target, "headers": {"Host": host}, "peer": "127.0.0.1"}
            fields = [("Authorization", "Bearer s3cret"), ("Content-Type", "application/json")]
            answer = get(gateway.admin, "/v1/explain", fields, method="POST", body=json.dumps(body).encode())
            verdict = json.loads(answer.text).get("verdict", {})
            return answer.status if answer.status != 200 else verdict.get("status") or 200

        random = random_module.Random(34)
        targets = [
            "/", "/s?key=b", "/s?key=b#0", "/#", "/s?a b", "/s\x80", "/s?k=\xe9", "//x", "/%00", "/a/../b", "*", "a",
            "ftp://h/", "http://", "http:///x", "http://h?x", "http://h", "http://h:80/x", "https://u@h/", "HTTP://h/",
            "http://h,i/", "http://h#", "/%c0%af", "?x", "/?", "\x7f", "/" + "a" * 300,
        ]
        methods = ["GET", "POST", "PURGE", "get", "Post", "M" * 32, "M" * 33, "G@T", "OPTIONS", "CONNECT"]
        hosts = ["h", "h:80", "a,b", "a,", "a..b", "%61", "h:x", "[::1]", "[::1", "a;b", "h.", "a_b", "u@h"]
        cases = [("GET", "h", target) for target in targets]
        cases += [(method, "h", "/x") for method in methods] + [("GET", host, "/x") for host in hosts]
        cases += [(random.choice(methods), random.choice(hosts), random.choice(targets)) for _ in range(60)]
        cases += [("GET", "h", "/x?" + chr(byte)) for byte in range(0x21, 0x100)]
        for method, host, target in cases:
            expected = by_listener(method, host, target)
            with self.subTest(method=method, host=host, target=target):
                whole = target.lower().startswith("http")  # its host counts, and must agree with another
                for uri in ("X-Original-URL", "X-Original-URI", "X-Forwarded-Uri"):
                    for name in ("X-Original-Method", "X-Forwarded-Method"):
                        names = (name, "X-Unread" if whole else "X-Forwarded-Host", uri)
                        got = by_headers(method, host, target, names)
                        if whole and expected == 400 and got != 400:
                            continue  # its Host was what the listener refused
                        self.assertEqual(got >= 400, expected >= 400, (uri, got, expected))
                        self.assertEqual(got if got >= 400 else 200, expected if expected >= 400 else 200)
                explained = by_explain(method, host, target)
                self.assertEqual(explained >= 400, expected >= 400, ("explain", explained, expected))

    def ask(self, c, target="/", headers=(), method="GET"):
        """(status, tokens left)."""
        a = c.ask(target, list(headers), method)
        return a.status, a["X-RateLimit-Remaining"]

    def test_of_the_question_itself_as_envoy_asks(self):
        with self.gateway_that_decides() as c:
            self.assertEqual(self.ask(c, "/api/x"), (200, "1"))
            self.assertEqual(self.ask(c, "/api/x", method="POST"), (200, None), "no route")
            self.assertEqual(self.ask(c, "/other"), (200, None))
            self.assertEqual(self.ask(c, "/api/x"), (200, "0"))
            refused = c.ask("/api/x")
            self.assertEqual((refused.status, refused["Retry-After"]), (429, "1800"))

    def test_of_a_request_told_as_traefik_tells_it(self):
        with self.gateway_that_decides() as c:
            told = [("X-Forwarded-Method", "GET"), ("X-Forwarded-Host", "h"),
                    ("X-Forwarded-Uri", "/api/x?y=1"), ("X-Forwarded-For", "192.0.2.1")]
            self.assertEqual(self.ask(c, "/", told), (200, "1"))
            self.assertEqual(self.ask(c, "/", told[:3] + [("X-Forwarded-For", "192.0.2.2")]), (200, "1"))
            self.assertEqual(self.ask(c, "/", told), (200, "0"))
            self.assertEqual(self.ask(c, "/", told)[0], 429)
            self.assertEqual(self.ask(c, "/", [("X-Forwarded-Method", "PUT")] + told[1:]), (200, None))

    def test_of_a_whole_url(self):
        with self.gateway_that_decides() as c:
            url = [("X-Original-URL", "https://keys.example/k?a=b"), ("X-Original-Method", "POST")]
            self.assertEqual(self.ask(c, "/", url)[0], 400, "without its key")
            self.assertEqual(self.ask(c, "/", url + [("X-Key", "a")]), (200, "1"))
            self.assertEqual(self.ask(c, "/", url + [("X-Key", "b")]), (200, "1"))

    def test_what_is_ambiguous_is_refused(self):
        with self.gateway_that_decides() as c:
            for headers in (
                [("X-Original-URI", "/api"), ("X-Original-URI", "/other")],
                [("X-Forwarded-Uri", "api")],
                [("X-Original-Method", "G T")],
                [("X-Original-URI", "/api/../x")],
                [("X-Original-URI", "/%00")],
            ):
                self.assertEqual(self.ask(c, "/", headers)[0], 400, headers)
            self.assertEqual(self.ask(c, "/", [("X-Original-URI", "/api")] * 2), (200, "1"))

    def test_a_standard_method_in_another_case_is_refused_as_on_other_listeners(self):
        with self.gateway_that_decides() as c:
            for method in ("get", "Get", "gET"):
                for name in ("X-Original-Method", "X-Forwarded-Method"):
                    answer = c.ask("/", [(name, method), ("X-Original-URI", "/api")])
                    self.assertEqual(answer.status, 400, (name, method))
                    self.assertIn("letter case", json.loads(answer.body)["detail"])
            self.assertEqual(self.ask(c, "/api", [("X-Original-Method", "purge")])[0], 200, "no standard one")

    def test_hosts_that_differ_are_refused(self):
        url = ("X-Original-URL", "https://keys.example/k")
        with self.gateway_that_decides() as c:
            for headers in (
                [url, ("X-Forwarded-Host", "h")],
                [url, ("X-Forwarded-Uri", "http://h/k")],
                [("X-Forwarded-Host", "keys.example, h"), ("X-Forwarded-Uri", "/k")],
                [("X-Forwarded-Host", "keys.example,h"), ("X-Forwarded-Uri", "/k")],
                [("X-Forwarded-Host", "keys.example/"), ("X-Forwarded-Uri", "/k")],
                [("X-Original-URL", "https://a@keys.example/k")],
            ):
                self.assertEqual(self.ask(c, "/", headers + [("X-Key", "a")])[0], 400, headers)
            same = [url, ("X-Forwarded-Host", "KEYS.example:443"), ("X-Forwarded-Uri", "/k"), ("X-Key", "a")]
            self.assertEqual(self.ask(c, "/", same), (200, "1"))

    def test_a_client_of_the_asking_proxy_cannot_ask_for_something_else(self):
        with self.gateway_that_decides() as c:
            told = [("X-Forwarded-Method", "GET"), ("X-Forwarded-Uri", "/api")]
            self.assertEqual([self.ask(c, "/", told)[0] for _ in range(3)], [200, 200, 429])
            for spoofed in (("X-Original-URL", "/other"), ("X-Original-URI", "/api?x"),
                            ("X-Original-Method", "POST"), ("X-Original-URL", "://")):
                self.assertEqual(self.ask(c, "/", told + [spoofed])[0], 400, spoofed)
            self.assertEqual(self.ask(c, "/", told + [("X-Original-URL", "http://h/api")])[0], 429)
            final = [("Max-Forwards", "0"), ("X-Forwarded-Method", "GET"), ("X-Forwarded-Uri", "/api")]
            self.assertEqual(self.ask(c, "/", final, "OPTIONS")[0], 429)

    def test_strangers_ask_for_themselves(self):
        with self.gateway_that_decides(more="") as c:
            spoofed = [("X-Original-URI", "/other"), ("X-Forwarded-For", "192.0.2.9")]
            self.assertEqual([self.ask(c, "/api", spoofed)[0] for _ in range(3)], [200, 200, 429])

    def test_a_status_for_every_refusal(self):
        with self.gateway_that_decides("{ rejected_status: 403 }") as c:
            self.assertEqual([self.ask(c, "/api")[0] for _ in range(3)], [200, 200, 403])
            refused = c.ask("/api")
            self.assertEqual((refused["Retry-After"], refused["X-Decision-Status"]), ("1800", "429"))
            for headers in ([("X-Forwarded-Host", "keys.example"), ("X-Forwarded-Uri", "/k")],
                            [("X-Forwarded-Uri", "/a;x=%2Fb/c")], [("X-Forwarded-Method", "get")]):
                refused = c.ask("/", headers)
                self.assertEqual((refused.status, refused["X-Decision-Status"]), (403, "400"), headers)
            self.assertIsNone(c.ask("/other")["X-Decision-Status"])
        with self.gateway_that_decides() as c:
            self.assertIsNone(c.ask("/", [("X-Forwarded-Uri", "%")])["X-Decision-Status"])

    def test_only_what_matches_no_route_passes_and_not_every_404(self):
        """A route may reject with 404, too, which is a rejection and not the lack of a route."""
        page = self.directory().file("gone.txt", "gone\n")
        port = free_port()
        self.gateway(
            f"listeners: [ {{ address: '127.0.0.1:0' }}, {{ address: '127.0.0.1:{port}', decide: true }} ]\n" + TRUSTING
            + "limits: { few: { key: client_ip, rate: 1/h } }\n"
            "routes:\n"
            "  - { match: { path: /a }, limits: [few], upstream: up,\n"
            f"      rejection: {{ status: 404, body_file: '{page}', content_type: text/plain }} }}\n"
            "upstreams: { up: { servers: ['127.0.0.1:1'] } }\n"
        )
        with Connection(("127.0.0.1", port)) as c:
            self.assertEqual(c.ask("/a").status, 200)
            self.assertEqual(c.ask("/a").status, 404)
            self.assertEqual(c.ask("/a").status, 404)
            self.assertEqual(c.ask("/elsewhere").status, 200)

    def test_a_question_with_a_body(self):
        with self.gateway_that_decides() as c:
            for _ in range(2):
                self.assertEqual(c.ask("/api", method="GET", body=b"x" * 1000).status, 200)
            self.assertEqual(c.ask("/api", method="GET", body=b"x" * 1000).status, 429)

    def test_nginx_asks_as_documented(self):
        origin = self.started(Origin())
        decides, serves = free_port(), free_port()
        self.gateway(documented("yaml").replace("127.0.0.1:8081", f"127.0.0.1:{decides}"))
        server = documented("nginx").replace("127.0.0.1:8081", f"127.0.0.1:{decides}")
        server = server.replace("127.0.0.1:8000", f"127.0.0.1:{serves}")
        self.started(Nginx(more=server.replace("127.0.0.1:9000", origin.address)))
        with Connection(("127.0.0.1", serves)) as c:
            answers = [c.ask("/api?n=%d" % i) for i in range(12)]
            self.assertEqual([a.status for a in answers], [200] * 10 + [429] * 2)
            self.assertIn(int(answers[-1]["Retry-After"]), range(1, 7))
            self.assertEqual(c.ask("/free").status, 200)
        self.assertEqual(len(origin.requests), 11)
