"""`json:PATH` as the key of a limit and of plans: each spelling of a value is one bucket, and what cannot be
read surely is absent."""
import gzip
import zlib

from harness.http2_upstream_case import ask_over_1
from harness.message_case import BURST, JSON, MessageTest, post, reading
from harness.redis_server import RedisServer
from harness.process import wait_until

OTHER_TYPES = ("null", "{}", "[]", '["a"]', '{"a":1}', "1.5", "1e-1", "-0.5", "15e-1", "1e999", "-1e400")

ONE_VALUE = (
    (r'"a-b"', r'"\u0061-b"', r'"a\u002db"', r'"a\u002Db"', r'"\u0061\u002d\u0062"'),
    (r'"a/b"', r'"a\/b"', r'"a\u002fb"', r'"a\u002Fb"'),
    ('"\u00e9"', r'"\u00e9"', r'"\u00E9"'),
    ('"\U0001f600"', r'"\ud83d\ude00"', r'"\uD83D\uDE00"'),
    (r'"\n"', r'"\u000a"', r'"\u000A"'),
    (r'"\\"', r'"\u005c"'),
    (r'"\""', r'"\u0022"'),
    (r'"\u0000"', r'"\u0000"'),
    ("1", "1.0", "1e0", "1E0", "1E+0", "1e-0", "10e-1", "0.1e1", "1.000", "0.01E2", "100.0e-2", " 1 ", "\t1\r\n"),
    ("0", "-0", "0.0", "0e5", "-0.0", "0E-7", "0e999"),
    ("1000", "1e3", "1.0e3", "10.00e2", "100000e-2"),
    ("-5", "-5.0", "-50e-1"),
    ("9007199254740991", "9007199254740991.0", "9.007199254740991e15", "9007199254740991e0"),
    ("true", " true", "true\n"),
    ("false", "\r\nfalse "),
)

DIFFERENT = ('"a"', '"A"', '"a "', '" a"', r'"a\u0000"', r'"e\u0301"', '"\u00e9"', "1", "-1", "2", "10", "true", "false")

DUPLICATES = (
    '{"k":"a","k":"b"}',
    '{"k":"a","k":"a"}',
    r'{"k":"a","\u006b":"b"}',
    r'{"\u006b":"a","k":"b"}',
    r'{"\u006B":"a","\u006b":"b"}',
    '{"k":null,"k":"a"}',
    '{"k":"a","k":null}',
    '{"k":{},"k":"a"}',
    '{"k":"a","k":[]}',
    '{"k":"a","x":{"y":[1,2,{"z":null}]},"k":"b"}',
)

NESTED_DUPLICATES = (
    '{"p":{"n":"a"},"p":{"n":"b"}}',
    '{"p":{"n":"a"},"p":{}}',
    '{"p":{},"p":{"n":"a"}}',
    '{"p":1,"p":{"n":"a"}}',
    '{"p":{"n":"a"},"p":null}',
    '{"p":{"n":"a","n":"b"}}',
    r'{"p":{"n":"a","\u006e":"b"}}',
    r'{"\u0070":{},"p":{"n":"a"}}',
)

INVALID = (
    "",
    " ",
    '{"k":"a"',
    '{"k":"a"}x',
    '{"k":"a"}}',
    '{"k":"a"},',
    '{"k":"a",}',
    '{,"k":"a"}',
    "{'k':'a'}",
    '{k:"a"}',
    '{"k":"a"}{"k":"b"}',
    '{"k":"a"}\n{"k":"b"}',
    '{"k":"a" "x":1}',
    '{"k" "a"}',
    '{"k"::"a"}',
    '{"k":a}',
    '{"k":True}',
    '{"k":tru}',
    '{"k":"a","x":01}',
    '{"k":"a","x":+1}',
    '{"k":"a","x":.5}',
    '{"k":"a","x":1.}',
    '{"k":"a","x":1e}',
    '{"k":"a","x":-}',
    '{"k":"a","x":0x10}',
    '{"k":"a","x":NaN}',
    '{"k":"a","x":Infinity}',
    '{"k":"a","x":[1,]}',
    '{"k":"a","x":[1 2]}',
    '{"k":"a","x":]}',
    '{"k":"a","x":"\x01"}',
    '{"k":"a\n"}',
    '{"k":"a\t"}',
    r'{"k":"\q"}',
    r'{"k":"\u00g0"}',
    r'{"k":"\u00"}',
    r'{"k":"\x61"}',
    '{"k":"a}',
    '/* */{"k":"a"}',
    '{"k":"a"}//',
    '{"k":"a"/**/}',
    '#\n{"k":"a"}',
    '{"k":"a"}\0',
    '\0{"k":"a"}',
    '\x0c{"k":"a"}',
    '\u00a0{"k":"a"}',
    ")]}'\n" + '{"k":"a"}',
)

