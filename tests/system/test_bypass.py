"""Ways to dodge a limit: by how the path, the host, the method or the key is spelled, by who the
client claims to be, by how requests arrive, and by the clock.

A table of ours, and one kept outside the tree: bypass.jsonl in the directory GATEWAY_CASES names.
"""
import email.utils
import itertools
import json
import os
import re
import threading
import time
import unittest

from harness.case import SystemTest
from harness.gateway import MovingClock
from harness.process import wait_until

# Every client, told apart by an address we believe, has 3 logins and 20 other requests.
LOGIN = """
client: { trusted_proxies: [127.0.0.0/8] }
limits:
  login: { key: client_ip, rate: 1/d, burst: 3 }
  default: { key: client_ip, rate: 1/d, burst: 20 }
routes:
  - match: { host: gw.test, path: /api/login, methods: [POST] }
    limits: [login, default]
    upstream: up
  - { limits: [default], upstream: up }
"""

# One bucket of 3 for each value of a header, else for each address.
KEY = """
client: { trusted_proxies: [127.0.0.0/8] }
limits: { k: { key: 'header:X-Api-Key', missing_key: client_ip, rate: 1/d, burst: 3 } }
routes: [ { limits: [k], upstream: up } ]
"""

ONE_LIMIT = """
client: { trusted_proxies: [127.0.0.0/8] }
limits: { l: { key: %s, rate: 1/d, burst: 3 } }
routes: [ { match: { path: %s }, limits: [l], upstream: up }, { upstream: up } ]
"""

# What becomes of a client's fourth login, in disguise.
SAME, DEFAULT, REFUSED = "the same limit", "the default limit", "refused"

LOGIN_TARGETS = {
    SAME: [
        "/api/login",
        "/api/login/",
        "/api/login//",
        "/api/login/.",
        "/api/login/deeper",
        "/api/login?x=1",
        "/api/login?/../other",
        "//api/login",
        "/api//login",
        "///api///login",
        "/./api/login",
        "/api/./login",
        "/api/%2e/login",
        "/api/%2E/login",
        "/api/%6cogin",
        "/api/%6Cogin",
        "/%61%70%69/%6c%6f%67%69%6e",
        "/api%2flogin",
        "/api%2Flogin",
        "/api%5clogin",
        "/api%2f%2flogin",
        "/api/login;jsessionid=1",
        "/api/login;a=b;c",
        "/api/login;",
        "/api;x/login",
        "/api/login%3Bx",
        "/api/login;/",
        "/api;../login",
        "/api/;x/login",
        "/api;a=%252Fb/login",
        "http://gw.test/api/login",
        "HTTP://GW.TEST:80/api/login",
        "https://gw.test/api/login",
        "http://gw.test//api/./login?x",
    ],
    DEFAULT: [  # another resource to any server that reads paths as bytes, and still limited
        "/api/%256cogin",
        "/api%252flogin",
        "/api/login.",
        "/api/login%20",
        "/api/login%2520",
        "/api/loginx",
        "/api/log",
        "/API/LOGIN",
        "/api/log%C3%ADn",
        "/api/login%E2%80%8B",
        "/api/login%3F",
        "/api/login%23",
        "/api/login,x",
        "/api/login:80",
        "/api+/login",
        "http://other.test/api/login",
    ],
    REFUSED: [
        "/api\\login",
        "/api/login#x",
        "/api/login%00",
        "/api/login%00.png",
        "/api/login%0a",
        "/api/login%0d%0aX:%20y",
        "/api/login%09",
        "/api/login%7f",
        "/api/%",
        "/api/%6",
        "/api/%6gogin",
        "/api/%u006cogin",
        "/api%C0%AFlogin",
        "/api%c0%2flogin",
        "/api%E0%80%AFlogin",
        "/api%F0%80%80%AFlogin",
        "/api/log\xc3\xadn",
        "/api/x/..%2flogin",
        "/api/x%2f../login",
        "/api/x/..%5clogin",
        "/api/x/..;/login",
        "/api/x/..;a=b/login",
        "/api/.;/login",
        "/api//../api/login",
        "/../api/login",
        "/api/../../api/login",
        "/%2e%2e/api/login",
        "/api/x/../login",
        "/x/../api/login",
        "/api/login/../login",
        "/api/x/%2e%2e/login",
        "/api/x/.%2e/login",
        "/api/x/%2E./login",
        "/api/x/%2e%2e%2flogin",
        "/x%2Fy/../api/login",
        "/x%5Cy/../api/login",
        "/x;a=b/../api/login",
        "//x/../api/login",
        "/other/..",
        "/api;a=%2Fb/login",
        "/api;%5Cx/login",
        "/api;%2f/login",
        "/api;x%3B%2Fy/login",
        "/api%3Bx%2Fy/login",
        "/x;%2Fq/../api/login",
        "/x%2Fy;%2Fz/login",
        "/api/login;%2f..%2f..%2fother",
        "http://gw.test/x/../api/login",
        "http://gw.test/api;%2Fx/login",
        "api/login",
        "ftp://gw.test/api/login",
        "http:///api/login",
        "http://u@gw.test/api/login",
    ],
}

