"""`json` in a route's `match`: requests go by a member of their bodies, and none gets round the route by a body
that cannot be judged."""
import gzip
import zlib

from harness.http2_upstream_case import ask_over_1, chunked
from harness.message_case import JSON, MessageTest, Whole, post, reading

BOUND = 4096

ROUTES = """
workers: 1
http: { max_inspected_body: 4KiB, on_long_body: missing }
limits: { tools: { key: [], rate: 100/d, burst: 1000001 }, rest: { key: [], rate: 100/d, burst: 1000002 } }
routes:
  - { match: { path: /mcp, json: { %s } }, limits: [tools], upstream: up }
  - { match: { path: /mcp }, limits: [rest], upstream: up }
upstreams: { up: { servers: ['%s'] } }
"""

TOOLS, REST = "1000001", "1000002"


class MatchTest(MessageTest):
    def setUp(self):
        self.whole = Whole()

    def matching(self, members):
        self.origin_ = self.origin(self.whole)
        return self.gateway(ROUTES % (members, self.origin_.address))

    def went(self, ask, gateway, body, fields=(JSON,), **options):
        """The status, and which limit was charged."""
        got = post(ask, gateway, body, fields, target="/mcp", **options)
        return got.status, got["x-ratelimit-limit"]

    def assert_go(self, gateway, expected, bodies, fields=(JSON,), **options):
        for ask in self.over_each_protocol():
            for body in bodies:
                with self.subTest(body=body[:100]):
                    self.assertEqual(self.went(ask, gateway, body, fields, **options), expected)

    def assert_refused(self, gateway, status, bodies, fields=(JSON,), **options):
        before = len(self.whole.bodies)
        self.assert_go(gateway, (status, None), bodies, fields, **options)
        self.assertEqual(len(self.whole.bodies), before, "nothing reached the upstream")


class Members(MatchTest):
    def setUp(self):
        super().setUp()
        self.g = self.matching("method: tools/call")

    def test_the_value_in_each_spelling_matches(self):
        self.assert_go(self.g, (200, TOOLS), (
            '{"method":"tools/call"}',
            r'{"method":"tools\/call"}',
            r'{"\u006dethod":"tools\u002fcall"}',
            r'{"method":"\u0074\u006F\u006f\u006c\u0073\u002f\u0063\u0061\u006c\u006C"}',
            '{"id":1,"params":{"method":"x"},"method":"tools/call","x":{"method":1}} ',
            ' \r\n{"x":1,"x":2,\t"method" : "tools/call"}'))

    def test_a_whole_object_without_it_goes_on(self):
        self.assert_go(self.g, (200, REST), (
            "{}", '{"id":1}', '{"Method":"tools/call"}', '{"params":{"method":"tools/call"}}', '{"method.":"tools/call"}',
            '{"x":["method","tools/call"]}', '{"x":1,"x":2}'))

    def test_another_value_goes_on(self):
        self.assert_go(self.g, (200, REST), (
            '{"method":"tools/list"}', '{"method":"tools/call "}', '{"method":"Tools/call"}', '{"method":""}',
            '{"method":1}', '{"method":true}', '{"method":null}'))

    def test_no_body_goes_on(self):
        for ask in self.over_each_protocol():
            for method in ("GET", "DELETE", "POST"):
                got = ask(self.g, "/mcp", method=method)
                self.assertEqual((got.status, got["x-ratelimit-limit"]), (200, REST), method)
            got = ask(self.g, "/mcp", [JSON], method="POST")
            self.assertEqual((got.status, got["x-ratelimit-limit"]), (200, REST))

    def test_a_member_twice_is_400(self):
        self.assert_refused(self.g, 400, (
            '{"method":"tools/list","method":"tools/call"}',
            '{"method":"tools/call","method":"tools/list"}',
            '{"method":"tools/call","method":"tools/call"}',
            r'{"method":"tools/list","\u006dethod":"tools/call"}',
            '{"method":null,"method":"tools/call"}',
            '{"method":"x","method":{}}'))

    def test_what_is_no_object_is_400(self):
        self.assert_refused(self.g, 400, (
            "[]", '[{"method":"tools/call"}]', '[{"method":"tools/list"},{"method":"tools/call"}]', '"method"', "1", "null", "true"))

    def test_invalid_json_is_400(self):
        self.assert_refused(self.g, 400, (
            "{", "x", " ", '{"method":"tools/call"', '{"method":"tools/list"}x', '{"method":"tools/list"}{"method":"tools/call"}',
            '{"method":"tools/list",}', "{'method':'tools/call'}", '{"x":NaN}', '{"x":"\x01"}', '{"x":01}', '{"x":1}\0',
            r'{"x":"\ud800","method":"tools/list","y":"\q"}', b'{"x":"\xff"}', b'{"x":"\xed\xa0\x80"}',
            '{"method":"tools/call"}'.encode("utf-16"), "[" * 4000, '{"x":' * 600))

    def test_too_deep_a_body_is_400(self):
        self.assert_refused(self.g, 400, ('{"x":' + "[" * 40 + "]" * 40 + "}", '{"x":' * 40 + "1" + "}" * 40))

    def test_a_byte_order_mark_is_no_way_round(self):
        for ask in self.over_each_protocol():
            found = self.went(ask, self.g, b'\xef\xbb\xbf{"method":"tools/call"}')
            self.assertIn(found, ((200, TOOLS), (400, None)))

    def test_a_compressed_body_is_400(self):
        body = b'{"method":"tools/call"}'
        for coding, coded in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body)), ("gzip", body), ("br", body)):
            with self.subTest(coding):
                self.assert_refused(self.g, 400, [coded], [JSON, ("Content-Encoding", coding)])

    def test_another_type_is_400(self):
        """There are servers that take any body for JSON."""
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                     "application/json; charset=utf-16", "application/json-seq", ""):
            with self.subTest(kind):
                self.assert_refused(self.g, 400, ['{"method":"tools/call"}', "x=1"], [("Content-Type", kind)] if kind else [])

    def test_two_types_are_no_way_round(self):
        for ask in self.over_each_protocol():
            for kinds in (("text/plain", "application/json"), ("application/json", "text/plain")):
                found = self.went(ask, self.g, '{"method":"tools/call"}', [("Content-Type", k) for k in kinds])
                self.assertIn(found, ((200, TOOLS), (400, None)))

    def test_other_paths_are_not_read(self):
        got = post(ask_over_1, self.g, "[", target="/other")
        self.assertEqual(got.status, 404)