NO_UTF8 = (
    b'{"k":"a\xff"}',
    b'{"k":"\xc0\xaf"}',
    b'{"k":"\xe0\x80\xaf"}',
    b'{"k":"\xed\xa0\x80"}',
    b'{"k":"\xed\xa0\xbd\xed\xb8\x80"}',
    b'{"k":"\xf5\x80\x80\x80"}',
    b'{"k":"\xf4\x90\x80\x80"}',
    b'{"k":"\xc3"}',
    b'{"k":"\x80"}',
    b'{"x":"\xff","k":"a"}',
    b'{"\xff":1,"k":"a"}',
    b'{"k":"a","x":"\xe2\x82"}',
    '{"k":"a"}'.encode("utf-16"),
    '{"k":"a"}'.encode("utf-16-le"),
    '{"k":"a"}'.encode("utf-32"),
)


class KeyTest(MessageTest):
    def by(self, part, missing="skip", **options):
        return self.limited(f"key: '{part}', missing_key: {missing}", **options)

    def charged(self, ask, gateway, body, fields=(JSON,), **options):
        """Tokens that the bucket of that request has lost so far; None: no bucket was charged. The request must
        pass, and its body arrive as it was sent."""
        got = post(ask, gateway, body, fields, **options)
        sent = body.encode() if isinstance(body, str) else body
        self.assertEqual((got.status, got.whole), (200, True), sent[:200])
        self.assertEqual(self.origin_.last().body, sent)
        left = got["x-ratelimit-remaining"]
        return None if left is None else BURST - int(left)

    def assert_absent(self, gateway, bodies, fields=(JSON,)):
        for ask in self.over_each_protocol():
            for body in bodies:
                with self.subTest(body=body[:200]):
                    self.assertIsNone(self.charged(ask, gateway, body, fields))


class Values(KeyTest):
    def test_each_spelling_of_a_value_is_one_key(self):
        g = self.by("json:k")
        for spellings in ONE_VALUE:
            charges = []
            for ask in self.over_each_protocol():
                charges += [self.charged(ask, g, f'{{"k":{s}}}') for s in spellings]
            with self.subTest(spellings=spellings):
                self.assertEqual(charges, list(range(1, 2 * len(spellings) + 1)))

    def test_different_values_are_different_keys(self):
        g = self.by("json:k")
        self.assertEqual([self.charged(ask_over_1, g, f'{{"k":{v}}}') for v in DIFFERENT], [1] * len(DIFFERENT))

    def test_other_types_are_absent(self):
        self.assert_absent(self.by("json:k"), [f'{{"k":{v}}}' for v in OTHER_TYPES])

    def test_integers_that_some_parsers_round_are_absent(self):
        """To JavaScript they are one number, to Python they are two."""
        bodies = ['{"k":9007199254740993}', '{"k":9007199254740992}', '{"k":-9007199254740993}', '{"k":1e300}']
        self.assert_absent(self.by("json:k"), bodies + ['{"k":18446744073709551617}'])

    def test_numbers_of_a_thousand_digits_are_nobody_elses(self):
        g = self.by("json:k")
        ones, zeros, nines = "1" * 1000, "0" * 1000, "9" * 1000
        for ask in self.over_each_protocol():
            for text in (ones, "-" + ones, "1" + zeros, "0." + ones, "1e" + nines, "1e-" + nines, "1E+" + zeros + nines):
                with self.subTest(text[:10]):
                    self.assertIsNone(self.charged(ask, g, f'{{"k":{text}}}'))
        plain = self.charged(ask_over_1, g, '{"k":1}')
        self.assertEqual(plain, 1, "another's number was charged")
        for text in ("1." + zeros, "1e" + zeros, "1" + zeros + "e-1000", "0." + zeros[:-1] + "1e1000"):
            with self.subTest(text[:10]):
                found = self.charged(ask_over_1, g, f'{{"k":{text}}}')
                self.assertIn(found, (None, plain + 1))
                plain = found or plain

    def test_a_key_of_two_members_and_an_address(self):
        g = self.limited("key: ['json:user', 'json:model', client_ip], missing_key: skip")
        bodies = ('{"user":"u","model":"m"}', '{"model":"m","user":"u"}', '{"user":"m","model":"u"}', '{"user":"um","model":""}')
        self.assertEqual([self.charged(ask_over_1, g, b) for b in bodies[:3]], [1, 2, 1])
        self.assertIn(self.charged(ask_over_1, g, bodies[3]), (1, None))
        self.assertIsNone(self.charged(ask_over_1, g, '{"user":"u"}'))


