"""The admin API's stream of seconds: what it sends, to whom, and that it costs nobody else anything."""
import json
import re
import signal
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Connection
from harness.process import PATIENCE, wait_until
from harness.redis_server import RedisServer
from harness.stream import Viewer

TOKEN = "secret"
SECONDS = 6


class StreamTest(SystemTest):
    limits = "limits: { per_client: { key: client_ip, rate: 5/h } }\n"

    def configuration(self, extra="", limits=None, admin="", upstream="echo", names="per_client"):
        token = self.directory().file("token", TOKEN + "\n")
        text = f"admin: {{ address: '127.0.0.1:0', token_file: '{token}'{admin} }}\n"
        return text + (limits or self.limits) + forwarding_to(upstream, names) + extra

    def serving(self, **options):
        return self.gateway(self.configuration(**options))

    def viewer(self, gateway, token=None, **options):
        return self.started(Viewer(gateway, token, **options))

    def call(self, gateway, path, body, status=200, token=TOKEN):
        headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
        with Connection(gateway.admin) as c:
            answer = c.ask(path, headers, "POST", json.dumps(body).encode())
        self.assertEqual(answer.status, status, answer.text)
        return json.loads(answer.text)

    def rejected(self, gateway, times=8, target="/", headers=()):
        with gateway.connect() as c:
            answers = [c.ask(target, headers) for _ in range(times)]
        self.assertEqual(answers[-1].status, 429)
        return answers


class Events(StreamTest):
    def test_are_one_a_second_with_ids_and_a_time_to_come_back(self):
        g = self.serving()
        with Connection(g.admin) as c:
            c.request("/v1/stream")
            head = c.head()
            self.assertEqual(head.status, 200)
            self.assertEqual(head["Content-Type"], "text/event-stream")
            self.assertEqual(head["Cache-Control"], "no-store")
            self.assertRegex(c.read_until(b"\n\n"), rb"^retry: \d+$")
        v = self.viewer(g)
        v.until(lambda v: len(v.events) >= SECONDS, 30)
        numbers = [int(re.fullmatch(r"\d+-(\d+)", i)[1]) for i in v.ids]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        took = v.events[-1]["at"] - v.events[0]["at"]
        self.assertAlmostEqual(took, len(numbers) - 1, delta=2 * PATIENCE)
        self.assertAlmostEqual(v.events[-1]["at"], time.time(), delta=3 * PATIENCE)

    def test_count_what_the_metrics_count(self):
        g = self.serving()
        v = self.viewer(g)
        v.next()
        self.rejected(g)
        v.until(lambda v: v.rejections and len(v.rejections) == 3)
        limits = [e["limits"].get("per_client", {}) for e in v.events]
        for outcome, count in (("allowed", 5), ("rejected", 3)):
            self.assertEqual(sum(e["requests"].get(outcome, 0) for e in v.events), count)
            self.assertEqual(sum(e.get(outcome, 0) for e in limits), count)
            self.assertEqual(g.metrics().sum("gateway_decisions_total", outcome=outcome), count)
        busy = next(e for e in v.events if e["requests"].get("allowed"))
        self.assertGreater(busy["latency"]["p99"], 0)
        self.assertGreaterEqual(busy["latency"]["p99"], busy["latency"]["p50"])
        self.assertEqual(sum(e["upstreams"].get("up", {}).get("responses", 0) for e in v.events), 5)

    def test_a_new_viewer_gets_the_past_at_once_and_one_who_comes_back_what_it_missed(self):
        g = self.serving()
        first = self.viewer(g)
        first.next()
        self.rejected(g)
        first.until(lambda v: len(v.events) >= 4 and v.rejections)
        began = time.monotonic()
        late = self.viewer(g)
        late.until(lambda v: v.ids[-1:] == first.ids[-1:])
        self.assertLess(time.monotonic() - began, 1 * PATIENCE)
        self.assertEqual(late.ids[-len(first.ids):], first.ids)
        self.assertEqual(late.rejections, first.rejections)
        self.assertEqual(late.state["limits"][0]["limit"], "per_client")
        again = self.viewer(g, seen=first.ids[1])
        again.until(lambda v: v.ids[-1:] == first.ids[-1:] or len(v.ids) > 10)
        self.assertEqual(again.ids[:len(first.ids) - 2], first.ids[2:])
        other = self.viewer(g, seen="1-99")
        other.next()
        self.assertEqual(other.ids[0], late.ids[0])

    def test_state_is_sent_when_it_changes(self):
        g = self.serving()
        v = self.viewer(g)
        v.until(lambda v: "limits" in v.state)
        for _ in range(3):
            self.assertNotIn("limits", v.next().get("state", {}))
        g.reload(self.configuration(limits="limits: { per_client: { key: client_ip, rate: 7/h } }\n"))
        v.until(lambda v: v.state["limits"][0]["rate"] == "7/h")
        self.assertTrue(v.state["process"]["reload"]["succeeded"])


    def test_a_change_reaches_those_who_view_although_another_one_comes(self):
        g = self.serving()
        v = self.viewer(g)
        v.until(lambda v: "limits" in v.state)
        v.next()  # the change and the other viewer come within the second that follows
        g.reload(self.configuration(limits="limits: { per_client: { key: client_ip, rate: 7/h } }\n"))
        self.viewer(g).next()
        v.until(lambda v: v.state["limits"][0]["rate"] == "7/h")


