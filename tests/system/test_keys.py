"""One credential is one key, however it is spelled, and what does not reach the upstream is none."""
import base64

from harness.case import SystemTest
from harness.gateway import run_command, whole_configuration

ONE_LIMIT = """
%s
limits: { l: { key: '%s', missing_key: %s, rate: 1/d, burst: 3 } }
routes: [ { match: { path: / }, limits: [l], upstream: up } ]
"""

# Fields that frameworks take the path, method or host from.
REWRITING = (
    "X-Original-URL",
    "X-Original-URI",
    "X-Original-Method",
    "X-Original-Host",
    "X-Rewrite-URL",
    "X-Script-Name",
    "SCRIPT_NAME",
    "X-Forwarded-Uri",
    "X-Forwarded-Method",
    "X-Forwarded-Prefix",
)


class Limited(SystemTest):
    def limited(self, key, missing="reject", client=""):
        self.origin_ = self.origin()
        return self.gateway(
            ONE_LIMIT % (client, key, missing)
            + f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n"
        )

    def status(self, gateway, target="/", headers=()):
        with gateway.connect() as c:
            return c.ask(target, [("Host", "gw.test"), *headers]).status


class Keys(Limited):
    def cookie(self, gateway, text):
        return self.status(gateway, headers=[("Cookie", text)])

    def authorization(self, gateway, text):
        return self.status(gateway, headers=[("Authorization", text)])

    def judge(self, key, send, plain, same, refused, other):
        """A client whose bucket is empty finds no other one by another spelling."""
        gateway = self.limited(key)
        self.assertEqual([send(gateway, plain) for _ in range(4)], [200] * 3 + [429])
        for expected, spellings in ((429, same), (400, refused), (200, other)):
            for text in spellings:
                with self.subTest(text):
                    self.assertEqual(send(gateway, text), expected)
        self.assertEqual(len(self.origin_.requests), 3 + len(other))

    def test_authorization(self):
        self.judge(
            "header:Authorization",
            self.authorization,
            "Bearer t0K",
            [
                "bearer t0K",
                "BEARER\tt0K",
                "Bearer \t t0K",
                "Token t0K",
                'Token token="t0K"',
                "Bearer t0K=",
            ],
            [
                "Bearer t0K x",
                "Bearer t0K,x",
                "Bearer t0K;x=1",
                "Bearer t0K, Bearer x",
                "Bearer\xa0t0K",
                "Bearer t0K\xa0",
            ],
            ["Bearer t0k", "Basic dDBL", "ApiKey t0K"],
        )

    def test_authorization_by_user_and_password(self):
        plain = base64.b64encode(b"user:passwd").decode()
        self.assertEqual(plain, "dXNlcjpwYXNzd2Q=")
        self.judge(
            "header:Authorization",
            self.authorization,
            "Basic " + plain,
            ["basic " + plain, "BASIC\t" + plain, "Basic   " + plain],
            [
                "Basic " + spelled
                for spelled in (
                    "dXNlcjpwYXNzd2Q",
                    "dXNlcjpwYXNzd2Q==",
                    "dXNlcjpwYXNzd2R=",
                    "dXNl cjpwYXNzd2Q=",
                    "dXNl!cjpwYXNzd2Q=",
                    "dXNlcjpwYXNzd2Q=x",
                    "dXNlcjpwYXNzd2Q=, Basic eA==",
                    '"dXNlcjpwYXNzd2Q="',
                )
            ],
            ["Basic dXNlcjpwYXNzd2U="],
        )

    def test_a_cookie(self):
        self.judge(
            "cookie:sid",
            self.cookie,
            "sid=REAL",
            [
                'sid="REAL"',
                "sid=%52EAL",
                'sid="%52EAL"',
                "x=1; sid = REAL ;y=2",
                "sid=REAL; sid=%52EAL",
            ],
            [
                'sid="\\122EAL"',
                'sid="\\REAL"',
                'sid="REAL',
                "sid=REAL,x=1",
                "sid=REAL x=1",
                "sid=REAL&x",
                "sid=REAL%00",
                "sid=REAL\xc2\xa0",
                "sid=REAL; SID=other",
                "SID=REAL",
                "sid[]=REAL",
                "%73id=REAL",
                "\xc2\xa0sid=REAL",
                "x=1,sid=REAL",
                "x=1 sid=REAL",
                "sid=; sid=REAL",
                "sid; sid=REAL",
            ],
            ["sid=real", "sid=REAL1", "sid=other; xsid=REAL"],
        )

    def test_blanks_and_plus_in_a_cookie_are_one(self):
        self.judge(
            "cookie:sid",
            self.cookie,
            "sid=r+l",
            ["sid=r%2Bl", "sid=r%20l", 'sid="r+l"'],
            ['sid="r l"', "sid=r l"],
            ["sid=rl", "sid=r-l"],
        )

    def test_several_lines_of_cookies(self):
        gateway = self.limited("cookie:sid")
        lines = [("Cookie", "x=1"), ("Cookie", "sid=REAL")]
        got = [self.status(gateway, headers=lines) for _ in range(4)]
        self.assertEqual(got, [200] * 3 + [429])
        for other in ("sid=other", "sid=", "x=1,sid=other"):
            self.assertEqual(self.status(gateway, headers=[*lines, ("Cookie", other)]), 400)

    def test_a_parameter(self):
        self.judge(
            "query:api_key",
            self.status,
            "/?api_key=RE+L",
            [
                "/?api%5Fkey=R%45%20L",
                "/?x=1&&api_key=RE%2BL&y",
                "/?api_key=RE+L&api_key=RE%20L",
                "/x?api_key=RE%2bL",
            ],
            [
                "/?api_key=RE+L;x=1",
                "/?x=1;api_key=RE+L",
                "/?x;api_key=RE+L",
                "/?api.key=RE+L",
                "/?api%20key=RE+L",
                "/?api+key=RE+L",
                "/?api[key=RE+L",
                "/?+api_key=RE+L",
                "/?%20api_key=RE+L",
                "/??api_key=RE+L",
                "/?api_key[]=RE+L",
                "/?api_key%5Bx%5D=RE+L",
                "/?api_key%00x=RE+L",
                "/?API_KEY=RE+L",
                "/?api%u005fkey=RE+L",
                "/?api_key=RE+L%00x",
                "/?api_key=%u0052E+L",
                "/?api_key=RE+L&API_KEY=x",
                "/?api_key&api_key=RE+L",
            ],
            ["/?api_key=re+l", "/?api_key=other&key=1&api=2", "/?api_key=RE%252BL"],
        )

    def test_a_header(self):
        self.judge(
            "header:X-Api-Key",
            lambda gateway, value: self.status(gateway, headers=[("X-Api-Key", value)]),
            "REAL",
            ["REAL ", "\tREAL", "REAL\xa0", "\x85REAL\x85"],
            [],
            ["real", "RE\xa0AL"],
        )
        gateway = self.limited("header:X-Api-Key")
        twice = [("X-Api-Key", ""), ("X-Api-Key", "REAL")]
        self.assertEqual(self.status(gateway, headers=twice), 400)


