"""What a request costs by its body: a member, its bytes, or the sum of both."""
from harness.http2 import Http2
from harness.http2_upstream_case import ask_over_1
from harness.message_case import BURST, JSON, MessageTest, Whole, post, reading
from harness.origin import answer_ok


class CostTest(MessageTest):
    def costing(self, cost, more="key: []", **options):
        self.whole = Whole()
        self.taken = 0
        return self.limited(f"{more}, cost: {cost}", self.whole, **options)

    def assert_costs(self, ask, gateway, body, expected, fields=(JSON,), **options):
        got = post(ask, gateway, body, fields, **options)
        self.assertEqual(got.status, 200, (body[:100], got.body))
        self.taken += expected
        self.assert_used(self.taken, gateway, what=body[:100])

    def assert_refused(self, ask, gateway, body, status=400, fields=(JSON,)):
        got = post(ask, gateway, body, fields)
        self.assertEqual(got.status, status, body[:100])
        self.assert_used(self.taken, gateway, what=body[:100])


class Members(CostTest):
    COST = "{ json: max_tokens, default: 1024, max: 100000 }"

    def setUp(self):
        self.g = self.costing(self.COST)

    def test_the_member_says_it(self):
        for ask in self.over_each_protocol():
            for text, cost in (("0", 0), ("1", 1), ("100000", 100000), ("1e3", 1000), ("20.0", 20), ("-0", 0)):
                self.assert_costs(ask, self.g, f'{{"max_tokens":{text}}}', cost)

    def test_without_it_the_default(self):
        for ask in self.over_each_protocol():
            for body in ("{}", '{"max_tokens":null}', '{"x":{"max_tokens":5}}', '{"Max_tokens":5}'):
                self.assert_costs(ask, self.g, body, 1024)

    def test_without_a_body_the_default(self):
        self.assertEqual(self.g.get().status, 200)
        self.assert_used(1024, self.g)

    def test_what_is_no_number_is_refused(self):
        for ask in self.over_each_protocol():
            for text in ("-1", "1.5", '"5"', "100001", "1e9", "1e999", "9" * 1000, "true", "[]", "{}", "-9223372036854775809",
                         "9223372036854775807", "18446744073709551617"):
                with self.subTest(text[:30]):
                    self.assert_refused(ask, self.g, f'{{"max_tokens":{text}}}')
        self.assertEqual(self.whole.bodies, [])

    def test_a_member_twice_is_never_the_smaller_one(self):
        for body in ('{"max_tokens":1,"max_tokens":90000}', '{"max_tokens":90000,"max_tokens":1}', r'{"max_tokens":1,"max\u005ftokens":90000}'):
            self.assert_refused(ask_over_1, self.g, body)

    def test_what_cannot_be_read_costs_the_default_or_is_refused(self):
        for number, (body, fields) in enumerate((
            ('{"max_tokens":1', [JSON]), ('{"max_tokens":1}', [("Content-Type", "text/plain")]), ("[" * 65536, [JSON]),
            ('{"max_tokens":1}', [JSON, ("Content-Encoding", "gzip")]), (b'{"max_tokens":1,"x":"\xff"}', [JSON]))):
            with self.subTest(number):
                status = post(ask_over_1, self.g, body, fields).status
                self.assertIn(status, (200, 400))
                self.taken += 1024 if status == 200 else 0
                self.assert_used(self.taken, self.g)

    def test_a_member_past_the_bound_costs_the_default(self):
        g = self.costing(self.COST, http="max_inspected_body: 4KiB")
        self.assert_costs(ask_over_1, g, '{"x":"' + "x" * 9000 + '","max_tokens":5}', 1024)
        self.assert_costs(ask_over_1, g, '{"max_tokens":5,"x":"' + "x" * 9000 + '"}', 5)

    def test_a_member_twice_past_the_bound_is_400_and_stays_charged(self):
        g = self.costing(self.COST, http="max_inspected_body: 4KiB")
        body = '{"max_tokens":5,"x":"' + "x" * 9000 + '","max_tokens":6}'
        self.assertEqual(post(ask_over_1, g, body).status, 400)
        self.assert_used(5, g)
        self.assertEqual(self.whole.bodies, [])

    def test_and_past_it_413_if_that_is_said(self):
        g = self.costing(self.COST, http="max_inspected_body: 4KiB, on_long_body: 413")
        self.assert_refused(ask_over_1, g, '{"x":"' + "x" * 9000 + '","max_tokens":5}', 413)

    def test_a_nested_member(self):
        g = self.costing("{ json: generationConfig.maxOutputTokens, default: 7, max: 1000 }")
        self.assert_costs(ask_over_1, g, '{"generationConfig":{"maxOutputTokens":300}}', 300)
        self.assert_costs(ask_over_1, g, '{"maxOutputTokens":300}', 7)

    def test_a_key_and_a_cost_of_one_body(self):
        g = self.costing("{ json: n, default: 1, max: 100 }", "key: 'json:user', missing_key: reject")
        for user, n, used in (("a", 30, 30), ("b", 5, 5), ("a", 7, 37)):
            self.assertEqual(post(ask_over_1, g, f'{{"n":{n},"user":"{user}"}}').status, 200)
            self.assert_used(used, g, [user])


