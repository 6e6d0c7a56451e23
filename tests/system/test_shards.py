"""Buckets that are split in parts: `shards`."""
import json

from harness.case import SystemTest, forwarding_to
from harness.client import get
from harness.origin import Origin
from harness.process import wait_until
from harness.redis_server import RedisServer
from test_admin_api import TOKEN

ALL = {"limit": "all", "key": []}


class Shards(SystemTest):
    def text(self, store=None, numbers="rate: 80/d, shards: 8", address="echo"):
        file = self.directory().file("token", TOKEN + "\n")
        text, where = f"admin: {{ address: 127.0.0.1:0, token_file: '{file}' }}\n", ""
        if store is not None:
            text += f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = ", store: r, on_store_failure: closed"
        return text + f"limits: {{ all: {{ key: [], {numbers}{where} }} }}\n" + forwarding_to(address, "all")

    def started_gateway(self, store=None, **options):
        return self.started_from(self.text(store, **options), store)

    def started_from(self, text, store):
        gateway = self.gateway(text)
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def said(self, gateway, path, body):
        headers = [("Authorization", f"Bearer {TOKEN}"), ("Content-Type", "application/json")]
        response = get(gateway.admin, path, headers, method="POST", body=json.dumps(body).encode())
        self.assertEqual(response.status, 200, response.text)
        return json.loads(response.text)

    def statuses(self, gateway, requests):
        with gateway.connect() as c:
            return [c.ask("/").status for _ in range(requests)]

    def left(self, gateway):
        return self.said(gateway, "/v1/look", ALL)["remaining"]

    def test_give_out_the_whole_limit_and_no_more(self):
        for store in self.every_store():
            for numbers in (
                "rate: 80/d",
                "algorithm: fixed_window, rate: 80/d, start: aligned",
                "algorithm: sliding_window, rate: 80/d",
            ):
                with self.subTest(store=store, numbers=numbers):
                    if store is not None:
                        store.forget_all()
                    g = self.started_gateway(store, numbers=numbers + ", shards: 8")
                    passed = self.statuses(g, 80).count(200)
                    self.assertGreaterEqual(passed, 60)
                    self.assertEqual(self.left(g), 80 - passed)
                    # What is left is in parts that later requests meet; one of an empty part is
                    # remembered for a second where the store is shared.
                    def drained():
                        nonlocal passed
                        passed += self.statuses(g, 50).count(200)
                        return passed >= 80
                    wait_until(drained, what="every part is empty")
                    passed += self.statuses(g, 50).count(200)
                    self.assertEqual(passed, 80)
                    self.assertEqual(self.left(g), 0)

    def test_are_keys_of_their_own_in_a_shared_store(self):
        store = self.started(RedisServer())
        g = self.started_gateway(store)
        self.statuses(g, 60)
        self.assertEqual(int(store.command("DBSIZE")), 8)

    def test_are_the_same_for_all_gateways(self):
        store = self.started(RedisServer())
        gateways = [self.started_gateway(store) for _ in range(2)]
        passed = sum(self.statuses(g, 30).count(200) for g in gateways)
        self.assertEqual(passed, 60)
        for g in gateways:
            self.assertEqual(self.left(g), 20)

    def test_clients_hear_of_the_whole(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(store)
                first = g.get("/")
                self.assertEqual(first["X-RateLimit-Limit"], "80")
                self.assertEqual(first["X-RateLimit-Remaining"], "72")  # 9 of 10 in its part
                self.said(g, "/v1/take", ALL | {"cost": 10})
                refused = [r for r in (g.get("/") for _ in range(200)) if r.status == 429]
                self.assertTrue(refused)
                for r in refused:
                    self.assertEqual(r["X-RateLimit-Limit"], "80")
                    self.assertEqual(r["X-RateLimit-Remaining"], "0")
                    self.assertTrue(0 < int(r["Retry-After"]) <= 86400 / 10, r["Retry-After"])

    def test_the_admin_api_speaks_of_the_whole(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(store)
                looked = self.said(g, "/v1/look", ALL)
                self.assertEqual((looked["limit"], looked["remaining"], looked["retry"]), (80, 80, 0))
                took = [self.said(g, "/v1/take", ALL | {"cost": 3}) for _ in range(24)]
                self.assertTrue(all(t["allowed"] for t in took), took)
                self.assertEqual(took[-1]["remaining"], 8)
                refused = self.said(g, "/v1/take", ALL | {"cost": 2})
                self.assertFalse(refused["allowed"])
                self.assertEqual(refused["remaining"], 8)
                self.assertTrue(0 < refused["retry_after"] <= 86400 / 10, refused)
                self.assertIsNone(self.said(g, "/v1/take", ALL | {"cost": 11})["retry_after"])
                self.assertEqual(self.said(g, "/v1/grant", ALL | {"tokens": 31})["remaining"], 39)
                explained = self.said(g, "/v1/explain", {"url": "/"})["limits"][0]
                self.assertEqual((explained["remaining"], explained["capacity"]), (39, 80))
                self.assertEqual((explained["shards"], explained["says"]), (8, "allowed"))
                self.assertEqual(explained["bucket"], looked["bucket"])
                self.assertEqual(self.said(g, "/v1/grant", ALL | {"tokens": 1000})["remaining"], 80)
                self.said(g, "/v1/take", ALL | {"cost": 7})
                self.assertEqual(self.said(g, "/v1/reset", ALL)["remaining"], 80)

    def test_a_response_corrects_the_part_that_was_charged(self):
        def answer(peer, request):
            peer.read_body(request)
            peer.reply(200, fields=[("X-Used", request.target.lstrip("/"))])

        origin = self.started(Origin(answer))
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.started_gateway(
                    store,
                    numbers="rate: 80/d, shards: 8, cost: 5, settle: { header: x-used, max: 10 }",
                    address=origin.address,
                )
                self.assertEqual(g.get("/3").status, 200)
                wait_until(lambda: self.left(g) == 77, what="two are given back")
                # Two parts or one: a part has 7 at least, so none comes to owe.
                self.assertEqual(g.get("/7").status, 200)
                wait_until(lambda: self.left(g) == 70, what="two more are charged")
                with g.connect() as c:
                    statuses = [c.ask("/0").status for _ in range(20)]
                self.assertIn(200, statuses)
                wait_until(lambda: self.left(g) == 70, what="all is given back, once")

    def test_a_reload_keeps_what_is_owed_unless_the_number_of_shards_changes(self):
        for store in self.every_store():
            with self.subTest(store=store):
                text = self.text(store)
                g = self.started_from(text, store)
                passed = self.statuses(g, 40).count(200)
                self.assertEqual(self.left(g), 80 - passed)
                self.assertIn("reloaded", g.reload(text.replace("80/d", "160/d")))
                self.assertEqual(self.left(g), 160 - passed)
                self.assertIn("reloaded", g.reload(text.replace("shards: 8", "shards: 4")))
                self.assertEqual(self.left(g), 80)