HOSTS = {
    SAME: [
        "gw.test",
        "GW.TEST",
        "Gw.tEst",
        "gw.test.",
        "gw.test:80",
        "gw.test:8080",
        "gw.test:",
        "gw.test.:443",
        "gw.test:00080",
    ],
    DEFAULT: [
        "other.test",
        "xgw.test",
        "gw.test.evil.test",
        "127.0.0.1",
        "[::1]",
    ],
    REFUSED: [
        "",
        "gw.test:99999",
        "gw.test:80:80",
        "gw.test:x",
        "gw.test other.test",
        "gw.test/x",
        "gw.test\\x",
        "u@gw.test",
        "gw.test?",
        "gw.test#x",
        "gw.test\xe3\x80\x82",
        "[::1",
        "gw.test%",
        "%67w.test",
        "gw.test..",
        ".gw.test",
        "gw..test",
        "gw.test,",
        "gw.test,other.test",
        "gw.test;other.test",
        "gw.test=",
        "gw!test",
    ],
}

METHODS = {
    SAME: [("POST", [])],
    DEFAULT: [
        ("BREW", []),
        ("brew", []),
        ("posts", []),
        ("GET", [("X-HTTP-Method-Override", "POST")]),
        ("GET", [("X-Method-Override", "POST")]),
        ("PUT", [("X-HTTP-Method", "POST")]),
        ("POSTX", []),
    ],
    REFUSED: [
        ("POST\t", []),
        ("P(ST", []),
        ("CONNECT", []),
        ("X" * 40, []),
        ("post", []),
        ("Post", []),
        ("pOST", []),
        ("POSt", []),
        ("get", []),
        ("hEAD", []),
        ("patch", []),
        ("connect", []),
    ],
}


class Clients:
    """Addresses that nobody has used yet."""

    def __init__(self):
        self._numbers = itertools.count(1)

    def next(self):
        n = next(self._numbers)
        return f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"


class Bypass(SystemTest):
    def limited(self, text):
        self.origin_ = self.origin()
        gateway = self.gateway(
            text
            + f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n"
            + "response_headers: { ratelimit: true }\n"
        )
        self.clients = Clients()
        return gateway

    def ask(self, gateway, method, target, headers=(), client="10.255.0.1"):
        """One request on a connection of its own, and what became of it."""
        before = len(self.origin_.requests)
        with gateway.connect() as c:
            headers = list(headers) + [("X-Forwarded-For", client)]
            if not any(name.lower() == "host" for name, _ in headers):
                headers.insert(0, ("Host", "gw.test"))
            r = c.ask(target, headers, method)
        forwarded = len(self.origin_.requests) - before
        self.assertEqual(forwarded, 1 if r.status == 200 else 0, "only what is allowed arrives")
        return r

    def outcome(self, r):
        if r.status == 429:
            self.assertEqual(json.loads(r.body)["violated-policies"], ["login"])
            return SAME
        if r.status == 200:
            self.assertRegex(r["ratelimit"], r'^"default";r=\d+;t=\d+$')
            return DEFAULT
        self.assertIn(r.status, (400, 404, 501))
        return REFUSED

    def fourth(self, gateway, method="POST", target="/api/login", headers=()):
        client = self.clients.next()
        for _ in range(3):
            self.assertEqual(
                self.ask(gateway, "POST", "/api/login", client=client).status, 200
            )
        return self.outcome(self.ask(gateway, method, target, headers, client))


