"""Limits in a real Redis: what is stored there, for how long, and how it is reached."""
import json
import re
import signal
import time

from harness.case import SystemTest, forwarding_to
from harness.documents import documented
from harness.listener import Listener
from harness.load import Load, pipelined
from harness.process import free_port, wait_until
from harness.redis_server import RedisServer


class WhyItFails(SystemTest):
    """The log says what a person needs to mend it, and no secret."""

    def told(self, url, *words):
        gateway = self.gateway(
            f"workers: 1\nstores: {{ r: {{ url: '{url}' }} }}\n"
            "limits: { l: { key: [], rate: 1/h, store: r } }\n" + forwarding_to("echo", "l")
        )
        gateway.wait_for_diagnostic("store r: failing at ")
        for word in words:
            gateway.wait_for_diagnostic(word)
        gateway.stop()
        self.assertNotIn("s3cret", str(gateway.diagnostics))
        self.assertLess(len(gateway.diagnostics), 10, gateway.diagnostics)
        return gateway

    def test_without_or_with_another_password(self):
        redis = self.started(RedisServer("--requirepass", "right"))
        at = f"127.0.0.1:{redis.port}"
        self.told(f"redis://{at}", "auth (NOAUTH Authentication required.)")
        self.told(f"redis://:s3cret@{at}", "auth (WRONGPASS invalid username-password pair")
        self.told(f"redis://u:s3cret@{at}", "auth (WRONGPASS invalid username-password pair")

    def test_with_a_password_where_none_is_wanted(self):
        redis = self.started(RedisServer())
        self.told(
            f"redis://:s3cret@127.0.0.1:{redis.port}",
            "auth (ERR AUTH <password> called without any password configured",
        )

    def test_that_cannot_be_reached(self):
        self.told(f"redis://127.0.0.1:{free_port()}", "unreachable (Connection refused)")
        self.told("redis://no-such-host.invalid", "unreachable (Host not found")
        path = self.directory().file("none.sock")
        self.told(f"unix://{path}", "unreachable (No such file or directory)")

    def test_that_repeats_what_it_does_not_know(self):
        def old_server(peer):
            peer.recv(65536)
            peer.sendall(
                b"-ERR unknown command `AUTH`, with args beginning with: `u`, `s3cret`, \r\n"
            )
            peer.recv(65536)

        port = self.started(Listener(old_server)).port
        self.told(f"redis://u:s3cret@127.0.0.1:{port}", "auth (ERR unknown command `AUTH`)")

    def test_that_changes_its_mind(self):
        redis = self.started(RedisServer())
        gateway = self.gateway(
            f"workers: 1\nstores: {{ r: {{ url: '{redis.url}', timeout: 5s }} }}\n"
            "limits: { l: { key: [], rate: 1/h, burst: 9, store: r } }\n" + forwarding_to("echo", "l")
        )
        gateway.wait_for_diagnostic("store r: ready")
        redis.command("CONFIG", "SET", "requirepass", "right")
        redis.password = "right"
        redis.command("CLIENT", "KILL", "TYPE", "normal")
        gateway.wait_for_diagnostic("auth (NOAUTH Authentication required.)")
        redis.command("CONFIG", "SET", "requirepass", "")
        redis.password = None
        start = len(gateway.diagnostics)
        gateway.wait_for_diagnostic("store r: ready", start)


class Keys(SystemTest):
    def test_that_hold_something_else_are_told(self):
        """Under `open` nobody else would notice that their clients are not limited."""
        redis = self.started(RedisServer())
        gateway = self.gateway(
            f"workers: 1\nstores: {{ r: {{ url: '{redis.url}', timeout: 5s }} }}\n"
            "limits: { l: { key: [], rate: 1/h, burst: 2, store: r, on_store_failure: open } }\n"
            + forwarding_to("echo", "l")
        )
        self.assertEqual(gateway.get().status, 200)
        (key,) = redis.keys()
        redis.command("SET", key, "hello")
        self.assertEqual([gateway.get().status for _ in range(3)], [200] * 3)
        line = f"store r: the key {key.decode()} of limit l holds something else than a bucket"
        gateway.wait_for_diagnostic(line)
        self.assertEqual(len([d for d in gateway.diagnostics if line in d]), 1, "told once in 10 s")
        redis.command("DEL", key)
        self.assertEqual([gateway.get().status for _ in range(3)], [200, 200, 429])


