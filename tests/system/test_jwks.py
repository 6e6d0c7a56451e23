"""Keys of tokens by the URL of their issuer: fetched, renewed, and refused when they are gone."""
import contextlib
import json
import threading
import time

from harness.case import SystemTest
from harness.certificates import Certificates
from harness.client import get
from harness.gateway import run_command
from harness.http2 import Http2
from harness.key_server import KeyServer, key_set
from harness.process import free_port, wait_until
from harness.redis_server import RedisServer
from harness.tokens import Issuer, encoded

REFUSED, UNAVAILABLE = 400, 503


class JwksTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.made = Certificates(self.directory())
        self.made.issue("issuer", "IP:127.0.0.1,DNS:issuer.test")
        self.issuer = self.started(Issuer())
        self.origin_ = self.origin()

    def key(self, kid, algorithm="ES256"):
        """A new key, public, and a token that it has signed."""
        public = self.issuer.make_key(algorithm, **({"kid": kid} if kid else {}))
        return public, self.issuer.token(algorithm, {"kid": kid} if kid else {}, sub=f"user-of-{kid}")

    def serve(self, *keys, **headers):
        return self.started(KeyServer(self.made, key_set(*keys, **headers)))

    def text_for(
        self,
        url,
        more="",
        limit="key: 'jwt:sub', missing_key: reject, rate: 1000/m",
        tls=True,
        routes="routes: [ { limits: [l], upstream: up } ]\n",
        more_upstreams="",
        more_text="",
    ):
        trust = f", tls: {{ ca: '{self.made.path('ca.pem')}' }}" if tls else ""
        return (
            f"jwt: {{ keys: '{url}'{trust}{more} }}\n"
            f"limits: {{ l: {{ {limit} }} }}\n"
            f"{routes}upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }}{more_upstreams} }}\n{more_text}"
        )

    def status(self, gateway, token, **options):
        with gateway.connect() as c:
            return c.ask("/", [("Authorization", "Bearer " + token)], **options).status

    def fetches(self, gateway, result):
        return gateway.metrics().count("gateway_jwks_fetches_total", result=result)

    def failed(self, gateway, times=1):
        wait_until(lambda: self.fetches(gateway, "failure") >= times, 20, f"{times} failed fetches")

    def readiness(self, gateway):
        r = get(gateway.admin, "/readyz")
        return r.status, json.loads(r.body)