class Paths(KeyTest):
    def judge(self, part, found, absent):
        g = self.by(part)
        for ask in self.over_each_protocol():
            for body in found:
                with self.subTest(found=body):
                    self.assertIsNotNone(self.charged(ask, g, body))
        self.assert_absent(g, absent)
        self.assertEqual(self.charged(ask_over_1, g, found[0]), 2 * len(found) + 1, "all have one value")

    def test_a_member_of_the_root(self):
        self.judge(
            "json:model",
            ('{"model":"a"}', r'{"\u006dodel":"a"}', r'{"\u006d\u006F\u0064el":"a"}', ' \r\n\t{ "x" : [ ] , "model" : "a" } \n',
             '{"x":{"model":"b"},"model":"a"}', '{"Model":"b","model":"a"}', '{"model ":"b","model":"a"}',
             '{"x":["model","b"],"model":"a","y":"model"}', '{"x":1,"x":2,"model":"a"}', '{"":"b","model":"a"}'),
            ("{}", '{"x":"a"}', '{"x":{"model":"a"}}', '["model","a"]', '[{"model":"a"}]', '"model"', "1", "null",
             '{"model.":"a"}', '{"mode":"a"}', '{"models":"a"}'))

    def test_a_member_of_a_member(self):
        self.judge(
            "json:params.name",
            ('{"params":{"name":"a"}}', r'{"par\u0061ms":{"n\u0061me":"a"}}', '{"name":"b","params":{"x":{"name":"c"},"name":"a"}}',
             '{"q":{"name":1},"q":{"name":2},"params":{"x":1,"x":2,"name":"a"}}'),
            ('{"params.name":"a"}', '{"params":"name"}', '{"params":[{"name":"a"}]}', '{"params":{}}', '{"params":{"name":{"name":"a"}}}'))

    def test_an_element_of_an_array(self):
        self.judge(
            "json:messages.0.role",
            ('{"messages":[{"role":"a"}]}', '{"messages":[{"x":[],"role":"a"},{"role":"b"},3]}'),
            ('{"messages":[]}', '{"messages":[1,{"role":"a"}]}', '{"messages":[[{"role":"a"}]]}', '{"messages":{"role":"a"}}'))

    def test_a_later_element(self):
        self.judge("json:a.2", ('{"a":[1,2,"a"]}', '{"a":[[2,2,2],{"2":1},"a",4]}'), ('{"a":[1,2]}', '{"a":[[],[],["a"]]}'))


