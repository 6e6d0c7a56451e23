"""What routes change of requests on their way, over real sockets."""
from harness.case import SystemTest
from harness.client import exchange_raw


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
