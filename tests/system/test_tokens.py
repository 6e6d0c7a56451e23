"""Limits by a claim of a JSON Web Token: who has a bucket, and who has none."""
import base64
import json
import time

from harness.case import SystemTest
from harness.gateway import MovingClock, run_command, whole_configuration
from harness.process import free_port, wait_until
from harness.client import Connection
from harness.redis_server import RedisServer
from harness.tokens import ALGORITHMS, Issuer, JoseIssuer, encoded, has_jose, hs256, part


def spelled(token):
    """What only lenient servers take for that token."""
    return [f"{token}=", f'"{token}"', f"{token},x", f"token=\"{token}\""]


def damaged(token):
    """That token, with a bit of every sixth byte of each part turned."""
    parts = token.split(".")
    for number, coded in enumerate(parts):
        data = base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
        for at in range(0, len(data), 6):
            changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            yield ".".join(parts[:number] + [encoded(changed)] + parts[number + 1 :])


class TokenTest(SystemTest):
    issuer_type = Issuer

    def setUp(self):
        super().setUp()
        self.issuer = self.started(self.issuer_type())
        self.origin_ = self.origin()
        self.files = self.directory()
        self.keys_path = self.files.file("jwks.json")

    def write_keys(self, *keys):
        self.files.file("jwks.json", json.dumps({"keys": keys}))

    def text_with(self, more="", key="jwt:sub", missing="reject", listeners=""):
        return (
            f"{listeners}jwt: {{ keys: {self.keys_path}{more} }}\n"
            f"limits: {{ l: {{ key: '{key}', missing_key: {missing}, rate: 2/d }} }}\n"
            "routes: [ { limits: [l], upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n"
        )

    def gateway_with(self, *more, environment=None, **text):
        return self.gateway(self.text_with(*more, **text), environment=environment)

    def statuses(self, gateway, tokens, field="Authorization", before="Bearer "):
        with gateway.connect() as c:
            return [c.ask("/", [(field, before + t)]).status for t in tokens]