class LongBodies(MatchTest):
    """Past the bound, falling through would be a way round."""

    def setUp(self):
        super().setUp()
        self.g = self.matching("method: tools/call")

    @staticmethod
    def padded(size, before='{"method":"tools/call","x":"', after='"}'):
        return (before + "x" * (size - len(before) - len(after)) + after).encode()

    def test_a_member_within_the_bound_matches(self):
        for length in (True, False):
            self.assert_go(self.g, (200, TOOLS), [self.padded(s) for s in (BOUND - 1, BOUND + 1, 100000)], length=length)

    def test_without_it_within_the_bound_413(self):
        late = [self.padded(s, '{"x":"', '","method":"tools/call"}') for s in (BOUND + 100, 100000)]
        never = [self.padded(s, '{"x":"', '"}') for s in (BOUND + 100, 100000)]
        for length in (True, False):
            self.assert_refused(self.g, 413, late + never, length=length)

    def test_a_body_of_the_bound_is_judged(self):
        self.assert_go(self.g, (200, REST), [self.padded(BOUND - 1, '{"x":"', '"}')])
        self.assert_go(self.g, (200, TOOLS), [self.padded(BOUND - 1, '{"x":"', '","method":"tools/call"}')])

    def test_a_second_member_past_the_bound_is_400(self):
        body = self.padded(50000, '{"method":"tools/list","x":"', '","method":"tools/call"}')
        for length in (True, False):
            for ask in self.over_each_protocol():
                self.assertEqual(post(ask, self.g, body, target="/mcp", length=length).status, 400)
        self.assertEqual(self.whole.bodies, [])

    def test_another_value_within_the_bound_goes_on(self):
        self.assert_go(self.g, (200, REST), [self.padded(50000, '{"method":"tools/list","x":"')])


