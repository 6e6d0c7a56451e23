"""What a response makes of the charge: kept, given back, settled, reset."""
import threading
import time

from harness.case import SystemTest, forwarding_to
from harness.message_case import MessageTest
from harness.origin import Origin
from harness.process import wait_until
from harness.redis_server import RedisServer

LOGIN = "charge_on: { status: [401, 5xx] }, reset_on: { status: [201] }"


class Scripted:
    """An upstream that responds what the request's path says: /401, /200?used=7."""

    def __init__(self):
        self.reached = 0
        self.lock = threading.Lock()
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, peer, request):
        peer.read_body(request)
        with self.lock:
            self.reached += 1
        self.gate.wait(20)
        status, _, used = request.target.lstrip("/").partition("?used=")
        peer.reply(int(status), fields=[("X-Tokens-Used", used)] if used else [])


class Outcomes(SystemTest):
    # Of the gateway with a store: a correction that times out is made later than the test asks.
    patience = "10s"

    def setUp(self):
        super().setUp()
        self.script = Scripted()
        self.origin = self.started(Origin(self.script))

    def text_with(self, more, rate="5/h", store=None):
        text, where = "", ""
        if store is not None:
            # One worker, so that a correction is made before the next request asks.
            text = f"workers: 1\nstores: {{ r: {{ url: '{store.url}', timeout: {self.patience} }} }}\n"
            where = "store: r, on_store_failure: closed, "
        text += f"limits: {{ l: {{ key: client_ip, rate: {rate}, {where}{more} }} }}\n"
        return text + forwarding_to(self.origin.address, "l")

    def gateway_with(self, more, rate="5/h", store=None):
        gateway = self.gateway(self.text_with(more, rate, store))
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def statuses(self, gateway, targets):
        with gateway.connect() as c:
            return [c.ask(t).status for t in targets]

    def test_only_failures_are_charged(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("charge_on: { status: [401] }", store=store)
                self.assertEqual(self.statuses(g, ["/200"] * 20), [200] * 20)
                self.assertEqual(self.statuses(g, ["/401"] * 6), [401] * 5 + [429])
                self.assertEqual(self.statuses(g, ["/200"]), [429])

    def test_a_hundred_guesses_at_once_get_no_more_tries_than_one_after_the_other(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.script.reached = 0
                self.script.gate.clear()
                g = self.gateway_with("charge_on: { status: [401] }", store=store)
                answers = []

                def guess():
                    answers.extend(self.statuses(g, ["/401"]))

                guesses = [threading.Thread(target=guess) for _ in range(40)]
                for t in guesses:
                    t.start()
                wait_until(lambda: len(answers) == 35, what="the others are refused")
                self.script.gate.set()
                for t in guesses:
                    t.join()
                self.assertEqual(sorted(answers), [401] * 5 + [429] * 35)
                self.assertEqual(self.script.reached, 5)

    def test_good_requests_at_once_hold_their_tokens_until_they_are_answered(self):
        """As configuration.md says of charge_on on ordinary traffic."""
        g = self.gateway_with("charge_on: { status: [4xx] }")
        self.script.gate.clear()
        self.addCleanup(self.script.gate.set)
        clients = [self.enterContext(g.connect()) for _ in range(20)]
        for c in clients:
            c.request("/200")
        wait_until(lambda: len(g.log_lines(15)) >= 15, what="15 are rejected")
        self.script.gate.set()
        self.assertEqual(sorted(c.response().status for c in clients), [200] * 5 + [429] * 15)
        self.assertEqual(g.get("/200")["X-RateLimit-Remaining"], "4", "nothing was charged")

    def test_a_success_makes_the_bucket_full_again(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with(LOGIN, store=store)
                self.assertEqual(self.statuses(g, ["/401"] * 4 + ["/201"]), [401] * 4 + [201])
                self.assertEqual(self.statuses(g, ["/401"] * 6), [401] * 5 + [429])

    def test_the_response_says_what_it_cost(self):
        for store in self.every_store():
            with self.subTest(store=store):
                settle = "burst: 100, cost: 10, settle: { header: X-Tokens-Used, max: 70 }"
                g = self.gateway_with(settle, rate="1/h", store=store)
                left = []
                with g.connect() as c:
                    for target in ("/200?used=3", "/200", "/200?used=x", "/200?used=1000", "/200"):
                        a = c.ask(target)
                        self.assertIsNone(a["X-Tokens-Used"], "it is for the gateway")
                        left.append(int(a["X-RateLimit-Remaining"]))
                # 3, 10 and 10 are spent before the fourth, which costs 70. How long ago a shared
                # store took tokens is known from outside only: a moment too much.
                exact = [90, 87, 77, 67, 7]
                self.assertEqual(a.status, 429)
                self.assertTrue(all(e - 1 <= n <= e for n, e in zip(left, exact)), left)

    def test_a_settlement_may_make_debts(self):
        g = self.gateway_with("burst: 10, settle: { header: X-Tokens-Used, max: 100, keep: true }",
                              rate="10/h")
        with g.connect() as c:
            self.assertEqual(c.ask("/200?used=30")["X-Tokens-Used"], "30")
            refused = c.ask("/200")
        self.assertEqual(refused.status, 429)
        self.assertEqual(refused["X-RateLimit-Remaining"], "0")
        self.assertIn(int(refused["Retry-After"]), range(7550, 7561), "21 tokens of 6 minutes")

    def test_what_the_gateway_answers_itself_is_an_outcome_too(self):
        g = self.gateway_with("charge_on: { status: [401] }")
        self.origin.stop()
        self.assertEqual(set(self.statuses(g, ["/200"] * 20)), {502})
        g = self.gateway_with("charge_on: { status: [502] }")
        self.assertEqual(self.statuses(g, ["/200"] * 6), [502] * 5 + [429])

    def test_a_client_that_leaves_stays_charged(self):
        self.script.gate.clear()
        g = self.gateway_with("charge_on: { status: [401] }")
        for left in range(4, -1, -1):
            with g.connect() as c:
                c.send(b"GET /200 HTTP/1.1\r\nHost: h\r\n\r\n")
                wait_until(lambda left=left: self.script.reached == 5 - left, what="it is asked")
        self.assertEqual(self.statuses(g, ["/200"]), [429])
        self.script.gate.set()

    def with_a_correction_under_way(self, redis, more="charge_on: { status: [401] }"):
        """A gateway that is to give a token back to a store that stands still."""
        self.script.gate.clear()
        self.script.reached = 0
        g = self.gateway_with(more, store=redis)
        with g.connect() as c:
            c.send(b"GET /200 HTTP/1.1\r\nHost: h\r\n\r\n")
            wait_until(lambda: self.script.reached == 1, what="it is asked")
            redis.freeze()
            self.script.gate.set()
            self.assertEqual(c.response().status, 200)
        return g

    def test_a_correction_waits_for_a_store_that_is_away(self):
        redis = self.started(RedisServer())
        g = self.with_a_correction_under_way(redis)
        redis.thaw()
        wait_until(lambda: self.left(g) == "4", what="the token is given back")
        self.assertEqual(g.metrics().sum("gateway_corrections_lost_total", limit="l"), 0)

    def test_a_correction_of_a_log_that_was_held_up_is_made_again(self):
        self.patience = "1s"
        for store in self.every_store():
            if store is None:
                continue
            with self.subTest(store=store):
                g = self.with_a_correction_under_way(
                    store, "algorithm: sliding_log, charge_on: { status: [401] }"
                )
                began = time.monotonic()
                wait_until(lambda: time.monotonic() - began > 2.5)
                store.thaw()
                wait_until(lambda: self.left(g) == "4", what="the token is given back")

    def test_a_gateway_ends_though_a_replaced_store_has_not_made_a_correction(self):
        redis, other = self.started(RedisServer()), self.started(RedisServer())
        g = self.with_a_correction_under_way(redis)
        g.reload(self.text_with("charge_on: { status: [401] }", store=other))
        g.stop()
        redis.thaw()

    def test_the_client_never_sees_the_header_of_a_settlement(self):
        settle = "settle: { header: X-Tokens-Used, max: 5 }"
        for more in (settle, settle + ", mode: shadow", settle + ", key: 'header:x', missing_key: skip"):
            with self.subTest(more=more):
                text = f"limits: {{ l: {{ rate: 1/h, {more} }} }}\n"
                if "key:" not in more:
                    text = text.replace("rate:", "key: client_ip, rate:")
                g = self.gateway(text + forwarding_to(self.origin.address, "l"))
                with g.connect() as c:
                    self.assertEqual([c.ask("/200?used=1")["X-Tokens-Used"] for _ in range(3)],
                                     [None] * 3)

    def test_nor_in_an_interim_response(self):
        def hints_first(peer, request):
            peer.send(b"HTTP/1.1 103 Early Hints\r\nX-Tokens-Used: 3\r\nLink: </a>\r\n\r\n")
            peer.reply(200)

        origin = self.started(Origin(hints_first))
        text = "limits: { l: { key: client_ip, rate: 10/h, settle: { header: x-tokens-used, max: 5 } } }\n"
        g = self.gateway(text + forwarding_to(origin.address, "l"))
        with g.connect() as c:
            c.request("/")
            hints = c.head()
        self.assertEqual((hints.status, hints["Link"], hints["X-Tokens-Used"]), (103, "</a>", None))

    def left(self, gateway):
        """Tokens left after a request that is not charged in the end; None: no decision."""
        with gateway.connect() as c:
            return c.ask("/200")["X-RateLimit-Remaining"]


class BucketsTest(MessageTest):
    """Buckets that the admin API shows."""

    def setUp(self):
        super().setUp()
        self.script = Scripted()
        self.origin_ = self.started(Origin(self.script))

    def gateway_with(self, limits, stores=""):
        text = f"workers: 1\n{self.token_of_admin()}{stores}limits:\n"
        text += "".join(f"  {name}: {{ {keys} }}\n" for name, keys in limits.items())
        g = self.gateway(text + forwarding_to(self.origin_.address, ", ".join(limits)))
        if "url:" in stores:
            wait_until(lambda: g.metrics().sum("gateway_store_up", store="r"), what="store")
        return g

    def assert_left(self, gateway, tokens, key=(), limit="l"):
        wait_until(
            lambda: self.look(gateway, key, limit)["remaining"] == tokens,
            what=f"{tokens} tokens of {limit} are left",
        )


class Refunds(BucketsTest):
    def sharing(self, limits, stores=""):
        """A gateway whose only slot another client has, so that all others share a bucket."""
        g = self.gateway_with(limits, f"stores: {{ local: {{ max_buckets: 1 }}{stores} }}\n")
        self.assertEqual(g.get("/401", [("X-K", "other")]).status, 401)
        return g

    def test_come_to_the_bucket_of_clients_without_one(self):
        for outcome in ("charge_on: { status: [401] }", "settle: { header: X-Tokens-Used, max: 9 }"):
            for kind in ("rate: 9/d", "algorithm: fixed_window, rate: 9/d",
                         "algorithm: sliding_log, rate: 9/d", "algorithm: sliding_window, rate: 9/d"):
                with self.subTest(outcome=outcome, kind=kind):
                    g = self.sharing(
                        {"l": f"key: 'header:x-k', missing_key: reject, {kind}, cost: 6, {outcome}"}
                    )
                    for _ in range(5):
                        self.assertEqual(g.get("/200?used=0", [("X-K", "one")]).status, 200)
                        self.assert_left(g, 9, ["one"])

    def test_are_no_more_than_the_request_for_a_reset_of_a_shared_bucket(self):
        g = self.sharing(
            {"l": "key: 'header:x-k', missing_key: reject, rate: 9/d, reset_on: { status: [201] }"}
        )
        self.assertEqual(
            [g.get(f"/{s}", [("X-K", k)]).status for s, k in ((200, "a"), (200, "b"), (201, "b"))],
            [200, 200, 201],
        )
        self.assert_left(g, 7, ["b"])

    def test_of_rejected_requests_come_to_a_shared_bucket(self):
        redis = self.started(RedisServer())
        g = self.sharing(
            {"l": "key: 'header:x-k', missing_key: reject, rate: 20/d",
             "far": "key: 'header:x-k', missing_key: skip, rate: 2/d, store: r"},
            f", r: {{ url: '{redis.url}', timeout: 10s, remember_rejections: false }}",
        )
        statuses = [g.get("/200", [("X-K", "one")]).status for _ in range(10)]
        self.assertEqual(statuses, [200] * 2 + [429] * 8)
        self.assert_left(g, 18, ["one"])

    def test_follow_missing_if_a_client_leaves_while_a_store_is_asked(self):
        redis = self.started(RedisServer())
        g = self.gateway_with(
            {"l": "key: [], rate: 100/d, cost: 9, store: r, settle: { json: a, missing: refund }",
             "keeps": "key: [], rate: 100/d, cost: 9, store: r, settle: { json: a }",
             "plain": "key: [], rate: 100/d, cost: 9, store: r"},
            f"stores: {{ r: {{ url: '{redis.url}', timeout: 10s }} }}\n",
        )
        redis.freeze()
        with g.connect() as c:
            c.send(b"GET /200 HTTP/1.1\r\nHost: h\r\n\r\n")
        wait_until(lambda: len(g.log_lines(1)) == 1, what="it has left")
        redis.thaw()
        for limit, left in (("l", 100), ("keeps", 91), ("plain", 91)):
            self.assert_left(g, left, limit=limit)
            self.assertEqual(
                g.metrics().sum("gateway_settlements_missing_total", limit=limit), limit != "plain"
            )
        self.assertEqual(self.script.reached, 0)


class Rejections(BucketsTest):
    def test_name_the_longest_time_of_all_limits_also_from_memory(self):
        redis = self.started(RedisServer())
        cost = "cost: { header: x-c, default: 1, max: 12 }, reserve: cap"
        g = self.gateway_with(
            {"often": "key: [], rate: 7/d, store: r",
             "dear": f"key: [], rate: 5/d, {cost}, store: r"},
            f"stores: {{ r: {{ url: '{redis.url}', timeout: 10s }} }}\n",
        )
        for c in "1110000":
            self.assertEqual(g.get("/200", [("X-C", c)]).status, 200)
        day = 24 * 3600
        for cost, seconds in ((1, day // 7), (5, 3 * day // 5), (5, 3 * day // 5), (1, day // 7)):
            a = g.get("/200", [("X-C", str(cost))])
            self.assertEqual(a.status, 429)
            self.assertAlmostEqual(int(a["Retry-After"]), seconds, delta=30)
        self.assertGreaterEqual(
            g.metrics().sum("gateway_store_remembered_decisions_total", store="r"), 1
        )
