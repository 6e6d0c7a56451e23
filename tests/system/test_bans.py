"""Bans by the admin API: of a bucket of any limit, wherever it is kept, and the list of them."""
import hashlib
import json
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Connection
from harness.process import wait_until
from harness.redis_cluster import RedisCluster
from harness.redis_server import RedisServer
from harness.upgraded import UpgradedGateway

KINDS = (
    "rate: 9/h",
    "algorithm: fixed_window, rate: 9/365d, start: aligned",
    "algorithm: sliding_window, rate: 9/h",
    "algorithm: sliding_log, rate: 9/h",
    "algorithm: concurrency, max: 9",
)
PENALTY = ", penalty: { after: 1000, within: 1m, ban: 1h, max_ban: 1d }"
CLIENT = {"limit": "l", "key": ["127.0.0.1"]}


class BanTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.token = self.directory().file("token", "secret\n")

    def text(self, limit, store=None, more="", key="client_ip", policy="closed"):
        text, where = f"admin: {{ address: '127.0.0.1:0', token_file: {self.token} }}\n", ""
        if store is not None:
            text += f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = f", store: r, on_store_failure: {policy}"
        text += f"limits: {{ l: {{ key: {key}, {limit}{where} }} }}\n" + more
        return text + forwarding_to("echo", "l")

    def gateway_with(self, limit, store=None, **options):
        return self.serving(self.gateway(self.text(limit, store, **options)), store)

    def serving(self, gateway, store):
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def call(self, gateway, path, body=None):
        headers = [("Authorization", "Bearer secret"), ("Content-Type", "application/json")]
        sent = None if body is None else json.dumps(body).encode()
        with Connection(gateway.admin) as c:
            answer = c.ask(path, headers, "GET" if body is None else "POST", sent)
        self.assertEqual(answer.status, 200, answer.text)
        return json.loads(answer.text)

    def ban(self, gateway, length="10m", **of):
        said = self.call(gateway, "/v1/ban", CLIENT | {"for": length} | of)
        self.assertIsNotNone(said["banned_until"])
        return said

    def unban(self, gateway, **of):
        self.assertIsNone(self.call(gateway, "/v1/unban", CLIENT | of)["banned_until"])

    def bans(self, gateway, query=""):
        return self.call(gateway, "/v1/bans" + query)

    def assert_banned(self, answer, seconds=600):
        self.assertEqual(answer.status, 429)
        self.assertIn(int(answer["Retry-After"]), range(seconds - 30, seconds + 1))
        self.assertIn("banned", answer.text)