class Doubt(KeyTest):
    """Bodies that two readers may read differently."""

    def test_a_member_twice_is_absent(self):
        self.assert_absent(self.by("json:k"), DUPLICATES)

    def test_a_member_twice_on_the_way_is_absent(self):
        self.assert_absent(self.by("json:p.n"), NESTED_DUPLICATES)

    def test_invalid_json_is_absent(self):
        g = self.by("json:k")
        self.assert_absent(g, INVALID)
        self.assertEqual(self.charged(ask_over_1, g, '{"k":"a"}'), 1)

    def test_what_is_no_utf8_is_absent(self):
        self.assert_absent(self.by("json:k"), NO_UTF8)

    def test_lone_surrogates_are_nobody_elses(self):
        g = self.by("json:k")
        for text in (r"\ud800", r"\udc00", r"\udc00\ud800", r"\ud83dx", r"\ud83d\u0061", r"\ud83d\ud83d", r"\uDFFF"):
            with self.subTest(text):
                self.assertIsNone(self.charged(ask_over_1, g, f'{{"k":"{text}"}}'))
        lookalikes = (r"\ufffd", "?", "", "x", r"\ufffdx", "\U0001f600")
        for text in lookalikes:
            self.assertIn(self.charged(ask_over_1, g, f'{{"k":"{text}"}}'), (1, None), text)

    def test_a_lone_surrogate_elsewhere_changes_no_key(self):
        g = self.by("json:k")
        for number, body in enumerate((r'{"x":"\ud800","k":"a%d"}', r'{"\udc00":1,"k":"a%d"}')):
            plain = self.charged(ask_over_1, g, f'{{"k":"a{number}"}}')
            self.assertIn(self.charged(ask_over_1, g, body % number), (None, plain + 1))

    def test_a_byte_order_mark_gives_no_other_bucket(self):
        g = self.by("json:k")
        for ask in self.over_each_protocol():
            plain = self.charged(ask, g, '{"k":"a"}')
            self.assertIn(self.charged(ask, g, b'\xef\xbb\xbf{"k":"a"}'), (None, plain + 1))

    def test_deep_bodies(self):
        g = self.by("json:k")
        for ask in self.over_each_protocol():
            for depth, expected in ((32, True), (33, False), (1000, False)):
                for opening, closing in ("[]", ('{"x":', "}")):
                    inner = "null" if opening != "[" else ""
                    value = opening * (depth - 1) + inner + closing * (depth - 1)
                    for body in (f'{{"k":"a","x":{value}}}', f'{{"x":{value},"k":"a"}}'):
                        with self.subTest(depth=depth, body=body[:12]):
                            self.assertEqual(self.charged(ask, g, body) is not None, expected)

    def test_64_kib_of_anything(self):
        g = self.by("json:k")
        size = 65536
        bodies = [("[" * size), ('{"k":' * size)[:size], ('[{"k":"a"},' * size)[:size], '"' * size, "1" * size, " " * size,
                  ('{"k":"' + "\\u0061" * size)[:size], ("\ufeff" * size).encode()[:size], b"\x00" * size, b"\xff" * size]
        self.assert_absent(g, bodies)
        self.assertEqual(self.charged(ask_over_1, g, '{"k":"a"}'), 1)


class Kinds(KeyTest):
    """Media types and codings."""

    BODY = b'{"k":"a"}'

    def judge(self, kinds, is_found):
        g = self.by("json:k")
        for ask in self.over_each_protocol():
            for kind in kinds:
                with self.subTest(kind):
                    found = self.charged(ask, g, self.BODY, [("Content-Type", kind)])
                    self.assertEqual(found is not None, is_found)

    def test_json_is_read(self):
        self.judge(("application/json", "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"',
                    "application/json ;  x=y", "application/vnd.api+json", "application/problem+json"), True)

    def test_others_are_absent(self):
        self.judge(("text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/json-seq", "application",
                    "application/json; charset=utf-16", "application/json; charset=utf-7", "application/json;charset=latin1",
                    "text/html", "application/octet-stream", "jsonapplication/json", "application/json, text/plain"), False)

    def test_multipart_is_absent(self):
        body = b'--x\r\nContent-Type: application/json\r\n\r\n{"k":"a"}\r\n--x--\r\n'
        self.assert_absent(self.by("json:k"), [body, self.BODY], [("Content-Type", "multipart/form-data; boundary=x")])

    def test_compressed_bodies_are_absent(self):
        g = self.by("json:k")
        for coding, body in (("gzip", gzip.compress(self.BODY)), ("deflate", zlib.compress(self.BODY)), ("gzip", self.BODY),
                             ("br", self.BODY), ("x-unknown", self.BODY), ("identity, gzip", self.BODY)):
            with self.subTest(coding):
                self.assert_absent(g, [body], [JSON, ("Content-Encoding", coding)])

    def test_a_request_without_a_body_has_none(self):
        g = self.by("json:k")
        for ask in self.over_each_protocol():
            for method in ("GET", "HEAD", "DELETE", "POST"):
                got = ask(g, "/", [JSON], method=method)
                self.assertEqual((got.status, got["x-ratelimit-remaining"]), (200, None), method)

    def test_every_method_with_a_body_is_read(self):
        g = self.by("json:k")
        for ask in self.over_each_protocol():
            for method in ("POST", "PUT", "PATCH", "DELETE", "GET", "QUERY"):
                got = ask(g, "/", [JSON], method=method, body=self.BODY)
                self.assertIsNotNone(got["x-ratelimit-remaining"], method)