class Fetched(JwksTest):
    def test_keys_verify_tokens(self):
        public, token = self.key("a")
        server = self.serve(public)
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual(self.status(gateway, token), 200)
        self.assertEqual(self.status(gateway, self.key("a")[1]), REFUSED, "signed by another key of that name")
        self.assertEqual(gateway.get().status, REFUSED)
        request = server.requests[0]
        self.assertEqual(request.path, "/jwks.json")
        self.assertEqual(request.headers["Host"], f"127.0.0.1:{server.port}")
        self.assertEqual(self.fetches(gateway, "success"), 1)
        self.assertEqual(self.readiness(gateway), (200, self.readiness(gateway)[1] | {"ready": True, "jwks": "ok"}))

    def test_the_first_requests_wait_for_the_first_keys(self):
        public, token = self.key("a")
        server = self.serve(public)
        server.hold()
        gateway = self.gateway(self.text_for(server.url))
        server.fetched(1)
        self.assertEqual(self.readiness(gateway)[1]["jwks"], "none")
        with gateway.connect() as c:
            c.request("/", [("Authorization", "Bearer " + token)])
            wait_until(lambda: gateway.metrics().count("gateway_requests_waiting") == 1)
            server.go_on()
            self.assertEqual(c.response().status, 200)

    def test_a_name_of_the_server_is_verified(self):
        public, token = self.key("a")
        server = self.serve(public)
        trust = f", tls: {{ ca: '{self.made.path('ca.pem')}', server_name: NAME }}"
        good = self.gateway(self.text_for(server.url, trust.replace("NAME", "issuer.test"), tls=False))
        self.assertEqual(self.status(good, token), 200)
        bad = self.gateway(self.text_for(server.url, trust.replace("NAME", "other.test"), tls=False))
        bad.wait_for_diagnostic("keys cannot be fetched, and there are no keys yet: its certificate: ")
        self.assertEqual(self.status(bad, token), UNAVAILABLE)
        unknown = self.gateway(self.text_for(server.url, tls=False))
        unknown.wait_for_diagnostic("its certificate: ")

    def test_an_unknown_key_is_fetched_once_for_all(self):
        old, before = self.key("old")
        new, after = self.key("new")
        server = self.serve(old)
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual(self.status(gateway, before), 200)
        server.answer = key_set(old, new)
        server.hold()
        clients = [self.started(Closing(gateway)) for _ in range(8)]
        for c in clients:
            c.request("/", [("Authorization", "Bearer " + after)], method="POST", body=b"x" * 100_000)
        server.fetched(2)
        wait_until(lambda: gateway.metrics().count("gateway_requests_waiting") == 8)
        self.assertEqual(self.status(gateway, before), 200, "who has a known key waits for nobody")
        server.go_on()
        self.assertEqual([c.response().status for c in clients], [200] * 8)
        self.assertEqual(len(self.origin_.last().body), 100_000)
        self.assertEqual(len(server.requests), 2)

    def test_unknown_keys_cause_a_fetch_now_and_then_only(self):
        public, token = self.key("a")
        server = self.serve(public)
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual(self.status(gateway, token), 200)
        strangers = [self.key(f"stranger {i}")[1] for i in range(20)]
        self.assertEqual([self.status(gateway, t) for t in strangers], [REFUSED] * 20)
        self.assertEqual(len(server.requests), 2)

    def test_tokens_that_are_bad_anyway_cause_no_fetch(self):
        public, token = self.key("a")
        server = self.serve(public)
        gateway = self.gateway(self.text_for(server.url, ", issuer: us"))
        claims = {"sub": "x", "iss": "us"}
        self.assertEqual(self.status(gateway, self.issuer.token("ES256", {"kid": "a"}, **claims)), 200)
        for bad in (
            self.issuer.token("ES256", {"kid": "b"}, **(claims | {"exp": 1})),
            self.issuer.token("ES256", {"kid": "b"}, **(claims | {"iss": "them"})),
            "a.b.c",
            token.rpartition(".")[0] + "." + encoded(b"x" * 64),
        ):
            self.assertEqual(self.status(gateway, bad), REFUSED)
        self.assertEqual(len(server.requests), 1)

    def test_a_request_waits_no_longer_than_a_fetch_may_take(self):
        public, token = self.key("a")
        server = self.serve(public)
        gateway = self.gateway(self.text_for(server.url, ", timeout: 300ms"))
        self.assertEqual(self.status(gateway, token), 200)
        server.hold()
        began = time.monotonic()
        self.assertEqual(self.status(gateway, self.key("b")[1]), REFUSED)
        self.assertGreater(time.monotonic() - began, 0.29)
        self.failed(gateway)
        began = time.monotonic()
        for _ in range(100):
            self.assertEqual(self.status(gateway, self.key("c")[1]), REFUSED)
            self.assertEqual(self.status(gateway, token), 200)

    def test_a_client_may_leave_while_it_waits(self):
        public, token = self.key("a")
        server = self.serve(public)
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual(self.status(gateway, token), 200)
        server.hold()
        with gateway.connect() as c:
            c.request("/", [("Authorization", "Bearer " + self.key("b")[1])])
            wait_until(lambda: gateway.metrics().count("gateway_requests_waiting") == 1)
        wait_until(lambda: gateway.metrics().count("gateway_requests_waiting") == 0)
        server.go_on()
        self.assertEqual(self.status(gateway, token), 200)

    def test_interim_responses_are_passed_over(self):
        public, token = self.key("a")
        for interim, status in ((8, 200), (9, 503)):
            server = self.serve(public)
            server.interim = interim
            gateway = self.gateway(self.text_for(server.url))
            self.assertEqual(self.status(gateway, token), status, interim)
        gateway.wait_for_diagnostic("more than 8 interim responses")

    def test_keys_without_a_name(self):
        public, token = self.key(None)
        server = self.serve(public)
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual(self.status(gateway, token), 200)
        self.assertEqual(self.status(gateway, self.issuer.token("ES256", {"kid": "x"}, sub="a")), REFUSED)
        self.assertEqual(self.status(gateway, token), 200)

    def test_bad_keys_among_good_ones_are_passed_over(self):
        public, token = self.key("a")
        secret = self.issuer.make_key("HS256", kid="secret")
        forged = self.issuer.token("HS256", {"kid": "secret"}, sub="x")
        server = self.serve({"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "w"}, secret, public, {"kty": "AKP"})
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual(self.status(gateway, token), 200)
        self.assertEqual(self.status(gateway, forged), REFUSED)
        gateway.wait_for_diagnostic("keys[0].n: expected an RSA key of 2048 to 8192 bits")
        gateway.wait_for_diagnostic("keys[1]: a secret that can be fetched is none; it is passed over")


class RotationTest(JwksTest):
    """An issuer that has an old key, and a new one that it does not publish yet, with a token of each."""

    def setUp(self):
        super().setUp()
        self.old, self.before = self.key("old")
        self.new, self.after = self.key("new")
        self.server = self.serve(self.old)


class Waiting(RotationTest):
    """Requests that wait for a key, however they came."""

    def started_with(self, **options):
        gateway = self.gateway(self.text_for(self.server.url, **options))
        self.server.fetched(1)
        wait_until(lambda: self.fetches(gateway, "success") == 1)
        self.server.answer = key_set(self.old, self.new)
        self.server.hold()
        return gateway

    def waiting(self, gateway, count):
        wait_until(lambda: gateway.metrics().count("gateway_requests_waiting") == count)

    def test_over_http2(self):
        gateway = self.started_with()
        fields = lambda token: [("authorization", "Bearer " + token)]
        with Http2(gateway.address) as c:
            streams = [c.request("/", fields(self.after)) for _ in range(3)]
            upload = c.request("/", fields(self.after), method="POST", end=False)
            c.upload(upload, b"x" * 50_000)
            left = c.request("/", fields(self.after))
            self.waiting(gateway, 5)
            c.reset(left)
            self.waiting(gateway, 4)
            known = c.request("/", fields(self.before))
            c.wait(lambda: c.answer(known).over)
            self.server.go_on()
            for stream in [known, upload, *streams]:
                c.wait(lambda: c.answer(stream).over)
                self.assertEqual(c.answer(stream).status, 200)
        self.assertEqual(max(len(r.body) for r in self.origin_.requests), 50_000)

    def test_whose_content_counts(self):
        gateway = self.started_with(limit="key: ['jwt:sub', 'json:model'], missing_key: reject, rate: 2/d")
        body = b'{"model":"m","text":"' + b"x" * 100_000 + b'"}'
        fields = [("Authorization", "Bearer " + self.after), ("Content-Type", "application/json")]
        clients = [self.started(Closing(gateway)) for _ in range(3)]
        for c in clients:
            c.request("/", fields, method="POST", body=body)
        self.waiting(gateway, 3)
        self.server.go_on()
        self.assertEqual(sorted(c.response().status for c in clients), [200, 200, 429])
        self.assertEqual([r.body for r in self.origin_.requests], [body] * 2)

    def test_that_others_ask_about(self):
        text = "listeners: [ { address: '127.0.0.1:0', decide: true } ]\n"
        gateway = self.gateway(text + self.text_for(self.server.url))
        wait_until(lambda: self.fetches(gateway, "success") == 1)
        self.server.answer = key_set(self.old, self.new)
        self.server.hold()
        with gateway.connect() as c:
            c.request("/", [("Authorization", "Bearer " + self.after)])
            self.waiting(gateway, 1)
            self.server.go_on()
            self.assertEqual(c.response().status, 200)
            self.assertEqual(c.ask("/", [("Authorization", "Bearer x.y.z")]).status, REFUSED)
        self.assertEqual(len(gateway.log_lines(2)), 2)

    def test_through_a_reload(self):
        gateway = self.started_with()
        with gateway.connect() as c:
            c.request("/", [("Authorization", "Bearer " + self.after)])
            self.waiting(gateway, 1)
            other = self.text_for(self.server.url, limit="key: 'jwt:sub', missing_key: reject, rate: 7/m")
            self.assertIn("reloaded", gateway.reload(other))
            self.server.go_on()
            r = c.response()
            self.assertEqual((r.status, r["X-RateLimit-Limit"]), (200, "7"))

    def test_a_reload_takes_the_routes_timeout_away(self):
        """Another request that has it, and came later, shows that it has passed."""
        go = threading.Event()
        def script(peer, request):
            peer.read_body(request)
            go.wait(60)
            peer.reply()

        self.origin_ = self.origin(script)
        routes = (
            "routes: [ { match: { path: /a }, limits: [l], upstream: up%s },"
            " { match: { path: /b }, limits: [l], upstream: up, timeout: 3s } ]\n"
        )
        gateway = self.started_with(routes=routes % ", timeout: 3s")
        with gateway.connect() as c, gateway.connect() as later:
            c.request("/a", [("Authorization", "Bearer " + self.after)])
            self.waiting(gateway, 1)
            self.assertIn("reloaded", gateway.reload(self.text_for(self.server.url, routes=routes % "")))
            self.server.go_on()
            later.request("/b", [("Authorization", "Bearer " + self.before)])
            self.assertEqual(later.response().status, 504)
            go.set()
            self.assertEqual(c.response().status, 200)

    def test_another_upstream_has_who_is_over_the_limit_once(self):
        """The store is asked when the keys have come, and says no."""
        redis = self.started(RedisServer())
        other = self.origin()
        gateway = self.started_with(
            limit="key: 'jwt:sub', missing_key: reject, rate: 1/h, store: s",
            routes="routes: [ { limits: [l], upstream: up, rejection: { upstream: other } } ]\n",
            more_upstreams=f", other: {{ servers: ['{other.address}'] }}",
            more_text=f"stores: {{ s: {{ url: '{redis.url}', timeout: 10s, remember_rejections: false }} }}\n",
        )
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="s"), what="store")
        with gateway.connect() as one, gateway.connect() as two:
            for c in (one, two):
                c.request("/", [("Authorization", "Bearer " + self.after)])
            self.waiting(gateway, 2)
            self.server.go_on()
            self.assertEqual([c.response().status for c in (one, two)], [200, 200])
            self.assertEqual([c.ask("/again", [("Authorization", "Bearer " + self.after)]).status for c in (one, two)], [200, 200])
        self.assertEqual(len(self.origin_.requests), 1)
        self.assertEqual([r["X-Over-Limit"] for r in other.requests], ["l"] * 3)

    def test_past_the_bound_is_refused_at_once(self):
        gateway = self.started_with()
        fields = lambda token: [("authorization", "Bearer " + token)]
        with contextlib.ExitStack() as all_of_them:
            for _ in range(10):
                c = all_of_them.enter_context(Http2(gateway.address))
                for _ in range(100):
                    c.request("/", fields(self.after))
            self.waiting(gateway, 1000)
            self.assertEqual(self.status(gateway, self.after), REFUSED)
            self.assertEqual(self.status(gateway, self.before), 200)


