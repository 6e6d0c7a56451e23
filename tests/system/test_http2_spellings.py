"""A spelling of a path, a host, a method or a key has one meaning, whichever protocol carries it: the same
status, the same bucket, and the same request to the origin."""
import json
import os
import random
import unittest

import test_bypass
from harness import spellings, value_spellings
from harness.both_protocols import Handshake, Message, OneByOne, message_of, seen
from harness.case import SystemTest, only_as_shipped
from harness.certificates import Certificates
from harness.client import Closed

COUNT = int(os.environ.get("GATEWAY_DIFFERENTIAL", "60"))
SEED = int(os.environ.get("GATEWAY_DIFFERENTIAL_SEED", "1"))
CASES = os.environ.get("GATEWAY_CASES", "")
TOLD = 20  # findings that a failure lists

CONFIGURATION = """
log: { access: false }
http: { body_timeout: 2s }
limits:
  login: { key: [], rate: 1/h, burst: 800001 }
  mount: { key: [], rate: 1/h, burst: 800002 }
  post: { key: [], rate: 1/h, burst: 800003 }
  host: { key: host, rate: 1/h, burst: 1001 }
  path: { key: path, rate: 1/h, burst: 1002 }
  query: { key: 'query:api_key', missing_key: skip, rate: 1/h, burst: 1003 }
  cookie: { key: 'cookie:session_id', missing_key: skip, rate: 1/h, burst: 1004 }
  authorization: { key: 'header:authorization', missing_key: skip, rate: 1/h, burst: 1005 }
  header: { key: 'header:x-api-key', missing_key: skip, rate: 1/h, burst: 1006 }
routes:
  - { match: { path: /api/login }, limits: [login], upstream: up }
  - { match: { path: /graphql, ignore_case: true }, limits: [mount], upstream: up }
  - { match: { path: /method, methods: [POST] }, limits: [post], upstream: up }
  - { match: { path: /host, host: gw.test }, limits: [login], upstream: up }
  - { match: { path: /host }, limits: [host], upstream: up }
  - { match: { path: /u }, limits: [path], upstream: up }
  - { match: { path: /query }, limits: [query], upstream: up }
  - { match: { path: /cookie }, limits: [cookie], upstream: up }
  - { match: { path: /authorization }, limits: [authorization], upstream: up }
  - { match: { path: /header }, limits: [header], upstream: up }
  - { upstream: up }
"""


class Compared(SystemTest):
    def setUp(self):
        self.up = self.origin()
        gateway = self.gateway(CONFIGURATION + f"upstreams: {{ up: {{ servers: ['{self.up.address}'] }} }}\n")
        self.senders = self.started(OneByOne(gateway.address, gateway.connect))

    def outcome(self, send, message):
        """Status, limit, tokens left, and what the origin got."""
        before = len(self.up.requests)
        try:
            r = send(message)
        except (Closed, ConnectionError) as e:
            return type(e).__name__, None, 0, None
        got = self.up.requests[before:]
        self.assertLessEqual(len(got), 1, message)
        if r.status >= 400 and r.status != 502:
            self.assertEqual(got, [], message)
        left = int(r["x-ratelimit-remaining"] or 0)
        return r.status, r["x-ratelimit-limit"], left, seen(got[0]) if got else None

    def compare(self, pairs, least):
        """`pairs` of messages: over HTTP/1.1, and the same over HTTP/2. At least that many must pass."""
        findings, passed = [], 0
        for first, second in pairs:
            if not second.can_be_said():
                continue
            one = self.outcome(self.senders.over_http1, first)
            two = self.outcome(self.senders.over_http2, second)
            charged = 1 if one[1] is not None and two[1] is not None else 0
            passed += two[0] == 200
            if (one[0], one[1], one[2] - charged, one[3]) != two:
                findings.append(f"{first.text()!r}\n  HTTP/1.1: {one}\n  HTTP/2:   {two}\n  as {second.head()}")
        if findings:
            self.fail("\n".join([f"seed {SEED}: {len(findings)} differ", *findings[:TOLD]]))
        self.assertGreaterEqual(passed, least)

    def same(self, messages, least):
        self.compare([(m, m) for m in messages], least)


def without_handshake(got):
    """What an origin got, without the fields that each side makes anew."""
    if got is None:
        return None
    method, target, fields, cookie, body = got
    return method, target, [f for f in fields if not f[0].startswith("sec-")], cookie, body


def message(target="/", fields=(), method="GET", host="gateway.test"):
    return Message(method, target, [("Host", host), *fields])