class Bytes(CostTest):
    def test_a_token_for_every_four_bytes_begun(self):
        g = self.costing("{ request_bytes: 4, default: 0 }")
        for ask in self.over_each_protocol():
            for size, cost in ((0, 0), (1, 1), (3, 1), (4, 1), (5, 2), (8, 2), (9, 3), (4001, 1001)):
                self.assert_costs(ask, g, b"x" * size, cost, [("Content-Type", "text/plain")])

    def test_a_length_is_charged_at_admission(self):
        g = self.costing("{ request_bytes: 4, default: 0 }")
        with g.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4000\r\n\r\n")
            self.assert_used(1000, g)
            c.send(b"x" * 4000)
            self.assertEqual(c.response()["x-ratelimit-remaining"], str(BURST - 1000))

    def test_chunks_are_counted_at_the_end(self):
        g = self.costing("{ request_bytes: 4, default: 50 }")
        for ask in self.over_each_protocol():
            for size, cost in ((0, 0), (1, 1), (199, 50), (200, 50), (201, 51), (40000, 10000)):
                self.assert_costs(ask, g, b"x" * size, cost, length=False)

    def test_the_default_is_reserved_until_then(self):
        g = self.costing("{ request_bytes: 4, default: 50 }")
        with g.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + "x" * 1000 + "\r\n")
            self.assert_used(50, g)
            c.send("0\r\n\r\n")
            self.assertEqual(c.response().status, 200)
        self.assert_used(250, g)

    def test_over_http2_too(self):
        g = self.costing("{ request_bytes: 4, default: 50 }")
        with Http2(g.address) as c:
            stream = c.request(method="POST", end=False)
            c.data(stream, b"x" * 1000)
            self.assert_used(50, g)
            c.data(stream, b"", end=True)
            self.assertEqual(c.wait_for(stream).status, 200)
        self.assert_used(250, g)

    def test_no_body_costs_nothing(self):
        g = self.costing("{ request_bytes: 4, default: 50 }")
        for ask in self.over_each_protocol():
            self.assertEqual(ask(g, "/").status, 200)
            self.assertEqual(ask(g, "/", method="POST").status, 200)
        self.assert_used(0, g)

    def test_a_body_that_is_cut_costs_what_came_or_its_reserve(self):
        g = self.costing("{ request_bytes: 4, default: 50 }")
        with g.connect() as c:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + "x" * 1000 + "\r\n")
            self.assert_used(50, g)
        self.assertEqual(g.get().status, 200)
        self.assertIn(self.used(g), (50, 250))

    def test_it_reads_no_body_ahead(self):
        g = self.costing("{ request_bytes: 4, default: 0 }")
        body = b"x" * 300000
        self.assert_costs(ask_over_1, g, body, 75000, [("Content-Type", "text/plain")])
        self.assertTrue(self.whole.bodies == [body])


