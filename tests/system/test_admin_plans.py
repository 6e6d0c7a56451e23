"""The admin API and limits with plans: whose numbers count, and that looking changes nothing."""
import time

from harness.gateway import run_command
from harness.process import wait_until
from test_admin_api import AdminTest

KINDS = ("token_bucket", "fixed_window", "sliding_window", "sliding_log")


class Plans(AdminTest):
    PLANS = "plans: { api: { key: 'header:x-key', members: { gold: [kg], small: [ks], banned: [kb] } } }\n"
    # `hour`: whoever has the plan, by client; `own`: each key its own bucket.
    LIMITS = (
        "limits:\n"
        "  hour: { key: client_ip, rate: 10/h, plan: api, plans: { gold: { rate: 10/s } }%(where)s }\n"
        "  own: { key: 'header:x-key', missing_key: skip, rate: 100/h, plan: api, "
        "plans: { gold: { rate: 200/h }, small: { rate: 5/h }, banned: blocked }%(where)s }\n"
    )

    def ready(self, store, routed, algorithm="token_bucket"):
        own = self.LIMITS
        self.LIMITS = own.replace("{ key: client_ip,", f"{{ key: client_ip, algorithm: {algorithm},")
        try:
            return self.started_gateway(store, routed=routed, more=self.PLANS + "workers: 1\n")
        finally:
            self.LIMITS = own

    def statuses(self, gateway, times, key=None):
        headers = [("x-key", key)] if key else []
        return [gateway.get("/", headers=headers).status for _ in range(times)]

    def test_looking_with_other_numbers_changes_nothing(self):
        for store in self.every_store():
            for algorithm in KINDS:
                with self.subTest(store=store, algorithm=algorithm):
                    g = self.ready(store, "hour", algorithm)
                    self.assertEqual(self.statuses(g, 11), [200] * 10 + [429])
                    look = {"limit": "hour", "key": ["127.0.0.1"], "plan": "gold"}
                    self.assertEqual(self.said(g, "/v1/look", look)["limit"], 10)
                    self.said(g, "/v1/explain", {"url": "/", "headers": {"x-key": "kg"}})
                    began = time.monotonic()
                    wait_until(lambda: time.monotonic() - began > 1.2)
                    self.assertEqual(self.statuses(g, 3), [429] * 3)
                    if store is not None:
                        store.forget_all()

    def test_looking_with_fewer_leaves_the_client_its_own(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.ready(store, "hour")
                self.assertEqual(self.statuses(g, 10, "kg"), [200] * 10)
                self.assertEqual(self.said(g, "/v1/look", {"limit": "hour", "key": ["127.0.0.1"]})["limit"], 10)
                began = time.monotonic()
                wait_until(lambda: time.monotonic() - began > 1.2)
                self.assertEqual(self.statuses(g, 10, "kg"), [200] * 10)

    def test_a_key_has_the_numbers_of_its_plan(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.ready(store, "own")
                for key, full in (("kg", 200), ("ks", 5), ("other", 100)):
                    bucket = {"limit": "own", "key": [key]}
                    self.assertEqual(self.said(g, "/v1/look", bucket)["limit"], full)
                    self.assertTrue(self.said(g, "/v1/take", bucket | {"cost": full})["allowed"])
                    self.assertEqual(self.statuses(g, 1, key), [429])
                named = {"limit": "own", "key": ["ks"], "plan": "gold"}
                self.assertEqual(self.said(g, "/v1/look", named)["limit"], 200)
                blocked = self.refused(400, g, "/v1/take", {"limit": "own", "key": ["kb"]})
                self.assertIn('"banned" is blocked', blocked)
                spaced = self.refused(400, g, "/v1/take", {"limit": "own", "key": ["  kb "]})
                self.assertIn('"banned" is blocked', spaced)

    def test_an_explanation_has_all_limits_of_a_request_that_one_refuses(self):
        g = self.ready(None, "own, hour")
        told = self.said(g, "/v1/explain", {"url": "/", "headers": {"x-key": "kb"}})
        self.assertEqual([one["limit"] for one in told["limits"]], ["own", "hour"])
        self.assertEqual((told["limits"][0]["says"], told["limits"][1]["applies"]), ("blocked", True))
        self.assertEqual((told["verdict"]["status"], told["verdict"]["limit"]), (403, "own"))

    def test_a_person_is_told_the_plan(self):
        g = self.ready(None, "own")
        words = ["explain", "--config", g.config_path, "GET", "/", "-H", "x-key: ks"]
        status, said, err = run_command(*words, "--admin", "%s:%d" % g.admin)
        self.assertEqual(status, 0, err)
        self.assertRegex(said, r"limit +own: token_bucket 5/h, capacity 5, .*\n +plan +small\n")

    def test_a_grant_counts_though_the_bucket_had_other_numbers(self):
        for store in self.every_store():
            with self.subTest(store=store):
                g = self.ready(store, "own")
                bucket = {"limit": "own", "key": ["x"]}
                self.said(g, "/v1/take", bucket | {"cost": 5, "plan": "small"})
                self.assertEqual(self.said(g, "/v1/grant", bucket | {"tokens": 1})["remaining"], 96)