class Spelling(Bypass):
    def test_paths(self):
        gateway = self.limited(LOGIN)
        for expected, targets in LOGIN_TARGETS.items():
            for target in targets:
                with self.subTest(target):
                    self.assertEqual(self.fourth(gateway, target=target), expected)

    def test_paths_are_forwarded_as_they_came(self):
        gateway = self.limited(LOGIN)
        for target in LOGIN_TARGETS[SAME] + LOGIN_TARGETS[DEFAULT]:
            if target.startswith("/") and not target.startswith("//"):
                self.ask(gateway, "POST", target, client=self.clients.next())
                self.assertEqual(self.origin_.last().target, target)

    def test_of_slashes_in_front_the_upstream_gets_one(self):
        """It could read a host behind two: //x/api/login is /api/login to some URL parsers."""
        gateway = self.limited(LOGIN)
        for target, arrives in (
            ("//x/api/login", "/x/api/login"),
            ("//x.test:80/api/login?a=//b", "/x.test:80/api/login?a=//b"),
            ("///v1//x/", "/v1//x/"),
            ("//", "/"),
            ("//?q", "/?q"),
            ("//api/login", "/api/login"),
            ("/%2Fx/api/login", "/%2Fx/api/login"),
            ("/.//x/api/login", "/.//x/api/login"),
            ("http://gw.test//x/api/login", "/x/api/login"),
            ("http://gw.test///", "/"),
        ):
            with self.subTest(target):
                self.ask(gateway, "POST", target, client=self.clients.next())
                self.assertEqual(self.origin_.last().target, arrives)

    def test_a_limited_prefix_is_not_left_by_dots(self):
        """Some frameworks choose the handler of /graphql before they look at dots."""
        gateway = self.limited(ONE_LIMIT % ("client_ip", "/graphql"))
        for dots in ("..", "%2e%2e", ".%2e", "%2E.", "..;x", "..%3Bx"):
            for target in (f"/graphql/{dots}/static", f"/graphql/{dots}", f"/graphql%2F{dots}/x"):
                with self.subTest(target):
                    self.assertEqual(self.ask(gateway, "POST", target).status, 400)

    def test_a_refused_path_is_told_why_and_so_is_the_log(self):
        gateway = self.limited(LOGIN)
        reasons = {
            "/a/%zz": "the path has a malformed percent-encoding",
            "/a%00": "the path has a control byte",
            "/a\\b": "the path has a backslash, ? or # that is not percent-encoded",
            "/a/../b": "the path has a .. segment, which clients resolve before they send",
            "/a/.;x/b":
                "the path has a . segment with parameters or beside an encoded separator",
            "/a;x=%2F/b": "the path has an encoded separator (%2F or %5C) inside a parameter",
        }
        with gateway.connect() as c:
            for target, reason in reasons.items():
                r = c.ask(target, [("Host", "gw.test")])
                self.assertEqual((r.status, json.loads(r.body)["detail"]), (400, reason), target)
        told = [(line["status"], line["error"]) for line in gateway.log_lines(len(reasons))]
        self.assertEqual(told, [(400, reason) for reason in reasons.values()])

    def test_a_method_in_another_case_closes_the_connection(self):
        gateway = self.limited(LOGIN)
        with gateway.connect() as c:
            r = c.ask("/api/login", [("Host", "gw.test")], "pOST")
            self.assertEqual((r.status, r["connection"]), (400, "close"))
            self.assertIn("letter case", json.loads(r.body)["detail"])
            self.assertTrue(c.ends())
        self.assertEqual(self.origin_.requests, [])

    def test_hosts(self):
        gateway = self.limited(LOGIN)
        for expected, hosts in HOSTS.items():
            for host in hosts:
                with self.subTest(host):
                    self.assertEqual(self.fourth(gateway, headers=[("Host", host)]), expected)

    def test_the_host_of_an_absolute_target_counts_and_not_the_field(self):
        gateway = self.limited(LOGIN)
        for target, host, expected in (
            ("http://gw.test/api/login", "other.test", SAME),
            ("http://gw.test:81/api/login", "other.test", SAME),
            ("http://other.test/api/login", "gw.test", DEFAULT),
        ):
            got = self.fourth(gateway, target=target, headers=[("Host", host)])
            self.assertEqual(got, expected)
            if expected == DEFAULT:
                self.assertEqual(self.origin_.last().all("host"), ["other.test"])

    def test_methods(self):
        gateway = self.limited(LOGIN)
        for expected, methods in METHODS.items():
            for method, headers in methods:
                with self.subTest(method, headers=headers):
                    self.assertEqual(self.fourth(gateway, method, headers=headers), expected)

    def test_an_unknown_method_is_limited_like_any(self):
        gateway = self.limited(LOGIN)
        statuses = [self.ask(gateway, "BREW", "/api/login").status for _ in range(25)]
        self.assertEqual(statuses, [200] * 20 + [429] * 5)