class Several(MatchTest):
    def test_all_members_must_be_so(self):
        g = self.matching("method: tools/call, params.name: search")
        self.assert_go(g, (200, TOOLS), ('{"params":{"name":"search"},"method":"tools/call"}',))
        self.assert_go(g, (200, REST), (
            '{"method":"tools/call"}', '{"params":{"name":"search"}}', '{"method":"tools/call","params":{"name":"fetch"}}',
            '{"method":"tools/call","params":null}', '{"method":"tools/call","params.name":"search"}'))
        self.assert_refused(g, 400, (
            '{"method":"tools/call","params":{"name":"search"},"params":{}}',
            '{"method":"tools/call","params":{"name":"search","name":"fetch"}}'))

    def test_values_of_other_types(self):
        g = self.matching("stream: true")
        self.assert_go(g, (200, TOOLS), ('{"stream":true}', '{ "stream" : true }'))
        self.assert_go(g, (200, REST), ('{"stream":false}', "{}", '{"stream":1}'))
        g = self.matching("n: 10")
        self.assert_go(g, (200, TOOLS), ('{"n":10}', '{"n":1e1}', '{"n":10.0}'))
        self.assert_go(g, (200, REST), ('{"n":1}', "{}", '{"n":100}'))

    def test_routes_by_different_members(self):
        self.origin_ = self.origin(self.whole)
        values = {"tools/call": 11, "tools/list": 12, "resources/read": 13}
        text = "workers: 1\nlimits:\n" + "".join(f"  l{b}: {{ key: [], rate: 100/d, burst: {b} }}\n" for b in (*values.values(), 14))
        text += "routes:\n" + "".join(
            f"  - {{ name: r{b}, match: {{ json: {{ method: {v} }} }}, limits: [l{b}], upstream: up }}\n" for v, b in values.items())
        text += f"  - {{ match: {{ json: {{ id: 7 }} }}, limits: [l14], upstream: up }}\n"
        text += f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n"
        g = self.gateway(text)
        for value, burst in values.items():
            self.assertEqual(post(ask_over_1, g, f'{{"method":"{value}"}}')["x-ratelimit-limit"], str(burst))
        self.assertEqual(post(ask_over_1, g, '{"method":"x","id":7}')["x-ratelimit-limit"], "14")
        self.assertEqual(post(ask_over_1, g, '{"method":"x","id":8}').status, 404)
        self.assertEqual(post(ask_over_1, g, '{"id":7,"id":7}').status, 400)


class Pieces(MatchTest):
    def test_a_body_may_be_cut_anywhere(self):
        g = self.matching("method: tools/call")
        body = r'{"id":1,"m\u0065thod":"tools\/call"}'.encode()
        with g.connect() as c:
            for at in range(1, len(body)):
                head = "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                c.send(head.encode() + chunked(body[:at]))
                c.send(chunked(body[at:]) + b"0\r\n\r\n")
                r = c.response()
                self.assertEqual((r.status, r["x-ratelimit-limit"]), (200, TOOLS), body[:at])

    def test_a_key_and_a_match_read_one_body(self):
        self.origin_ = self.origin(self.whole)
        g = self.gateway(
            "limits: { l: { key: 'json:params.name', missing_key: reject, rate: 100/d, burst: 3 } }\n"
            "routes: [ { match: { json: { method: tools/call } }, limits: [l], upstream: up }, { upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{self.origin_.address}'] }} }}\n")
        call = '{"method":"tools/call","params":{"name":"%s"}}'
        statuses = [post(ask_over_1, g, call % name).status for name in ("a", "a", "b", "a", "a", "b")]
        self.assertEqual(statuses, [200, 200, 200, 200, 429, 200])
        self.assertEqual(post(ask_over_1, g, '{"method":"tools/call"}').status, 400)
        self.assertEqual(post(ask_over_1, g, '{"method":"tools/list"}').status, 200)


class Configurations(MatchTest):
    def checked(self, members):
        return self.check(reading("127.0.0.1:1", "key: []", route=f"match: {{ json: {members} }}"))

    def test_good_ones(self):
        for members in ("{ method: tools/call }", "{ a.b.0: x, n: 10, s: true }", "{ n: -5 }", '{ n: "10" }'):
            self.assertEqual(self.checked(members), (0, ""), members)

    def test_bad_ones_name_the_place(self):
        for members in ("{ a..b: x }", "{ '': x }", "{ a: 1.5 }", "{ a: null }", "{ a: { b: c } }", "method"):
            with self.subTest(members):
                status, complaint = self.checked(members)
                self.assertEqual(status, 2)
                self.assertIn("json", complaint)
