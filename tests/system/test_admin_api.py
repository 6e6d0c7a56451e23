"""The admin API: who may use it, and what it says of buckets and does to them."""
import json
import os
import re
import time

import yaml

from harness.backends import PYTHON
from harness.case import SystemTest, forwarding_to
from harness.client import Connection, get
from harness.gateway import ROOT, run_command
from harness.process import run_tool, wait_until
from harness.redis_server import RedisServer

TOKEN = "s3cret-of-the-admin"


class AdminTest(SystemTest):
    LIMITS = (
        "limits:\n"
        "  per_client: { key: client_ip, rate: 5/h%(where)s }\n"
        "  per_key: { key: ['header:x-key', client_ip/24], missing_key: skip, rate: 9/d, "
        "penalty: { after: 9, within: 1m, ban: 1m, max_ban: 1h }%(where)s }\n"
        "  daily: { key: path, algorithm: fixed_window, rate: 7/d, capacity: 14%(where)s }\n"
    )

    def text(self, store=None, token=True, routed="per_client", more=""):
        text, where = "", ""
        if store is not None:
            text = f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = ", store: r, on_store_failure: closed"
        file = ""
        if token:
            self.token_path = self.directory().file("token", TOKEN + "\n")
            file = f", token_file: '{self.token_path}'"
        admin = "" if more.startswith("admin:") else f"admin: {{ address: 127.0.0.1:0{file} }}\n"
        return (admin + text + more
                + self.LIMITS % {"where": where} + forwarding_to("echo", routed))

    def started_gateway(self, store=None, **options):
        gateway = self.gateway(self.text(store, **options))
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def call(self, gateway, path, body=None, method="POST", token=TOKEN, kind="application/json"):
        """The response to a call; `body` is JSON, or bytes as they are."""
        headers = [("Authorization", f"Bearer {token}")] if token is not None else []
        if kind is not None:
            headers.append(("Content-Type", kind))
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        return get(gateway.admin, path, headers, method=method, body=sent)

    def said(self, gateway, path, body):
        response = self.call(gateway, path, body)
        self.assertEqual(response.status, 200, response.text)
        self.assertEqual(response["Content-Type"], "application/json")
        self.assertEqual(response["Cache-Control"], "no-store")
        return json.loads(response.text)

    def refused(self, status, gateway, path, body=None, **options):
        """The detail of a refusal."""
        response = self.call(gateway, path, body, **options)
        self.assertEqual(response.status, status, response.text)
        self.assertEqual(response["Content-Type"], "application/problem+json")
        problem = json.loads(response.text)
        self.assertEqual(problem["status"], status)
        return problem["detail"]


CLIENT = {"limit": "per_client", "key": ["127.0.0.1"]}
KEY = {"limit": "per_key", "key": ["k1", "127.0.0.1"]}
GUARDED = ("/v1/explain", "/v1/look", "/v1/take", "/v1/reset", "/v1/grant")


class Access(AdminTest):
    def test_what_is_sent_is_bounded_whatever_it_is(self):
        g = self.started_gateway()
        chunked = b"POST /v1/look HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        for begin in (chunked + b"1;", chunked + b"0\r\nx: ", b"GET /metrics HTTP/1.1\r\nx: "):
            with Connection(g.admin) as c:
                c.send(begin + b"a" * 100_000)
                self.assertIn(c.response().status, (400, 413, 431), begin)

    def test_without_a_token_file_nothing_is_told_of_buckets_or_changed(self):
        g = self.started_gateway(token=False)
        self.assertEqual(g.get("/").status, 200)
        for path in GUARDED:
            self.assertIn("admin.token_file", self.refused(403, g, path, CLIENT))
        self.assertIn("admin.token_file", self.refused(403, g, "/v1/top", method="GET"))
        self.assertEqual(g.get("/")["X-RateLimit-Remaining"], "3")
        for path in ("/metrics", "/healthz", "/readyz", "/v1/limits"):
            self.assertEqual(get(g.admin, path).status, 200, path)

    def test_without_the_right_token_nothing_is_told_of_buckets_or_changed(self):
        g = self.started_gateway()
        self.assertEqual(g.get("/").status, 200)
        for path in GUARDED:
            for wrong in (None, "", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper()):
                refused = self.call(g, path, CLIENT, token=wrong)
                self.assertEqual(refused.status, 401, wrong)
                self.assertTrue(refused["WWW-Authenticate"].startswith("Bearer "))
                self.assertNotIn(TOKEN, refused.text)
            for line in (f"Basic {TOKEN}", TOKEN, f"Bearer: {TOKEN}"):
                self.assertEqual(get(g.admin, path, [("Authorization", line)], method="POST",
                                     body=b"{}").status, 401, line)
            twice = [("Authorization", f"Bearer {TOKEN}")] * 2
            self.assertEqual(get(g.admin, path, twice, method="POST", body=b"{}").status, 401)
        self.refused(401, g, "/v1/top", method="GET", token=None)
        self.assertEqual(g.get("/")["X-RateLimit-Remaining"], "3")
        for path in ("/metrics", "/healthz", "/readyz", "/v1/limits"):
            self.assertEqual(get(g.admin, path).status, 200, path)

    def test_no_web_page_reaches_it_by_a_name_of_its_own(self):
        """DNS rebinding: the page's name resolves to the admin address, and its requests say it."""
        g = self.started_gateway(more="admin: { address: 127.0.0.1:0, hosts: [Gateway.Internal.] }\n",
                                 token=False)
        for host, status in (("127.0.0.1", 200), ("127.0.0.1:9901", 200), ("[::1]:1", 200),
                             ("localhost", 200), ("gateway.internal:9901", 200),
                             ("evil.example", 421), ("evil.example:9901", 421),
                             ("internal", 421), ("127.0.0.1.evil.example", 421)):
            for path in ("/metrics", "/healthz", "/readyz", "/v1/limits", "/none"):
                said = get(g.admin, path, [("Host", host)])
                self.assertEqual(said.status, 404 if path == "/none" and status == 200 else status,
                                 (host, path))
                if status == 421:
                    self.assertIn("admin.hosts", json.loads(said.text)["detail"])
        whole = get(g.admin, "http://evil.example/metrics", [("Host", "localhost")])
        self.assertEqual(whole.status, 421)
        with open(g.config_path, encoding="utf-8") as f:
            g.reload(f.read().replace("hosts: [Gateway.Internal.]", "hosts: [other]"))
        for host, status in (("gateway.internal", 421), ("other", 200)):
            self.assertEqual(get(g.admin, "/healthz", [("Host", host)]).status, status)

    def test_over_a_unix_socket_every_name_is_right(self):
        path = self.directory().file("admin.sock")
        g = self.gateway(self.text(token=False, more=f"admin: {{ address: 'unix:{path}' }}\n"))
        self.assertEqual(get(g.admin, "/healthz", [("Host", "any.example")]).status, 200)

    def test_a_reload_reads_the_token_again(self):
        g = self.started_gateway()
        self.said(g, "/v1/look", CLIENT)
        with open(self.token_path, "w", encoding="ascii") as f:
            f.write("another\n")
        with open(g.config_path, encoding="utf-8") as f:
            text = f.read()
        g.reload(text)
        self.assertEqual(self.call(g, "/v1/look", CLIENT).status, 401)
        self.assertEqual(self.call(g, "/v1/look", CLIENT, token="another").status, 200)


