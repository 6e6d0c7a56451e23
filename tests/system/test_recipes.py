"""The recipes of docs/recipes.md: each file loads, and does to its clients what the page promises."""
import datetime
import functools
import json
import os
import re
import signal
import threading
import time
import zoneinfo

from harness.apache import Apache
from harness.caddy import Caddy
from harness.client import Closed, Connection, get
from harness.gateway import ROOT, run_command
from harness.haproxy import HAProxy
from harness.http2 import Http2
from harness.http2_origin import Http2Origin
from harness.nginx import Nginx
from harness.origin import Origin, answer_ok
from harness.process import free_port, wait_until
from harness.recipes import KEY, PLANS, SECRET, RecipeTest, blocks, page, recipe, recipes
from harness.tokens import hs256


class Page(RecipeTest):
    def test_each_recipe_is_driven_and_each_driver_has_a_recipe(self):
        driven = [test.recipe for case in RecipeTest.__subclasses__() for test in vars(case).values()
                  if getattr(test, "page", "") == "recipes.md"]
        self.assertEqual(sorted(driven), sorted(heading for heading, _ in recipes()))
        self.assertGreaterEqual(len(driven), 20)

    def test_each_says_what_it_is_then_the_file_then_what_the_client_sees(self):
        for heading, text in recipes():
            with self.subTest(heading):
                before, file, after = re.split(r"^```yaml\n|(?<=\n)```\n", text, maxsplit=2, flags=re.MULTILINE)
                self.assertTrue(before.strip())
                self.assertTrue(after.strip())
                self.assertNotIn("```yaml", after)
                self.assertTrue(file.startswith("listeners:\n"), "a whole file")

    def test_each_file_is_right_without_a_warning(self):
        for heading, text in recipes():
            with self.subTest(heading):
                own = self.adapted(blocks(text, "yaml")[0], "127.0.0.1:9000")
                path = self.directory().file("gateway.yaml", own)
                self.assertEqual(run_command("check", "--config", path), (0, f"{path}: ok\n", ""))

    def test_every_link_leads_somewhere(self):
        for link in re.findall(r"\]\(([^)#]+)", page("recipes.md")):
            self.assertTrue(os.path.exists(os.path.join(ROOT, "docs", link)), link)


