"""Plans: who asks chooses the numbers of a limit."""
import json
import os
import threading
import time

from harness.client import exchange_raw
from harness.case import SystemTest, forwarding_to
from harness.gateway import run_command, whole_configuration
from harness.process import wait_until
from harness.redis_server import RedisServer

MEMBERS = "members: { gold: [abc, def], staff: [boss], banned: [bad] }"
RULES = "gold: { rate: 50/h, burst: 20 }, staff: unlimited, banned: blocked"
NOTICED = 5  # seconds


def configuration(members=MEMBERS, rules=RULES, key="header:x-api-key", store=None, more=""):
    text, where = "", ""
    if store is not None:
        text = f"stores: {{ r: {{ url: '{store.url}', timeout: 1s }} }}\n"
        where = ", store: r, on_store_failure: closed"
    return (
        f"{text}plans: {{ api: {{ key: '{key}', {members} }} }}\n"
        f"limits: {{ l: {{ key: ['{key}'], missing_key: client_ip, rate: 10/h{where}, plan: api, "
        f"plans: {{ {rules} }}{more} }} }}\n" + forwarding_to("echo", "l")
    )


class Plans(SystemTest):
    def gateway_with(self, store=None, **more):
        gateway = self.gateway(configuration(store=store, **more))
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def ask(self, gateway, key=None):
        return gateway.get(headers=[("X-Api-Key", key)] if key else [])

    def told(self, gateway, key=None):
        """Status, limit and tokens left."""
        a = self.ask(gateway, key)
        return a.status, a["X-RateLimit-Limit"], a["X-RateLimit-Remaining"]

    def judge_every_plan(self, gateway):
        self.assertEqual(self.told(gateway, "abc"), (200, "20", "19"))
        self.assertEqual(self.told(gateway, "def"), (200, "20", "19"))
        self.assertEqual(self.told(gateway, "nobody"), (200, "10", "9"))
        self.assertEqual(self.told(gateway), (200, "10", "9"))
        for _ in range(30):
            self.assertEqual(self.told(gateway, "boss"), (200, None, None))
        refused = self.ask(gateway, "bad")
        self.assertEqual(refused.status, 403)
        self.assertEqual(refused["Content-Type"], "application/problem+json")
        self.assertIsNone(refused["Retry-After"])
        self.assertIsNone(refused["X-RateLimit-Limit"])
        decisions = gateway.metrics()
        self.assertEqual(decisions.sum("gateway_decisions_total", outcome="blocked"), 1)
        self.assertEqual(decisions.sum("gateway_decisions_total", outcome="allowed"), 4)
        self.assertEqual(gateway.get(headers=[("X-Api-Key", "abc"), ("X-Api-Key", "bad")]).status, 400)

    def test_each_has_its_numbers(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.judge_every_plan(self.gateway_with(store=store))

    def test_a_refusal_by_the_plan_is_logged_with_its_limit(self):
        gateway = self.gateway_with()
        self.ask(gateway, "bad")
        line = gateway.log_lines(1)[0]
        self.assertEqual((line["limit"], line["outcome"], line["status"]), ("l", "blocked", 403))
        self.assertEqual(len(line["bucket"]), 32)
        self.assertNotIn("bad", line["bucket"])

    def test_the_default_is_the_plan_of_everybody_else(self):
        gateway = self.gateway_with(members=MEMBERS + ", default: free",
                                    rules=RULES + ", free: { rate: 3/h }")
        self.assertEqual(self.told(gateway, "abc"), (200, "20", "19"))
        self.assertEqual(self.told(gateway, "nobody"), (200, "3", "2"))
        self.assertEqual(self.told(gateway), (200, "3", "2"))

    def test_shadow_refuses_nobody(self):
        gateway = self.gateway_with(more=", mode: shadow")
        self.assertEqual(self.told(gateway, "bad"), (200, None, None))
        self.assertEqual([self.ask(gateway, "nobody").status for _ in range(11)], [200] * 11)
        self.assertEqual(
            gateway.metrics().sum("gateway_decisions_total", outcome="shadow_rejected"), 2
        )
        noted = [line.get("shadow_rejected") for line in gateway.log_lines(12)]
        self.assertEqual([n for n in noted if n], [["l"], ["l"]])

    def test_the_longest_prefix_decides(self):
        gateway = self.gateway(
            "client: { trusted_proxies: [127.0.0.1] }\n"
            + configuration(
                key="client_ip",
                members="members: { gold: [10.0.0.0/8, '2001:db8::/32'], staff: [10.1.0.0/16], "
                "banned: [10.1.2.3] }",
            )
        )

        def told(client):
            a = gateway.get(headers=[("X-Forwarded-For", client)])
            return a.status, a["X-RateLimit-Limit"]

        self.assertEqual(told("10.2.0.1"), (200, "20"))
        self.assertEqual(told("10.1.2.4"), (200, None))
        self.assertEqual(told("10.1.2.3"), (403, None))
        self.assertEqual(told("2001:db8::1"), (200, "20"))
        self.assertEqual(told("11.0.0.1"), (200, "10"))

    # ---- files ------------------------------------------------------------------------------

    def with_file(self, text, store=None):
        """A gateway, and a function that puts another plan file in place."""
        directory = self.directory()
        path = directory.file("plans.csv", text)

        def replace(new):
            fresh = directory.file("plans.new")
            with open(fresh, "wb") as f:
                f.write(new if isinstance(new, bytes) else new.encode())
            os.replace(fresh, path)

        return self.gateway_with(store=store, members=f"file: '{path}'"), replace

    def await_limit(self, gateway, key, limit):
        wait_until(lambda: self.ask(gateway, key)["X-RateLimit-Limit"] == limit, NOTICED,
                   f"{key} has {limit}")

    def test_a_file_that_changes_is_noticed(self):
        gateway, replace = self.with_file("# who\nabc,gold\nbad,banned\n")
        self.assertEqual(self.told(gateway, "abc"), (200, "20", "19"))
        self.assertEqual(self.ask(gateway, "bad").status, 403)
        replace("# who\nxyz,gold\nboss,staff\n")
        began = time.monotonic()
        self.await_limit(gateway, "xyz", "20")
        self.assertLess(time.monotonic() - began, NOTICED)
        self.assertEqual(self.ask(gateway, "boss")["X-RateLimit-Limit"], None)
        self.assertEqual(self.told(gateway, "bad"), (200, "10", "9"))
        self.assertEqual(gateway.metrics().sum("gateway_plan_members", plans="api"), 2)

    def test_a_client_that_changes_plans_keeps_what_it_owes(self):
        for store in self.every_store():
            with self.subTest(store=store):
                gateway, replace = self.with_file("abc,gold\n", store=store)
                left = [self.told(gateway, "abc")[2] for _ in range(6)]
                self.assertEqual(left, ["19", "18", "17", "16", "15", "14"])
                replace("# nobody\n")
                gateway.wait_for_diagnostic("plans.api: 0 keys read, 1 before")
                wait_until(lambda g=gateway: g.metrics().sum("gateway_plan_members") == 0, NOTICED)
                self.assertEqual(self.told(gateway, "abc"), (200, "10", "3"))
                replace("abc,gold\n")
                wait_until(lambda g=gateway: g.metrics().sum("gateway_plan_members") == 1, NOTICED)
                self.assertEqual(self.told(gateway, "abc"), (200, "20", "12"))

    def test_a_bad_file_changes_nothing(self):
        gateway, replace = self.with_file("abc,gold\n")
        for bad, why in (("", "plans.csv: the file is empty"),
                         ("# \xe4\nb\xe4r,gold\n".encode("latin-1"), ":1: the file is not UTF-8"),
                         ("abc,gold\nabc\n", ":2: expected KEY,PLAN"),
                         ("abc,gold\nabc,free\n", ":2: this key is in another plan already")):
            errors = gateway.metrics().sum("gateway_plan_file_errors_total", plans="api")
            replace(bad)
            told = gateway.wait_for_diagnostic(why)
            self.assertIn("the old file stays in force", told)
            m = gateway.metrics()
            self.assertEqual(m.sum("gateway_plan_file_errors_total", plans="api"), errors + 1)
            self.assertEqual(m.sum("gateway_plan_file_in_force", plans="api"), 0)
            self.assertEqual(self.told(gateway, "abc")[1], "20")
        replace("xyz,gold\n")
        self.await_limit(gateway, "xyz", "20")
        self.assertEqual(gateway.metrics().sum("gateway_plan_file_in_force", plans="api"), 1)

    def test_a_bad_file_that_gives_way_to_the_one_in_force_is_over(self):
        directory = self.directory()
        path = directory.file("plans.csv", "abc,gold\n")
        gateway = self.gateway_with(members=f"file: '{path}'")
        os.rename(path, path + ".kept")

        def in_force():
            return gateway.metrics().sum("gateway_plan_file_in_force", plans="api")

        wait_until(lambda: in_force() == 0, NOTICED)
        os.rename(path + ".kept", path)
        wait_until(lambda: in_force() == 1, NOTICED)

    def test_a_reload_that_reads_a_mended_file_ends_its_complaint(self):
        gateway, replace = self.with_file("abc,gold\n")
        replace("bad\n")
        gateway.wait_for_diagnostic("the old file stays in force")
        replace("xyz,gold\n")
        with open(gateway.config_path, encoding="utf-8") as f:
            self.assertIn("reloaded", gateway.reload(f.read()))
        self.assertEqual(gateway.metrics().sum("gateway_plan_file_in_force", plans="api"), 1)

    def test_a_plan_that_no_limit_knows_is_told(self):
        gateway, replace = self.with_file("abc,gold\n")
        self.assertFalse([line for line in gateway.diagnostics if "no limit names" in line])
        replace("abc,gold\nxyz,glod\n")
        told = json.loads(gateway.wait_for_diagnostic("no limit names"))
        self.assertEqual(told["level"], "warning")
        self.assertIn('plans.api: no limit names the plan "glod"', told["message"])
        self.assertIn('did you mean "gold"?', told["message"])

    def test_the_access_log_has_the_plan(self):
        gateway = self.gateway_with()
        plans = (("abc", "gold"), ("bad", "banned"), ("boss", "staff"), ("xyz", None))
        for count, (key, plan) in enumerate(plans, start=1):
            self.ask(gateway, key)
            self.assertEqual(gateway.log_lines(count)[-1].get("plan"), plan)

    def test_a_file_that_goes_away_stays_in_force(self):
        directory = self.directory()
        path = directory.file("plans.csv", "abc,gold\n")
        gateway = self.gateway_with(members=f"file: '{path}'")
        os.remove(path)
        self.assertIn("plans.csv: cannot be read", gateway.wait_for_diagnostic("stays in force"))
        self.assertEqual(self.told(gateway, "abc")[1], "20")
        directory.file("plans.csv", "xyz,gold\n")
        self.await_limit(gateway, "xyz", "20")
        self.assertEqual(gateway.metrics().sum("gateway_plan_file_errors_total"), 1)

    def test_one_bad_file_is_told_of_once_while_another_changes(self):
        directory = self.directory()
        one, other = (directory.file(n, "abc,gold\n") for n in ("one.csv", "other.csv"))
        gateway = self.gateway(
            configuration(members=f"file: '{one}'").replace(
                "plans: {", f"plans: {{ more: {{ key: method, file: '{other}' }},", 1
            )
        )
        os.replace(directory.file("other.new", "bad\n"), other)
        gateway.wait_for_diagnostic("plans.more: the old file stays in force")
        for key in ("k1", "k2", "k3"):
            os.replace(directory.file("one.new", f"{key},gold\n"), one)
            self.await_limit(gateway, key, "20")
        self.assertEqual(gateway.metrics().sum("gateway_plan_file_errors_total"), 1)

    def test_a_bad_file_at_the_start_is_an_error_of_the_configuration(self):
        directory = self.directory()
        directory.file("plans.csv", "abc,gold\n\nnonsense\n")
        path = directory.file("gateway.yaml", whole_configuration(configuration("file: plans.csv")))
        status, _, told = run_command("check", "--config", path)
        self.assertEqual(status, 2)
        self.assertIn("plans.api.file: ", told)
        self.assertIn("plans.csv:3: expected KEY,PLAN", told)

    def test_a_reload_that_a_plan_file_spoils_changes_nothing(self):
        directory = self.directory()
        gateway = self.gateway_with()
        bad = directory.file("plans.csv", "nonsense\n")
        self.assertIn("refused", gateway.reload(configuration(members=f"file: '{bad}'")))
        self.assertEqual(self.told(gateway, "abc"), (200, "20", "19"))

    def test_a_reload_goes_from_members_to_a_file_and_back(self):
        gateway, _ = self.with_file("abc,gold\n")
        self.assertEqual(self.told(gateway, "abc"), (200, "20", "19"))
        self.assertIn("reloaded", gateway.reload(configuration()))
        self.assertEqual(self.told(gateway, "bad")[0], 403)
        self.assertEqual(self.told(gateway, "abc"), (200, "20", "18"))

    def test_requests_go_on_while_a_large_file_is_read(self):
        gateway, replace = self.with_file("abc,gold\n")
        slowest, failures, stop = [0.0], [], threading.Event()

        def keep_asking():
            with gateway.connect() as c:
                while not stop.is_set():
                    began = time.monotonic()
                    if c.ask("/", headers=[("X-Api-Key", "boss")]).status != 200:
                        failures.append("refused")
                    slowest[0] = max(slowest[0], time.monotonic() - began)

        asking = threading.Thread(target=keep_asking)
        asking.start()
        replace("boss,staff\n" + "".join(f"{n:032x},gold\n" for n in range(300_000)))
        try:
            wait_until(lambda: gateway.metrics().sum("gateway_plan_members") == 300_001, 20)
        finally:
            stop.set()
            asking.join()
        # Until it is staff it has ten requests.
        self.assertGreater(len(failures), 0)
        self.assertEqual(self.told(gateway, "boss"), (200, None, None))
        self.assertLess(slowest[0], 1)

    # ---- a changed configuration ------------------------------------------------------------

    def test_a_reload_of_other_numbers_leaves_each_its_own_debt(self):
        for store in self.every_store():
            with self.subTest(store=store):
                gateway = self.gateway_with(store=store)
                for _ in range(3):
                    self.ask(gateway, "abc")
                    self.ask(gateway, "nobody")
                text = configuration(store=store).replace("rate: 10/h", "rate: 12/h")
                gateway.reload(text.replace("burst: 20", "burst: 30"))
                self.assertEqual(self.told(gateway, "abc"), (200, "30", "26"))
                self.assertEqual(self.told(gateway, "nobody"), (200, "12", "8"))

    def test_a_walk_over_the_store_leaves_buckets_of_plans_alone(self):
        redis = self.started(RedisServer())
        text = configuration(store=redis).replace(
            "limits: {", "limits: { other: { key: client_ip, rate: 10/h, store: r },"
        ).replace("limits: [l]", "limits: [other, l]")
        gateway = self.gateway(text)
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        self.ask(gateway, "abc")

        def bucket(limit):
            (key,) = redis.command("KEYS", f"gw:{limit}:*")
            return redis.command("GET", key)

        of_plan, other = bucket("l"), bucket("other")
        self.assertIn("reloaded", gateway.reload(text.replace("rate: 10/h", "rate: 5/h")))
        wait_until(lambda: bucket("other") != other, 10, "the walk has come to the other limit")
        self.assertEqual(bucket("l"), of_plan)


class Spellings(SystemTest):
    """A member is read as the same text in a request is."""

    # key, members of one plan, and requests with each of their values: target, headers, method.
    SAME = (
        ("header:authorization", ["Bearer k1", "bearer  k2"],
         [("/", "Authorization: bEARER k1", "GET"), ("/", "Authorization: Bearer k2", "GET")]),
        ("header:x-key", [" k ", "\xc3\xa9"], [("/", "X-Key: k", "GET"), ("/", "X-Key:   \xc3\xa9 ", "GET")]),
        ("host", ["A.test", "b.test.", "c.test:80", "[0:0::1]"],
         [("/", "Host: a.TEST.", "GET"), ("/", "Host: b.test:81", "GET"), ("/", "Host: c.test", "GET"),
          ("http://b.test/", "Host: b.test", "GET"), ("/", "Host: [::1]:8080", "GET")]),
        ("path", ["/a;x/b", "//c", "/d%20e", "/%66", "/g/./h"],
         [("/a/b", "", "GET"), ("/a;y=1//b", "", "GET"), ("/c", "", "GET"), ("/d%20e", "", "GET"),
          ("/f", "", "GET"), ("/g/h?q", "", "GET")]),
        ("query:t", ["a+b", "c d", "%65", "100%25"],
         [("/?t=a%20b", "", "GET"), ("/?t=a%2Bb", "", "GET"), ("/?t=c+d", "", "GET"), ("/?t=e", "", "GET"),
          ("/?t=100%25", "", "GET")]),
        ("cookie:t", ["a%20b", "c"],
         [("/", "Cookie: t=a+b", "GET"), ("/", 'Cookie: t="c"', "GET"), ("/", "Cookie: t=%63", "GET")]),
        ("method", ["POST", "PURGE"], [("/", "", "POST"), ("/", "", "PURGE")]),
    )
    REFUSED = (
        ("header:authorization", ["Bearer a b", "Basic !!!", "Digest a b"]),
        ("host", ["a,b", "http://a.test", "*.a.test", "a/b", "a b", ""]),
        ("path", ["a", "/a/../b", "/a?b", "/a#b", "/%zz", "/%c0%af"]),
        ("query:t", ["100%", "%00", "a;b"]),
        ("cookie:t", ["a,b", "%zz", "a&b"]),
        ("method", ["get", "Post", "A B", "M" * 33]),
        ("cert:fingerprint", ["ab", "zz" * 32]),
        ("client_ip", ["10.0.0.1/8", "a.test"]),
    )

    def status(self, gateway, target, line, method):
        host = "" if line.startswith("Host:") else "Host: gateway.test\r\n"
        line = line and line + "\r\n"
        request = f"{method} {target} HTTP/1.1\r\n{host}{line}Content-Length: 0\r\nConnection: close\r\n\r\n"
        return exchange_raw(gateway.address, request.encode("latin-1")).status

    def test_a_blocked_plan_blocks_every_spelling(self):
        for in_file in False, True:
            for key, members, requests in self.SAME:
                gateway = self.gateway_of(key, members, in_file)
                self.assertEqual(self.status(gateway, "/other", "", "GET"), 200)
                for request in requests:
                    with self.subTest(key=key, request=request, in_file=in_file):
                        self.assertEqual(self.status(gateway, *request), 403)

    def gateway_of(self, key, members, in_file):
        members = [m.encode("latin-1").decode() for m in members]
        where = f"members: {{ banned: {json.dumps(members, ensure_ascii=False)} }}"
        if in_file:
            lines = "".join(f"{m},banned\n" for m in members)
            where = f"file: '{self.directory().file('plans.csv', lines)}'"
        return self.gateway(configuration(members=where, rules="banned: blocked", key=key)
                            .replace("missing_key: client_ip", "missing_key: skip"))

    def checked(self, key, plans):
        text = whole_configuration(configuration(members=f"members: {json.dumps(plans)}", rules="banned: blocked",
                                                 key=key))
        path = self.directory().file("gateway.yaml", text)
        return run_command("check", "--config", path)

    def test_check_refuses_what_no_request_can_have(self):
        for key, members in self.REFUSED:
            for member in members:
                with self.subTest(key=key, member=member):
                    status, _, told = self.checked(key, {"banned": [member]})
                    self.assertEqual(status, 2, told)
                    self.assertIn("plans.api.members.banned[0]", told)

    def test_one_value_in_two_spellings_has_one_plan(self):
        for key, member, other in (
                ("header:authorization", "Bearer k1", "bearer   k1"), ("header:x-key", " k ", "k"),
                ("host", "A.test", "a.TEST.:1"), ("path", "/a;x/b", "//a/b"), ("query:t", "a+b", "a%20b"),
                ("cookie:t", "a", '"a"')):
            with self.subTest(key=key):
                status, _, told = self.checked(key, {"banned": [member], "other": [other]})
                self.assertEqual(status, 2, told)
                self.assertIn("in another plan already", told)