class Names(StreamTest):
    """Who sees what."""

    def test_without_the_token_buckets_have_hashes_and_with_it_names(self):
        g = self.serving()
        anybody, operator = self.viewer(g), self.viewer(g, TOKEN)
        self.rejected(g, target="/private?secret=1")
        for v in (anybody, operator):
            v.until(lambda v: v.rejections and v.state["top_rejections"] and v.state["top_requests"])
        said = json.dumps(anybody.events)
        self.assertNotIn("127.0.0.1", said.replace(json.dumps(anybody.state["servers"])[1:-1], ""))
        self.assertNotIn("private", said)
        one, named = anybody.rejections[0], operator.rejections[0]
        logged = [l["bucket"] for l in g.log_lines(8) if l["status"] == 429]
        self.assertEqual({one["bucket"], named["bucket"], *logged}, {logged[0]})
        self.assertEqual(named["client"], "127.0.0.1")
        self.assertEqual(named["path"], "/private")
        self.assertNotIn("secret", json.dumps(operator.events))
        for r in (one, named):
            self.assertEqual((r["route"], r["limit"], r["why"]), ("/", "per_client", "rejected"))
            self.assertGreater(r["retry_after"], 1)
            self.assertTrue(r["request_id"])
            self.assertAlmostEqual(r["at"], time.time(), delta=30)
        self.assertEqual(operator.state["top_rejections"][0]["key"], [{"part": "client_ip", "value": "127.0.0.1"}])
        self.assertNotIn("key", anybody.state["top_rejections"][0])

    def test_a_wrong_token_is_refused_and_none_is_configured(self):
        g = self.serving()
        self.assertEqual(self.viewer(g, "wrong").head.status, 401)
        plain = self.gateway(self.limits + forwarding_to("echo", "per_client"))
        self.assertEqual(self.viewer(plain, "any").head.status, 403)
        self.assertEqual(self.viewer(plain).head.status, 200)

    def test_another_host_is_refused(self):
        g = self.serving()
        for target in ("/", "/v1/stream", "/page/page.js"):
            with Connection(g.admin) as c:
                c.send(f"GET {target} HTTP/1.1\r\nHost: evil.example\r\n\r\n")
                self.assertEqual(c.response().status, 421)

    def test_what_a_stranger_sends_is_sound_json(self):
        g = self.serving(limits="limits: { per_client: { key: [], rate: 1/h } }\n")
        v = self.viewer(g, TOKEN)
        with g.connect() as c:
            for path in ("/", "/%3Cscript%3E", "/a\"b\\", "/%e2%80%ae%ff", "/" + "x" * 8000):
                c.ask(path, [("X-Request-Id", "<script>alert(1)</script>")])
        v.until(lambda v: len(v.rejections) >= 3)
        self.assertLess(max(len(r["path"]) for r in v.rejections), 300)