class WhoIsCounted(RecipeTest):
    @recipe("One client sends more than its share")
    def test_per_address(self):
        g = self.of_recipe()
        first = g.get("/")
        self.assertEqual((first["X-RateLimit-Limit"], first["X-RateLimit-Remaining"]), ("20", "19"))
        ask = self.asking(g, source="127.0.0.2")
        self.assertEqual(self.assert_gives(ask, 20, 100 / 60)["Retry-After"], "1")
        wait_until(lambda: ask().status == 200, what="the next token")
        self.assertEqual(self.asking(g, source="127.0.0.3")().status, 200)

    @recipe("Behind our load balancer all clients are one")
    def test_behind_a_load_balancer(self):
        g = self.of_recipe(trusting=True)
        rejected = self.assert_gives(self.asking(g, ("X-Forwarded-For", "192.0.2.1")), 100, 100 / 60)
        self.assertIsNotNone(rejected["Retry-After"])
        spoofed = self.asking(g, ("X-Forwarded-For", "192.0.2.77, 192.0.2.1"))()
        self.assertEqual(int(spoofed["X-RateLimit-Remaining"]), 0)
        other = self.asking(g, ("X-Forwarded-For", "192.0.2.2"))()
        self.assertEqual(other["X-RateLimit-Remaining"], "99")
        left = [self.asking(g, ("X-Forwarded-For", f"192.0.2.{n}"), source="127.0.0.9")() for n in (3, 4)]
        self.assertEqual([a["X-RateLimit-Remaining"] for a in left], ["99", "98"], "of a stranger")

    @recipe("Each API key has its limit, and inventing keys must not help")
    def test_per_key_and_address(self):
        g = self.of_recipe()
        self.assertEqual(g.get("/").status, 400)
        self.assert_gives(self.asking(g, ("X-Api-Key", "a"), source="127.0.0.2"), 100, 100 / 60)
        self.assertEqual(self.asking(g, ("X-Api-Key", "b"), source="127.0.0.2")().status, 200)
        elsewhere = self.asking(g, ("X-Api-Key", "a"), source="127.0.0.3")()
        self.assertEqual(int(elsewhere["X-RateLimit-Remaining"]), 0)
        c, keys = self.connected(g, "127.0.0.4"), iter(range(10**6))
        rejected = self.assert_gives(lambda: c.ask("/", [("X-Api-Key", f"new-{next(keys)}")]), 300, 5)
        self.assertIsNotNone(rejected["Retry-After"])

    @recipe("Users sign in with a token, on several devices")
    def test_per_user(self):
        g, now = self.of_recipe(), int(time.time())

        def bearer(secret=SECRET, **claims):
            claims = {"iss": "https://id.example.com", "exp": now + 600} | claims
            return "Authorization", "Bearer " + hs256(secret, {"alg": "HS256"}, claims)

        phone, laptop = (self.asking(g, bearer(sub="alice", jti=n)) for n in "12")
        self.assertEqual([a["X-RateLimit-Remaining"] for a in (phone(), laptop(), phone())], ["49", "48", "47"])
        self.assertEqual(self.origin_.last()["Authorization"], bearer(sub="alice", jti="1")[1])
        self.assert_gives(laptop, 47, 1000 / 3600)
        self.assertEqual(phone().status, 429)
        self.assertEqual(self.asking(g, bearer(sub="bob"))()["X-RateLimit-Remaining"], "49")
        for bad in (bearer(b"x" * 32, sub="bob"), bearer(sub="bob", exp=now - 600),
                    bearer(sub="bob", iss="https://evil.example.com"), ("X-Nothing", "")):
            self.assertEqual(self.asking(g, bad)().status, 400, bad)

    @recipe("A client has more IPv6 addresses than there are requests")
    def test_tiers(self):
        g = self.of_recipe(trusting=True)
        c = self.connected(g)
        for address, burst in (("2001:db8:1:2::%x", 100), ("2001:db8:2:3%02x::1", 300),
                               ("2001:db8:3:%02x00::1", 1000), ("192.0.2.1", 100)):
            with self.subTest(address):
                numbers = iter(range(10**6))

                def ask():
                    n = next(numbers) % 256
                    return c.ask("/", [("X-Forwarded-For", address % n if "%" in address else address)])

                self.assert_gives(ask, burst, burst / 60)

    @recipe("The office and the monitoring must never be limited")
    def test_exempt(self):
        g = self.of_recipe(trusting=True)
        for client in ("192.0.2.1", "192.0.2.255", "198.51.100.7"):
            ask = self.asking(g, ("X-Forwarded-For", client))
            answers = [ask() for _ in range(200)]
            self.assertEqual({a.status for a in answers}, {200})
            self.assertIsNone(answers[0]["X-RateLimit-Limit"])
        self.assert_gives(self.asking(g, ("X-Forwarded-For", "198.51.100.8")), 100, 100 / 60)

    @recipe("Some pay for more, and one must be shut out")
    def test_plans(self):
        g = self.of_recipe()
        limits = {key: self.asking(g, ("X-Api-Key", key))()["X-RateLimit-Limit"] for key in ("free", "b2", KEY)}
        self.assertEqual(limits, {"free": "60", "b2": "300", KEY: "2000"})
        self.assertEqual(self.asking(g, ("X-Api-Key", "c3"))().status, 403)
        self.assertEqual(g.get("/").status, 400)
        self.assert_gives(self.asking(g, ("X-Api-Key", "free")), 59, 1)
        with open(os.path.join(self.files, "new.csv"), "w", encoding="ascii") as f:
            f.write(PLANS + "free,silver\n")
        os.replace(f.name, os.path.join(self.files, "plans.csv"))
        ask = self.asking(g, ("X-Api-Key", "free"))
        wait_until(lambda: ask()["X-RateLimit-Limit"] == "300", what="the new file counts")


def signing_in(right, wrong):
    """A script of an upstream with a password in the body, and with pages."""

    def script(peer, request):
        peer.read_body(request)
        guesses = request.method == "POST" and "login" in request.target
        peer.reply(right if not guesses or request.body == b"right" else wrong)

    return script