class Bodies(AdminTest):
    def test_what_is_wrong_is_said(self):
        g = self.started_gateway()
        grant = CLIENT | {"tokens": 1}
        for path, body, detail in (
            ("/v1/look", b"", "no JSON"),
            ("/v1/look", b"{", "no JSON"),
            ("/v1/look", b"[" * 50, "no JSON"),
            ("/v1/look", b"[]", "no JSON object"),
            ("/v1/reset", b'{"limit":"daily","limit":"per_client","key":["127.0.0.1"]}', "twice"),
            ("/v1/explain", b'{"url":"/","headers":{"A":"1","A":"2"}}', "twice"),
            ("/v1/look", {}, "limit: missing"),
            ("/v1/look", {"limit": "per_client"}, "key: missing"),
            ("/v1/look", CLIENT | {"limit": 3}, "limit: expected a text"),
            ("/v1/look", CLIENT | {"key": "127.0.0.1"}, "key: expected a list"),
            ("/v1/look", CLIENT | {"key": [1]}, "key: expected a text"),
            ("/v1/look", CLIENT | {"key": []}, "a list of 1 texts: client_ip"),
            ("/v1/look", CLIENT | {"key": ["x"]}, "an IP address for client_ip"),
            ("/v1/look", CLIENT | {"cost": 1}, "cost: unknown member"),
            ("/v1/look", CLIENT | {"limits": "x"}, "unknown member, did you mean \"limit\"?"),
            ("/v1/look", {"limit": "per_key", "key": ["", "::1"]}, "an empty header:x-key"),
            ("/v1/look", {"limit": "daily", "key": ["x"]}, "begins with a slash"),
            ("/v1/look", {"limit": "daily", "key": ["/a/../b"]}, "key: "),
            ("/v1/take", CLIENT | {"cost": -1}, "cost: expected a whole number from 0"),
            ("/v1/take", CLIENT | {"cost": 1.5}, "cost: expected a whole number"),
            ("/v1/take", CLIENT | {"cost": 10**18}, "cost: expected a whole number"),
            ("/v1/grant", CLIENT, "tokens: missing"),
            ("/v1/grant", grant | {"tokens": 0}, "tokens: expected a whole number from 1"),
            ("/v1/reset", grant, "tokens: unknown member"),
        ):
            self.assertIn(detail, self.refused(400, g, path, body), (path, body))

    def test_an_unknown_limit_is_404_with_a_suggestion(self):
        g = self.started_gateway()
        for path in ("/v1/look", "/v1/take", "/v1/reset"):
            detail = self.refused(404, g, path, {"limit": "per_clent", "key": []})
            self.assertIn('did you mean "per_client"?', detail)

    def test_methods_and_types(self):
        g = self.started_gateway()
        for path in GUARDED:
            for method in ("GET", "PUT", "DELETE"):
                self.refused(405, g, path, CLIENT, method=method)
                self.assertEqual(self.call(g, path, method=method)["Allow"], "POST")
            for kind in (None, "text/plain", "application/x-www-form-urlencoded"):
                self.refused(415, g, path, CLIENT, kind=kind)
        for path in ("/v1/limits", "/"):
            r = self.call(g, path, {})
            self.assertEqual((r.status, r["Allow"]), (405, "GET, HEAD"))
        self.assertEqual(self.call(g, "/v1/look", CLIENT, kind="Application/JSON; charset=utf-8").status, 200)
        self.assertIn("/v1/limits", self.refused(404, g, "/v1/nonsense"))

    def test_heads_that_no_server_should_take_are_refused_and_the_connection_closed(self):
        g = self.started_gateway()
        get = b"GET /healthz HTTP/1.1\r\n"
        for head, status in (
            (get + b"\r\n", 400),
            (get + b"Host: a\r\nHost: a\r\n\r\n", 400),
            (get + b"Host: a b\r\n\r\n", 400),
            (get + b"Host : a\r\n\r\n", 400),
            (get + b"Host: localhost\r\nX: " + b"y" * 20_000 + b"\r\n\r\n", 431),
            (b"POST /v1/look HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
            (b"POST /v1/look HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
        ):
            with self.subTest(head=head[:80]), Connection(g.admin) as c:
                c.send(head)
                self.assertEqual(c.response().status, status)
                self.assertTrue(c.ends())

    def test_heads_that_every_server_must_take(self):
        g = self.started_gateway()
        for head in (b"GET /healthz HTTP/1.0\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost:\r\n\r\n",
                     b"GET http://localhost/healthz?x=1 HTTP/1.1\r\nHost: a\r\n\r\n",
                     b"GET /healthz HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi"):
            with self.subTest(head=head), Connection(g.admin) as c:
                c.send(head)
                self.assertEqual(c.response().status, 200)

    def test_a_client_that_waits_is_told_to_go_on(self):
        g = self.started_gateway()
        body = json.dumps(CLIENT).encode()
        with Connection(g.admin) as c:
            c.request("/v1/look", [("Authorization", f"Bearer {TOKEN}"), ("Content-Type", "application/json"),
                                   ("Content-Length", str(len(body))), ("Expect", "100-continue")], method="POST")
            self.assertEqual(c.head().status, 100)
            c.send(body)
            self.assertEqual(c.response().status, 200)

    def test_a_body_has_a_bound(self):
        g = self.started_gateway()
        room = 64 * 1024 - len(json.dumps(CLIENT))
        self.assertEqual(self.call(g, "/v1/look", json.dumps(CLIENT).encode() + b" " * room).status, 200)
        self.refused(413, g, "/v1/look", json.dumps(CLIENT).encode() + b" " * (room + 1))
        self.assertEqual(get(g.admin, "/healthz").status, 200)


class Limits(AdminTest):
    def test_are_told_with_their_numbers_and_counts(self):
        g = self.started_gateway()
        for _ in range(7):
            g.get("/")
        told = json.loads(get(g.admin, "/v1/limits").text)["limits"]
        self.assertEqual([one["limit"] for one in told], ["per_client", "per_key", "daily"])
        first = told[0]
        self.assertEqual((first["decisions"]["allowed"], first["decisions"]["rejected"]), (5, 2))
        del first["decisions"]
        self.assertEqual(first, {"limit": "per_client", "algorithm": "token_bucket", "rate": "5/h",
                                 "capacity": 5, "key": ["client_ip"], "store": "local",
                                 "mode": "enforce"})
        self.assertEqual((told[2]["algorithm"], told[2]["rate"], told[2]["capacity"]),
                         ("fixed_window", "7/d", 14))
        self.assertEqual(told[1]["key"], ["header:x-key", "client_ip/24"])
        self.assertEqual(get(g.admin, "/v1/limits", method="HEAD").body, b"")


class Buckets(AdminTest):
    def left(self, gateway):
        return int(gateway.get("/")["X-RateLimit-Remaining"])

    def await_pass(self, gateway):
        """One request that passes, once the worker does not reject for what it remembers."""
        wait_until(lambda: gateway.get("/").status == 200, what="a request passes")

    def test_a_look_consumes_nothing(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(store)
                for _ in range(30):
                    looked = self.said(g, "/v1/look", CLIENT)
                    self.assertEqual((looked["limit"], looked["remaining"], looked["retry"]), (5, 5, 0))
                self.assertEqual(self.left(g), 4)
                looked = self.said(g, "/v1/look", CLIENT)
                self.assertEqual((looked["remaining"], looked["retry"]), (4, 0))
                self.assertTrue(700 < looked["reset"] <= 720, looked)
                for left in (3, 2, 1, 0):
                    self.assertEqual(self.left(g), left)
                looked = self.said(g, "/v1/look", CLIENT)
                self.assertEqual(looked["remaining"], 0)
                self.assertTrue(700 < looked["retry"] <= 720, looked)
                for _ in range(30):
                    self.said(g, "/v1/look", CLIENT)
                self.said(g, "/v1/grant", CLIENT | {"tokens": 1})
                self.await_pass(g)

    def test_a_take_is_a_decision_as_of_a_request(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(store)
                took = self.said(g, "/v1/take", CLIENT)
                self.assertEqual((took["allowed"], took["remaining"], took["retry_after"]), (True, 4, 0))
                self.assertEqual(self.said(g, "/v1/take", CLIENT | {"cost": 3})["remaining"], 1)
                refused = self.said(g, "/v1/take", CLIENT | {"cost": 2})
                self.assertEqual((refused["allowed"], refused["remaining"]), (False, 1))
                self.assertTrue(700 < refused["retry_after"] <= 720, refused)
                self.assertIsNone(self.said(g, "/v1/take", CLIENT | {"cost": 6})["retry_after"])
                self.assertEqual(self.said(g, "/v1/take", CLIENT | {"cost": 0})["remaining"], 1)
                self.assertEqual(self.left(g), 0)
                self.assertEqual(g.get("/").status, 429)

    def test_reset_and_grant(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(store, more="workers: 1\n")
                self.said(g, "/v1/take", CLIENT | {"cost": 5})
                self.assertEqual(g.get("/").status, 429)
                self.assertEqual(self.said(g, "/v1/grant", CLIENT | {"tokens": 2})["remaining"], 2)
                self.await_pass(g)
                self.assertEqual([g.get("/").status for _ in range(2)], [200, 429])
                reset = self.said(g, "/v1/reset", CLIENT)
                self.assertEqual((reset["remaining"], reset["retry"]), (5, 0))
                self.await_pass(g)
                self.assertEqual([g.get("/").status for _ in range(5)], [200] * 4 + [429])
                self.assertEqual(self.said(g, "/v1/grant", CLIENT | {"tokens": 1000})["remaining"], 5)
                self.assertEqual(self.said(g, "/v1/reset", CLIENT | {"key": ["192.0.2.1"]})["remaining"], 5)

    def test_on_a_shared_store_for_all_gateways(self):
        store = self.started(RedisServer())
        first, second = self.started_gateway(store), self.started_gateway(store)
        self.assertTrue(self.said(first, "/v1/take", CLIENT | {"cost": 5})["allowed"])
        self.assertEqual(second.get("/").status, 429)
        self.assertEqual(self.said(second, "/v1/look", CLIENT)["remaining"], 0)
        self.said(first, "/v1/reset", CLIENT)
        self.assertEqual(self.said(second, "/v1/look", CLIENT)["remaining"], 5)

    def test_windows(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(store, routed="daily")
                path = {"limit": "daily", "key": ["/a//b;x=1"]}
                self.assertEqual(self.said(g, "/v1/look", path)["remaining"], 14)
                self.assertEqual(g.get("/a/b").status, 200)
                self.assertEqual(self.said(g, "/v1/look", path)["remaining"], 13)
                self.assertEqual(self.said(g, "/v1/take", path | {"cost": 13})["remaining"], 0)
                self.assertEqual(g.get("/a/b").status, 429)
                self.assertEqual(self.said(g, "/v1/grant", path | {"tokens": 1})["remaining"], 1)

    def test_a_key_of_several_parts_is_cut_like_that_of_a_request(self):
        g = self.started_gateway(routed="per_key")
        with g.connect() as c:
            self.assertEqual(c.ask("/", [("X-Key", " k1 ")])["X-RateLimit-Remaining"], "8")
        key = {"limit": "per_key", "key": ["k1", "127.0.0.99"]}
        self.assertEqual(self.said(g, "/v1/look", key)["remaining"], 8)
        self.assertEqual(self.said(g, "/v1/look", key | {"key": ["k2", "127.0.0.99"]})["remaining"], 9)

    def test_credentials_are_named_as_they_are_sent(self):
        text = self.text().replace("'header:x-key', client_ip/24", "'header:authorization'")
        g = self.gateway(text.replace("limits: [per_client]", "limits: [per_key]"))
        for sent, named in (("Bearer zz", "Bearer zz"), ("bearer yy", "BEARER yy"), ("Basic YTpi", "Basic YTpi"),
                            ("Token tt", "Token tt"), ("Digest a=b", "Digest a=b")):
            g.get("/", [("Authorization", sent)])
            look = self.said(g, "/v1/look", {"limit": "per_key", "key": [named]})
            self.assertEqual(look["remaining"], 8, sent)
        for named in ("Bearer a b", "Basic YTp", ""):
            self.assertIn("key:", self.refused(400, g, "/v1/look", {"limit": "per_key", "key": [named]}))

    def test_a_change_is_a_line_in_the_log_without_secrets(self):
        g = self.started_gateway()
        key = {"limit": "per_key", "key": ["hunter2", "127.0.0.1"]}
        for path, more, deed in (("/v1/take", {}, "took 1 of"), ("/v1/reset", {}, "reset"),
                                 ("/v1/take", {"cost": 10}, "was refused 10 of"),
                                 ("/v1/grant", {"tokens": 7}, "granted 7 to")):
            bucket = self.said(g, path, key | more)["bucket"]
            line = g.wait_for_diagnostic(f"admin API: 127.0.0.1 {deed} limit per_key")
            self.assertIn(f"bucket {bucket}", line)
        lines = len(g.diagnostics)
        self.said(g, "/v1/look", key)
        self.assertEqual(len(g.diagnostics), lines)
        self.assertNotIn("hunter2", "".join(g.diagnostics))
        self.assertNotIn(TOKEN, "".join(g.diagnostics))

    def test_a_store_that_fails_is_503_with_the_reason(self):
        store = self.started(RedisServer())
        g = self.started_gateway(store)
        store.kill()
        for path, more in (("/v1/look", {}), ("/v1/take", {}), ("/v1/reset", {}),
                           ("/v1/grant", {"tokens": 1})):
            self.assertIn("the store has not answered: ", self.refused(503, g, path, CLIENT | more))
        self.assertEqual(get(g.admin, "/healthz").status, 200)

    def test_many_questions_on_one_connection(self):
        g = self.started_gateway()
        with Connection(g.admin) as c:
            headers = [("Authorization", f"bearer {TOKEN}"), ("Content-Type", "application/json")]
            for left in (4, 3, 2, 1, 0):
                took = c.ask("/v1/take", headers, "POST", json.dumps(CLIENT).encode())
                self.assertEqual(json.loads(took.text)["remaining"], left)


EXPLAIN = (
    "client: { trusted_proxies: [127.0.0.0/8] }\n"
)


class Explain(AdminTest):
    def explained(self, gateway, **request):
        return self.said(gateway, "/v1/explain", {"method": "GET", "url": "/"} | request)

    def test_consumes_nothing_and_says_what_a_request_then_gets(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(store, routed="per_client, per_key", more=EXPLAIN)
                request = [("X-Key", "hunter2"), ("X-Forwarded-For", "192.0.2.7")]
                for left in (5, 4, 3, 2, 1):
                    for _ in range(10):
                        told = self.explained(g, headers=dict(request))
                    self.assertEqual(told["verdict"], {"says": "allowed"})
                    first, second = told["limits"]
                    self.assertEqual((first["remaining"], first["says"]), (left, "allowed"))
                    self.assertEqual(second["remaining"], left + 4)
                    self.assertEqual(g.get("/", request).status, 200)
                told = self.explained(g, headers=dict(request))
                refused = g.get("/", request)
                self.assertEqual((told["verdict"]["status"], refused.status), (429, 429))
                self.assertEqual(told["verdict"]["limit"], "per_client")
                self.assertEqual(str(told["verdict"]["retry_after"]), refused["Retry-After"])
                self.assertEqual(told["limits"][0]["says"], "rejected")
                self.assertEqual(told["limits"][1]["says"], "allowed")
                self.assertNotIn("hunter2", json.dumps(told))
                counted = json.loads(get(g.admin, "/v1/limits").text)["limits"][0]["decisions"]
                self.assertEqual((counted["allowed"], counted["rejected"]), (5, 1))

    def test_the_client_and_why(self):
        g = self.started_gateway(more=EXPLAIN)
        for peer, header, address, hop, why in (
            ("192.0.2.1", "1.2.3.4", "192.0.2.1", 0, "not trusted"),
            ("127.0.0.1", None, "127.0.0.1", 0, "sent no X-Forwarded-For"),
            ("127.0.0.1", "1.2.3.4, 127.0.0.9", "1.2.3.4", 2, "the first that is no trusted proxy"),
            ("127.0.0.1", "127.0.0.9", "127.0.0.9", 1, "all of them are trusted"),
            ("127.0.0.1", "junk, 127.0.0.9", "127.0.0.9", 1, "is no address"),
            ("127.0.0.1", "junk", "127.0.0.1", 0, "is no address"),
        ):
            headers = {} if header is None else {"X-Forwarded-For": header}
            client = self.explained(g, peer=peer, headers=headers)["client"]
            self.assertEqual((client["address"], client["hop"]), (address, hop))
            self.assertIn(why, client["why"])
        client = self.explained(g, peer="2001:db8::5")["client"]
        self.assertEqual((client["address"], client["counted_as"]), ("2001:db8::5", "2001:db8::"))

    def test_requests_that_never_reach_a_bucket(self):
        text = ("limits: { l: { key: 'header:x-key', missing_key: reject, rate: 1/h, cost: { header: x-cost, max: 5 } },"
                " s: { key: 'cookie:c', missing_key: skip, rate: 1/h } }\n"
                "routes: [ { match: { path: /api }, limits: [s, l], upstream: up } ]\n"
                "upstreams: { up: { servers: [echo] } }\n")
        token = self.directory().file("token", TOKEN)
        g = self.gateway(f"admin: {{ address: 127.0.0.1:0, token_file: '{token}' }}\n" + text)
        for url, headers, status in (
            ("/other", {}, 404),
            ("/api/../x", {}, 400),
            ("/api", {}, 400),
            ("/api", {"X-Key": ["a", "b"]}, 400),
            ("/api", {"X-Key": "a", "X-Cost": "6"}, 400),
            ("/api", {"X-Key": "a", "Content-Length": "x"}, 400),
            ("/api", {"X-Key": "a", "Host": "a b"}, 400),
        ):
            told = self.explained(g, url=url, headers=headers)["verdict"]
            self.assertEqual((told["says"], told["status"]), ("refused", status), (url, headers))
            lines = [(n, v) for n, all in headers.items() for v in ([all] if isinstance(all, str) else all)]
            self.assertEqual(g.get(url, lines).status, status)
        told = self.explained(g, url="http://h/api?x=1", headers={"X-Key": "a", "X-Cost": "5"})
        self.assertEqual(told["verdict"]["says"], "refused")
        self.assertIn("more than the limit", told["verdict"]["detail"])
        self.assertEqual([one["applies"] for one in told["limits"]], [False, True])
        self.assertIn("missing_key is skip", told["limits"][0]["why"])

    def test_a_failed_store_is_told_with_what_its_limits_do_then(self):
        store = self.started(RedisServer())
        g = self.started_gateway(store)
        store.kill()
        told = self.explained(g)
        self.assertEqual((told["verdict"]["status"], told["limits"][0]["says"]), (503, "failed_closed"))
        self.assertTrue(told["limits"][0]["failed"])

    def test_where_the_gateway_decides_itself_it_looks_at_its_own_bucket(self):
        store = self.started(RedisServer())
        g = self.gateway(self.text(store).replace("on_store_failure: closed", "on_store_failure: local"))
        store.kill()
        for left in range(5, 0, -1):
            told = self.explained(g)
            limit = told["limits"][0]
            self.assertEqual((told["verdict"]["says"], limit["says"], limit["remaining"]),
                             ("allowed", "failed_local", left))
            self.assertTrue(limit["failed"])
            self.assertEqual(g.get("/").status, 200)
        told = self.explained(g)
        self.assertEqual((told["verdict"]["status"], told["limits"][0]["says"]), (429, "rejected"))
        self.assertEqual(g.get("/").status, 429)
        words = ["explain", "--config", g.config_path, "GET", "/", "--admin", "%s:%d" % g.admin]
        self.assertIn("as the store has not answered", run_command(*words)[1])

    def test_numbers_and_times_are_for_people(self):
        g = self.started_gateway()
        banned = self.call(g, "/v1/ban", KEY | {"for": "2h"})
        self.assertNotRegex(banned.text, r":-?[\d.]+[eE]")
        self.assertAlmostEqual(json.loads(banned.text)["banned_until"], time.time() + 7200, delta=60)
        self.assertIn('"retry":0.0', self.call(g, "/v1/look", CLIENT).text)
        g = self.started_gateway(routed="per_key")
        self.said(g, "/v1/ban", KEY | {"for": "2h"})
        words = ["explain", "--config", g.config_path, "GET", "/", "-H", "X-Key: k1"]
        _, out, _ = run_command(*words, "--admin", "%s:%d" % g.admin)
        self.assertRegex(out, r"  banned  until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\n")
        self.assertRegex(out, r"  says    rejected, retry in 7\d\d\d s \((2 h|1 h 59 min( \d+ s)?)\)\n")

    def test_a_missing_part_is_named(self):
        g = self.started_gateway(routed="per_key")
        text = open(g.config_path, encoding="utf-8").read()
        g.reload(text.replace("missing_key: skip", "missing_key: reject"))
        refused = g.get("/")
        self.assertEqual(refused.status, 400)
        self.assertIn("header:x-key, which identifies the client, is missing",
                      json.loads(refused.text)["detail"])
        told = self.explained(g)
        self.assertIn("header:x-key", told["verdict"]["detail"])
        self.assertIn("header:x-key", told["limits"][0]["why"])
        self.assertIn("header:x-key", g.log_lines(1)[0]["error"])

    def test_what_is_told_badly(self):
        g = self.started_gateway()
        for body, detail in (
            ({}, "url: missing"),
            ({"url": "x"}, "url: expected"),
            ({"url": "/a b"}, "url: expected"),
            ({"url": "/\u00e9"}, "url: expected"),
            ({"url": "/ HTTP/1.1\r\nX: y"}, "url: expected"),
            ({"url": "/", "method": "G T"}, "method: expected"),
            ({"url": "/", "peer": "localhost"}, "peer: expected an IP address"),
            ({"url": "/", "headers": {"a:b": "c"}}, "headers: expected"),
            ({"url": "/", "headers": {"a": "b\r\nc: d"}}, "headers: expected"),
            ({"url": "/", "headers": []}, "headers: expected an object"),
            ({"url": "/", "header": {}}, "header: unknown member, did you mean \"headers\"?"),
        ):
            self.assertIn(detail, self.refused(400, g, "/v1/explain", body), body)

    def test_the_command_asks_the_running_gateway_or_tells_all_but_the_counts(self):
        g = self.started_gateway(routed="per_client, per_key", more=EXPLAIN)
        words = ["explain", "--config", g.config_path, "GET", "http://h/a//b", "-H", "X-Key: hunter2",
                 "-H", "X-Forwarded-For: 192.0.2.7", "--peer", "127.0.0.1"]
        admin = ["--admin", "%s:%d" % g.admin]
        status, out, _ = run_command(*words)
        self.assertEqual(status, 0)
        for text in ("client    192.0.2.7, element 1 of X-Forwarded-For", "path      /a/b\n",
                     "limit     per_client: token_bucket 5/h, capacity 5, store local, mode enforce\n",
                     "  key     client_ip = 192.0.2.7\n", "header:x-key = sha256:",
                     "verdict   unknown: only the running gateway has the counts"):
            self.assertIn(text, out)
        status, out, _ = run_command(*words, *admin)
        self.assertEqual(status, 0)
        self.assertIn("  tokens  5 of 5 left, full in 0 s\n  says    allowed\n", out)
        self.assertIn("verdict   allowed\n", out)
        for _ in range(5):
            g.get("/", [("X-Forwarded-For", "192.0.2.7")])
        status, out, _ = run_command(*words, *admin)
        self.assertEqual(status, 0)
        self.assertRegex(out, r"  says    rejected, retry in 7[12]\d s\n")
        self.assertRegex(out, r"verdict   refused with 429: the limit is exhausted; retry later, limit per_client, Retry-After 7[12]\d s\n")
        self.assertNotIn("hunter2", out)

    def test_the_command_says_what_is_wrong(self):
        g = self.started_gateway()
        config = ["explain", "--config", g.config_path]
        for words, status, text in (
            (["GET"], 2, "URL"),
            (["GET", "nonsense"], 2, "url: expected"),
            (["GET", "/", "-H", "x"], 2, 'expected "Name: value"'),
            (["GET", "/", "--peer", "x"], 2, "peer: expected an IP address"),
            (["GET", "/", "--admin", "x"], 2, "the port is missing"),
            (["GET", "/", "--admin", "127.0.0.1:1"], 1, "Connection refused"),
            (["GET", "x", "--admin", "%s:%d" % g.admin], 1, "answered 400: url: expected"),
        ):
            ended, out, err = run_command(*config, *words)
            self.assertEqual((ended, out), (status, ""), words)
            self.assertIn(text, err)
        with open(self.token_path, "w", encoding="ascii") as f:
            f.write("wrong\n")
        ended, out, err = run_command(*config, "GET", "/", "--admin", "%s:%d" % g.admin)
        self.assertEqual((ended, out), (1, ""))
        self.assertIn("answered 401", err)


class Top(AdminTest):
    def top(self, gateway, query=""):
        response = self.call(gateway, "/v1/top" + query, method="GET", kind=None)
        self.assertEqual(response.status, 200, response.text)
        return json.loads(response.text)

    def test_who_asks_most_and_who_is_rejected_most(self):
        g = self.started_gateway(routed="per_client, per_key", more=EXPLAIN)
        self.assertEqual(self.top(g), {"by": "requests", "counted": 0, "largest_error": 0, "top": []})
        for client, requests in (("192.0.2.1", 3), ("192.0.2.2", 8), ("192.0.2.3", 6)):
            for _ in range(requests):
                # Each on a connection of its own, so that all workers have some.
                g.get("/", [("X-Forwarded-For", client), ("X-Key", "hunter2")])
        told = self.top(g, "?limit=per_client")
        self.assertEqual((told["by"], told["largest_error"]), ("requests", 0))
        self.assertEqual([(one["key"][0]["value"], one["count"], one["error"]) for one in told["top"]],
                         [("192.0.2.2", 8, 0), ("192.0.2.3", 6, 0), ("192.0.2.1", 3, 0)])
        told = self.top(g, "?by=rejections&limit=per_client&n=1")
        self.assertEqual([(one["key"][0]["value"], one["count"]) for one in told["top"]], [("192.0.2.2", 3)])
        keys = self.top(g, "?limit=per_key")["top"]
        self.assertEqual(len(keys), 1)
        self.assertEqual(len(keys[0]["key"][0]["sha256"]), 32)
        self.assertNotIn("hunter2", json.dumps(self.top(g)))
        looked = self.said(g, "/v1/look", {"limit": "per_key", "key": ["hunter2", "192.0.2.1"]})
        self.assertEqual(looked["bucket"], keys[0]["bucket"])

    def test_secrets_stay_secret_when_a_reload_changes_the_key(self):
        text = self.text(routed="per_client, per_key", more=EXPLAIN)
        g = self.gateway(text)
        g.get("/", [("X-Key", "hunter2")])
        g.reload(text.replace("['header:x-key', client_ip/24], missing_key: skip", "[path, client_ip/24]"))
        self.assertEqual(len(self.top(g, "?limit=per_key")["top"]), 1)
        self.assertNotIn("hunter2", json.dumps(self.top(g)))

    def test_rejections_in_shadow_mode_are_those_of_the_metrics(self):
        shadow = "  shadow: { key: client_ip, rate: 2/h, mode: shadow }\n"
        g = self.gateway(self.text(routed="per_client, shadow").replace("limits:\n", "limits:\n" + shadow, 1))
        for _ in range(9):
            g.get("/")
        for limit in ("per_client", "shadow"):
            counted = [one["count"] for one in self.top(g, f"?by=rejections&limit={limit}")["top"]]
            decided = sum(g.metrics().sum("gateway_decisions_total", limit=limit, outcome=outcome)
                          for outcome in ("rejected", "shadow_rejected"))
            self.assertEqual((limit, counted), (limit, [decided]))

    def test_what_is_asked_badly(self):
        g = self.started_gateway()
        for query, status, detail in (
            ("?by=x", 400, "by: expected requests or rejections"),
            ("?n=0", 400, "n: expected a number from 1 to 256"),
            ("?n=257", 400, "n: expected"),
            ("?n=-1", 400, "n: expected"),
            ("?top=1", 400, "unknown parameter"),
            ("?n=1&n=2", 400, "n: comes twice"),
            ("?n=0&n=2", 400, "n: expected"),
            ("?", 200, None),
            ("?limit=per_clent", 404, 'did you mean "per_client"?'),
        ):
            response = self.call(g, "/v1/top" + query, method="GET")
            self.assertEqual(response.status, status, query)
            if detail is not None:
                self.assertIn(detail, json.loads(response.text)["detail"])
        self.assertEqual(self.call(g, "/v1/top", {})["Allow"], "GET, HEAD")
        twice = self.call(g, "/v1/bans?limit=per_client&limit=per_key", method="GET")
        self.assertEqual((twice.status, json.loads(twice.text)["detail"]), (400, "limit: comes twice"))


def documented():
    """The configuration of docs/admin-api.md, and its blocks of JSON in their order."""
    with open(os.path.join(ROOT, "docs", "admin-api.md"), encoding="utf-8") as f:
        text = f.read()
    blocks = re.findall(r"```json\n(.*?)```", text, re.S)
    return (re.search(r"```yaml\n(.*?)```", text, re.S).group(1),
            [json.loads(re.sub(r'"…"|…', '"…"', block)) for block in blocks])


class Documentation(AdminTest):
    def assert_matches(self, said, shown):
        """What the page leaves out as … may be anything."""
        if isinstance(shown, dict):
            self.assertEqual(sorted(said), sorted(shown))
            for name, value in shown.items():
                self.assert_matches(said[name], value)
        elif isinstance(shown, list):
            self.assertEqual(len(said), len(shown))
            for one, other in zip(said, shown):
                self.assert_matches(one, other)
        elif shown != "…":
            self.assertEqual(said, shown)

    def test_every_example_holds(self):
        text, blocks = documented()
        token = self.directory().file("token", TOKEN)
        text = text.replace("127.0.0.1:8080", "127.0.0.1:0").replace("127.0.0.1:9901", "127.0.0.1:0")
        text = text.replace("[10.0.0.0/8]", "[10.0.0.0/8, 127.0.0.1]")
        text = text.replace("# token_file: /etc/gateway/admin-token", f"token_file: '{token}'")
        g = self.gateway(text)
        look, looked, take, took, grant, granted, request, explained, top, ban, banned, bans = blocks
        for path, body, shown in (("/v1/look", look, looked), ("/v1/take", take, took),
                                  ("/v1/grant", grant, granted), ("/v1/explain", request, explained)):
            self.assert_matches(self.said(g, path, body), shown)
        for _ in range(5):
            g.get("/api", [("X-Forwarded-For", "192.0.2.7")])
        told = json.loads(self.call(g, "/v1/top?by=requests&limit=per_client&n=20", method="GET").text)
        self.assert_matches(told, top)
        self.assert_matches(self.said(g, "/v1/ban", ban), banned)
        told = json.loads(self.call(g, "/v1/bans?limit=per_client&n=20", method="GET").text)
        self.assert_matches(told, bans)

    def test_the_description_has_every_call(self):
        with open(os.path.join(ROOT, "docs", "openapi.yaml"), encoding="utf-8") as f:
            described = yaml.safe_load(f)
        self.assertTrue(described["openapi"].startswith("3.1."))
        g = self.started_gateway()
        calls = re.findall(r"/[a-z0-9/]+", self.refused(404, g, "/v1"))
        self.assertEqual(sorted(described["paths"]), sorted(calls))
        for path, item in described["paths"].items():
            (method,) = item
            if path == "/v1/stream":
                continue  # it does not end: test_stream
            self.assertNotEqual(self.call(g, path, {}, method=method.upper()).status, 405, path)
            guarded = item[method]["security"] == [{"token": []}]
            answer = self.call(g, path, {}, method=method.upper(), token=None).status
            self.assertEqual(guarded, answer == 401, path)

    def test_the_description_has_what_linters_and_generators_want(self):
        """As `npx @redocly/cli lint docs/openapi.yaml` wants it."""
        with open(os.path.join(ROOT, "docs", "openapi.yaml"), encoding="utf-8") as f:
            described = yaml.safe_load(f)
        self.assertEqual(described["info"]["license"]["identifier"], "Apache-2.0")
        operations = [one for item in described["paths"].values() for one in item.values()]
        self.assertEqual(len({one["operationId"] for one in operations}), len(operations))
        for one in operations:
            self.assertIn(one["security"], ([], [{"token": []}]))
            self.assertIn("4XX", one["responses"])

    def test_the_answers_are_as_described(self):
        with open(os.path.join(ROOT, "docs", "openapi.yaml"), encoding="utf-8") as f:
            described = yaml.safe_load(f)
        g = self.started_gateway(routed="per_client, per_key")
        bodies = {"/v1/look": CLIENT, "/v1/take": CLIENT, "/v1/reset": CLIENT,
                  "/v1/grant": CLIENT | {"tokens": 1}, "/v1/explain": {"url": "/"},
                  "/v1/ban": KEY | {"for": "1m"}, "/v1/unban": KEY}
        g.get("/")
        self.said(g, "/v1/ban", KEY | {"for": "1m"})
        for path, item in described["paths"].items():
            (method,) = item
            good = item[method]["responses"]["200"]
            if "$ref" in good:
                good = described["components"]["responses"][good["$ref"].rpartition("/")[2]]
            schema = good["content"]
            if "application/json" not in schema:
                continue
            schema = schema["application/json"]["schema"] | {"components": described["components"]}
            answer = self.call(g, path, bodies.get(path), method=method.upper())
            directory = self.directory()
            files = [directory.file("answer.json", answer.text), directory.file("schema.json", json.dumps(schema))]
            status, _, err = run_tool([PYTHON, "-m", "jsonschema", "-i", *files])
            self.assertEqual(status, 0, (path, err, answer.text))