class Tokens(TokenTest):
    def test_of_each_algorithm_give_each_user_a_bucket(self):
        self.write_keys(*[self.issuer.make_key(a, kid=a) for a in ALGORITHMS])
        gateway = self.gateway_with()
        soon = int(time.time()) + 600
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                alice, again, bob = (
                    self.issuer.token(algorithm, {"kid": algorithm}, sub=sub + algorithm, exp=soon, jti=jti)
                    for sub, jti in (("alice", 1), ("alice", 2), ("bob", 3))
                )
                self.assertEqual(self.statuses(gateway, [alice, again, alice, again, bob]), [200, 200, 429, 429, 200])
                self.assertEqual(self.origin_.last()["Authorization"], "Bearer " + bob)
        with open(gateway.log_path, encoding="utf-8") as f:
            log = f.read() + "\n".join(gateway.diagnostics)
        self.assertNotIn("alice", log)
        self.assertNotIn(alice.rpartition(".")[2], log)

    def test_that_do_not_verify_are_as_if_absent(self):
        self.write_keys(self.issuer.make_key("ES256"))
        good = self.issuer.token("ES256", sub="alice")
        self.issuer.make_key("ES256")
        bad = self.issuer.token("ES256", sub="alice")
        for missing, expected in (("reject", [400] * 4), ("skip", [200] * 4), ("client_ip", [200, 200, 429, 429])):
            with self.subTest(missing):
                gateway = self.gateway_with(missing=missing)
                self.assertEqual(self.statuses(gateway, [bad] * 4), expected)
                self.assertEqual(self.statuses(gateway, [good] * 3), [200, 200, 429])
                self.assertEqual(gateway.get().status, expected[-1], "without a token at all")
                self.assertEqual(self.statuses(gateway, spelled(good)), [400] * 4, "good to some only")
                self.assertEqual(self.statuses(gateway, spelled(bad)[:2]), expected[-1:] * 2, "good to nobody")

    def test_that_are_forged_are_refused(self):
        public = self.issuer.make_key("RS256", kid="a")
        self.write_keys(public)
        now = int(time.time())
        good = self.issuer.token("RS256", sub="alice", iss="us", aud=["x", "api"], exp=now + 600)
        header, payload, signature = good.split(".")
        none = [f"{part({'alg': alg})}.{payload}." for alg in ("none", "None", "NONE", "")]
        forged = [
            *none,
            *[token + signature for token in none],
            f"{header}.{payload}.",
            f"{header}.{payload}",
            f"{header}.{part({'sub': 'alice', 'iss': 'us', 'aud': 'api'})}.{signature}",
            hs256(json.dumps(public).encode(), {"alg": "HS256"}, {"sub": "alice", "iss": "us", "aud": "api"}),
            hs256(public["n"].encode(), {"alg": "HS256"}, {"sub": "alice", "iss": "us", "aud": "api"}),
            f"{part({'alg': 'RS256', 'crit': ['b64'], 'b64': False})}.{payload}.{signature}",
        ]
        claims = {"sub": "alice", "iss": "us", "aud": "api", "exp": now + 600}
        for change in (
            {"exp": now - 60}, {"nbf": now + 60}, {"iss": "them"}, {"aud": "web"}, {"aud": []},
            {"exp": str(now + 600)}, {"sub": None}, {"sub": ["alice"]}, {"sub": {"alice": 1}}, {"sub": ""},
        ):
            forged.append(self.issuer.token("RS256", **(claims | change)))
        for change in (
            {"kid": "b"}, {"alg": "ES256"}, {"alg": "RS512"}, {"jku": "http://127.0.0.1/"}, {"jwk": public},
            {"crit": ["exp"]}, {"x5c": ["MIIB"]}, {"x5u": "http://127.0.0.1/"},
        ):
            forged.append(self.issuer.token("RS256", change, **claims))
        self.issuer.make_key("RS256")
        forged.append(self.issuer.token("RS256", **claims))
        gateway = self.gateway_with(", issuer: us, audience: api")
        for token in forged:
            with self.subTest(token):
                self.assertEqual(self.statuses(gateway, [token]), [400])
        self.assertEqual(self.statuses(gateway, [good] * 3), [200, 200, 429])

    def test_in_another_header_or_a_cookie(self):
        self.write_keys(self.issuer.make_key("EdDSA"))
        good = self.issuer.token("EdDSA", realm={"tenant": 7})
        gateway = self.gateway_with(", header: X-Id-Token", key="jwt:realm.tenant")
        self.assertEqual(self.statuses(gateway, [good], "X-Id-Token", ""), [200])
        self.assertEqual(self.statuses(gateway, [good] * 2, "X-Id-Token"), [200, 429])
        self.assertEqual(self.statuses(gateway, [good]), [400])
        gateway = self.gateway_with(", cookie: id", key="jwt:realm.tenant")
        self.assertEqual(self.statuses(gateway, [good] * 3, "Cookie", "a=b; id="), [200, 200, 429])

    def test_of_a_key_that_is_gone_count_no_more(self):
        old = self.issuer.make_key("EdDSA", kid="old")
        before = self.issuer.token("EdDSA", {"kid": "old"}, sub="alice")
        new = self.issuer.make_key("EdDSA", kid="new")
        after = self.issuer.token("EdDSA", {"kid": "new"}, sub="bob")
        self.write_keys(old)
        gateway = self.gateway_with()
        self.assertEqual(self.statuses(gateway, [before, after]), [200, 400])
        self.write_keys(new)
        self.assertEqual(self.statuses(gateway, [after]), [400], "before the reload")
        self.assertIn("reloaded", gateway.reload(self.text_with()))
        self.assertEqual(self.statuses(gateway, [before, after]), [400, 200])
        self.files.file("jwks.json", "{}")
        self.assertIn("reload refused", gateway.reload(self.text_with()))
        gateway.wait_for_diagnostic("expected a JSON Web Key Set")
        self.assertEqual(self.statuses(gateway, [before, after]), [400, 200])

    def test_that_expire_count_no_more(self):
        self.write_keys(self.issuer.make_key("HS256"))
        clock = self.started(MovingClock())
        gateway = self.gateway_with(environment=clock.environment)
        token = self.issuer.token("HS256", sub="alice", exp=int(time.time()) + 3600)
        self.assertEqual(self.statuses(gateway, [token]), [200])
        clock.move("+3590s")
        self.assertEqual(self.statuses(gateway, [token]), [200])
        clock.move("+3700s")
        self.assertEqual(self.statuses(gateway, [token]), [400])
        early = self.issuer.token("HS256", sub="bob", nbf=int(time.time()) + 7200)
        self.assertEqual(self.statuses(gateway, [early] * 2), [400] * 2)
        clock.move("+7200s")
        self.assertEqual(self.statuses(gateway, [early]), [200], "it was refused for its time alone")

    def test_of_questions_are_those_of_the_request(self):
        self.write_keys(self.issuer.make_key("ES256"))
        port = free_port()
        listeners = f"listeners: [ {{ address: '127.0.0.1:0' }}, {{ address: '127.0.0.1:{port}', decide: true }} ]\n"
        self.gateway_with(listeners=listeners)
        token = self.issuer.token("ES256", sub="alice")
        with Connection(("127.0.0.1", port)) as c:
            asked = [c.ask("/", [("Authorization", "Bearer " + token)]).status for _ in range(3)]
            self.assertEqual(asked, [200, 200, 429])
            self.assertEqual(c.ask("/").status, 400)

    def test_bad_key_files_are_refused_at_the_start(self):
        config = self.files.file("gateway.yaml", whole_configuration(self.text_with()))
        status, _, said = run_command("check", "--config", config)
        self.assertEqual(status, 2)
        self.assertIn(f'jwt.keys: "{self.keys_path}" cannot be read: No such file or directory', said)
        self.write_keys({"kty": "oct", "k": encoded(b"secret")})
        status, _, said = run_command("check", "--config", config)
        self.assertEqual(status, 2)
        self.assertIn("keys[0].k: expected a secret of 32 bytes at least", said)