class WhatIsCounted(RecipeTest):
    def drive_guessing(self, path, right, wrong):
        g = self.of_recipe(signing_in(right, wrong))

        def login(password, source, account="alice"):
            with g.connect(source=source) as c:
                return c.ask(f"{path}?account={account}", method="POST", body=password)

        answers = self.at_once(40, lambda: login(b"guess", "127.0.0.2"))
        self.assertEqual(sorted(a.status for a in answers), sorted([wrong] * 5 + [429] * 35))
        self.assertEqual(len(self.origin_.requests), 5)
        self.assertIn(int(login(b"guess", "127.0.0.2")["Retry-After"]), range(170, 181))
        self.assertEqual(login(b"guess", "127.0.0.3").status, 429, "from elsewhere")
        self.assertEqual(g.get("/").status, right)
        passwords = [b"wrong"] * 4 + [b"right"] * 10 + [b"wrong"] * 6
        self.assertEqual([login(p, "127.0.0.4", "bob").status for p in passwords],
                         [wrong] * 4 + [right] * 10 + [wrong] * 5 + [429])
        # Signing in to an account of one's own in between does not help.
        tried = [(login(b"wrong", "127.0.0.5", f"victim{n}").status, login(b"right", "127.0.0.5", "own").status)
                 for n in range(30)]
        self.assertEqual([t[0] for t in tried], [wrong] * 20 + [429] * 10)
        self.assertEqual({t[1] for t in tried[:19]}, {right})
        self.assertEqual(g.get(path, method="POST").status, 400, "no account")

    @recipe("Somebody guesses passwords in a form")
    def test_forms(self):
        self.drive_guessing("/login", right=302, wrong=200)

    @recipe("Somebody guesses passwords of an API")
    def test_api_logins(self):
        self.drive_guessing("/api/login", right=200, wrong=401)

    @recipe("A language model is paid by the token")
    def test_settled(self):
        used = iter((250, 60_000, 60_000))

        def answer(peer, request):
            peer.read_body(request)
            peer.reply(fields=[("X-Tokens-Used", next(used))])

        ask = self.asking(self.of_recipe(answer), ("X-Api-Key", "a"))
        self.assertIsNone(ask()["X-Tokens-Used"])
        left = int(ask()["X-RateLimit-Remaining"])
        self.assertIn(left, range(100_000 - 250 - 1000, 100_000 - 250 - 1000 + 20))
        self.assertEqual(ask().status, 200)
        indebted = ask()
        self.assertEqual(indebted.status, 429)
        seconds = (250 + 60_000 + 60_000 - 100_000 + 1000) * 86_400 / 100_000
        self.assertIn(int(indebted["Retry-After"]), range(int(seconds) - 20, int(seconds) + 2))

    def test_a_model_that_is_silent_costs_what_was_reserved(self):
        """The recipe's times, made short."""
        self.text = dict(recipes())["A language model is paid by the token"]

        def answer(peer, request):
            peer.read_body(request)
            if request.target == "/stream":
                peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
            peer.wait_for_end()

        def shortened(text):
            self.assertIn("body_timeout: 5m", text)
            self.assertIn("response_timeout: 10m", text)
            return text.replace("body_timeout: 5m", "body_timeout: 1s").replace("response_timeout: 10m", "response_timeout: 1s")

        g = self.before(self.started(Origin(answer)).address, changed=shortened)
        thinking = self.asking(g, ("X-Api-Key", "a"))()
        self.assertEqual((thinking.status, thinking["X-RateLimit-Remaining"]), (504, "99000"))
        stream = self.connected(g)
        stream.request("/stream", [("X-Api-Key", "a")])
        head = stream.head()
        self.assertEqual(head.status, 200)
        self.assertIn(int(head["X-RateLimit-Remaining"]), range(98_000, 98_100))
        self.assertRaises((Closed, ConnectionError), lambda: stream.read_exactly(1000))

    @recipe("A gRPC backend")
    def test_grpc(self):
        calls = [("content-type", "application/grpc")]

        def ended(call):
            call.read_body()
            call.reply(body=b"", fields=calls, trailers=[("grpc-status", call["x-outcome"])])

        g = self.before(self.started(Http2Origin(ended)).address)
        with Http2(g.address) as c:

            def call(method, outcome="0"):
                answer = c.ask(f"/shop.{method}", [*calls, ("x-outcome", outcome)], body=b"", method="POST")
                return dict(answer.trailers or answer.fields)

            reports = [call("Orders/Report") for _ in range(6)]
            self.assertEqual([r["grpc-status"] for r in reports], ["0"] * 5 + ["8"])
            self.assertIn(int(reports[-1]["grpc-retry-pushback-ms"]), range(1, 12_001))
            right = [call("Accounts/Login")["grpc-status"] for _ in range(9)]
            wrong = [call("Accounts/Login", "16") for _ in range(6)]
            self.assertEqual((right, [w["grpc-status"] for w in wrong]), (["0"] * 9, ["16"] * 5 + ["8"]))
            self.assertIn(int(wrong[-1]["grpc-retry-pushback-ms"]), range(175_000, 180_001))
            others = [call("Orders/List") for _ in range(110)]
            last = next(o for o in others if o["grpc-status"] == "8")
            self.assertEqual((last["x-ratelimit-limit"], last["grpc-message"]), ("100", "the limit is exhausted; retry later"))

    @recipe("A write costs more than a read")
    def test_costs(self):
        g = self.of_recipe()
        self.assert_gives(self.asking(g, source="127.0.0.2"), 100, 100 / 60)
        write, read = (self.asking(g, method=m, source="127.0.0.3") for m in ("POST", "GET"))
        self.assertEqual(read()["X-RateLimit-Remaining"], "99")
        self.assert_gives(write, 19, 100 / 60 / 5)
        self.assertEqual(read().status, 200)
        free = self.asking(g, method="OPTIONS", source="127.0.0.4")
        self.assertEqual([free()["X-RateLimit-Remaining"] for _ in range(3)], ["100"] * 3)

    @recipe("One endpoint is heavy")
    def test_heavy(self):
        g = self.of_recipe()
        c, spellings = self.connected(g), iter(["/reports", "//reports", "/%72eports", "/reports;x"] * 20)
        rejected = self.assert_gives(lambda: c.ask(next(spellings)), 5, 5 / 60)
        self.assertIn(int(rejected["Retry-After"]), range(1, 13))
        left = int(c.ask("/page")["X-RateLimit-Remaining"])
        for _ in range(30):
            c.ask("/reports")
        self.assertGreaterEqual(int(c.ask("/page")["X-RateLimit-Remaining"]), left - 1)

    @recipe("A contract says 1000 requests a month")
    def test_quota(self):
        g = self.of_recipe()
        self.assertEqual(self.asking(g, ("X-Api-Key", "a"))()["X-RateLimit-Remaining"], "999")
        with open(g.config_path, encoding="utf-8") as f:
            again = self.another(f.read())
        ask = self.asking(again, ("X-Api-Key", "a"))
        self.assertEqual([ask().status for _ in range(1000)], [200] * 999 + [429])
        now = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin"))
        first = datetime.datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=now.tzinfo)
        told = now.timestamp() + int(ask()["Retry-After"])
        self.assertAlmostEqual(told, first.timestamp(), delta=10)

    @recipe("Never more than 5 text messages to a number in any hour")
    def test_messages(self):
        g = self.of_recipe()
        c, began = self.connected(g), time.monotonic()
        answers = [c.ask(f"/sms?to={plus}4930123", method="POST") for plus in ("%2B", "+") * 3]
        self.assertEqual([a.status for a in answers], [200] * 5 + [429])
        since = time.monotonic() - began
        self.assertIn(int(answers[-1]["Retry-After"]), range(3600 - int(since) - 1, 3601))
        self.assertEqual(c.ask("/sms?to=%2B4930124", method="POST").status, 200)
        self.assertEqual(c.ask("/sms", method="POST").status, 400)
        self.assertEqual(c.ask("/sms?to=%2B1&to=%2B2", method="POST").status, 400)