class Viewers(StreamTest):
    def test_are_bounded(self):
        g = self.serving()
        all_of_them = [self.viewer(g) for _ in range(32)]
        self.assertEqual({v.head.status for v in all_of_them}, {200})
        refused = self.viewer(g)
        self.assertEqual(refused.head.status, 503)
        all_of_them[0].stop()
        wait_until(lambda: self.viewer(g).head.status == 200, 10, "there is room again")
        self.assertEqual(g.metrics().sum("gateway_build_info"), 1)

    def test_are_bounded_when_all_come_at_once(self):
        g = self.serving()
        crowd = [Connection(g.admin) for _ in range(60)]
        for c in crowd:
            self.addCleanup(c.close)
            self.assertEqual(c.ask("/healthz").status, 200)
        g.freeze()  # so that it finds the requests of all of them at once
        for c in crowd:
            c.request("/v1/stream")
        g.thaw()
        statuses = [c.head().status for c in crowd]
        self.assertEqual((statuses.count(200), statuses.count(503)), (32, 28))

    def test_one_that_reads_nothing_is_let_go_and_the_others_are_served(self):
        g = self.serving(admin=", timeout: 1s")
        reader = self.viewer(g)
        idle = self.viewer(g, receive_buffer=2048)

        def let_go():
            self.rejected(g, 100)  # more to tell than systems keep for it
            reader.next()
            return len(self.viewers_at(g)) == 1

        wait_until(let_go, 60, "it is let go")
        reader.next()
        self.assertEqual(idle.head.status, 200)

    def viewers_at(self, gateway):
        """The connections to the admin API that are open at the gateway."""
        ours = f":{gateway.admin[1]:04X}"
        with open(f"/proc/{gateway.pid}/net/tcp", encoding="ascii") as f:
            rows = [line.split() for line in f.readlines()[1:]]
        return [r for r in rows if r[1].endswith(ours) and r[3] == "01"]

    def test_a_drain_does_not_wait_for_them(self):
        g = self.serving()
        v = self.viewer(g)
        v.next()
        began = time.monotonic()
        g.signal(signal.SIGTERM)
        self.assertEqual(g.wait(), 0)
        self.assertLess(time.monotonic() - began, 3 * PATIENCE)


class Findings(StreamTest):
    def test_a_flooding_client_is_named(self):
        g = self.serving()
        anybody, operator = self.viewer(g), self.viewer(g, TOKEN)
        operator.until(lambda v: v.state.get("findings") == [])
        self.rejected(g, 200)
        found = operator.finding("client", name="per_client")
        self.assertEqual(found["key"], [{"part": "client_ip", "value": "127.0.0.1"}])
        self.assertIn("195 requests rejected", found["text"])
        self.assertAlmostEqual(found["since"], time.time(), delta=20)
        self.assertEqual(anybody.finding("client", name="per_client")["bucket"], found["bucket"])
        operator.until(lambda v: v.state["findings"] == [], 30)

    def test_a_dead_store_is_named_and_comes_back(self):
        redis = self.started(RedisServer())
        stores = f"stores: {{ shared: {{ url: '{redis.url}', timeout: 100ms }} }}\n"
        g = self.serving(
            extra=stores,
            limits="limits: { l: { key: client_ip, rate: 900/s, store: shared } }\n", names="l")
        v = self.viewer(g)
        v.until(lambda v: [s["state"] for s in v.state.get("stores", ())] == ["up", "up"])
        g.get()
        v.until(lambda v: any(e["stores"].get("shared", {}).get("calls") for e in v.events))
        redis.kill()
        for _ in range(5):
            g.get()
        found = v.finding("store", name="shared")
        self.assertIn("is down: unreachable", found["text"])
        store = v.until(lambda v: next((s for s in v.state["stores"] if s["state"] == "down"), None))
        self.assertEqual((store["store"], store["last_failure"]), ("shared", "unreachable"))
        self.assertAlmostEqual(store["since"], time.time(), delta=20)
        redis.start()
        v.until(lambda v: [s["state"] for s in v.state["stores"]] == ["up", "up"], 30)

    def test_a_dead_upstream_is_named(self):
        origin = self.origin()
        g = self.serving(upstream=origin.address, limits="limits: { per_client: { key: client_ip, rate: 900/s } }\n")
        v = self.viewer(g)
        v.until(lambda v: v.state.get("servers"))
        self.assertEqual(g.get().status, 200)
        origin.stop()
        for _ in range(8):
            self.assertEqual(g.get().status, 502)
        found = v.finding("upstream")
        self.assertIn("up", found["name"])
        self.assertIn("connect", found["text"])

    def test_a_refused_reload_is_told_with_what_it_said(self):
        g = self.serving()
        anybody, operator = self.viewer(g), self.viewer(g, TOKEN)
        operator.next(), anybody.next()
        g.reload(self.configuration(limits="limits: { per_client: { key: client_ip, rat: 5/h } }\n"))
        self.assertIn("old configuration", operator.finding("gateway", name="configuration")["text"])
        self.assertIn("rat", "".join(operator.state["process"]["reload"]["said"]))
        anybody.finding("gateway", name="configuration")
        self.assertNotIn("said", anybody.state["process"]["reload"])