class AnyLimit(BanTest):
    def test_is_banned_and_unbanned_with_and_without_a_penalty(self):
        for store in self.every_store():
            for kind in KINDS:
                for penalty in ("", PENALTY):
                    with self.subTest(store=store, kind=kind, penalty=penalty):
                        g = self.gateway_with(kind + penalty, store)
                        self.assertEqual(g.get().status, 200)
                        self.assertIsNone(self.call(g, "/v1/look", CLIENT)["banned_until"])
                        said = self.ban(g)
                        self.assertAlmostEqual(said["banned_until"], time.time() + 600, delta=30)
                        for _ in range(4):
                            self.assert_banned(g.get())
                        look = self.call(g, "/v1/look", CLIENT)
                        self.assertAlmostEqual(look["banned_until"], time.time() + 600, delta=30)
                        told = self.call(g, "/v1/explain", {"url": "/", "peer": "127.0.0.1"})
                        self.assertEqual(told["limits"][0]["says"], "rejected")
                        self.assertEqual(told["limits"][0]["banned_until"] // 60, look["banned_until"] // 60)
                        self.unban(g)
                        wait_until(lambda: g.get().status == 200, 5, "it passes")
                        if store is not None:
                            store.forget_all()
                        g.stop()

    def test_costs_nothing_and_is_rejected(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 9/h, cost: { header: x-cost, max: 9 }", store)
                self.ban(g)
                self.assert_banned(g.get("/", [("x-cost", "0")]))

    def test_all_shards_are_banned(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 99/h, shards: 4", store)
                self.ban(g)
                for _ in range(20):
                    self.assert_banned(g.get())
                self.assertAlmostEqual(
                    self.call(g, "/v1/look", CLIENT)["banned_until"], time.time() + 600, delta=30)
                self.assertEqual(self.bans(g)["bans"][0]["limit"], "l")
                self.unban(g)
                wait_until(lambda: g.get().status == 200, 5, "it passes")

    def test_ends_by_itself_and_forgives_nothing(self):
        for store in self.every_store():
            for kind in KINDS[:4]:
                with self.subTest(store=store, kind=kind):
                    g = self.gateway_with(kind, store)
                    self.assertEqual(g.get()["X-RateLimit-Remaining"], "8")
                    self.ban(g, "3s")
                    passed = []
                    wait_until(lambda: passed.append(g.get()) or passed[-1].status == 200, 20, "its end")
                    self.assertEqual(passed[-1]["X-RateLimit-Remaining"], "7")
                    self.assertEqual(passed[0].status, 429)
                    if store is not None:
                        store.forget_all()
                    g.stop()

    def test_in_shadow_mode_rejects_nobody(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("rate: 9/h, mode: shadow", store)
                self.ban(g)
                self.assertEqual(g.get().status, 200)
                self.assertEqual(
                    g.metrics().sum("gateway_decisions_total", outcome="shadow_rejected"), 1)

    def test_who_has_another_plan_is_banned_and_who_has_none_is_not_asked(self):
        plans = "plans: { p: { key: header:x-key, members: { gold: [a], free: [b] } } }\n"
        g = self.gateway_with(
            "missing_key: skip, plan: p, rate: 9/h, plans: { gold: { rate: 99/h }, free: unlimited }",
            key="header:x-key", more=plans)
        for key in "ac":
            self.ban(g, key=[key])
            self.assert_banned(g.get("/", [("x-key", key)]))
        self.assertEqual(g.get("/", [("x-key", "b")]).status, 200)


class Lasting(BanTest):
    def test_a_reload_changes_the_limit_and_not_the_ban(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with(KINDS[0] + PENALTY, store)
                self.ban(g)
                for limit in ("rate: 900/h", *KINDS[1:4], "rate: 5/h" + PENALTY):
                    g.reload(self.text(limit, store))
                    self.assert_banned(g.get())
                self.unban(g)
                wait_until(lambda: g.get().status == 200, 5, "it passes")

    def test_a_restart_and_an_upgrade_keep_it(self):
        path = self.directory().file("buckets")
        more = f"stores: {{ local: {{ snapshot: {{ file: '{path}' }} }} }}\n"
        first = self.gateway_with("rate: 9/h", more=more)
        self.ban(first)
        first.stop()
        second = self.started(UpgradedGateway(self.text("rate: 9/h", more=more)))
        self.assert_banned(second.get())
        self.assertIn("serves", second.upgrade())
        self.assert_banned(second.get())

    def test_in_a_shared_store_it_outlives_gateways_and_holds_for_all(self):
        cluster = self.started(RedisCluster())
        for store in (*list(self.every_store())[1:], cluster):
            with self.subTest(store=store):
                one, other = (self.gateway_with("rate: 9/h", store) for _ in range(2))
                self.ban(one)
                one.stop()
                for _ in range(4):
                    self.assert_banned(other.get())
                third = self.gateway_with("rate: 9/h", store)
                self.assert_banned(third.get())
                self.unban(third)
                wait_until(lambda: other.get().status == 200, 5, "it passes")

    def test_tokens_taken_ahead_do_not_pass(self):
        """Of a busy bucket a worker has taken tokens ahead: all of them are of no use once the ban
        is known, and that is within 100 ms."""
        store = self.started(RedisServer())
        limit = "rate: 100000/s, burst: 100000"
        one = self.gateway_with(limit + ", lease: { share: 50%, time: 10s }", store)
        other = self.gateway_with(limit, store)
        with one.connect() as c:
            taken = lambda: one.metrics().sum("gateway_store_leased_decisions_total")
            wait_until(lambda: [c.ask("/") for _ in range(50)] and taken() > 0, 20, "tokens are taken ahead")
            self.ban(other)
            wait_until(lambda: c.ask("/").status == 429, 5, "the ban is known")
            self.assertEqual({c.ask("/").status for _ in range(50)}, {429})
            self.unban(other)
            wait_until(lambda: c.ask("/").status == 200, 5, "its end is known")

    def test_an_empty_bucket_that_is_remembered_is_banned_and_unbanned(self):
        store = self.started(RedisServer())
        one, other = (self.gateway_with("rate: 2/m", store) for _ in range(2))
        with one.connect() as c:
            self.assertEqual([c.ask("/").status for _ in range(4)], [200, 200, 429, 429])
            self.ban(other)
            wait_until(lambda: "banned" in c.ask("/").text, 5, "the ban is known")
            for _ in range(5):
                self.assert_banned(c.ask("/"))
            self.unban(other)
            self.call(other, "/v1/reset", CLIENT)
            wait_until(lambda: c.ask("/").status == 200, 5, "it passes")

    def test_while_the_store_fails_the_policy_decides(self):
        for policy, status in (("open", 200), ("closed", 503), ("local", 200)):
            with self.subTest(policy=policy):
                store = self.started(RedisServer())
                g = self.gateway_with("rate: 9/h", store, policy=policy)
                self.ban(g)
                self.assert_banned(g.get())
                store.kill()
                wait_until(lambda: g.get().status == status, 10, "the policy decides")


class Listing(BanTest):
    def test_tells_what_is_banned_until_when_and_by_whom(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.gateway_with("missing_key: skip, rate: 9/h", store, key="[client_ip, header:x-key]")
                self.assertEqual(self.bans(g), {"bans": [], "more": False})
                for minutes in (10, 30, 20):
                    self.ban(g, f"{minutes}m", key=["192.0.2.7", f"k{minutes}"])
                told = self.bans(g)
                self.assertFalse(told["more"])
                self.assertEqual([b["key"][1]["sha256"] for b in told["bans"]],
                                 [hashlib.sha256(k).hexdigest()[:32] for k in (b"k30", b"k20", b"k10")])
                for one, minutes in zip(told["bans"], (30, 20, 10)):
                    self.assertEqual(one["limit"], "l")
                    self.assertEqual(one["key"][0], {"part": "client_ip", "value": "192.0.2.7"})
                    self.assertEqual(one["by"], "admin")
                    self.assertAlmostEqual(one["banned_until"], time.time() + 60 * minutes, delta=30)
                first = self.bans(g, "?limit=l&n=1")
                self.assertEqual((len(first["bans"]), first["more"]), (1, True))
                self.unban(g, key=["192.0.2.7", "k20"])
                self.assertEqual(len(self.bans(g)["bans"]), 2)

    def test_of_a_penalty_and_of_another_gateway_once_it_rejects_here(self):
        for store in self.every_store():
            with self.subTest(store=store):
                penalty = "rate: 1/h, penalty: { after: 2, within: 1m, ban: 1h, max_ban: 1d }"
                one = self.gateway_with(penalty, store)
                with one.connect() as c:
                    self.assertEqual([c.ask("/").status for _ in range(4)], [200] + [429] * 3)
                (told,) = self.bans(one)["bans"]
                self.assertEqual((told["key"][0]["value"], told["by"]), ("127.0.0.1", "penalty"))
                if store is not None:
                    other = self.gateway_with(penalty, store)
                    self.ban(one, "2h")
                    self.assertEqual(self.bans(other)["bans"], [])
                    self.assertEqual(other.get().status, 429)
                    (told,) = self.bans(other)["bans"]
                    self.assertEqual(told["by"], "admin")
                    self.unban(one)
                    self.assertEqual(self.bans(other)["bans"], [])

    def test_a_store_that_does_not_answer_is_told(self):
        store = self.started(RedisServer())
        g = self.gateway_with("rate: 9/h", store)
        self.ban(g)
        store.kill()
        (told,) = wait_until(lambda: [b for b in self.bans(g)["bans"] if "failed" in b], 10, "a failure")
        self.assertAlmostEqual(told["banned_until"], time.time() + 600, delta=30)

    def test_what_is_asked_wrongly(self):
        g = self.gateway_with("rate: 9/h")
        for query, status in (("?n=0", 400), ("?n=257", 400), ("?x=1", 400), ("?limit=none", 404)):
            with Connection(g.admin) as c:
                self.assertEqual(c.ask("/v1/bans" + query, [("Authorization", "Bearer secret")]).status, status)
        with Connection(g.admin) as c:
            self.assertEqual(c.ask("/v1/bans").status, 401)
