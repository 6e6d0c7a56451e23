"""docs/migrate/express-rate-limit.md: express-rate-limit and the gateway decide alike, and differ where the
page says so."""
import os
import time

from harness.express import ExpressApp
from harness.migration import MigrationTest, case
from harness.origin import answer_ok
from harness.process import free_port, wait_until
from harness.recipes import blocks, page

PAGE = "express-rate-limit"


class FromExpress(MigrationTest):
    language = "js"

    def start_peer(self, port, text):
        return ExpressApp(port, text)

    def both(self, *arguments, **options):
        super().both(*arguments, **options)
        self.addCleanup(lambda: self.assertEqual(self.peer.complaints(), []))

    @case(PAGE, "Each address")
    def test_window(self):
        self.both()
        for source in ("127.0.0.2", "127.0.0.3"):
            self.assert_same([200] * 100 + [429] * 5, source=source)
        theirs, ours = (ask() for ask in self.askers(source="127.0.0.2"))
        # Ours comes back up to a sixteenth of the window later.
        for rejected, latest in ((theirs, 900), (ours, 957)):
            self.assertIn(int(rejected["Retry-After"]), range(840, latest + 1))
            self.assertIsNone(rejected["X-RateLimit-Limit"])
            self.assertIn("r=0", rejected["RateLimit"])
            self.assertRegex(rejected["RateLimit-Policy"], r"q=100; ?w=900")

    @case(PAGE, "Each address")
    def test_the_end_of_a_window(self):
        self.both({r"15 \* 60 \* 1000": "2000", "limit: 100": "limit: 5"}, {"100/15m": "5/2s"})
        clients = (f"127.0.3.{n}" for n in range(1, 4))
        self.assertTrue(any(self.tried_around_the_end(client) for client in clients), "the machine is too slow")

    def tried_around_the_end(self, client):
        """One request begins express's window, and four come at its end. False if the machine has slept
        meanwhile."""
        began = time.monotonic()
        self.assert_same([200], source=client)
        wait_until(lambda: time.monotonic() - began > 1)
        before_four = time.monotonic()
        if self.statuses(4, source=client) != ([200] * 4, [200] * 4):
            self.fail("four are left")
        theirs, ours = self.askers(source=client)
        wait_until(lambda: theirs().status == 200, what="the next window")
        their_next = [theirs().status for _ in range(5)]
        wait_until(lambda: ours().status == 200, what="the first is a window old")
        our_next = [ours().status for _ in range(5)]
        if time.monotonic() - before_four > 2:
            return False
        self.assertEqual(their_next, [200] * 4 + [429], "nine around the end")
        self.assertEqual(our_next, [429] * 5, "five in any window")
        return True

    @case(PAGE, "Behind a proxy")
    def test_behind_a_proxy(self):
        own = {r"10\.0\.0\.0/8": "127.0.0.1/32"}
        self.both(own, own)
        for n in range(60):
            self.assert_same([200], headers=[("X-Forwarded-For", f"203.0.113.{n}, 198.51.100.1")])
        theirs, ours = (ask() for ask in self.askers(headers=[("X-Forwarded-For", "203.0.113.77, 198.51.100.1")]))
        for rejected in (theirs, ours):
            self.assertEqual(rejected.status, 429)
            self.assertAlmostEqual(int(rejected["X-RateLimit-Reset"]), time.time() + 60, delta=10)
        for n in range(60):
            self.assert_same([200], headers=[("X-Forwarded-For", f"2001:db8:0:{n:x}::1")])
        self.assert_same([429], headers=[("X-Forwarded-For", "2001:db8:0:ff::1")])
        self.assert_same([200], headers=[("X-Forwarded-For", "2001:db8:0:100::1")])

    @case(PAGE, "Each API key, some with more, and no limit on health checks")
    def test_keys(self):
        self.both()
        self.assert_same([200] * 60 + [429] * 3, headers=[("X-Api-Key", "a")])
        self.assert_same([200] * 60 + [429] * 3)
        self.assert_same([200] * 70, target="/healthz")
        gold = self.statuses(601, headers=[("X-Api-Key", "2f7c9e41b8")])
        self.assertEqual(gold, ([200] * 600 + [429],) * 2)

    @case(PAGE, "Failed logins, and a limit for everything")
    def test_failures(self):
        def judge(peer, request):
            peer.read_body(request)
            wrong = request.target == "/login"
            peer.reply(401 if wrong else 200)

        self.both(script=judge)
        self.assert_same([200] * 8, target="/login?password=right", method="POST")
        self.assert_same([401] * 5 + [429] * 10, target="/login", method="POST")
        theirs, ours = self.statuses(90)
        self.assertEqual(theirs.count(200), 100 - 8 - 15, "of the refused logins, too")
        self.assertEqual(ours.count(200), 100 - 8 - 5)

    @case(PAGE, "One count for several servers")
    def test_shared(self):
        self.ours()
        with open(self.gateway_.config_path, encoding="utf-8") as f:
            second = self.another(f.read())
        one, two = (self.asking(g) for g in (self.gateway_, second))
        self.assertEqual([ask().status for ask in (one, two) * 51], [200] * 100 + [429] * 2)

    @case(PAGE, "Each address")
    def test_replay(self):
        logged = [text for text in blocks(page(f"migrate/{PAGE}.md"), "js") if "morgan" in text]
        self.ours()
        port = free_port()
        self.peer = self.start_peer(port, logged[0].replace("listen(3000)", f"listen({port}, '127.0.0.1')"))
        self.started(self.peer)
        self.peers_address = ("127.0.0.1", port)
        self.assert_same([200] * 100 + [429] * 5)
        self.assert_replayed(os.path.join(self.peer.path, "access.log"), 100, 5)

    @case(PAGE, "Each address")
    def test_shadow_in_front_of_the_app(self):
        self.both({r"const app = express\(\);": "const app = express();\napp.set('trust proxy', 'loopback');"})
        with open(self.gateway_.config_path, encoding="utf-8") as f:
            text = f.read().replace(self.origin_.address, "%s:%d" % self.peers_address)
        self.assertIn("100/15m }", text)
        self.gateway_.reload(text.replace("100/15m }", "100/15m, mode: shadow }"))
        ask = self.asking(self.gateway_, source="127.0.0.2")
        answers = [ask() for _ in range(105)]
        self.assertEqual([a.status for a in answers], [200] * 100 + [429] * 5)
        self.assertIn(b"Too many requests", answers[-1].body, "the app's")
        self.assertEqual(self.shadow_rejected(), 5)
        self.gateway_.reload(text)
        enforced = ask()
        self.assertEqual(enforced.status, 429)
        self.assertIn(b"per_client", enforced.body, "the gateway's")

    def shadow_rejected(self):
        return self.gateway_.metrics().sum("gateway_decisions_total", limit="per_client", outcome="shadow_rejected")