class Keys(Bypass):
    def statuses(self, text, requests):
        gateway = self.limited(text)
        return [self.ask(gateway, "GET", t, h, **more).status for t, h, more in requests]

    def share(self, text, requests):
        """These are one client: the fourth is too many."""
        self.assertEqual(self.statuses(text, requests), [200, 200, 200, 429])

    def test_one_value_is_one_bucket_whatever_its_bytes(self):
        gateway = self.limited(KEY)
        for value in (
            "plain",
            "K" * 8000,
            "a\\r\\n*1\\r\\n$8\\r\\nFLUSHALL",
            "*') redis.call('FLUSHALL') --",
            "'; DROP TABLE buckets; --",
            "\xff\xfe",
            "{tag}",
            "%00",
        ):
            with self.subTest(value[:40]):
                key = [("X-Api-Key", value)]
                client = self.clients.next()
                got = [self.ask(gateway, "GET", "/k", key, client).status for _ in range(4)]
                self.assertEqual(got, [200, 200, 200, 429])

    def test_an_empty_or_absent_value_is_the_client_s_bucket(self):
        keys = [[("X-Api-Key", "")], [], [("X-Api-Key", " \t ")], [("X-Api-Key", "")] * 2]
        self.share(KEY, [("/k", key, {}) for key in keys])

    def test_a_name_in_other_letters_is_the_same_field(self):
        names = ("X-Api-Key", "x-api-key", "X-API-KEY", "x-Api-kEY")
        self.share(KEY, [("/k", [(name, "v")], {}) for name in names])

    def test_two_values_are_refused(self):
        keys = [[("X-Api-Key", "a"), ("X-Api-Key", str(i))] for i in range(4)]
        self.assertEqual(self.statuses(KEY, [("/k", key, {}) for key in keys]), [400] * 4)

    def test_a_name_that_some_servers_take_for_it_is_refused(self):
        names = ("X_Api_Key", "X.Api-Key", "x_api_key", "X-API_KEY")
        self.assertEqual(self.statuses(KEY, [("/k", [(n, "v")], {}) for n in names]), [400] * 4)
        both = [("X-Api-Key", "v"), ("X_Api_Key", "v")]
        self.assertEqual(self.statuses(KEY, [("/k", both, {})]), [400])

    def test_a_key_that_the_upstream_would_not_get_is_refused(self):
        for key, field in (("header:X-Api-Key", "X-Api-Key"), ("cookie:s", "Cookie")):
            text = ONE_LIMIT % (f"'{key}', missing_key: client_ip", "/")
            fresh = [[(field, f"s={i}"), ("Connection", field.lower())] for i in range(4)]
            self.assertEqual(self.statuses(text, [("/", f, {}) for f in fresh]), [400] * 4)

    def test_credentials_are_one_key_however_they_are_spelled(self):
        text = ONE_LIMIT % ("'header:Authorization', missing_key: reject", "/")
        values = ("Bearer t0K", "bearer t0K", "BEARER   t0K", "bEaReR t0K ")
        self.share(text, [("/", [("Authorization", v)], {}) for v in values])
        others = [("/", [("Authorization", v)], {}) for v in ("Bearer a", "Bearer A", "Basic YTo=")]
        self.assertEqual(self.statuses(text.replace("burst: 3", "burst: 1"), others), [200] * 3)

    def test_a_cookie_is_one_key_however_it_is_spelled(self):
        text = ONE_LIMIT % ("'cookie:s', missing_key: reject", "/")
        values = ("s=abc", 's="abc"', "a=b;s=%61bc ;c=d", "s = abc")
        self.share(text, [("/", [("Cookie", v)], {}) for v in values])
        twice = [("/", [("Cookie", "s=a; s=b")], {}), ("/", [("Cookie", "S=a")], {})]
        self.assertEqual(self.statuses(text, twice), [400, 400])

    def test_random_keys_are_bounded_by_a_limit_per_address_beside(self):
        gateway = self.limited(
            KEY.replace("limits: { k", "limits: { a: { key: client_ip, rate: 1/d, burst: 50 }, k")
            .replace("[k]", "[a, k]")
        )
        got = [
            self.ask(gateway, "GET", "/k", [("X-Api-Key", f"random{i}")]).status
            for i in range(100)
        ]
        self.assertEqual((got.count(200), got.count(429)), (50, 50))

    def test_a_path_is_one_key_however_it_is_spelled(self):
        targets = ("/u/alice", "/u//alice", "/u/%61lice", "/u/./alice;x")
        self.share(ONE_LIMIT % ("path", "/u"), [(t, [], {}) for t in targets])

    def test_a_path_is_one_key_with_and_without_a_slash_at_its_end(self):
        targets = ("/u/alice", "/u/alice/", "/u//alice//", "/u/alice/.")
        self.share(ONE_LIMIT % ("path", "/u"), [(t, [], {}) for t in targets])

    def test_a_path_is_one_key_in_every_case_where_the_route_ignores_case(self):
        targets = ("/u/kim", "/U/Kim", "/u/%4B%C4%B1m/", "/%75/%E2%84%AAIM")
        self.share(ONE_LIMIT % ("path", "/u, ignore_case: true"), [(t, [], {}) for t in targets])
        others = self.statuses(ONE_LIMIT % ("path", "/"), [(t, [], {}) for t in ("/x", "/X", "/x", "/X", "/x")])
        self.assertEqual(others, [200] * 5)

    def test_a_path_key_gives_no_fresh_names_for_one_resource(self):
        gateway = self.limited(ONE_LIMIT % ("path", "/u"))
        for spelling in ("/u/alice;a=%2F{}", "/u;%5C{}/alice", "/u/x{}/../alice", "/u%2F{}/../alice"):
            for i in range(4):
                r = self.ask(gateway, "GET", spelling.format(i))
                self.assertEqual(r.status, 400, spelling)

    def test_a_host_is_one_key_however_it_is_spelled(self):
        hosts = ("gw.test", "GW.test", "gw.test.", "gw.test:81")
        self.share(ONE_LIMIT % ("host", "/"), [("/", [("Host", h)], {}) for h in hosts])

    def test_a_parameter_is_one_key_however_it_is_spelled(self):
        text = ONE_LIMIT % ("'query:k', missing_key: reject", "/")
        targets = ("/?k=v", "/?%6b=v", "/?a=b&k=%76", "/?k=v&k=v")
        self.share(text, [(t, [], {}) for t in targets])

    def test_an_address_is_one_client_however_it_is_spelled(self):
        text = ONE_LIMIT % ("client_ip", "/")
        for spellings in (
            ("203.0.113.7", "::ffff:203.0.113.7", "203.0.113.7:80", "[::ffff:cb00:7107]:1"),
            ("2001:db8::1", "2001:DB8:0::1", "[2001:db8::1]:443", "2001:db8::ffff:1"),
            ("1.2.3.4, 203.0.113.7", "1.2.3.5,203.0.113.7", ",203.0.113.7", "203.0.113.7,"),
        ):
            self.share(text, [("/", [], {"client": a}) for a in spellings])