class Sums(CostTest):
    COST = "{ sum: [ { json: max_tokens, default: 1024 }, { request_bytes: 4 } ] }"

    def test_all_parts_count(self):
        g = self.costing(self.COST)
        for ask in self.over_each_protocol():
            for body, tokens in (('{"max_tokens":100}', 100), ('{"max_tokens":100,"x":"yz"}', 100), ("{}", 1024), ('{"max_tokens":0}', 0)):
                self.assert_costs(ask, g, body, tokens + (len(body) + 3) // 4)

    def test_chunks_are_settled(self):
        g = self.costing(self.COST)
        for ask in self.over_each_protocol():
            body = '{"max_tokens":100,"x":"' + "x" * 500 + '"}'
            self.assert_costs(ask, g, body, 100 + (len(body) + 3) // 4, length=False)

    def test_a_part_that_is_no_number_is_refused(self):
        g = self.costing(self.COST)
        for text in ("-1", '"5"', "1.5", "1e999", "true"):
            self.assert_refused(ask_over_1, g, f'{{"max_tokens":{text}}}')

    def test_two_members(self):
        g = self.costing("{ sum: [ { json: max_tokens, default: 10, max: 1000 }, { json: n, default: 1, max: 50 } ] }")
        self.assert_costs(ask_over_1, g, '{"max_tokens":100,"n":3}', 103)
        self.assert_costs(ask_over_1, g, '{"n":3}', 13)
        self.assert_refused(ask_over_1, g, '{"max_tokens":100,"n":51}')


def answer_thirty(peer, request):
    peer.read_body(request)
    peer.reply(body=b'{"used":30}', fields=[JSON])


class Large(CostTest):
    """A reserve that no bucket can hold."""

    def small(self, cost, more="", script=answer_ok):
        self.origin_ = self.origin(script)
        limit = f"key: client_ip, cost: {cost}{more}"
        return self.gateway(reading(self.origin_.address, limit, more=self.token_of_admin()).replace(f"burst: {BURST}", "burst: 100"))

    BODY = '{"n":5000,"x":"' + "x" * 5000 + '"}'

    def assert_capped(self, g):
        """A full bucket pays for it."""
        got = post(ask_over_1, g, self.BODY)
        self.assertEqual((got.status, got["x-ratelimit-remaining"]), (200, "0"))
        again = post(ask_over_1, g, self.BODY)
        self.assertEqual(again.status, 429)
        self.assertIn(int(again["retry-after"]), range(86000, 86401), "when the bucket is full")
        self.assertEqual(len(self.origin_.requests), 1)

    def test_of_a_member_is_a_full_bucket(self):
        self.assert_capped(self.small("{ json: n, default: 1, max: 100000 }"))

    def test_of_a_sum_is_a_full_bucket(self):
        self.assert_capped(self.small("{ sum: [ { json: n, default: 1 }, { request_bytes: 4 } ] }"))

    def test_of_bytes_is_if_it_is_said(self):
        self.assert_capped(self.small("{ request_bytes: 1, default: 0 }", ", reserve: cap"))

    def test_of_a_header_is_if_it_is_said(self):
        g = self.small("{ header: x-cost, default: 1, max: 1000 }", ", reserve: cap")
        got = post(ask_over_1, g, "{}", [JSON, ("X-Cost", "101")])
        self.assertEqual((got.status, got["x-ratelimit-remaining"]), (200, "0"))

    def test_of_a_member_never_passes_if_that_is_said(self):
        g = self.small("{ json: n, default: 1, max: 100000 }", ", reserve: refuse")
        got = post(ask_over_1, g, '{"n":101}')
        self.assertEqual((got.status, got["retry-after"]), (429, None))

    def test_of_bytes_never_passes_otherwise(self):
        g = self.small("{ request_bytes: 1, default: 0 }")
        got = post(ask_over_1, g, "x" * 101)
        self.assertEqual((got.status, got["retry-after"]), (429, None))
        self.assertEqual(post(ask_over_1, g, "x" * 100).status, 200)

    def test_its_settlement_counts_and_not_the_reserve(self):
        g = self.small("{ json: n, default: 1, max: 100000 }", ", settle: { json: used, max: 1000 }", answer_thirty)
        got = post(ask_over_1, g, self.BODY)
        self.assertEqual((got.status, got["x-ratelimit-remaining"]), (200, "0"))
        self.assert_used(30, g, ("127.0.0.1",), burst=100)
        self.assertEqual(post(ask_over_1, g, self.BODY).status, 429, "the reserve is a full bucket")
        self.assertEqual(post(ask_over_1, g, '{"n":70}').status, 200)

    def test_of_a_header_never_passes(self):
        g = self.small("{ header: x-cost, default: 1, max: 1000 }")
        got = post(ask_over_1, g, "{}", [JSON, ("X-Cost", "101")])
        self.assertEqual((got.status, got["retry-after"]), (429, None))

    def test_a_smaller_one_is_what_it_is(self):
        g = self.small("{ json: n, default: 1, max: 100000 }")
        self.assertEqual(post(ask_over_1, g, '{"n":99}')["x-ratelimit-remaining"], "1")
        self.assertEqual(post(ask_over_1, g, '{"n":2}').status, 429)
        self.assertEqual(post(ask_over_1, g, '{"n":1}').status, 200)


class Configurations(CostTest):
    def checked(self, cost):
        return self.check(reading("127.0.0.1:1", f"key: [], cost: {cost}"))

    def test_good_ones(self):
        for cost in (Members.COST, Sums.COST, "{ request_bytes: 4, default: 0 }", "{ json: a.b.0, default: 1, max: 5 }",
                     "{ sum: [ { request_bytes: 1000000 } ] }", "{ json: n, default: 1, max: 5 }, reserve: cap"):
            self.assertEqual(self.checked(cost), (0, ""), cost)

    def test_bad_ones(self):
        for cost in ("{ json: '', default: 1, max: 5 }", "{ request_bytes: 0 }", "{ request_bytes: -1 }", "{ sum: [] }", "{ sum: 3 }",
                     "{ sum: [ { sum: [ { request_bytes: 4 } ] } ] }", "{ json: n, request_bytes: 4 }", "{ json: n, default: -1, max: 5 }",
                     "{ jsn: n, default: 1, max: 5 }"):
            with self.subTest(cost):
                status, complaint = self.checked(cost)
                self.assertEqual(status, 2)
                self.assertIn("cost", complaint)
