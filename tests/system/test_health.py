"""Active health checks: real servers that turn bad in every way, and come back."""
import json
import socket
import threading

from harness.case import SystemTest
from harness.client import get
from harness.origin import Origin, pause
from harness.process import wait_until

# Servers in turn, and nothing but their checks takes one out.
PLAIN = "balance: round_robin, slow_start: 0s, ejection: { failures: 0 }"

QUICK = "path: /healthz, interval: 20ms, timeout: 300ms, unhealthy: 3, healthy: 2"


def configuration(addresses, health=QUICK, extra=""):
    servers = ", ".join(f"'{a}'" for a in addresses)
    checks = f", health: {{ {health} }}" if health else ""
    return (
        "routes: [ { upstream: up } ]\n"
        f"upstreams: {{ up: {{ servers: [{servers}]{checks}, {PLAIN} }} }}\n{extra}"
    )


def well(peer, request):
    peer.reply()


class Server:
    """Says its name to requests, and to checks what `check` says now. Unless `keep_alive`, each
    request needs a connection, and so a choice of server."""

    keep_alive = False

    def __init__(self, name, check=well, port=0):
        self.name, self.check = name, check
        self.origin = Origin(self._script, port=port)
        self.address = self.origin.address

    def _script(self, peer, request):
        peer.read_body(request)
        if request.target == "/healthz":
            return self.check(peer, request)
        if self.keep_alive:
            return peer.reply(body=self.name.encode())
        peer.reply(body=self.name.encode(), fields=[("Connection", "close")])
        return False

    def served(self):
        return sum(r.target != "/healthz" for r in list(self.origin.requests))

    def stop(self):
        self.origin.stop()


def status(code):
    return lambda peer, request: peer.reply(code)


def raw(data, then_wait=False):
    def script(peer, request):
        peer.send(data)
        if then_wait:
            peer.wait_for_end()
        return False

    return script


def silent(peer, request):
    peer.wait_for_end()
    return False


def trickle(start, drop):
    """A byte every now and then: each comes in time, the whole never does."""

    def script(peer, request):
        peer.send(start)
        while True:  # until the gateway has had enough, which is an OSError here
            pause(0.02)
            peer.send(drop)

    return script


class HealthTest(SystemTest):
    def server(self, name, check=well, port=0):
        return self.started(Server(name, check, port))

    def healthy(self, gateway, server):
        return gateway.metrics().sum(
            "gateway_upstream_server_healthy", upstream="up", server=server.address
        )

    def checks(self, gateway, server, result):
        return gateway.metrics().sum(
            "gateway_upstream_health_checks_total",
            upstream="up",
            server=server.address,
            result=result,
        )

    def wait_for(self, gateway, server, healthy):
        wait_until(
            lambda: self.healthy(gateway, server) == healthy, 15, f"{server.name}: {healthy}"
        )

    def who_answers(self, gateway, requests=20):
        answers = [gateway.get() for _ in range(requests)]
        self.assertEqual({a.status for a in answers}, {200})
        return {a.text for a in answers}