def field_lines(name, text):
    """A spelling may hold further field lines."""
    first, *others = text.split("\r\n")
    return [(name, first), *(tuple(line.split(": ", 1)) for line in others)]


@only_as_shipped
class Spellings(Compared):
    def test_paths(self):
        self.same(map(message, spellings.paths(SEED, 4 * COUNT)), 100)

    def test_paths_in_loose_case(self):
        self.same(map(message, spellings.loose_paths(SEED, 4 * COUNT)), 100)

    def test_paths_that_a_limit_reads(self):
        targets = [t for group in test_bypass.LOGIN_TARGETS.values() for t in group]
        self.same(map(message, targets), 40)
        self.same([message(t.replace("/api/login", "/u/alice")) for t in targets], 20)

    def test_each_byte_in_a_path(self):
        """Raw, and percent-encoded. A raw ? or space ends a path in HTTP/1.1."""
        raw = [message(f"/u/a{chr(b)}b") for b in range(256) if chr(b) not in "\n\r "]
        self.same(raw, 70)
        self.same([message(f"/u/a%{b:02x}b") for b in range(256)], 200)
        self.same([message(f"/u?a={chr(b)}b") for b in range(256) if chr(b) not in "\n\r "], 70)

    def test_methods(self):
        known = [m for group in test_bypass.METHODS.values() for m, _ in group]
        methods = [m for m in spellings.methods(SEED, COUNT) + known if m != "CONNECT" and " " not in m]
        self.same([message("/method", method=m) for m in methods], 10)

    def test_hosts(self):
        hosts = [h for group in test_bypass.HOSTS.values() for h in group]
        hosts += [f"a{chr(b)}b.test" for b in range(256) if chr(b) not in "\n\r"]
        self.same([message("/host", host=h) for h in hosts], 30)

    def test_hosts_of_absolute_targets(self):
        hosts = [h for group in test_bypass.HOSTS.values() for h in group if not set(h) & set("/?#\\ ")]
        self.same([message(f"http://{h}/host") for h in hosts], 10)

    def test_queries(self):
        self.valued(value_spellings.queries(SEED, 2 * COUNT), lambda q: message("/query?" + q))

    def test_cookies(self):
        def with_cookie(text):
            """Several fields of HTTP/1.1 are one there, and crumbs here."""
            return message("/cookie", field_lines("Cookie", text))

        self.valued(value_spellings.cookies(SEED, 2 * COUNT), with_cookie)

    def test_credentials(self):
        self.valued(
            value_spellings.credentials(SEED, COUNT),
            lambda text: message("/authorization", field_lines("Authorization", text)),
        )

    def valued(self, pairs, message_with):
        spelt = [message_with(text) for pair in pairs for text in pair]
        self.same([m for m in spelt if " " not in m.target], 100)

    def test_crumbs_of_a_cookie(self):
        """A cookie that is cut at its separators is the same one (RFC 9113 §8.2.3)."""
        pick = random.Random(f"crumbs {SEED}")
        pairs = []
        for pair in value_spellings.cookies(SEED, 2 * COUNT):
            for text in pair:
                if "\r" in text or "; " not in text:
                    continue
                crumbs = text.split("; ")
                at = pick.randrange(1, len(crumbs))
                for cut in (crumbs, ["; ".join(crumbs[:at]), "; ".join(crumbs[at:])]):
                    # An empty crumb says nothing, and is left out.
                    if all(c and c == c.strip(" \t") for c in cut):
                        cookies = [("Cookie", c) for c in cut]
                        pairs.append((message("/cookie", [("Cookie", text)]), message("/cookie", cookies)))
        self.compare(pairs, 25)

    def test_keys_in_a_header(self):
        values = ["plain", "K" * 8000, "a\\r\\n*1", "'; DROP", "\xff\xfe", "{tag}", "%00", "", "a, b", '"a"', "a b", "a\tb"]
        values += [f"a{chr(b)}b" for b in range(256) if chr(b) not in "\n\r"]
        self.same([message("/header", [("X-Api-Key", v)]) for v in values], 200)

    def test_names_of_a_header(self):
        names = ["X-Api-Key", "X-API-KEY", "x-api-key", "X_Api_Key", "X.Api-Key", "X-API_KEY", "X-Api-Keys"]
        names += [f"X-Api{chr(b)}Key" for b in range(256) if chr(b) not in "\n\r:"]
        self.same([message("/header", [(n, "v")]) for n in names], 10)
        self.same([message("/header", [(n, "v"), ("X-Api-Key", "v")]) for n in names[:7]], 1)
        self.same([message("/header", [("X-Api-Key", "v"), ("X-Api-Key", v)]) for v in ("v", "w", "")], 0)

    def test_fields_that_a_proxy_writes(self):
        """What a client claims of itself is dropped or passed alike."""
        names = """X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host X-Forwarded-Port Forwarded X-Real-IP
        X-Original-URL X-Rewrite-URL X-Original-Method X-Script-Name Script-Name Script_Name X_Forwarded_For
        Content_Length Transfer_Encoding Via X-HTTP-Method-Override X-Request-Id Max-Forwards Priority
        X-RateLimit-Limit Early-Data Proxy Proxy-Authorization Cookie2 Accept-Encoding Range""".split()
        self.same([message("/header", [(n, "10")]) for n in names], 20)

    def test_handshakes(self):
        """Of WebSockets, to a server that knows none: HTTP/2 has a 502, as a 200 would open one."""
        paths = spellings.paths(SEED, COUNT) + [f"/u/a%{b:02x}b" for b in range(256)]
        asked = [Handshake("GET", target, [("Host", "gateway.test")]) for target in paths]
        for text in value_spellings.cookies(SEED, 0)[:40]:
            asked += [Handshake("GET", "/cookie", [("Host", "gateway.test"), ("Cookie", t)]) for t in text if "\r" not in t]
        passed = 0
        for each in asked:
            one = self.outcome(self.senders.over_http1, each)
            two = self.outcome(self.senders.over_http2, each)
            refused = 502 if one[0] == 200 else one[0]
            self.assertEqual((refused, one[1], one[2] - (one[1] is not None)), two[:3], each)
            self.assertEqual(without_handshake(one[3]), without_handshake(two[3]))
            passed += one[0] == 200
        self.assertGreater(passed, 200)

    def test_bounds(self):
        self.same([message("/" + "a" * n) for n in (8000, 20000)], 1)
        self.same([message("/", [("X-A", "b")] * n) for n in (50, 98, 110)], 1)
        self.same([message("/", [("X-A", "b" * n)]) for n in (1000, 9000, 20000)], 1)


