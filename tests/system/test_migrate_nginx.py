"""docs/migrate/nginx.md: nginx and the gateway decide alike, and differ where the page says so."""
import threading
import time

from harness.client import Connection
from harness.documents import documented
from harness.migration import MigrationTest, case, peers_block, replaced
from harness.nginx import Nginx
from harness.origin import Origin, answer_ok
from harness.process import free_port, wait_until

# A request a minute: no token comes back while a test runs.
SLOW = {r"rate=10r/s": "rate=1r/m"}, {r"10/s": "1/m"}
SLOW_MINUTES = {r"rate=\d+r/m": "rate=1r/m"}, {r"\d+/m\b": "1/m"}


class InFlight:
    """A script of an origin that answers /slow when it is told to."""

    def __init__(self):
        self.finish = threading.Event()

    def __call__(self, peer, request):
        if request.target == "/slow":
            self.finish.wait(60)
        answer_ok(peer, request)


class FromNginx(MigrationTest):
    language = "nginx"

    def start_peer(self, port, text):
        return Nginx(more=text)

    @case("nginx", "Each address, with a burst")
    def test_burst(self):
        self.both(*SLOW)
        for source in ("127.0.0.2", "127.0.0.3"):
            self.assert_same([200] * 21 + [429] * 4, source=source)
        theirs, ours = (ask() for ask in self.askers(source="127.0.0.2"))
        self.assertEqual((theirs["Retry-After"], theirs["X-RateLimit-Limit"]), (None, None))
        self.assertIn(int(ours["Retry-After"]), range(1, 61))
        self.assertEqual(ours["X-RateLimit-Limit"], "21")

    @case("nginx", "Each address, with a burst")
    def test_who_keeps_trying_gets_a_share(self):
        self.both()
        for ask in self.askers():
            while ask().status == 200:
                pass
            wait_until(lambda: ask().status == 200, what="one passes again, among many that do not")

    def assert_delayed(self, passes, waits, status):
        """Of 30 requests at once so many pass, and of these the last ones 100 ms apart."""
        arrivals = {}

        def note(peer, request):
            arrivals.setdefault(request["x-side"], []).append(time.monotonic())
            answer_ok(peer, request)

        self.both(script=note)
        for side, address in (("theirs", self.peers_address), ("ours", self.gateway_.address)):
            with self.subTest(side):
                connections = [self.connected_to(address) for _ in range(30)]
                began = time.monotonic()
                for c in connections:
                    c.request("/", [("X-Side", side)])
                sent = time.monotonic()
                statuses = [c.response().status for c in connections]
                passed = statuses.count(200)
                self.assertEqual(statuses.count(status), 30 - passed)
                self.assertGreaterEqual(passed, passes + waits)
                self.assertLessEqual(passed, passes + waits + 10 * (sent - began) + 1)
                for n, at in enumerate(sorted(arrivals[side])[passes:], 1):
                    # nginx counts whole milliseconds.
                    self.assertGreaterEqual(at - began, n * 0.1 - 0.003)

    @case("nginx", "Each address, with a delay")
    def test_delay(self):
        self.assert_delayed(passes=1, waits=10, status=503)

    @case("nginx", "A delay after the first few")
    def test_delay_after_some(self):
        self.assert_delayed(passes=9, waits=4, status=429)

    @case("nginx", "The office is not limited")
    def test_exempt(self):
        office = {r"192\.0\.2\.0/24": "127.0.2.0/24"}
        self.both(SLOW_MINUTES[0] | office, SLOW_MINUTES[1] | office)
        self.assert_same([200] * 60, source="127.0.2.9")
        self.assert_same([200] * 21 + [429] * 4, source="127.0.3.9")

    @case("nginx", "Each API key, and some have more")
    def test_keys(self):
        self.both(*SLOW_MINUTES)
        self.assert_same([200] * 11 + [429] * 3, headers=[("X-Api-Key", "a")])
        self.assert_same([200] * 11 + [429] * 3, headers=[("X-Api-Key", "b")])
        self.assert_same([200] * 51 + [429] * 3, headers=[("X-Api-Key", "2f7c9e41b8")])
        self.assert_same([200] * 60)

    @case("nginx", "Several zones, and one for the login")
    def test_zones(self):
        self.both(*SLOW_MINUTES)
        self.assert_same([200] * 5 + [429] * 9, target="/login")
        self.assert_same([200] * 16 + [429] * 3)
        theirs, ours = self.statuses(6, target="/LOGIN", source="127.0.0.2")
        self.assertEqual(theirs, [200] * 6, "another location")
        self.assertEqual(ours, [200] * 5 + [429])

    def run_one(self, address):
        """A request that is in flight until the script's `finish`."""
        c = self.connected_to(address)
        c.request("/slow")
        return c

    def both_in_flight(self, number, theirs=(), ours=()):
        script = InFlight()
        self.addCleanup(script.finish.set)
        self.both(theirs, ours, script)
        running = [self.run_one(a) for a in (self.peers_address, self.gateway_.address) for _ in range(number)]
        for origin in (self.peers_origin, self.origin_):
            wait_until(lambda: len(origin.requests) == number, what="they run")
        return script, running

    @case("nginx", "Requests in flight")
    def test_in_flight(self):
        script, running = self.both_in_flight(2)
        self.assert_same([429] * 3)
        script.finish.set()
        self.assertEqual([c.response().status for c in running], [200] * 4)
        for ask in self.askers():
            wait_until(lambda: ask().status == 200, what="a place is free")

    @case("nginx", "Rate and requests in flight together")
    def test_both_kinds_together(self):
        script, running = self.both_in_flight(1, *SLOW_MINUTES)
        self.assert_same([503] * 4)
        script.finish.set()
        self.assertEqual([c.response().status for c in running], [200] * 2)
        theirs, ours = self.statuses(5)
        self.assertEqual(theirs, [503] * 5, "nginx has charged what limit_conn refused")
        self.assertEqual(ours, [200] * 4 + [503])

    @case("nginx", "Behind a load balancer")
    def test_real_ip(self):
        loopback = {r"10\.0\.0\.0/8": "127.0.0.1/32"}
        self.both(SLOW_MINUTES[0] | loopback, SLOW_MINUTES[1] | loopback)
        chain = "203.0.113.%d, 198.51.100.1, 127.0.0.1"
        for n in range(21):
            self.assert_same([200], headers=[("X-Forwarded-For", chain % n)])
        self.assert_same([429], headers=[("X-Forwarded-For", chain % 77)])
        self.assert_same([429], headers=[("X-Forwarded-For", "198.51.100.1")])
        self.assert_same([200], headers=[("X-Forwarded-For", "198.51.100.2")])
        self.assert_same([200] * 21 + [429], headers=[("X-Forwarded-For", "198.51.100.3")], source="127.0.0.9")
        sixes = [[("X-Forwarded-For", f"2001:db8::{n:x}")] for n in range(22)]
        sides = [self.statuses(1, headers=six) for six in sixes]
        self.assertEqual([theirs for theirs, _ in sides], [[200]] * 22, "one key per address")
        self.assertEqual([ours for _, ours in sides], [[200]] * 21 + [[429]], "one client per /64")
        self.reconfigure("client:\n", "client:\n  ipv6_prefix: 128\n")
        self.assert_same([200], headers=[("X-Forwarded-For", "2001:db8::99")])

    def reconfigure(self, shown, here):
        """The gateway's file, changed and reloaded."""
        with open(self.gateway_.config_path, encoding="utf-8") as f:
            text = f.read()
        self.assertIn(shown, text)
        self.assertIn("reload", self.gateway_.reload(text.replace(shown, here)))

    @case("nginx", "Each address, with a burst")
    def test_replay(self):
        log = self.directory().file("access.log")
        logged = {r"server \{": f"server {{ access_log {log};"}
        self.both(SLOW[0] | logged, SLOW[1])
        self.assert_same([200] * 21 + [429] * 4)
        self.assert_replayed(log, 21, 4)