class LimitsWithoutTokens(TokenTest):
    """Limits that need no token decide before it is verified."""

    def limited_by_address(self, missing="reject", of_address="", stores=""):
        """Three requests of an address pass; in the configuration the limit of users comes first."""
        secret = self.files.file("token", "s3cret-of-the-admin")
        return self.gateway(
            f"admin: {{ address: 127.0.0.1:0, token_file: '{secret}' }}\n{stores}jwt: {{ keys: {self.keys_path} }}\n"
            f"limits: {{ user: {{ key: 'jwt:sub', missing_key: {missing}, rate: 100/d{of_address} }},\n"
            f"          address: {{ key: client_ip, rate: 3/d{of_address} }},\n"
            f"          places: {{ key: client_ip, algorithm: concurrency, max: 1 }} }}\n"
            "routes: [ { limits: [user, address, places], upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n"
        )

    def good_and_forged(self):
        """A good token, and others that any of four keys could have signed, and did not."""
        self.issuer.make_key("ES256")
        forged = [self.issuer.token("ES256", sub=str(i)) for i in range(20)]
        self.write_keys(*[self.issuer.make_key("ES256") for _ in range(4)])
        return self.issuer.token("ES256", sub="alice"), forged

    def explained(self, gateway, *tokens):
        words = [w for t in tokens for w in ("-H", f"Authorization: Bearer {t}")]
        admin = "%s:%d" % gateway.admin
        return run_command("explain", "--config", gateway.config_path, "--admin", admin, "GET", "/", *words)[1]

    def test_reject_whatever_token_there_is(self):
        good, forged = self.good_and_forged()
        for missing in ("reject", "skip", "client_ip"):
            with self.subTest(missing):
                gateway = self.limited_by_address(missing)
                self.assertEqual(self.statuses(gateway, [good] * 4), [200] * 3 + [429])
                self.assertEqual(self.statuses(gateway, forged + [good]), [429] * 21)
                rejected = gateway.get()
                self.assertEqual(rejected.status, 429)
                self.assertGreater(int(rejected["Retry-After"]), 24 * 3600 / 3 - 60)
                self.assertEqual(json.loads(rejected.text)["violated-policies"], ["address"])
                for tokens in ([], forged[:1], [good]):
                    self.assertIn("429", self.explained(gateway, *tokens))
                count = gateway.metrics().count
                self.assertEqual(count("gateway_decisions_total", limit="address", outcome="rejected"), 23)

    def test_are_not_charged_for_a_request_without_its_key(self):
        good, _ = self.good_and_forged()
        late = self.issuer.token("ES256", sub="alice", exp=1)
        gateway = self.limited_by_address()
        self.assertEqual(self.statuses(gateway, [late, "", late] * 4), [400] * 12)
        self.assertIn("400", self.explained(gateway, late))
        self.assertEqual(self.statuses(gateway, [good] * 4), [200] * 3 + [429])

    def test_are_charged_for_forged_tokens(self):
        good, forged = self.good_and_forged()
        gateway = self.limited_by_address()
        self.assertIn("400", self.explained(gateway, forged[0]))
        self.assertEqual(self.statuses(gateway, forged), [400] * 3 + [429] * 17)
        self.assertIn("429", self.explained(gateway, forged[0]))
        self.assertEqual(self.statuses(gateway, [good]), [429])
        self.assertEqual(self.origin_.requests, [])

    def test_that_charge_by_the_status_charge_no_forged_token(self):
        _, forged = self.good_and_forged()
        gateway = self.limited_by_address(of_address=", charge_on: { status: [401] }")
        self.assertEqual(self.statuses(gateway, forged), [400] * 20)

    def test_in_a_shared_store_reject_by_what_is_remembered(self):
        redis = self.started(RedisServer())
        good, forged = self.good_and_forged()
        stores = f"workers: 1\nstores: {{ r: {{ url: 'redis://127.0.0.1:{redis.port}', timeout: 5s }} }}\n"
        gateway = self.limited_by_address(of_address=", store: r", stores=stores)
        self.assertEqual(self.statuses(gateway, [good, forged[0], good]), [200, 400, 200])
        asked = lambda: gateway.metrics().sum("gateway_store_requests_total", store="r")  # noqa: E731

        def asked_for_some_only():
            before = asked()
            self.assertEqual(self.statuses(gateway, [good, *forged]), [429] * 21)
            return asked() - before < 21

        # What the store said counts for 100 ms, of which a slow machine may let too many pass.
        wait_until(asked_for_some_only)


class TokensOfJose(TokenTest):
    """Whether we and that library believe the same."""

    issuer_type = JoseIssuer

    def setUp(self):
        if not has_jose():
            self.skipTest("NODE_PATH names no directory with npm's package jose")
        super().setUp()

    def test_are_believed_as_it_believes_them(self):
        keys = {algorithm: self.issuer.make_key(algorithm) for algorithm in ALGORITHMS}
        self.write_keys(*keys.values())
        gateway = self.gateway_with()
        soon = int(time.time()) + 600
        for algorithm, key in keys.items():
            with self.subTest(algorithm):
                good = self.issuer.token(algorithm, {"kid": key["kid"]}, sub=algorithm, exp=soon)
                self.assertTrue(self.issuer.believes(algorithm, good))
                self.assertEqual(self.statuses(gateway, [good] * 3), [200, 200, 429])
                late = self.issuer.token(algorithm, {"kid": key["kid"]}, sub=algorithm, exp=soon - 1200)
                forged = [late, *damaged(good)]
                self.assertEqual([t for t in forged if self.issuer.believes(algorithm, t)], [])
                self.assertEqual(self.statuses(gateway, forged), [400] * len(forged))