class OfTrustedPeers(Limited):
    def test_a_key_that_an_untrusted_peer_loses_is_absent(self):
        trusting = "client: { trusted_proxies: [192.0.2.1], header: X-Client }"
        for header in ("X-Real-IP", "X-Forwarded-User", "Forwarded", "X-Client", "X-Original-URL"):
            for missing, expected in (("client_ip", [200] * 3 + [429] * 3), ("reject", [400] * 6)):
                with self.subTest(header, missing=missing):
                    gateway = self.limited("header:" + header, missing, trusting)
                    got = [self.status(gateway, headers=[(header, f"v{i}")]) for i in range(6)]
                    self.assertEqual(got, expected)
                    self.assertTrue(all(not r.all(header) for r in self.origin_.requests))

    def test_a_trusted_peer_s_word_is_a_key(self):
        trusting = "client: { trusted_proxies: [127.0.0.1] }"
        gateway = self.limited("header:X-Forwarded-User", "reject", trusting)
        for user, expected in (("a", [200] * 3 + [429]), ("b", [200] * 3 + [429])):
            headers = [("X-Forwarded-User", user)]
            got = [self.status(gateway, headers=headers) for _ in range(4)]
            self.assertEqual(got, expected)

    def test_check_warns_of_such_a_key(self):
        text = ONE_LIMIT % ("", "header:X-Real-IP", "skip") + "upstreams: { up: { servers: [echo] } }"
        path = self.directory().file("gateway.yaml", whole_configuration(text))
        status, _, err = run_command("check", "--config", path)
        self.assertEqual(status, 0)
        self.assertIn("limits.l.key: x-real-ip is taken from trusted proxies only", err)

    def test_fields_that_rewrite_a_request_pass_from_trusted_peers_only(self):
        sent = [(name, "/login") for name in REWRITING]
        disguised = [(name.replace("-", "_"), "/login") for name in REWRITING if "-" in name]
        for trusted, expected in (("192.0.2.1", []), ("127.0.0.1", ["/login"])):
            gateway = self.limited(
                "client_ip", "skip", f"client: {{ trusted_proxies: [{trusted}] }}"
            )
            self.assertEqual(self.status(gateway, headers=sent + disguised), 200)
            request = self.origin_.last()
            for name in REWRITING:
                self.assertEqual(request.all(name), expected, name)
            for name, _ in disguised:
                if name.lower() not in (n.lower() for n in REWRITING):
                    self.assertEqual(request.all(name), [], name)
