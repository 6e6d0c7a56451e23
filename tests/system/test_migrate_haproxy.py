"""docs/migrate/haproxy.md: HAProxy and the gateway decide alike, and differ where the page says so."""
import threading
import time

from harness.client import Connection
from harness.haproxy import HAProxy
from harness.migration import MigrationTest, case, peers_block, replaced
from harness.origin import answer_ok
from harness.process import free_port, wait_until

# A period in which no token comes back while a test runs.
SLOW = {r"http_req_rate\(10s\)": "http_req_rate(1h)"}, {r"20/10s": "20/h"}
SLOW_MINUTES = {r"http_req_rate\(1m\)": "http_req_rate(1h)"}, {r"(\d+)/m\b": r"\1/h"}
# A period that a test waits for. HAProxy would let a client back that is silent for almost two.
QUICK = {r"http_req_rate\(10s\)": "http_req_rate(2s)", "gt 20": "gt 5"}, {r"20/10s": "5/2s"}


class FromHAProxy(MigrationTest):
    language = "haproxy"

    def start_peer(self, port, text):
        return HAProxy(port, text)

    @case("haproxy", "Each address, over a sliding period")
    def test_period(self):
        self.both(*SLOW)
        for source in ("127.0.0.2", "127.0.0.3"):
            self.assert_same([200] * 20 + [429] * 5, source=source)
        theirs, ours = (ask() for ask in self.askers(source="127.0.0.2"))
        self.assertIsNone(theirs["Retry-After"])
        self.assertIsNotNone(ours["Retry-After"])

    def assert_only_ours_comes_back(self, passed):
        """While a client keeps asking both: after its first `passed`, HAProxy lets nothing pass."""
        theirs, ours = self.askers()
        verdicts = [(theirs().status, ours().status) for _ in range(passed + 3)]
        self.assertEqual(verdicts, [(200, 200)] * passed + [(429, 429)] * 3)

        def asked():
            verdicts.append((theirs().status, ours().status))
            return verdicts[-1][1] == 200

        wait_until(asked, what="the gateway lets it back")
        self.assertEqual([t for t, _ in verdicts[passed:]], [429] * (len(verdicts) - passed))

    @case("haproxy", "Each address, over a sliding period")
    def test_who_keeps_asking(self):
        self.both(*QUICK)
        self.assert_only_ours_comes_back(5)

    @case("haproxy", "A ban for offenders, with a tarpit")
    def test_offender(self):
        self.both({r"tarpit 10s": "tarpit 50ms"})
        self.assert_same([200] * 100 + [429] * 3)
        began = time.monotonic()
        theirs, ours = (ask() for ask in self.askers())
        self.assertEqual((theirs.status, ours.status), (429, 429))
        self.assertGreaterEqual(time.monotonic() - began, 0.05)
        self.assertIn(int(ours["Retry-After"]), range(1700, 1801))

    @case("haproxy", "A ban for offenders, with a tarpit")
    def test_end_of_the_ban(self):
        """While the client keeps asking, HAProxy's entry does not expire; the ban ends."""
        self.both({r"tarpit 10s": "tarpit 50ms", "expire 30m": "expire 2s", r"\(1m\)": "(1s)", "gt 100": "gt 5"},
                  {r"100/m": "5/s", r"ban: 30m, max_ban: 30m": "ban: 2s, max_ban: 2s"})
        self.assert_only_ours_comes_back(5)

    @case("haproxy", "Each API key")
    def test_keys(self):
        self.both(*SLOW_MINUTES)
        for key in ("a", "b"):
            self.assert_same([200] * 60 + [429] * 3, headers=[("X-Api-Key", key)])
        self.assert_same([200] * 70)
        long = "k" * 64
        self.assert_same([200] * 60 + [429] * 3, headers=[("X-Api-Key", long + "1")])
        theirs, ours = self.statuses(3, headers=[("X-Api-Key", long + "2")])
        self.assertEqual((theirs, ours), ([429] * 3, [200] * 3), "cut after 64 characters")

    @case("haproxy", "Behind another load balancer")
    def test_behind_a_balancer(self):
        self.both(SLOW[0], SLOW[1] | {r"10\.0\.0\.0/8": "127.0.0.1/32"})
        for n in range(20):
            self.assert_same([200], headers=[("X-Forwarded-For", f"203.0.113.{n}, 198.51.100.1")])
        self.assert_same([429], headers=[("X-Forwarded-For", "203.0.113.77, 198.51.100.1")])
        self.assert_same([200], headers=[("X-Forwarded-For", "198.51.100.2")])
        told = [[("X-Forwarded-For", f"198.51.100.{n}")] for n in range(100, 121)]
        stranger = [self.statuses(1, headers=h, source="127.0.0.9") for h in told]
        self.assertEqual([theirs for theirs, _ in stranger], [[200]] * 21, "believed from anybody")
        self.assertEqual([ours for _, ours in stranger], [[200]] * 20 + [[429]])
        theirs, ours = self.statuses(21, source="127.0.0.8")
        self.assertEqual((theirs, ours), ([200] * 21, [200] * 20 + [429]), "without the header")

    @case("haproxy", "Failed logins")
    def test_failures(self):
        def judge(peer, request):
            peer.read_body(request)
            peer.reply(200 if "right" in request.target else 401)

        self.both(script=judge)
        self.assert_same([200] * 20, target="/login?right")
        self.assert_same([401] * 5 + [429] * 3, target="/login")
        self.assert_same([401] * 8, target="/elsewhere")

    @case("haproxy", "Failed logins")
    def test_failures_in_parallel(self):
        """Nobody is answered before all guesses that can pass have passed."""
        enough = threading.Event()

        def judge(peer, request):
            peer.read_body(request)
            enough.wait(60)
            peer.reply(401)

        self.addCleanup(enough.set)
        self.both(script=judge)
        for address, origin, passed in ((self.peers_address, self.peers_origin, 20),
                                        (self.gateway_.address, self.origin_, 5)):
            guesses = [self.connected_to(address) for _ in range(20)]
            for c in guesses:
                c.request("/login")
            wait_until(lambda: len(origin.requests) == passed, what="what passes")
            if passed == 5:
                self.assertEqual(self.gateway_.metrics().sum("gateway_decisions_total", outcome="rejected"), 15)
            enough.set()
            self.assertEqual(sorted(c.response().status for c in guesses), [401] * passed + [429] * (20 - passed))
            enough.clear()

    def is_closed_at_once(self, address, source):
        try:
            return self.connected_to(address, source).ends()
        except ConnectionResetError:  # before connect() has returned
            return True

    @case("haproxy", "Connections of an address")
    def test_connections(self):
        self.both()
        for address in (self.peers_address, self.gateway_.address):
            with self.subTest(address):
                kept = [self.connected_to(address, "127.0.0.2") for _ in range(10)]
                self.assertEqual([c.ask().status for c in kept], [200] * 10)
                self.assertTrue(self.is_closed_at_once(address, "127.0.0.2"))
                self.assertEqual(self.connected_to(address, "127.0.0.3").ask().status, 200)

    @case("haproxy", "Each address, over a sliding period")
    def test_replay(self):
        logged = {r"stick-table": "log stdout format raw local0\n    option httplog\n    stick-table"}
        self.both(SLOW[0] | logged, SLOW[1])
        self.assert_same([200] * 20 + [429] * 5)
        self.assert_replayed(self.peer.log_path, 20, 5)