class Steps(MigrationTest):
    @case("nginx", "nginx before a gateway in shadow mode")
    def test_each_step_and_the_way_back(self):
        own = free_port()
        here = {r"127\.0\.0\.1:8080": f"127.0.0.1:{own}"}
        self.ours(SLOW[1] | here)

        def nginx(dry_run):
            port = free_port()
            text = peers_block(self.text, "nginx", port, "")
            self.started(Nginx(more=replaced(text, SLOW[0] | here | {"dry_run off": f"dry_run {dry_run}"})))
            return "127.0.0.1", port

        def answers(address, source):
            def ask():
                with Connection(address, source=source) as c:
                    return c.ask()

            return [ask() for _ in range(25)]

        old, counting = nginx("off"), nginx("on")
        shadow = answers(old, "127.0.0.2")
        self.assertEqual([a.status for a in shadow], [200] * 21 + [429] * 4)
        self.assertIsNone(shadow[-1]["Retry-After"], "nginx's own")
        self.assertEqual(self.shadow_rejected(), 0)

        with open(self.gateway_.config_path, encoding="utf-8") as f:
            text = f.read()
        self.gateway_.reload(replaced(text, {", mode: shadow": ""}))
        enforced = answers(counting, "127.0.0.3")
        self.assertEqual([a.status for a in enforced], [200] * 21 + [429] * 4)
        self.assertIsNotNone(enforced[-1]["Retry-After"], "the gateway's")

        self.gateway_.reload(text)
        self.assertEqual([a.status for a in answers(counting, "127.0.0.4")], [200] * 25)
        self.assertEqual(self.shadow_rejected(), 4)
        self.assertEqual([a.status for a in answers(old, "127.0.0.4")], [200] * 21 + [429] * 4)

    def test_nginx_decides_before_it_asks(self):
        asked, serves = free_port(), free_port()
        gateway = self.gateway(documented("decide.md", "yaml").replace("127.0.0.1:8081", f"127.0.0.1:{asked}"))
        app = self.started(Origin())
        self.started(Nginx(more=replaced(documented("decide.md", "nginx"), {
            r"127\.0\.0\.1:8081": f"127.0.0.1:{asked}", r"127\.0\.0\.1:8000": f"127.0.0.1:{serves}",
            r"127\.0\.0\.1:9000": app.address, "upstream limits": "limit_req_zone $binary_remote_addr zone=z:1m rate=1r/m;\n"
            "upstream limits", "auth_request /": "limit_req zone=z burst=2 nodelay;\n        auth_request /"})))
        with Connection(("127.0.0.1", serves)) as c:
            self.assertEqual([c.ask("/api").status for _ in range(5)], [200] * 3 + [503] * 2)
        self.assertEqual(gateway.metrics().sum("gateway_decisions_total", limit="per_client"), 3)

    def shadow_rejected(self):
        return self.gateway_.metrics().sum("gateway_decisions_total", limit="per_ip", outcome="shadow_rejected")