class Missing(KeyTest):
    """`missing_key` says what becomes of a body without the member."""

    def test_reject(self):
        g = self.by("json:k", "reject")
        for ask in self.over_each_protocol():
            for body in ("{}", '{"k":null}', '{"k":"a","k":"b"}', "{", ""):
                got = post(ask, g, body)
                self.assertEqual((got.status, got["content-type"]), (400, "application/problem+json"), body)
            self.assertEqual(post(ask, g, '{"k":"a"}').status, 200)
        self.assertEqual(len(self.origin_.requests), 2)

    def test_client_ip(self):
        g = self.by("json:k", "client_ip")
        for number, body in enumerate(("{}", '{"k":null}', '{"k":"a","k":"b"}', "{")):
            self.assertEqual(self.charged(ask_over_1, g, body), number + 1)
        self.assertEqual(self.charged(ask_over_1, g, '{"k":"a"}'), 1)
        self.assertEqual(self.charged(ask_over_1, g, '{"k":"127.0.0.1"}'), 1, "a value is no address")

    def test_it_must_be_written(self):
        status, complaint = self.check(reading("127.0.0.1:1", "key: 'json:k'"))
        self.assertEqual(status, 2)
        self.assertIn("missing_key", complaint)


class Configurations(KeyTest):
    def checked(self, limit="key: 'json:k', missing_key: skip", **options):
        return self.check(reading("127.0.0.1:1", limit, **options))

    def test_good_ones(self):
        for options in ({"http": "max_inspected_body: 64KiB, on_long_body: missing"}, {"http": "on_long_body: 413"},
                        {"http": "max_inspected_body: 1MiB"}, {"route": "max_inspected_body: 1MiB, on_long_body: 413"},
                        {"limit": "key: ['json:a.b.0.c', client_ip], missing_key: skip"}):
            self.assertEqual(self.checked(**options), (0, ""), options)

    def test_bad_ones_name_the_place(self):
        for options, word in (({"http": "max_inspected_body: 2MiB"}, "max_inspected_body"),
                              ({"route": "max_inspected_body: 2MiB"}, "max_inspected_body"),
                              ({"http": "max_inspected_body: 0"}, "max_inspected_body"),
                              ({"http": "on_long_body: 414"}, "on_long_body"),
                              ({"route": "on_long_body: never"}, "on_long_body"),
                              ({"limit": "key: 'json:', missing_key: skip"}, "json:"),
                              ({"limit": "key: 'json:a..b', missing_key: skip"}, "json:"),
                              ({"limit": "key: 'json:.a', missing_key: skip"}, "json:"),
                              ({"limit": "key: 'json:a.', missing_key: skip"}, "json:"),
                              ({"limit": f"key: 'json:{'.'.join('a' * 40)}', missing_key: skip"}, "json:")):
            with self.subTest(options):
                status, complaint = self.checked(**options)
                self.assertEqual(status, 2, complaint)
                self.assertIn(word, complaint)


class Plans(KeyTest):
    def test_the_member_chooses_the_plan(self):
        g = self.limited("key: client_ip, plan: p, plans: { big: { rate: 100/d, burst: 7 }, none: unlimited, shut: blocked }",
                         more="plans: { p: { key: 'json:model', members: { big: [gpt-4], none: [mini], shut: [\"gpt-5\"] } } }\n")
        for ask in self.over_each_protocol():
            def limit(model, g=g, ask=ask):
                got = post(ask, g, f'{{"model":{model}}}')
                return got.status, got["x-ratelimit-limit"]

            self.assertEqual(limit('"other"'), (200, str(BURST)))
            self.assertEqual(limit('"gpt-4"'), (200, "7"))
            self.assertEqual(limit(r'"gpt\u002d4"'), (200, "7"))
            self.assertEqual(limit('"mini"'), (200, None))
            self.assertEqual(limit('"gpt-5"')[0], 403)
            self.assertEqual(limit(r'"\u0067pt-5"')[0], 403)


class Secrets(KeyTest):
    def test_a_value_is_in_no_store_and_no_log(self):
        store = self.started(RedisServer())
        g = self.limited("key: 'json:user', missing_key: skip, store: r, on_store_failure: closed",
                         more=f"stores: {{ r: {{ url: '{store.url}', timeout: 5s }} }}\n")
        wait_until(lambda: g.metrics().sum("gateway_store_up", store="r"), what="the store is up")
        self.assertIsNotNone(self.charged(ask_over_1, g, '{"user":"alice@example.com"}'))
        keys = store.keys()
        self.assertTrue(keys)
        self.assertNotIn(b"alice", b"".join(keys))
        self.assertNotIn("alice", str(g.log_lines(1)) + "".join(g.diagnostics))
