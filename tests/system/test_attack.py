"""Attacks, each from an address of its own, while a well-behaved client goes on: it is served, memory
and descriptors come back, and nothing spins. How fast it is served is for scripts/bench to say."""
import json
import os
import resource
import threading
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Closed, Connection
from harness.clock import running
from harness.load import pipelined
from harness.process import PATIENCE, SLOW, wait_until

ATTACKER, CITIZEN = "127.0.0.66", "127.0.0.2"
CROWD = 40 if SLOW else 200
REQUESTS = 60 if SLOW else 200
MIB = 1024 * 1024

SHORT = "http: { header_timeout: 1s, idle_timeout: 30s, body_timeout: 1s }\nlog: { access: false }\n"
TO_ECHO = "routes: [ { upstream: up } ]\nupstreams: { up: { servers: [echo], max_idle: 2 } }\n"


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def page(peer, request):
    """Of an origin: what Citizen wants to read, and a lot for /big."""
    peer.read_body(request)
    big = request.target == "/big"
    peer.reply(body=b"x" * (4 * MIB) if big else json.dumps({"target": request.target}).encode())


def drip(crowd):
    """A byte from each that is still connected."""
    for c in crowd:
        try:
            c.send("G")
        except OSError:
            pass  # cut off


class Citizen:
    """Requests one after the other, every other one on a connection of its own; each must be
    answered, and with what was asked for."""

    def __init__(self, gateway, only_kept_alive=False):
        self._gateway, self._only_kept_alive = gateway, only_kept_alive
        self._kept_alive = gateway.connect(source=CITIZEN)

    def live(self, requests=REQUESTS):
        """The seconds it took."""
        began = running()
        for i in range(requests):
            if i % 2 == 0 or self._only_kept_alive:
                self._check(self._kept_alive, f"/page/{i}")
            else:
                with self._gateway.connect(source=CITIZEN) as c:
                    self._check(c, f"/page/{i}")
        return running() - began

    @staticmethod
    def _check(connection, target):
        response = connection.ask(target)
        assert response.status == 200, (target, response.status, response.body)
        assert json.loads(response.body)["target"] == target, response.body

    def close(self):
        self._kept_alive.close()


class Attack:
    """`act()` again and again in a thread, until the end of the with block."""

    def __init__(self, act):
        self._act, self._over = act, threading.Event()
        self.rounds, self.problem = 0, None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            while not self._over.is_set():
                self._act()
                self.rounds += 1
        except Exception as e:  # noqa: BLE001: must reach the test
            self.problem = e

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *ignored):
        self._over.set()
        self._thread.join(30 * PATIENCE)
        assert self.problem is None, repr(self.problem)
        assert not self._thread.is_alive()


class AttackTest(SystemTest):
    def besieged(self, text, only_kept_alive=False, **options):
        """A gateway that has served its citizen in peace; what it needed for that is the measure."""
        gateway = self.gateway(text, **options)
        citizen = Citizen(gateway, only_kept_alive)
        self.addCleanup(citizen.close)
        citizen.live()
        self.in_peace = citizen.live()
        wait_until(lambda: self.clients(gateway) == 1)
        self.memory, self.descriptors = gateway.memory(), gateway.descriptors()
        return gateway, citizen

    def clients(self, gateway):
        return gateway.metrics().sum("gateway_connections", side="client")

    def attacker(self, gateway, **options):
        c = gateway.connect(source=ATTACKER, **options)
        self.addCleanup(c.close)
        return c

    def crowd(self, gateway, count=CROWD, **options):
        return [self.attacker(gateway, **options) for _ in range(count)]

    def lives_on(self, citizen):
        """Far from the bound of a tenth, which a busy machine and this interpreter would break."""
        took = citizen.live()
        self.assertLess(took, PATIENCE * max(10.0, 30 * self.in_peace))

    def assert_recovered(self, gateway, citizen, memory=32 * MIB):
        wait_until(lambda: self.clients(gateway) == 1, 15, "the attacker's connections are gone")
        wait_until(lambda: gateway.descriptors() <= self.descriptors + 8, 15, "descriptors")
        if not SLOW:  # a sanitizer keeps what is freed
            self.assertLess(gateway.memory(), self.memory + memory)
        self.lives_on(citizen)