class Documented(SystemTest):
    """docs/stores.md"""

    KINDS = (
        "rate: 1/h, burst: 5",
        "algorithm: fixed_window, rate: 5/h, capacity: 5",
        "algorithm: sliding_window, rate: 5/h",
        "algorithm: sliding_log, rate: 5/h",
        "rate: 1/h, burst: 5, penalty: { after: 2, within: 1m, ban: 1m, max_ban: 1h }",
    )

    def test_the_rights_of_the_user_suffice(self):
        redis = self.started(RedisServer())
        redis.command(*documented("stores.md").strip().replace("PASSWORD", "secret").split())
        url = f"redis://gateway:secret@127.0.0.1:{redis.port}/0"
        for kind in self.KINDS:
            with self.subTest(kind=kind):
                text = (
                    f"workers: 1\nstores: {{ r: {{ url: '{url}', timeout: 5s }} }}\n"
                    f"limits: {{ l: {{ key: [], {kind}, store: r, on_store_failure: closed }} }}\n"
                    + forwarding_to("echo", "l")
                )
                gateway = self.gateway(text)
                gateway.wait_for_diagnostic("store r: ready")
                self.assertEqual([gateway.get().status for _ in range(6)], [200] * 5 + [429])
                gateway.reload(text.replace("1/h", "1/m").replace("5/h", "5/m"))
                if "algorithm: sliding" not in kind:
                    gateway.wait_for_diagnostic("all buckets follow the changed rates")
                gateway.stop()
                redis.command("FLUSHALL")