class Counting(Bypass):
    TEXT = ONE_LIMIT % ("[]", "/p")

    def count_200(self, gateway, requests):
        """How many of these, sent at the same time on connections of their own, are allowed."""
        statuses = []

        def one():
            statuses.append(gateway.get("/p").status)

        threads = [threading.Thread(target=one) for _ in range(requests)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(statuses), requests)
        return statuses.count(200)

    def test_parallel_connections(self):
        self.assertEqual(self.count_200(self.limited(self.TEXT), 100), 3)
        self.assertEqual(len(self.origin_.requests), 3)

    def test_pipelined_requests(self):
        gateway = self.limited(self.TEXT)
        with gateway.connect() as c:
            for _ in range(10):
                c.request("/p")
            self.assertEqual([c.response().status for _ in range(10)], [200] * 3 + [429] * 7)

    def test_every_method_takes_a_token(self):
        gateway = self.limited(self.TEXT)
        with gateway.connect() as c:
            got = [c.ask("/p", method=m).status for m in ("HEAD", "OPTIONS", "TRACE", "GET")]
        self.assertEqual(got, [200, 200, 200, 429])

    def test_leaving_early_saves_no_token(self):
        gateway = self.limited(self.TEXT)
        for i in range(3):
            c = gateway.connect()
            c.request("/p")
            wait_until(lambda i=i: len(self.origin_.requests) == i + 1)
            c.reset()
        self.assertEqual(gateway.get("/p").status, 429)

    def test_a_refused_request_does_not_take_from_the_other_limits(self):
        gateway = self.limited(LOGIN)
        for _ in range(10):
            self.ask(gateway, "POST", "/api/login")
        left = self.ask(gateway, "GET", "/")["ratelimit"]
        self.assertTrue(left.startswith('"default";r=16;'), left)

    def test_a_request_that_no_server_sees_twice_is_one(self):
        gateway = self.limited(self.TEXT)
        for _ in range(2):
            self.assertEqual(gateway.get("/p").status, 200)
            self.origin_.close_connections()
        self.assertEqual([gateway.get("/p").status for _ in range(2)], [200, 429])