def over_http2(plain):
    """The test case, whose requests HTTP/2 carries as far as it can say them."""

    class Carried(plain):
        def ask(self, gateway, method, target, headers=(), client="10.255.0.1"):
            fields = [*headers, ("X-Forwarded-For", client)]
            if not any(name.lower() == "host" for name, _ in fields):
                fields.insert(0, ("Host", "gw.test"))
            carried = Message(method, target, fields)
            if not carried.can_be_said():
                return super().ask(gateway, method, target, headers, client)
            before = len(self.origin_.requests)
            sender = OneByOne(gateway.address, gateway.connect)
            try:
                r = sender.over_http2(carried)
            finally:
                sender.stop()
            self.assertEqual(len(self.origin_.requests) - before, 1 if r.status == 200 else 0)
            return r

    Carried.__name__ = Carried.__qualname__ = f"{plain.__name__}OverHttp2"
    Carried.__module__ = __name__
    return Carried


SpellingOverHttp2 = over_http2(test_bypass.Spelling)
KeysOverHttp2 = over_http2(test_bypass.Keys)
RecordedOverHttp2 = over_http2(test_bypass.Recorded)


@unittest.skipUnless(os.path.exists(os.path.join(CASES, "smuggling.jsonl")), "GATEWAY_CASES names no directory of cases")
class RecordedRequests(Compared):
    """Each recorded request that HTTP/2 can say has the verdict that it has over HTTP/1.1."""

    @staticmethod
    def recorded(name):
        with open(os.path.join(CASES, name), encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def test_smuggling(self):
        # A method of more than 32 bytes is a 501 in both; one that is longer than a whole head is a 431 here.
        sayable = [message_of(case["raw"]) for case in self.recorded("smuggling.jsonl")]
        self.same([m for m in sayable if m and len(m.method) < 10000], 3)

    def test_valid(self):
        sent = [
            "".join(step["send"] for step in group)
            for case in self.recorded("valid.jsonl")
            for script in case["clients"]
            for group in groups_of(script)
        ]
        self.same([m for m in map(message_of, sent) if m], 20)


def groups_of(script):
    """What is sent without waiting for an answer between."""
    group = []
    for step in script:
        if isinstance(step.get("send"), str):
            group.append(step)
        elif group:
            yield group
            group = []
    if group:
        yield group


@only_as_shipped
class SpellingsOverTls(Spellings):
    def setUp(self):
        self.tls = Certificates(self.directory())
        self.tls.issue("gateway.test", "DNS:gateway.test")
        super().setUp()
