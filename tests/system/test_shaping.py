"""What routes change of requests on their way, over real sockets."""
import os

from harness.case import SystemTest
from harness.client import exchange_raw
from harness.gateway import run_command


class Shaping(SystemTest):
    def shaped(self, route, match="match: { path: /api }", extra="", script=None):
        """A gateway with one shaped route: (gateway, origin)."""
        origin = self.origin(script) if script else self.origin()
        text = (
            f"routes: [ {{ {match}, upstream: up, {route} }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )
        return self.gateway(text + extra), origin

    def test_a_prefix_is_stripped_however_it_is_spelt(self):
        gateway, origin = self.shaped("strip_prefix: /api")
        for target, forwarded in [
            ("/api", "/"),
            ("/api?x", "/?x"),
            ("/api/users?page=2", "/users?page=2"),
            ("/api//evil.test/x", "/evil.test/x"),
            ("//api/x", "/x"),
            ("/%61pi;v=1/x%20y", "/x%20y"),
            ("/api%2F%2Fx", "/x"),
        ]:
            self.assertEqual(gateway.get(target).status, 200)
            self.assertEqual(origin.last().target, forwarded, target)
        self.assertEqual(gateway.get("/apis").status, 404)

    def test_a_prefix_is_rewritten_in_absolute_form_too(self):
        gateway, origin = self.shaped("rewrite_prefix: { from: /api, to: /v2/x }")
        request = b"GET http://client.test/api/a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        self.assertEqual(exchange_raw(gateway.address, request).status, 200)
        self.assertEqual(origin.last().target, "/v2/x/a?b")
        self.assertEqual(origin.last().all("host"), ["client.test"])

    def test_the_asterisk_of_options_has_no_beginning(self):
        gateway, origin = self.shaped("rewrite_prefix: { from: /, to: /v2 }", match="name: all")
        request = b"OPTIONS * HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"
        self.assertEqual(exchange_raw(gateway.address, request).status, 200)
        self.assertEqual(origin.last().target, "*")

    def test_the_host_is_the_one_that_the_route_says(self):
        for host, expected in [("keep", "gateway.test"), ("inner.test:81", "inner.test:81")]:
            gateway, origin = self.shaped(f"host: '{host}'")
            gateway.get("/api")
            self.assertEqual(origin.last().all("host"), [expected])
            self.assertEqual(origin.last().all("x-forwarded-host"), ["gateway.test"])
        gateway, origin = self.shaped("host: upstream")
        gateway.get("/api")
        self.assertEqual(origin.last().all("host"), [origin.address])

    def test_limits_and_the_log_see_the_request_as_it_came(self):
        gateway, _ = self.shaped(
            "strip_prefix: /api, limits: [few]",
            extra="limits: { few: { key: path, rate: 1/h } }\n",
        )
        self.assertEqual([gateway.get(f"/api/{x}").status for x in "aba"], [200, 200, 429])

    def test_fields_are_set_and_removed_both_ways(self):
        def script(peer, request):
            peer.read_body(request)
            peer.reply(fields=[("Server", "origin/1"), ("X-Env", "theirs"), ("X-Kept", "1")])

        gateway, origin = self.shaped(
            "request_headers: { set: { X-Env: prod }, remove: [X-Debug] }, limits: [few], "
            "response: { set: { X-Env: ours, Content-Type: text/css }, remove: [server] }",
            extra="limits: { few: { key: 'header:x-debug', missing_key: reject, rate: 2/h } }\n",
            script=script,
        )
        fields = [("x-env", "dev"), ("X_Env", "dev"), ("Connection", "X-Env"), ("X-DEBUG", "1")]
        r = gateway.get("/api", fields)
        told = origin.last()
        self.assertEqual((told.all("x-env"), told.all("x_env"), told.all("x-debug")), (["prod"], [], []))
        self.assertEqual((r.all("x-env"), r.all("server"), r["x-kept"]), (["ours"], [], "1"))
        self.assertEqual(r.all("content-type"), ["text/css"])
        self.assertEqual(gateway.get("/api").status, 400, "the key is of what came, and not there")
        gateway.get("/api", fields)
        r = gateway.get("/api", fields)
        self.assertEqual((r.status, r.all("x-env")), (429, ["ours"]))
        self.assertEqual(r.all("content-type"), ["application/problem+json"])


class Answers(SystemTest):
    def answering(self, route, extra=""):
        return self.gateway(f"routes: [ {{ {route} }} ]\nupstreams: {{}}\n" + extra)

    def test_a_redirect_names_the_host_and_the_target_that_were_asked_for(self):
        gateway = self.answering("redirect: { to: 'https://{host}{uri}' }")
        for target, host, location in [
            ("/a%20b?c=//d", "Example.com:8080", "https://example.com/a%20b?c=//d"),
            ("//evil.test/x", "a.test", "https://a.test/evil.test/x"),
            ("http://b.test:1?y", "a.test", "https://b.test/?y"),
        ]:
            request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
            r = exchange_raw(gateway.address, request)
            self.assertEqual((r.status, r.all("location"), r.body), (308, [location], b""))
        r = exchange_raw(gateway.address, b"OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n")
        self.assertEqual(r.all("location"), ["https://a.test/"])
        self.assertEqual(exchange_raw(gateway.address, b"GET / HTTP/1.0\r\n\r\n").status, 400)

    def test_a_redirect_within_the_site_leaves_it_to_nobody(self):
        gateway = self.answering(
            "match: { path: /old }, strip_prefix: /old, redirect: { status: 301, to: '{uri}' }"
        )
        for target, location in [
            ("/old//evil.test", "/evil.test"),
            ("/old%2F%2Fevil.test", "/evil.test"),
            ("/old/%5Cevil.test", "/evil.test"),
            ("/old", "/"),
        ]:
            r = gateway.get(target)
            self.assertEqual((r.status, r.all("location")), (301, [location]))

    def test_a_response_is_the_same_for_all_and_limits_hold(self):
        gateway = self.answering(
            "respond: { status: 418, body: tea!, content_type: text/x-tea }, limits: [few], "
            "response: { set: { Cache-Control: max-age=9 } }",
            extra="limits: { few: { key: client_ip, rate: 4/h } }\n",
        )
        with gateway.connect() as c:
            r = c.ask("/x")
            self.assertEqual((r.status, r.body, r["content-type"]), (418, b"tea!", "text/x-tea"))
            self.assertEqual((r["cache-control"], r["x-ratelimit-remaining"]), ("max-age=9", "3"))
            c.request("/x", method="HEAD")
            r = c.response(head=True)
            self.assertEqual((r.status, r["content-length"], r.body), (418, "4", b""))
            r = c.ask("/x", method="POST", body=b"x" * 1000)
            self.assertEqual(r.status, 418)
            c.send(b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
            self.assertEqual(c.response().status, 418)
            self.assertEqual(c.ask("/x").status, 429)
        log = gateway.log_lines(5)
        self.assertEqual([line["status"] for line in log], [418, 418, 418, 418, 429])
        self.assertEqual([line.get("upstream") for line in log], [None] * 5)
        self.assertEqual([line["response_bytes"] for line in log][:2], [4, 0])

    def test_the_body_may_be_a_file_of_several_lines(self):
        page = "<p>\n\ttea\n</p>\n"
        path = self.directory().file("page.html", page)
        gateway = self.answering(f"respond: {{ body: {{ file: {path} }}, content_type: text/html }}")
        self.assertEqual(gateway.get("/").text, page[:-1])

    def test_a_body_that_is_too_long_or_may_never_come_ends_the_connection(self):
        gateway = self.answering("respond: { status: 204 }")
        for head in (b"Content-Length: 1000000000", b"Content-Length: 9\r\nExpect: 100-continue"):
            with gateway.connect() as c:
                c.send(b"POST / HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n\r\n")
                r = c.response()
                self.assertEqual((r.status, r.all("content-length"), r["connection"]), (204, [], "close"))

    def test_a_listener_that_decides_tells_what_limits_say_and_nothing_else(self):
        gateway = self.gateway(
            "routes: [ { redirect: { to: 'https://{host}/' }, limits: [few], "
            "response: { set: { X-A: 1 } } } ]\nupstreams: {}\n"
            "limits: { few: { key: client_ip, rate: 1/h } }\n"
            "listeners: [ { address: '127.0.0.1:0', decide: true } ]\n"
        )
        first, second = gateway.get("/"), gateway.get("/")
        self.assertEqual((first.status, first.all("location"), first.all("x-a")), (200, [], []))
        self.assertEqual(second.status, 429)


class Rejections(SystemTest):
    def test_a_page_is_read_again_at_each_reload_and_the_fields_stay(self):
        page = self.directory().file("page.html", "<p>slow down</p>")
        text = (
            "limits: { few: { key: [], rate: 1/h } }\nupstreams: { up: { servers: [echo] } }\n"
            "routes: [ { limits: [few], upstream: up, response: { set: { X-A: 1 } },\n"
            f"  rejection: {{ status: 503, body_file: '{page}', content_type: text/html }} }} ]\n"
        )
        gateway = self.gateway(text)
        self.assertEqual(gateway.get().status, 200)
        with gateway.connect() as c:
            r = c.ask()
            self.assertEqual((r.status, r["content-type"], r.body), (503, "text/html", b"<p>slow down</p>"))
            self.assertEqual((r["x-ratelimit-limit"], r["x-ratelimit-remaining"]), ("1", "0"))
            self.assertGreater(int(r["retry-after"]), 3000)
            self.assertEqual((r["cache-control"], r["x-a"]), ("no-store", "1"))
            with open(page, "w", encoding="ascii") as f:
                f.write("later")
            gateway.reload(text)
            self.assertEqual(c.ask().body, b"later")
        # Each worker writes its own lines.
        told = [(it["status"], it["outcome"], it["response_bytes"]) for it in gateway.log_lines(3)]
        self.assertEqual([it for it in told if it[0] == 503], [(503, "rejected", 16), (503, "rejected", 5)])

    def test_its_status_alone_leaves_the_problem(self):
        gateway = self.gateway(
            "limits: { few: { key: [], rate: 1/h } }\nupstreams: { up: { servers: [echo] } }\n"
            "routes: [ { limits: [few], upstream: up, rejection: { status: 403 } } ]\n"
        )
        gateway.get()
        r = gateway.get()
        self.assertEqual((r.status, r["content-type"]), (403, "application/problem+json"))
        self.assertIn(b'"status":403', r.body)


class Secrets(SystemTest):
    def test_a_file_is_read_again_at_each_reload_and_never_printed(self):
        origin = self.origin()
        folder = self.directory()
        token = os.path.join(folder.path, "token")
        text = (
            f"routes: [ {{ upstream: up, request_headers: {{ set: {{ Token: {{ file: '{token}' }} }} }} }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )

        def write(value):
            with open(token, "w", encoding="ascii") as f:
                f.write(value + "\n")

        write("first-token")
        gateway = self.gateway(text)
        gateway.get("/")
        self.assertEqual(origin.last()["token"], "first-token")
        write("second-token")
        gateway.reload(text)
        gateway.get("/")
        self.assertEqual(origin.last()["token"], "second-token")
        self.assertNotIn("-token", "".join(gateway.diagnostics))


class Matches(SystemTest):
    def test_a_wildcard_is_for_hosts_that_end_so(self):
        gateway = self.gateway(
            "routes:\n"
            "  - { match: { host: '*.Example.com' }, respond: { body: wide } }\n"
            "  - { match: { host: '*.b.example.com' }, respond: { body: narrow } }\n"
            "  - { respond: { body: any } }\n"
        )
        for host, expected in [
            ("a.example.com", b"wide"),
            ("A.EXAMPLE.com.:8080", b"wide"),
            ("x.b.example.com", b"narrow"),
            ("example.com", b"any"),
            ("badexample.com", b"any"),
        ]:
            request = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
            self.assertEqual(exchange_raw(gateway.address, request).body, expected, host)

    def test_headers_have_exact_values_and_come_once(self):
        gateway = self.gateway(
            "routes:\n"
            "  - { respond: { body: any } }\n"
            "  - { name: prod, match: { headers: { X-Env: prod } }, respond: { body: prod } }\n"
            "  - { name: test, match: { headers: { X-Env: test } }, respond: { body: test } }\n"
            "  - { match: { headers: { X-Env: prod, X-Tier: '1' } }, respond: { body: both } }\n"
        )
        prod, tier = ("x-ENV", "prod"), ("X-Tier", "1")
        for expected, *headers in [
            (b"any",),
            (b"prod", prod),
            (b"test", ("X-Env", "test")),
            (b"both", tier, prod),
            (b"any", tier),
            (b"any", ("X-Env", "Prod")),
            (b"any", ("X_Env", "prod")),
            (b"any", prod, prod),
        ]:
            self.assertEqual(gateway.get("/", headers).body, expected, headers)

    def test_the_scheme_is_a_trusted_peers_word(self):
        routes = (
            "routes:\n"
            "  - { match: { scheme: http }, respond: { body: http } }\n"
            "  - { match: { scheme: https }, respond: { body: https } }\n"
        )
        said = [("https", b"https"), ("HTTP", b"http"), ("wss", b"https"), ("ftp", b"http")]
        stranger, trusting = self.gateway(routes), self.gateway(
            "client: { trusted_proxies: [127.0.0.1] }\n" + routes
        )
        for value, scheme in said:
            header = ("X-Forwarded-Proto", value)
            self.assertEqual(trusting.get("/", [header]).body, scheme)
            self.assertEqual(stranger.get("/", [header]).body, b"http")
        twice = [("X-Forwarded-Proto", "https")] * 2
        self.assertEqual(trusting.get("/", twice).body, b"http")

    def test_a_request_that_is_told_of_has_the_scheme_of_its_url(self):
        config = self.directory().file(
            "gateway.yaml",
            "listeners: [ { address: '127.0.0.1:0' } ]\nroutes:\n"
            "  - { name: plain, match: { scheme: http }, respond: {} }\n"
            "  - { name: secured, match: { scheme: https }, respond: {} }\n",
        )
        for url, route in [("http://a/", "plain"), ("https://a/", "secured"), ("/", "plain")]:
            status, said, _ = run_command("explain", "--config", config, "GET", url)
            self.assertEqual(status, 0)
            self.assertRegex(said, rf"route +{route}\b")