class Shared(SystemTest):
    def setUp(self):
        self.redis = self.started(RedisServer())

    def gateway_on(
        self,
        url,
        limits="l: { key: client_ip, rate: 1/m, burst: 3, store: r, on_store_failure: closed }",
        store="",
        names="l",
        more="",
    ):
        gateway = self.gateway(
            f"stores: {{ r: {{ url: '{url}', timeout: 5s {store} }} }}\nlimits: {{ {limits} }}\n"
            f"{more}" + forwarding_to("echo", names)
        )
        wait_until(
            lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="the store is up"
        )
        return gateway

    def test_gateways_share_buckets(self):
        first, second = self.gateway_on(self.redis.url), self.gateway_on(self.redis.url)
        answers = [g.get() for g in (first, second, first, second, first)]
        self.assertEqual([r.status for r in answers], [200] * 3 + [429] * 2)
        self.assertEqual([r["x-ratelimit-remaining"] for r in answers], ["2", "1", "0", "0", "0"])
        self.assertEqual(answers[2]["x-ratelimit-reset"], "180")
        self.assertIn(answers[4]["retry-after"], ("59", "60"))

    def test_every_key_has_the_prefix_and_expires_when_its_bucket_is_full(self):
        gateway = self.gateway_on(
            self.redis.url,
            store=", key_prefix: 'mine:'",
            more="client: { trusted_proxies: [127.0.0.1] }\n",
        )
        requests = [
            f"GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 10.0.{i >> 8}.{i & 255}\r\n\r\n".encode()
            for i in range(1000)
        ]
        self.assertEqual(set(pipelined(gateway.address, requests)), {200})
        keys = self.redis.keys()
        self.assertEqual(len(keys), 1000)
        for key in keys:
            self.assertTrue(key.startswith(b"mine:"), key)
            self.assertIn(self.redis.command("PTTL", key), range(30_000, 60_100))

    def test_one_round_trip_decides_several_limits_all_or_nothing(self):
        gateway = self.gateway_on(
            self.redis.url,
            names="a, b",
            limits="a: { key: [], rate: 1/h, burst: 5, store: r }, b: { key: client_ip, rate: 1/h, burst: 2, store: r }",
            store=", remember_rejections: false",
        )
        before = gateway.metrics().count("gateway_store_requests_total", store="r")
        statuses = [gateway.get().status for _ in range(6)]
        self.assertEqual(statuses, [200] * 2 + [429] * 4)
        self.assertEqual(
            gateway.metrics().count("gateway_store_requests_total", store="r") - before, 6
        )
        second = self.gateway_on(
            self.redis.url, names="a", limits="a: { key: [], rate: 1/h, burst: 5, store: r }"
        )
        self.assertEqual(
            [second.get().status for _ in range(4)],
            [200] * 3 + [429],
            "what b rejected was not charged to a",
        )

    def test_a_local_and_a_shared_limit_are_all_or_nothing_too(self):
        gateway = self.gateway_on(
            self.redis.url,
            names="near, far",
            limits="near: { key: [], rate: 1/h, burst: 5 }, far: { key: client_ip, rate: 1/h, burst: 2, store: r }",
            more="client: { trusted_proxies: [127.0.0.1] }\n",
        )
        statuses = [gateway.get().status for _ in range(6)]
        self.assertEqual(statuses, [200] * 2 + [429] * 4)
        others = [
            gateway.get(headers=[("X-Forwarded-For", f"10.0.0.{i}")]).status for i in range(5)
        ]
        self.assertEqual(others, [200] * 3 + [429] * 2)

    def test_limits_of_every_store_are_named_when_both_are_exhausted(self):
        gateway = self.gateway_on(
            self.redis.url,
            names="near, far",
            limits="near: { key: [], rate: 1/m, burst: 2 }, far: { key: [], rate: 1/h, burst: 2, store: r }",
            more="workers: 1\n",
        )
        self.assertEqual([gateway.get().status for _ in range(2)], [200] * 2)
        before = self.redis.keys(), self.redis.command("GET", self.redis.keys()[0])
        for _ in range(3):
            r = gateway.get()
            self.assertEqual(r.status, 429)
            self.assertEqual(json.loads(r.body)["violated-policies"], ["near", "far"])
            self.assertIn(int(r["retry-after"]), range(3500, 3601))
        after = self.redis.keys(), self.redis.command("GET", self.redis.keys()[0])
        self.assertEqual(before, after, "what is rejected takes nothing")
        metrics = gateway.metrics()
        for name in ("near", "far"):
            self.assertEqual(
                metrics.sum("gateway_decisions_total", limit=name, outcome="rejected"), 3
            )

    def test_what_a_local_limit_rejects_is_not_charged_to_a_shared_one(self):
        gateway = self.gateway_on(
            self.redis.url,
            names="near, far",
            limits="near: { key: client_ip, rate: 1/h, burst: 1 }, far: { key: [], rate: 1/h, burst: 3, store: r }",
            more="client: { trusted_proxies: [127.0.0.1] }\n",
        )
        answers = [
            gateway.get(headers=[("X-Forwarded-For", f"10.0.0.{i}")]) for i in (1, 1, 1, 2, 2, 3, 4)
        ]
        self.assertEqual([r.status for r in answers], [200, 429, 429, 200, 429, 200, 429])
        self.assertEqual(
            [json.loads(r.body)["violated-policies"] for r in answers if r.status == 429],
            [["near"]] * 3 + [["far"]],
        )

    def test_a_local_rejection_needs_no_store(self):
        gateway = self.gateway_on(
            self.redis.url,
            names="near, far",
            limits="near: { key: [], rate: 1/h, burst: 1 }, far: { key: [], rate: 1/h, burst: 3, store: r, on_store_failure: closed }",
        )
        self.assertEqual(gateway.get().status, 200)
        self.redis.kill()
        for _ in range(10):  # from failing questions to an open breaker
            r = gateway.get()
            self.assertEqual(r.status, 429)
            self.assertEqual(json.loads(r.body)["violated-policies"], ["near"])

    def test_a_unix_socket_a_database_and_a_password(self):
        self.redis.command("CONFIG", "SET", "requirepass", "p@ss/word")
        self.redis.password = "p@ss/word"
        for url in (
            f"unix://{self.redis.socket_path}?db=3",
            f"redis://127.0.0.1:{self.redis.port}/3",
        ):
            self.assertEqual(self.gateway_unready(url).get().status, 503, "without the password")
        gateway = self.gateway_on(f"redis://:p%40ss%2Fword@127.0.0.1:{self.redis.port}/3")
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual(self.redis.keys(), [], "database 0 is not ours")
        self.assertNotIn("p@ss", "\n".join(gateway.diagnostics) + gateway.metrics().text)
        self.redis.command("CONFIG", "SET", "requirepass", "")
        self.redis.password = None
        gateway = self.gateway_on(f"unix://{self.redis.socket_path}?db=4")
        self.assertEqual(gateway.get().status, 200)

    def gateway_unready(self, url):
        return self.gateway(
            f"stores: {{ r: {{ url: '{url}' }} }}\n"
            f"limits: {{ l: {{ key: [], rate: 1/m, store: r, on_store_failure: closed }} }}\n"
            + forwarding_to("echo", "l")
        )

    def test_a_store_by_name_is_resolved(self):
        gateway = self.gateway_on(f"redis://localhost:{self.redis.port}/0")
        self.assertEqual(gateway.get().status, 200)

    def test_no_secret_reaches_redis_logs_or_metrics(self):
        gateway = self.gateway_on(
            self.redis.url,
            limits="l: { key: ['header:Authorization', 'cookie:session', 'query:token', path], missing_key: reject, rate: 1/m, burst: 2, store: r }",
        )
        secrets = ["Bearer-5ecret-A", "5ecret-B", "5ecret-C", "5ecret-D"]
        headers = [("Authorization", secrets[0]), ("Cookie", f"session={secrets[1]}")]
        target = f"/{secrets[3]}?token={secrets[2]}"
        self.assertEqual([gateway.get(target, headers).status for _ in range(3)], [200, 200, 429])
        gateway.log_lines(3)
        with open(gateway.log_path, encoding="utf-8") as f:
            log = f.read()
        stored = b"".join(k + self.redis.command("GET", k) for k in self.redis.keys()).decode()
        for name, text in (
            ("redis", stored),
            ("metrics", gateway.metrics().text),
            ("diagnostics", "\n".join(gateway.diagnostics)),
            ("log", log),
        ):
            for secret in secrets[:3] + ([secrets[3]] if name != "log" else []):
                self.assertNotIn(secret, text, name)
        self.assertEqual(len(self.redis.keys()), 1)
        self.assertLess(len(self.redis.keys()[0]), 100)

    def test_keys_full_of_protocol_and_code_are_ordinary(self):
        gateway = self.gateway_on(
            self.redis.url,
            limits="l: { key: 'header:k', missing_key: reject, rate: 1/m, burst: 2, store: r, on_store_failure: closed }",
        )
        for value in (
            r"a\r\n*1\r\n$8\r\nFLUSHALL",
            "*') redis.call('FLUSHALL') --",
            "'; DROP TABLE x; --",
            "\xff\xfe",
            "K" * 8000,
        ):
            self.assertEqual(
                [gateway.get(headers=[("K", value)]).status for _ in range(3)],
                [200, 200, 429],
                value[:20],
            )
        self.assertEqual(len(self.redis.keys()), 5)

    def test_an_idle_client_finds_a_full_bucket_and_a_reload_keeps_debts(self):
        limit = "l: {{ key: [], rate: {}, burst: {}, store: r }}"
        gateway = self.gateway_on(self.redis.url, limits=limit.format("1/h", 3))
        self.assertEqual([gateway.get().status for _ in range(4)], [200] * 3 + [429])
        text = (
            f"stores: {{ r: {{ url: '{self.redis.url}', timeout: 5s }} }}\n"
            f"limits: {{ {limit.format('2/h', 4)} }}\n" + forwarding_to("echo", "l")
        )
        self.assertIn("reloaded", gateway.reload(text))
        r = gateway.get()
        self.assertEqual(
            (r.status, r["x-ratelimit-remaining"]),
            (200, "0"),
            "three were taken, and four is the new burst",
        )
        self.assertEqual(gateway.get().status, 429)

    def test_questions_wait_for_a_link_that_is_on_its_first_way(self):
        """At the start, and when a reload changes the store's settings: nothing has failed."""

        def text(timeout):
            return (
                f"workers: 2\nstores: {{ r: {{ url: '{self.redis.url}', timeout: {timeout}ms }} }}\n"
                f"limits: {{ l: {{ key: [], rate: 1/d, burst: 10, store: r }} }}\n"
                + forwarding_to("echo", "l")
            )

        gateway = self.gateway(text(5000))
        self.assertEqual(gateway.get()["x-ratelimit-remaining"], "9", "the very first one is decided")
        request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        load = Load(gateway.address, [(i, request) for i in range(8)]).start()
        for i in range(8):
            self.assertIn("reloaded", gateway.reload(text(5001 + i)))
            asked = len(load.answers)
            wait_until(lambda n=asked: len(load.answers) > n + 20, what="requests go on")
        answers = load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual(sum(a.status == 200 for a in answers), 9)
        self.assertEqual(gateway.metrics().sum("gateway_decisions_total", outcome="failed_open"), 0)

    def test_a_gateway_ends_right_after_a_reload_that_made_new_links(self):
        """Whatever was kept of the old configuration goes, and its link with it."""

        def text(timeout):
            return (
                f"workers: 1\nstores: {{ r: {{ url: '{self.redis.url}', timeout: {timeout}ms }} }}\n"
                f"limits: {{ l: {{ key: [], rate: 1/d, burst: 10, store: r }} }}\n"
                + forwarding_to("echo", "l")
            )

        for i in range(5):
            gateway = self.gateway(text(5000))
            gateway.get()
            self.assertIn("reloaded", gateway.reload(text(5001 + i)))
            gateway.stop()

    def test_a_client_that_stays_away_is_not_forgiven_by_a_lowered_rate(self):
        limits = "away: {{ key: [], rate: {}, burst: 1, store: r }}, other: {{ key: [], rate: 1/h, burst: 4, store: r }}"
        gateway = self.gateway_on(self.redis.url, limits=limits.format("1/2s"), names="away, other")
        self.assertEqual([gateway.get().status for _ in range(2)], [200, 429])
        forgiven_at = time.monotonic() + 2.1  # at the old rate
        start = len(gateway.diagnostics)
        text = (
            f"stores: {{ r: {{ url: '{self.redis.url}', timeout: 500ms }} }}\n"
            f"limits: {{ {limits.format('1/h')} }}\n" + forwarding_to("echo", "away")
        )
        self.assertIn("reloaded", gateway.reload(text))
        gateway.wait_for_diagnostic("all buckets follow the changed rates", start)
        buckets = [k for k in self.redis.keys() if k != b"gw:grant"]
        by_limit = {k.split(b":")[1]: self.redis.command("PTTL", k) for k in buckets}
        for name, left in by_limit.items():
            self.assertGreater(left, 60_000, f"{name} owes for long")
        wait_until(lambda: time.monotonic() > forgiven_at, what="the old rate would have forgiven")
        r = gateway.get()
        self.assertEqual((r.status, r["x-ratelimit-remaining"]), (429, "0"))
        start = len(gateway.diagnostics)
        self.assertIn("reloaded", gateway.reload(text + "# nothing changed\n"))
        self.assertEqual(gateway.get().status, 429)
        self.assertNotIn("changed rates", "\n".join(gateway.diagnostics[start:]))

    def test_buckets_follow_a_changed_rate_when_a_lost_store_is_back(self):
        gateway = self.gateway_on(self.redis.url)

        def text(rate):
            return (
                f"stores: {{ r: {{ url: '{self.redis.url}', timeout: 50ms }} }}\n"
                f"limits: {{ l: {{ key: [], rate: {rate}, store: r }} }}\n"
                + forwarding_to("echo", "l")
            )

        self.redis.kill()
        gateway.reload(text("1/h"))
        gateway.wait_for_diagnostic("store r: cannot have all buckets follow the changed rates yet")
        self.redis.start()
        gateway.wait_for_diagnostic("store r: all buckets follow the changed rates")
        self.redis.freeze()
        for rate in ("1/d", "2/d", "3/d"):
            self.assertIn("reloaded", gateway.reload(text(rate)))
        gateway.signal(signal.SIGTERM)
        gateway.wait()
        self.assertEqual(gateway.status, 0, "what hangs at the store holds nobody up")

    def test_the_store_is_asked_by_sha(self):
        gateway = self.gateway_on(self.redis.url)
        self.redis.command("CONFIG", "RESETSTAT")
        self.assertEqual(gateway.get().status, 200)
        stats = self.redis.command("INFO", "commandstats").decode()
        self.assertEqual(re.search(r"cmdstat_evalsha:calls=(\d+)", stats).group(1), "1")
        self.assertNotIn("cmdstat_eval:", stats)