class AtTheLimit(RecipeTest):
    @recipe("Clients should wait a moment instead of being refused")
    def test_waiting(self):
        arrivals = []

        def note(peer, request):
            arrivals.append(time.monotonic())
            answer_ok(peer, request)

        g = self.of_recipe(note)
        connections = [self.connected(g) for _ in range(30)]
        began = time.monotonic()
        for c in connections:
            c.request("/")
        answers = [c.response() for c in connections]
        passed = [a.status for a in answers].count(200)
        self.assertEqual([a.status for a in answers].count(429), 30 - passed)
        self.assertGreaterEqual(passed, 20)
        self.assertLess(passed, 30)
        self.assertLessEqual(passed, 10 + 10 * (time.monotonic() - began))
        self.assertTrue(all(int(a["Retry-After"]) >= 1 for a in answers if a.status == 429))
        arrivals.sort()
        for n, at in enumerate(arrivals[10:], 1):
            self.assertGreaterEqual(at - began, n * 0.1)

    @recipe("At most two exports at a time")
    def test_in_flight(self):
        finish = threading.Event()

        def export(peer, request):
            if request.target == "/export":
                finish.wait(60)
            answer_ok(peer, request)

        g = self.of_recipe(export)
        self.addCleanup(finish.set)
        running = [self.connected(g) for _ in range(2)]
        for c in running:
            c.request("/export", [("X-Api-Key", "a")])
        wait_until(lambda: len(self.origin_.requests) == 2, what="both run")
        third = self.asking(g, ("X-Api-Key", "a"), target="/export")
        refused = third()
        self.assertEqual((refused.status, refused["Retry-After"]), (429, "1"))
        self.assertEqual(g.get("/").status, 200)
        finish.set()
        self.assertEqual([c.response().status for c in running], [200, 200])
        wait_until(lambda: third().status == 200, what="a place is free")

    @recipe("A client does not stop when it is told to")
    def test_banned(self):
        ask = self.asking(self.of_recipe())
        told = []
        while (answer := ask())["Retry-After"] in (None, "1"):
            told.append(answer.status)
        self.assertEqual(told.count(429), 19)
        self.assertEqual((answer.status, answer["Retry-After"]), (429, "600"))
        self.assertIn(int(ask()["Retry-After"]), range(590, 601))

    @recipe("The server takes 50 requests a second, whoever sends them")
    def test_shared_by_all(self):
        g = self.of_recipe()
        began, passed = time.monotonic(), 0
        for n in range(2, 6):
            ask, since, own = self.asking(g, source=f"127.0.0.{n}"), time.monotonic(), 0
            while ask().status == 200:
                own += 1
                self.assertLessEqual(own, 20 + 20 * (time.monotonic() - since))
            passed += own
            if n == 2:
                self.assertGreaterEqual(own, 20)
        self.assertGreaterEqual(passed, 50)
        self.assertLessEqual(passed, 50 + 50 * (time.monotonic() - began))

    @recipe("Several gateways count together, also when Redis fails")
    def test_several_gateways(self):
        first = self.of_recipe()
        with open(first.config_path, encoding="utf-8") as f:
            second = self.another(f.read())
        one, two = (self.asking(g, target="/api") for g in (first, second))
        self.assertEqual([ask().status for ask in (one, two) * 51], [200] * 100 + [429] * 2)
        self.store.kill()
        self.assertEqual((one().status, two().status), (429, 429), "as they were told")
        for g in (first, second):
            ask = self.asking(g, target="/api", source="127.0.0.2")
            self.assert_gives(ask, 100, 100 / 3600)
            refused = g.get("/payments")
            self.assertEqual(refused.status, 503)
            self.assertGreaterEqual(int(refused["Retry-After"]), 1)
            passed = g.get("/page")
            self.assertEqual((passed.status, passed["X-RateLimit-Limit"]), (200, None))
        self.store.start()
        for g in (first, second):
            self.await_store(g)
            self.assertEqual(g.get("/payments").status, 200)
        left = [self.asking(g, target="/api", source="127.0.0.3")()["X-RateLimit-Remaining"]
                for g in (first, second)]
        self.assertEqual(left, ["99", "98"])