class Checks(HealthTest):
    def test_a_server_that_turns_bad_is_passed_over_until_it_is_well_again(self):
        a, b = self.server("a"), self.server("b")
        gateway = self.gateway(configuration([a.address, b.address]))
        self.assertEqual(self.who_answers(gateway), {"a", "b"})
        self.assertEqual((self.healthy(gateway, a), self.healthy(gateway, b)), (1, 1))
        a.check = status(503)
        self.wait_for(gateway, a, 0)
        served = a.served()
        self.assertEqual(self.who_answers(gateway), {"b"})
        self.assertEqual(a.served(), served)
        a.check = well
        self.wait_for(gateway, a, 1)
        self.assertEqual(self.who_answers(gateway), {"a", "b"})
        self.assertGreaterEqual(self.checks(gateway, a, "failure"), 3)
        self.assertGreaterEqual(self.checks(gateway, a, "success"), 2)
        said = [line for line in gateway.diagnostics if f"up: {a.address} is" in line]
        self.assertEqual(len(said), 2, said)
        self.assertIn(f"upstream up: {a.address} is unhealthy, status 503", said[0])
        self.assertIn(f"upstream up: {a.address} is healthy again", said[1])

    def test_a_kept_alive_connection_leads_to_no_unhealthy_server(self):
        a, b = self.server("a"), self.server("b")
        gateway = self.gateway(configuration([a.address, b.address], extra="workers: 1\n"))
        a.keep_alive = b.keep_alive = True
        with gateway.connect() as c:
            first, other = (a, b) if c.ask().text == "a" else (b, a)
            first.check = status(500)
            self.wait_for(gateway, first, 0)
            self.assertEqual({c.ask().text for _ in range(10)}, {other.name})

    def test_when_all_are_unhealthy_all_are_tried_and_the_gateway_stays_ready(self):
        a, b = self.server("a", status(500)), self.server("b", status(500))
        gateway = self.gateway(configuration([a.address, b.address]))
        for server in (a, b):
            self.wait_for(gateway, server, 0)
        self.assertEqual(self.who_answers(gateway), {"a", "b"})
        r = get(gateway.admin, "/readyz")
        self.assertEqual(r.status, 200)
        down = {(s["upstream"], s["server"]) for s in json.loads(r.body)["servers_down"]}
        self.assertEqual(down, {("up", f"{s.address}") for s in (a, b)})

    def test_every_way_of_being_bad(self):
        header = b"HTTP/1.1 200 OK\r\n"
        for check, reason in (
            (status(404), "status 404"),
            (status(199), None),
            (silent, "no complete answer in time"),
            (raw(b""), "it closed the connection without an answer"),
            (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "its answer is no HTTP/1.1: bad version"),
            (raw(b"\0" * 100_000), None),
            (raw(header + b"Content-Length: 100\r\n\r\nhalf"), "it closed the connection before the end of its answer"),
            (raw(header + b"X: " + b"x" * 20_000, then_wait=True), "the head of its answer is too long"),
            (raw(header, then_wait=True), "no complete answer in time"),
            (raw(b"HTTP/1.1 103 Hints\r\n\r\n" * 100), "nothing but interim responses"),
            (trickle(b"", b"H"), None),
            (trickle(header, b"X: y\r\n"), "no complete answer in time"),
            (trickle(header + b"Content-Length: 5000\r\n\r\n", b"x"), "no complete answer in time"),
            (lambda peer, request: peer.reset(), None),
        ):
            with self.subTest(reason):
                bad, good = self.server("bad", check), self.server("good")
                gateway = self.gateway(configuration([bad.address, good.address]))
                self.wait_for(gateway, bad, 0)
                gateway.wait_for_diagnostic(f"{bad.address} is unhealthy, {reason or ''}")
                self.assertEqual(self.who_answers(gateway, 4), {"good"})
                self.assertEqual(self.healthy(gateway, good), 1)
                bad.check = well
                self.wait_for(gateway, bad, 1)

    def test_odd_but_good_answers(self):
        header = b"HTTP/1.1 200 OK\r\n"
        patient = QUICK.replace("300ms", "10s")
        for health, check in (
            (patient, raw(b"HTTP/1.1 204 No Content\r\n\r\n")),
            (patient, raw(b"HTTP/1.0 200 OK\r\n\r\nuntil the end")),
            (patient, raw(b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + header + b"\r\nok")),
            (patient, raw(header + b"Content-Length: 1000000\r\n\r\n" + b"x" * 1_000_000)),
            (patient, raw(header + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")),
            (patient, status(302)),
            (patient + ", expected: 404", status(404)),
            (patient + ", expected: 500-503", status(502)),
        ):
            with self.subTest(health=health):
                a = self.server("a", check)
                gateway = self.gateway(configuration([a.address], health))
                wait_until(lambda: self.checks(gateway, a, "success") >= 3)
                self.assertEqual(self.healthy(gateway, a), 1)
                self.assertEqual(self.checks(gateway, a, "failure"), 0)

    def test_a_server_that_refuses_and_one_that_takes_no_connection(self):
        a, b = self.server("a"), self.server("b")
        gateway = self.gateway(configuration([a.address, b.address]))
        self.assertEqual(self.who_answers(gateway), {"a", "b"})
        a.stop()
        self.wait_for(gateway, a, 0)
        gateway.wait_for_diagnostic("Connection refused")
        self.assertEqual(self.who_answers(gateway), {"b"})
        port = int(a.address.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port), backlog=0) as full:
            crowd = [socket.socket() for _ in range(3)]
            for s in crowd:
                s.setblocking(False)
                s.connect_ex(full.getsockname())
            failed = self.checks(gateway, a, "failure")
            wait_until(lambda: self.checks(gateway, a, "failure") > failed + 1)
            self.assertEqual(self.healthy(gateway, a), 0)
            for s in crowd:
                s.close()
        again = self.server("again", port=port)
        self.wait_for(gateway, again, 1)
        self.assertEqual(self.who_answers(gateway), {"again", "b"})

    def test_one_check_at_a_time_whatever_the_number_of_workers_and_what_it_says(self):
        lock, running, most = threading.Lock(), [0], [0]

        def slow(peer, request):
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            pause(0.05)
            peer.reply()
            with lock:
                running[0] -= 1

        a = self.server("a", slow)
        gateway = self.gateway(configuration([a.address], extra="workers: 4\n"))
        wait_until(lambda: self.checks(gateway, a, "success") >= 5)
        self.assertEqual(most, [1])
        r = a.origin.requests[0]
        self.assertEqual((r.method, r.target, r["host"]), ("GET", "/healthz", a.address))
        self.assertRegex(r["user-agent"], r"^gateway/\d+\.\d+\.\d+$")
        self.assertEqual(r["connection"], "close")
        wait_until(lambda: a.origin.open_connections() <= 1)

    def test_unix_sockets_names_and_the_built_in_server_are_checked(self):
        path = self.directory().file("up.sock")
        by_path = self.origin(unix_path=path)
        by_name = self.origin()
        name = by_name.address.replace("127.0.0.1", "localhost")
        gateway = self.gateway(configuration(["unix:" + path, name, "echo", "no.such.invalid:1"]))
        m = wait_until(
            lambda: (m := gateway.metrics())
            and all(
                m.sum("gateway_upstream_health_checks_total", server=s, result=r) > 2
                for s, r in (
                    ("unix:" + path, "success"),
                    (name, "success"),
                    ("echo", "success"),
                    ("no.such.invalid:1", "failure"),
                )
            )
            and m,
            15,
        )
        self.assertEqual(m.sum("gateway_upstream_server_healthy"), 3)
        self.assertEqual(by_path.last()["host"], "localhost")
        self.assertEqual(by_name.last()["host"], name)


class Reload(HealthTest):
    def test_what_is_known_of_a_server_survives_and_a_new_one_begins_as_healthy(self):
        a, b, new = self.server("a", status(503)), self.server("b"), self.server("new", silent)
        both = [a.address, b.address]
        gateway = self.gateway(configuration(both))
        self.wait_for(gateway, a, 0)
        failed = self.checks(gateway, a, "failure")
        gateway.reload(configuration(both, extra="drain_timeout: 4s\n"))
        self.assertEqual(self.healthy(gateway, a), 0)
        self.assertGreaterEqual(self.checks(gateway, a, "failure"), failed)
        self.assertEqual(self.who_answers(gateway), {"b"})

        # Settings of the checks change: nobody asks for an hour, and what was known stays.
        rarely = "path: /healthz, interval: 1h"
        gateway.reload(configuration([*both, new.address], rarely))
        self.assertEqual(self.healthy(gateway, a), 0)
        self.assertGreaterEqual(self.checks(gateway, a, "failure"), failed)
        self.assertEqual(self.healthy(gateway, new), 1)
        self.assertEqual(self.who_answers(gateway), {"b", "new"})

        # No checks, no opinion.
        gateway.reload(configuration(both, health=""))
        self.assertEqual(self.who_answers(gateway), {"a", "b"})
        self.assertIsNone(self.healthy(gateway, a))
        gateway.reload(configuration(both, rarely))
        self.assertEqual(self.healthy(gateway, a), 1)

    def test_servers_that_are_taken_out_are_asked_no_more(self):
        a, b = self.server("a"), self.server("b")
        gateway = self.gateway(configuration([a.address, b.address]))
        wait_until(lambda: self.checks(gateway, a, "success") >= 2)
        gateway.reload(configuration([b.address]))
        wait_until(lambda: a.origin.open_connections() == 0)
        asked = len(a.origin.requests)
        before = self.checks(gateway, b, "success")
        wait_until(lambda: self.checks(gateway, b, "success") > before + 5)
        self.assertEqual(len(a.origin.requests), asked)
        self.assertIsNone(self.healthy(gateway, a))

    def test_a_drain_does_not_wait_for_checks(self):
        a = self.server("a", silent)
        gateway = self.gateway(
            configuration([a.address], "path: /healthz, interval: 10ms, timeout: 1h")
        )
        wait_until(lambda: a.origin.requests)
        gateway.signal(15)
        self.assertEqual(gateway.wait(4), 0)