class Slowness(AttackTest):
    def test_slow_headers(self):
        gateway, citizen = self.besieged(SHORT + TO_ECHO)
        crowd = self.crowd(gateway)

        for c in crowd:
            c.send("GET / HTTP/1.1\r\nHost: h\r\nX: ")
        with Attack(lambda: drip(crowd)):
            self.lives_on(citizen)
            wait_until(lambda: self.clients(gateway) == 1, 15, "dripping keeps nobody")
        self.assert_recovered(gateway, citizen)
        self.assertEqual(gateway.metrics().sum("gateway_requests_total", code="408"), len(crowd))

    def test_slow_bodies(self):
        gateway, citizen = self.besieged(SHORT + TO_ECHO)
        crowd = self.crowd(gateway)
        for c in crowd:
            c.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nslow")
        self.lives_on(citizen)
        self.assertEqual({c.response().status for c in crowd}, {408})
        self.assert_recovered(gateway, citizen)

    def readers_of_much(self, count):
        """A gateway, its citizen, and as many who have asked for 4 MiB and read nothing of it."""
        origin = self.origin(page)
        gateway, citizen = self.besieged(SHORT + forwarding_to(origin.address))
        crowd = self.crowd(gateway, count, receive_buffer=4096)
        for c in crowd:
            c.request("/big")
        wait_until(lambda: sum(r.target == "/big" for r in list(origin.requests)) == len(crowd))
        return gateway, citizen, crowd

    def test_slow_readers(self):
        gateway, citizen, crowd = self.readers_of_much(CROWD // 4)
        peak = gateway.memory()
        self.lives_on(citizen)
        peak = max(peak, gateway.memory())
        if not SLOW:
            self.assertLess(peak, self.memory + len(crowd) * MIB // 2)
        self.assert_recovered(gateway, citizen)  # body_timeout has cut them off
        for c in crowd:
            with self.assertRaises((Closed, ConnectionError)):
                c.response()

    def test_readers_that_stop_and_go_on_sending(self):
        gateway, citizen, crowd = self.readers_of_much(CROWD // 10)

        def drip_at_times():
            drip(crowd)
            time.sleep(0.2)  # far more often than body_timeout

        with Attack(drip_at_times):
            self.lives_on(citizen)
            wait_until(lambda: self.clients(gateway) == 1, 15, "dripping keeps nobody")
        self.assert_recovered(gateway, citizen)

    def test_refused_requests_pipelined_without_reading(self):
        gateway, citizen = self.besieged(SHORT + (
            "limits: { none: { key: [], rate: 1/h } }\n"
            "routes: [ { match: { path: /none }, limits: [none], upstream: up },\n"
            "          { upstream: up } ]\n"
            "upstreams: { up: { servers: [echo] } }\n"
        ))
        crowd = self.crowd(gateway, CROWD // 4, receive_buffer=4096, segment=1400)
        many = b"GET /none HTTP/1.1\r\nHost: h\r\n\r\n" * 1800  # 400 bytes of answer each
        for c in crowd:
            c.socket.setblocking(False)
            c.socket.send(many)
        peak = 0
        while self.clients(gateway) > 1:
            peak = max(peak, gateway.memory())
            citizen.live(2)
        if not SLOW:
            self.assertLess(peak, self.memory + len(crowd) * MIB // 4)
        self.assert_recovered(gateway, citizen)

    def test_pipelining_without_reading(self):
        gateway, citizen = self.besieged(SHORT + TO_ECHO)
        crowd = self.crowd(gateway, CROWD // 10, receive_buffer=4096)
        request = b"GET /" + b"a" * 4000 + b" HTTP/1.1\r\nHost: h\r\n\r\n"
        for c in crowd:
            c.socket.setblocking(False)

        def push():
            for c in crowd:
                try:
                    c.socket.send(request * 16)
                except OSError:
                    pass  # full, or cut off

        with Attack(push):
            self.lives_on(citizen)
        for c in crowd:
            c.close()
        self.assert_recovered(gateway, citizen)


class Floods(AttackTest):
    def test_idle_connections_up_to_the_cap_of_one_peer(self):
        gateway, citizen = self.besieged(
            "max_connections: 60\nmax_connections_per_peer: 50\n" + SHORT + TO_ECHO
        )
        crowd = self.crowd(gateway, 120)
        wait_until(lambda: self.refused(gateway) == 70)
        self.lives_on(citizen)
        wait_until(lambda: self.clients(gateway) == 51)
        ended = [c for c in crowd if not c.silent_for(0.001)]
        self.assertEqual(len(ended), 70)
        for c in crowd:
            c.close()
        self.assert_recovered(gateway, citizen)
        with self.attacker(gateway) as c:
            self.assertEqual(c.ask().status, 200, "the address is let in again")

    def refused(self, gateway):
        return gateway.metrics().sum("gateway_connections_refused_total", reason="per_peer")

    def test_trusted_proxies_and_unix_sockets_have_no_cap_and_prefixes_share_theirs(self):
        path = self.directory().file("in.sock")
        gateway = self.gateway(
            f"listeners: [ {{ address: '127.0.0.1:0' }}, {{ address: 'unix:{path}' }} ]\n"
            "max_connections_per_peer: 2\n"
            "client: { trusted_proxies: [127.0.0.9], ipv4_prefix: 31 }\n" + TO_ECHO
        )
        host, _, port = gateway.addresses()[0].rpartition(":")

        def served(count, address, **options):
            connected = [Connection(address, **options) for _ in range(count)]
            for c in connected:
                self.addCleanup(c.close)
                self.assertEqual(c.ask().status, 200)

        served(5, (host, int(port)), source="127.0.0.9")
        served(5, path)
        served(1, (host, int(port)), source="127.0.0.20")
        served(1, (host, int(port)), source="127.0.0.21")  # the same /31
        self.assertEqual(self.refused(gateway), 0)
        for source in ("127.0.0.20", "127.0.0.21"):
            with Connection((host, int(port)), source=source) as c:
                self.assertTrue(c.ends())
        served(2, (host, int(port)), source="127.0.0.22")
        self.assertEqual(self.refused(gateway), 2)

    def test_a_reload_brings_a_cap_and_takes_it_away(self):
        gateway = self.gateway(TO_ECHO)
        before = self.crowd(gateway, 3)
        for c in before:
            self.assertEqual(c.ask().status, 200)
        gateway.reload("max_connections_per_peer: 1\n" + TO_ECHO)
        first = self.attacker(gateway)
        self.assertEqual(first.ask().status, 200, "those from before are not counted")
        self.assertTrue(self.attacker(gateway).ends())
        self.assertEqual({c.ask().status for c in before}, {200})
        gateway.reload(TO_ECHO)
        for c in self.crowd(gateway, 3):
            self.assertEqual(c.ask().status, 200)
        first.close()
        gateway.reload("max_connections_per_peer: 1\n" + TO_ECHO)
        wait_until(lambda: self.clients(gateway) == 6)
        self.assertEqual(self.attacker(gateway).ask().status, 200)

    def test_idle_connections_up_to_max_connections_last_until_idle_timeout(self):
        gateway = self.gateway(
            "max_connections: 20\nhttp: { idle_timeout: 500ms }\n" + TO_ECHO + "workers: 1\n"
        )
        crowd = self.crowd(gateway, 20)
        wait_until(lambda: self.clients(gateway) == 20)
        with gateway.connect(source=CITIZEN) as c:
            self.assertEqual(c.ask().status, 200)
        self.assertTrue(all(c.ends() for c in crowd))

    def test_connections_up_to_the_descriptor_limit(self):
        origin = self.origin(page)
        checks = "health: { path: /well, interval: 20ms, timeout: 10s, unhealthy: 1 }"
        gateway, citizen = self.besieged(
            "workers: 1\n"  # with one queue, the first of a crowd is let in first
            + SHORT + "routes: [ { upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'], {checks} }} }}\n",
            only_kept_alive=True,
        )
        # It was told at its start of more, so it takes more connections than it has room for.
        resource.prlimit(gateway.pid, resource.RLIMIT_NOFILE, (100, 100))
        crowd = self.crowd(gateway, 200)
        wait_until(lambda: gateway.descriptors() >= 99, what="descriptors run out")
        self.lives_on(citizen)
        used = cpu_seconds(gateway.pid)
        crowd[0].send("GET / HTTP/1.1\r\nHost:")
        self.assertEqual(crowd[0].response().status, 408)  # header_timeout ends this wait of 1 s
        self.assertLess(cpu_seconds(gateway.pid) - used, 0.15, "it spins")
        self.lives_on(citizen)
        for c in crowd:
            c.close()
        self.assert_recovered(gateway, citizen)
        self.assertEqual(gateway.get().status, 200)
        m = gateway.metrics()
        name = "gateway_upstream_health_checks_total"
        self.assertGreater(m.sum(name, result="success"), 0)
        self.assertEqual(m.sum(name, result="failure"), 0, "a check that cannot be made")

    def test_idle_clients_never_have_the_descriptors_that_upstreams_and_admin_need(self):
        text = "workers: 1\n" + SHORT + TO_ECHO
        gateway, citizen = self.besieged(text, only_kept_alive=True, descriptors=150)
        crowd = self.crowd(gateway, 200)
        wait_until(lambda: self.clients(gateway) == 75)
        asking = crowd[:20]
        for c in asking:  # all at once, each with an upstream connection of its own
            c.request("/page")
        self.assertEqual({c.response().status for c in asking}, {200})
        self.assertIn("reloaded", gateway.reload(text + "max_connections_per_peer: 10\n"))
        self.lives_on(citizen)
        for c in crowd:
            c.close()
        self.assert_recovered(gateway, citizen)

    def test_an_idle_connection_keeps_nothing_of_what_it_has_carried(self):
        origin = self.origin(page)
        gateway = self.gateway(
            "workers: 1\nlog: { access: false }\n"
            "routes: [ { upstream: up }, { match: { path: /away }, upstream: away } ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }},\n"
            "  away: { servers: ['127.0.0.1:1'] } }\n"
        )
        large = [("A", "a" * 12_000)]

        def used(more):
            c = self.attacker(gateway, receive_buffer=16384)
            more(c)

        def stalled(c):  # the response waits, and so do requests
            for target in ("/big", "/page", "/page"):
                c.request(target, large)
            self.assertEqual([c.response().status for _ in range(3)], [200] * 3)

        def refused(c):
            self.assertEqual(c.ask("/away", large, method="POST", body=b"12345").status, 502)

        for more in (stalled, refused):
            for _ in range(10):
                used(more)
            before = gateway.memory()
            for _ in range(40):
                used(more)
            if not SLOW:  # a sanitizer keeps what is freed
                self.assertLess(gateway.memory() - before, 40 * 8 * 1024, more.__name__)
        self.assertEqual(self.clients(gateway), 100)

    def test_connects_and_resets_without_end(self):
        gateway, citizen = self.besieged(SHORT + TO_ECHO.replace("max_idle: 2", "max_idle: 0"))
        beginnings = (
            "",
            "GET / HT",
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal",
        )

        def strike():
            for text in beginnings:
                c = gateway.connect(source=ATTACKER)
                c.send(text)
                c.reset()
            # As fast as the upstream accepts what this makes the gateway connect, and no faster:
            # how a flood of those is bounded is the upstream's affair.
            with gateway.connect(source=ATTACKER) as c:
                c.ask()

        with Attack(strike) as attack:
            self.lives_on(citizen)
            wait_until(lambda: attack.rounds > CROWD or attack.problem, 60)
            self.lives_on(citizen)
        self.assert_recovered(gateway, citizen)

    def test_millions_of_client_addresses(self):
        gateway, citizen = self.besieged(
            SHORT + f"client: {{ trusted_proxies: ['{ATTACKER}'] }}\n"
            "stores: { local: { max_buckets: 20000 } }\n"
            "limits: { l: { key: client_ip, rate: 1000/s, burst: 1000 } }\n"
            "routes: [ { match: { path: /page }, limits: [l], upstream: up },"
            " { limits: [l], upstream: nowhere } ]\n"
            "upstreams: { up: { servers: [echo] }, nowhere: { servers: ['127.0.0.1:1'] } }\n"
        )
        number = [0]

        def flood():
            block = range(number[0], number[0] + 2000)
            number[0] += 2000
            pipelined(
                gateway.address,
                [
                    b"GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 10.%d.%d.%d\r\n\r\n"
                    % (n >> 16 & 255, n >> 8 & 255, n & 255)
                    for n in block
                ],
                connections=2,
                source=ATTACKER,
            )

        with Attack(flood):
            self.lives_on(citizen)
            wait_until(lambda: number[0] > (10_000 if SLOW else 60_000), 120)
        m = gateway.metrics()
        self.assertLessEqual(m.sum("gateway_buckets"), 20_000)
        self.assertEqual(m.sum("gateway_buckets_turned_away_total"), 0)
        self.assert_recovered(gateway, citizen)


class Bombs(AttackTest):
    def bombarded(self, *bombs):
        """Each bomb, (beginning, piece without end), is thrown by many; each must be cut off."""
        gateway, citizen = self.besieged(SHORT + TO_ECHO)

        def throw():
            for beginning, piece in bombs:
                with gateway.connect(source=ATTACKER) as c:
                    c.send(beginning)
                    sent = 0
                    try:
                        while sent < 64 * MIB:
                            c.send(piece)
                            sent += len(piece)
                    except OSError:
                        continue  # cut off
                    raise AssertionError(f"it took {sent} bytes after {beginning}")

        with Attack(throw) as attack:
            self.lives_on(citizen)
            wait_until(lambda: attack.rounds > CROWD // 10 or attack.problem, 60)
        self.assert_recovered(gateway, citizen)
        return gateway

    def test_header_bombs(self):
        get = b"GET / HTTP/1.1\r\nHost: h\r\n"
        self.bombarded(
            (b"GET /", b"a" * 65536),
            (get + b"X: ", b"a" * 65536),
            (get, b"A: b\r\n" * 10_000),
            (get + b"Cookie: ", b"a=b; " * 13_000),
            (b"", b"\r\n" * 30_000),
        )

    def test_chunks_that_are_all_overhead(self):
        post = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.bombarded(
            (post + b"5;", b"x" * 65536),
            (post + b"5", b";a=b" * 16_000),
            (post + b"0", b"0" * 65536),
            (post + b"0\r\n", b"Trailer: x\r\n" * 5_000),
        )