class Closing:
    """A connection that its test closes."""

    def __init__(self, gateway):
        self._connection = gateway.connect()
        self.request, self.response = self._connection.request, self._connection.response
        self.stop = self._connection.close


class Renewed(JwksTest):
    def rotated(self, gateway, server, answer):
        """The answer has been fetched, for a stranger."""
        server.answer = answer
        times = len(server.requests)
        self.status(gateway, self.key("a stranger")[1])
        server.fetched(times + 1)

    def test_keys_that_left_are_refused_at_once(self):
        old, before = self.key("old")
        new, after = self.key("new")
        server = self.serve(old)
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual([self.status(gateway, t) for t in (before, before)], [200, 200])
        server.answer = key_set(new)
        self.assertEqual(self.status(gateway, after), 200)
        self.assertEqual(self.status(gateway, before), REFUSED)

    def test_a_reload_fetches_again_and_keeps_keys_meanwhile(self):
        public, token = self.key("a")
        server = self.serve(public)
        text = self.text_for(server.url)
        gateway = self.gateway(text)
        self.assertEqual(self.status(gateway, token), 200)
        server.hold()
        self.assertIn("reloaded", gateway.reload(text))
        server.fetched(2)
        self.assertEqual(self.status(gateway, token), 200)
        server.go_on()
        other, of_other = self.key("b")
        second = self.serve(other)
        self.assertIn("reloaded", gateway.reload(self.text_for(second.url)))
        self.assertEqual(self.status(gateway, of_other), 200)
        self.assertEqual(self.status(gateway, token), REFUSED, "a key of the issuer before")
        path = self.directory().file("jwks.json", json.dumps({"keys": [public]}))
        self.assertIn("reloaded", gateway.reload(self.text_for(path, tls=False)))
        self.assertEqual([self.status(gateway, t) for t in (token, of_other)], [200, REFUSED])
        self.assertNotIn("jwks", self.readiness(gateway)[1])

    def test_rotation_under_load_loses_nobody(self):
        old, token = self.key("0")
        server = self.serve(old)
        gateway = self.gateway(self.text_for(server.url, limit="key: 'jwt:sub', missing_key: reject, rate: 1000000/s"))
        current, wrong, sent = [token], [], [0] * 4
        over = threading.Event()

        def load(number):
            with gateway.connect() as c:
                while not over.is_set():
                    status = c.ask("/", [("Authorization", "Bearer " + current[0])]).status
                    sent[number] += 1
                    if status != 200:
                        wrong.append(status)

        threads = [threading.Thread(target=load, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        try:
            wait_until(lambda: min(sent) > 10)
            new, fresh = self.key("1")
            server.answer = key_set(old, new)
            current[0] = fresh
            seen = list(sent)
            wait_until(lambda: all(now > was + 20 for now, was in zip(sent, seen)))
            server.answer = key_set(new)
            gateway.reload(self.text_for(server.url, limit="key: 'jwt:sub', missing_key: reject, rate: 1000000/s"))
            server.fetched(3)
            seen = list(sent)
            wait_until(lambda: all(now > was + 20 for now, was in zip(sent, seen)))
        finally:
            over.set()
            for t in threads:
                t.join()
        self.assertEqual(wrong, [])
        self.assertEqual(self.status(gateway, token), REFUSED)


class Lying(JwksTest):
    """An issuer that is slow, gone or lying costs no request more than its own refusal."""

    def lies(self):
        public, _ = self.key("b")
        return {
            "status 404": (404, json.dumps({"keys": [public]}).encode(), {}),
            "status 500": (500, b"", {}),
            "expected one JSON object": (200, b"<html><body>Sign in</body></html>", {}),
            "its answer is too long": (200, b" " * 10_000_000, {}),
            f'status 302, and redirects are not followed: name "https://127.0.0.1:{free_port()}/x"': None,
            "expected a JSON Web Key Set": (200, b"{}", {}),
            "none for HS256, RS256, ES256 or EdDSA": key_set(),
            "none for HS256": key_set({"kty": "oct", "k": encoded(b"k" * 32)}),
            "keys: more than 100": key_set(*[public] * 101),
        }

    def test_keeps_the_old_keys(self):
        public, token = self.key("a")
        server = self.serve(public)
        lies = self.lies()
        gateway = self.gateway(self.text_for(server.url))
        self.assertEqual(self.status(gateway, token), 200)
        for reason, answer in lies.items():
            with self.subTest(reason):
                if answer is None:
                    answer = (302, b"", {"Location": reason.split('"')[1]})
                server.answer = answer
                failures = self.fetches(gateway, "failure")
                gateway.reload(self.text_for(server.url))
                self.failed(gateway, failures + 1)
                gateway.wait_for_diagnostic(json.dumps(reason)[1:-1])
                self.assertEqual(self.status(gateway, token), 200)
                self.assertEqual(self.status(gateway, self.key("c")[1]), REFUSED)
                self.assertEqual(self.readiness(gateway)[1]["jwks"], "failing")
                self.assertEqual(self.readiness(gateway)[0], 200)
        server.answer = key_set(public)
        gateway.reload(self.text_for(server.url))  # fetches at once
        gateway.wait_for_diagnostic("keys can be fetched again")
        wait_until(lambda: self.readiness(gateway)[1]["jwks"] == "ok")

    def test_without_keys_requests_with_tokens_get_503(self):
        public, token = self.key("a")
        port = free_port()
        gateway = self.gateway(self.text_for(f"https://127.0.0.1:{port}/jwks.json"))
        self.failed(gateway)
        with gateway.connect() as c:
            r = c.ask("/", [("Authorization", "Bearer " + token)])
        self.assertEqual((r.status, r["Retry-After"]), (UNAVAILABLE, "1"))
        self.assertEqual(gateway.metrics().count("gateway_decisions_total", limit="l", outcome="failed_closed"), 1)
        self.assertEqual(gateway.get().status, REFUSED, "without a token")
        status, body = self.readiness(gateway)
        self.assertEqual((status, body["jwks"]), (200, "none"))
        self.started(KeyServer(self.made, key_set(public), port=port))
        gateway.wait_for_diagnostic("1 keys fetched, 0 before")
        self.assertEqual(self.status(gateway, token), 200)

    def test_without_keys_the_process_may_not_be_ready(self):
        public, token = self.key("a")
        port = free_port()
        gateway = self.gateway(self.text_for(f"https://127.0.0.1:{port}/jwks.json", ", on_no_keys: wait"))
        self.failed(gateway)
        status, body = self.readiness(gateway)
        self.assertEqual((status, body["jwks"]), (503, "none"))
        self.assertIn("jwks", body["reasons"][0])
        self.started(KeyServer(self.made, key_set(public), port=port))
        wait_until(lambda: self.readiness(gateway)[0] == 200, 20)
        self.assertEqual(self.status(gateway, token), 200)

    def test_that_is_silent_is_left(self):
        public, token = self.key("a")
        server = self.serve(public)
        server.hold()
        gateway = self.gateway(self.text_for(server.url, ", timeout: 50ms"))
        gateway.wait_for_diagnostic("there are no keys yet: no answer in time")
        self.failed(gateway, 2)
        self.assertEqual(self.status(gateway, token), UNAVAILABLE)
        server.go_on()
        gateway.wait_for_diagnostic("1 keys fetched")
        self.assertEqual(self.status(gateway, token), 200)


class Configured(JwksTest):
    def complaint(self, section):
        path = self.directory().file("gateway.yaml", f"listeners: [ {{ address: '127.0.0.1:0' }} ]\njwt: {section}\n")
        return run_command("check", "--config", path)[2]

    def test_urls_without_tls_are_refused(self):
        self.assertIn("jwt.keys: keys are fetched from https:// URLs only", self.complaint("{ keys: 'http://id/x' }"))
        self.assertIn("expected https://HOST", self.complaint("{ keys: 'https://u:p@id/x' }"))
        self.assertIn("jwt.refresh: is for keys that are fetched", self.complaint("{ keys: /x.json, refresh: 5m }"))