class ByHash(StreamTest):
    def hash_of(self, gateway, headers=()):
        self.rejected(gateway, headers=headers)
        return next(l["bucket"] for l in gateway.log_lines(8) if l["status"] == 429)

    def test_every_call_on_a_bucket_takes_it(self):
        for store in self.every_store():
            with self.subTest(store=store):
                extra, where = "", ""
                if store is not None:
                    extra = f"stores: {{ s: {{ url: '{store.url}', timeout: 1s }} }}\n"
                    where = ", store: s"
                g = self.serving(
                    extra=extra, limits=f"limits: {{ per_client: {{ key: client_ip, rate: 5/h{where} }} }}\n")
                if store is not None:
                    wait_until(lambda: g.metrics().sum("gateway_store_up", store="s"), what="store")
                name = {"limit": "per_client", "bucket": self.hash_of(g)}
                self.assertEqual(self.call(g, "/v1/look", name)["remaining"], 0)
                self.assertEqual(self.call(g, "/v1/grant", name | {"tokens": 3})["remaining"], 3)
                took = self.call(g, "/v1/take", name | {"cost": 2})
                self.assertEqual((took["allowed"], took["remaining"], took["bucket"]), (True, 1, name["bucket"]))
                self.assertEqual(self.call(g, "/v1/reset", name)["remaining"], 5)
                self.assertTrue(self.call(g, "/v1/ban", name | {"for": "10m"})["banned_until"])
                self.assertEqual(g.get().status, 429)
                self.assertIsNone(self.call(g, "/v1/unban", name)["banned_until"])
                self.assertEqual(
                    self.call(g, "/v1/look", {"limit": "per_client", "key": ["127.0.0.1"]})["bucket"], name["bucket"])
                if store is not None:
                    store.forget_all()
                g.stop()

    def test_of_a_secret_key_uses_the_numbers_of_its_plan(self):
        g = self.serving(
            limits="limits: { per_key: { key: header:x-key, missing_key: skip, rate: 5/h, plan: p,"
            " plans: { gold: { rate: 7/h } } } }\n",
            names="per_key", extra="plans: { p: { key: header:x-key, members: { gold: [k1] } } }\n")
        name = {"limit": "per_key", "bucket": self.hash_of(g, [("X-Key", "k1")])}
        self.assertEqual(self.call(g, "/v1/reset", name)["limit"], 7)

    def test_an_unknown_or_malformed_one_is_told(self):
        g = self.serving()
        told = self.call(g, "/v1/look", {"limit": "per_client", "bucket": "0" * 32}, 404)
        self.assertIn("name it by its key", told["detail"])
        for wrong in ("x", "A" * 32, 5, ""):
            told = self.call(g, "/v1/look", {"limit": "per_client", "bucket": wrong}, 400)
            self.assertIn("bucket", told["detail"])
        both = {"limit": "per_client", "bucket": "0" * 32, "key": ["127.0.0.1"]}
        self.assertIn("key", self.call(g, "/v1/look", both, 400)["detail"])