# Headers of clients that pretend to be somebody else, or to ask for something else.
SPOOFED = [
    ("X-Forwarded-For", "203.0.113.%d"), ("X-Real-IP", "203.0.113.%d"), ("Forwarded", "for=203.0.113.%d"),
    ("X-Original-URL", "/free/%d"), ("X-Original-URI", "/free/%d"), ("X-Rewrite-URL", "/free/%d"),
    ("X-Original-Method", "GET"), ("X-Forwarded-Method", "GET"), ("X-Forwarded-Uri", "/free/%d"),
    ("X-Forwarded-Host", "h%d.example"), ("X-Forwarded-Proto", "https"), ("X-Request-Id", "told"),
]


class AroundIt(RecipeTest):
    def in_front(self, start, block, listens):
        """The gateway of the recipe, with a proxy before it or asking it; where that serves, and an
        app behind. `start(port, text)` starts the proxy with its side of it."""
        app = self.started(Origin())
        own, serves = free_port(), free_port()
        text = self.adapted(blocks(self.text, "yaml")[0], app.address)
        g = self.gateway(text.replace(f"127.0.0.1:{listens}", f"127.0.0.1:{own}"))
        for shown, here in ((f"127.0.0.1:{listens}", f"127.0.0.1:{own}"), (":8000", f":{serves}"),
                            ("127.0.0.1:9000", app.address)):
            block = block.replace(shown, here)
        self.started(start(serves, block))
        return g, ("127.0.0.1", serves), app

    def drive_in_front(self, g, serves, app):
        with Connection(serves) as c:
            spellings = ("/login", "/LOGIN", "/login/", "//Login?x")
            told = [(name, value % n if "%" in value else value) for n, (name, value) in enumerate(SPOOFED)]
            logins = [c.ask(spellings[n % 4], [spoofed], "POST", b"") for n, spoofed in enumerate(told * 2)]
            self.assertEqual([a.status for a in logins], [200] * 10 + [429] * (2 * len(told) - 10))
            self.assertIn(int(logins[-1]["Retry-After"]), range(300, 361))
            self.assertEqual(c.ask("/page").status, 200)
            self.assertEqual(c.ask("/a;x=%2Fb/c").status, 400, "a malformed path is none too many")
        self.assertEqual(len(app.requests), 11)
        lines = g.log_lines(2 * len(told) + 2)
        self.assertEqual({line["client"] for line in lines}, {"127.0.0.1"})
        self.assertFalse({"told", "1"} & {line["request_id"] for line in lines})

    def statuses_without(self, g, serves):
        """Of a page while the gateway stands still, and when it is gone."""
        g.freeze()
        frozen = get(serves, "/page").status
        g.thaw()
        g.signal(signal.SIGKILL)
        g.wait()
        return frozen, get(serves, "/page").status

    def assert_serves_again(self, g, serves):
        """With another gateway in the place of one that is gone, from its first moment."""
        with open(g.config_path, encoding="utf-8") as same:
            self.gateway(same.read())
        self.assertEqual(get(serves, "/page").status, 200)

    @recipe("nginx stays in front")
    def test_nginx(self):
        block = blocks(page("decide.md"), "nginx")[0]
        g, serves, app = self.in_front(lambda _, text: Nginx(more=text), block, 8081)
        self.drive_in_front(g, serves, app)
        with Connection(serves) as c:
            self.assertEqual([c.ask(f"/page/{n}").status for n in range(90)], [200] * 89 + [429])
        self.assertEqual(self.statuses_without(g, serves), (200, 200))

    def test_nginx_refuses_where_it_is_told_to(self):
        self.text = dict(recipes())["nginx stays in front"]
        block = blocks(page("decide.md"), "nginx")[0]
        self.assertIn("return 204;", block)
        start = lambda _, text: Nginx(more=text.replace("return 204;", "return 403;"))
        g, serves, app = self.in_front(start, block, 8081)
        self.assertEqual(get(serves, "/page").status, 200)
        self.assertEqual(self.statuses_without(g, serves), (503, 503))
        self.assertEqual(len(app.requests), 1)

    @recipe("Caddy stays in front")
    def test_caddy(self):
        g, serves, app = self.in_front(Caddy, blocks(page("decide.md"), "caddy")[0], 8081)
        self.drive_in_front(g, serves, app)
        self.assertEqual(self.statuses_without(g, serves), (504, 502))

    @recipe("Apache or HAProxy stays in front")
    def test_haproxy(self):
        block = blocks(self.text, "haproxy")[0]
        start = lambda port, text: HAProxy(port, text.replace("timeout server 60s", "timeout server 1s"))
        g, serves, app = self.in_front(start, block, 8080)
        self.drive_in_front(g, serves, app)
        self.assertEqual(self.statuses_without(g, serves), (504, 503))
        self.assert_serves_again(g, serves)

    def test_apache(self):
        self.text = dict(recipes())["Apache or HAProxy stays in front"]
        block = blocks(self.text, "apache")[0]
        start = lambda port, text: Apache(port, text.replace("timeout=60", "timeout=1"))
        g, serves, app = self.in_front(start, block, 8080)
        self.drive_in_front(g, serves, app)
        self.assertEqual(self.statuses_without(g, serves), (502, 503))
        self.assert_serves_again(g, serves)

    @recipe("Would this limit hurt anybody?")
    def test_shadow(self):
        g = self.of_recipe()
        ask = self.asking(g)
        self.assertEqual({ask().status for _ in range(30)}, {200})
        shadowed = [line for line in g.log_lines(30) if line.get("shadow_rejected") == ["per_client"]]
        self.assertIn(len(shadowed), range(10, 21))
        counted = g.metrics().sum("gateway_decisions_total", limit="per_client", outcome="shadow_rejected")
        self.assertEqual(counted, len(shadowed))
        with open(g.config_path, encoding="utf-8") as f:
            text = f.read()
        g.reload(text.replace(", mode: shadow", ""))
        self.assert_gives(self.asking(g, source="127.0.0.2"), 10, 10 / 60)

    @recipe("Who is limited, and why?")
    def test_found(self):
        g = self.of_recipe(trusting=True)
        ask = self.asking(g, ("X-Forwarded-For", "192.0.2.7"), target="/orders")
        answers = [ask() for _ in range(105)]
        self.assertEqual([a.status for a in answers], [200] * 100 + [429] * 5)
        g.log_lines(105)
        logged, top, explain = re.split(r"\n(?=curl|gateway)", blocks(self.text, "sh")[0])
        lines = [json.loads(line) for line in self.shell(g, logged).splitlines()]
        self.assertEqual([(line["client"], line["limit"], line["outcome"]) for line in lines],
                         [("192.0.2.7", "per_client", "rejected")] * 5)
        (found,) = json.loads(self.shell(g, top))["top"]
        self.assertEqual((found["key"][0]["value"], found["count"]), ("192.0.2.7", 5))
        for _ in range(3):
            said = self.shell(g, explain)
            self.assertRegex(said, r"verdict   refused with 429: .*limit per_client, Retry-After [123]\d s\n")

    @recipe("A customer is shut out and must get through now")
    def test_unblocked(self):
        g = self.of_recipe()
        ask = self.asking(g, ("X-Api-Key", KEY))
        self.assertEqual([ask().status for _ in range(111)], [200] * 100 + [429] * 11)
        self.assertIn(int(ask()["Retry-After"]), range(3590, 3601))
        function, *calls = re.split(r"\n(?=ask )", blocks(self.text, "sh")[0])
        look, unban, grant, reset = (functools.partial(self.shell, g, f"{function}\n{call}") for call in calls)
        self.assertAlmostEqual(json.loads(look())["banned_until"], time.time() + 3600, delta=10)
        self.assertIsNone(json.loads(unban())["banned_until"])
        self.assertEqual(json.loads(grant())["remaining"], 20)
        self.assertEqual([ask().status for _ in range(21)], [200] * 20 + [429])
        self.assertEqual(json.loads(reset())["remaining"], 100)
        self.assertEqual([ask().status for _ in range(101)], [200] * 100 + [429])