class Steps(MigrationTest):
    @case("haproxy", "HAProxy before a gateway in shadow mode")
    def test_each_step_and_the_way_back(self):
        own = free_port()
        here = {r"127\.0\.0\.1:8080": f"127.0.0.1:{own}"}
        self.ours(SLOW[1] | here)

        def haproxy(rule="deny deny_status 429"):
            port = free_port()
            text = replaced(peers_block(self.text, "haproxy", port, ""), SLOW[0] | here)
            self.started(HAProxy(port, text.replace("deny deny_status 429", rule)))
            return "127.0.0.1", port

        def answers(address, source):
            def ask():
                with Connection(address, source=source) as c:
                    return c.ask()

            return [ask() for _ in range(25)]

        denying, marking = haproxy(), haproxy("set-header X-Over-Limit yes")
        self.assertEqual([a.status for a in answers(denying, "127.0.0.2")], [200] * 20 + [429] * 5)
        self.assertEqual(self.shadow_rejected(), 0)

        with open(self.gateway_.config_path, encoding="utf-8") as f:
            text = f.read()
        self.gateway_.reload(replaced(text, {", mode: shadow": ""}))
        enforced = answers(marking, "127.0.0.3")
        self.assertEqual([a.status for a in enforced], [200] * 20 + [429] * 5)
        self.assertIsNotNone(enforced[-1]["Retry-After"], "the gateway's")

        self.gateway_.reload(text)
        self.assertEqual([a.status for a in answers(marking, "127.0.0.4")], [200] * 25)
        self.assertEqual(self.origin_.last()["X-Over-Limit"], "yes")
        self.assertEqual(self.shadow_rejected(), 5)

    def shadow_rejected(self):
        return self.gateway_.metrics().sum("gateway_decisions_total", limit="per_ip", outcome="shadow_rejected")