class Clock(Bypass):
    def test_a_step_of_the_wall_clock_gives_no_token_and_keeps_nobody_waiting(self):
        clock = self.started(MovingClock())
        origin = self.origin()
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 3/h, burst: 3 } }\n"
            "routes: [ { limits: [l], upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n",
            environment=clock.environment,
        )
        self.assertEqual([gateway.get().status for _ in range(4)], [200, 200, 200, 429])
        for offset, seconds in (("-3h", -10800), ("+100d", 8640000), ("+0", 0)):
            clock.move(offset)
            wait_until(lambda s=seconds: self.is_off_by(gateway, s), what="the clock is moved")
            r = gateway.get()
            self.assertEqual(r.status, 429)
            self.assertLessEqual(int(r["retry-after"]), 1200)
        self.assertEqual(len(origin.requests), 3)

    def is_off_by(self, gateway, seconds):
        told = email.utils.parsedate_to_datetime(gateway.get()["date"]).timestamp()
        return abs(told - time.time() - seconds) < 60


# How the corpus names its policies, and what we call them.
POLICIES = {
    "login": LOGIN,
    "k": KEY,
    "u": ONE_LIMIT % ("path", "/u"),
    "ip": ONE_LIMIT % ("client_ip", "/"),
    "p": ONE_LIMIT % ("[]", "/p"),
}


@unittest.skipUnless(
    os.path.exists(os.path.join(os.environ.get("GATEWAY_CASES", ""), "bypass.jsonl")),
    "GATEWAY_CASES names no directory with a bypass.jsonl",
)
class Recorded(Bypass):
    """Cases in prose are covered by the tests above, and by those of limits and stores."""

    def test_all(self):
        path = os.path.join(os.environ["GATEWAY_CASES"], "bypass.jsonl")
        with open(path, encoding="utf-8") as f:
            cases = [json.loads(line) for line in f]
        told = []
        for case in cases:
            policy = re.match(r"\w+", case["policy"]).group()
            if isinstance(case["requests"], list) and policy in POLICIES:
                told.append(case["id"])
                with self.subTest(case["id"], title=case["title"]):
                    self.judge(case, policy)
        self.assertGreater(len(told), len(cases) // 2)

    # What the corpus wants resolved we refuse, and the limit is kept as well.
    REFUSED_INSTEAD = ("BP-006",)

    def judge(self, case, policy):
        gateway = self.limited(POLICIES[policy])
        requests = case["requests"]
        ordinary = re.search("one ordinary bucket", case["expect"])
        if ordinary:
            requests = requests * 4
        answers = [self.send(gateway, *request) for request in requests]
        forwarded = sum(r.status == 200 for r in answers)
        bound = re.search(r"at most (\d+) forwarded", case["expect"])
        if bound:
            self.assertLessEqual(forwarded, int(bound.group(1)))
        elif "policy" in case["expect"] or "charged" in case["expect"]:
            wanted = {
                outcome
                for word, outcome in (("same", SAME), ("default", DEFAULT), ("reject", REFUSED))
                if re.search(rf"\b{word}", case["expect"].split(";")[0])
            }
            if case["id"] in self.REFUSED_INSTEAD:
                wanted = {REFUSED}
            self.assertIn(self.outcome(answers[-1]), wanted)
        else:
            self.assertEqual((forwarded, answers[-1].status), (len(answers) - 1, 429))

    def send(self, gateway, method, target, headers=None):
        if method == "XFF":
            return self.ask(gateway, "GET", "/", client=target)
        return self.ask(gateway, method, target, list((headers or {}).items()))
