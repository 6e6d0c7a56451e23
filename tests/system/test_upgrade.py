"""One process follows another: no request fails, and nobody is forgiven."""
import os
import signal
import socket
import threading

from harness.case import SystemTest, forwarding_to, only_as_shipped
from harness.certificates import Certificates
from harness.client import Connection, get, secured
from harness.gateway import BINARY
from harness.load import Load
from harness.notified import NotifySocket
from harness.place import Watched
from harness.process import free_port, wait_until
from harness.tunnels import CUT, IN_ORDER, OUTLIVED, REFUSED, RESET, SILENT, Tunnels
from harness.upgraded import UpgradedGateway, is_running
from harness.websocket import echo_frames

UPGRADES = int(os.environ.get("GATEWAY_UPGRADES", "6"))


class Upgrade(SystemTest):
    def upgraded(self, text, **options):
        return self.started(UpgradedGateway(text, **options))

    def test_who_decides_late_decides_by_the_same_buckets(self):
        gateway = self.upgraded(
            "limits: { l: { key: [], rate: 1/h, burst: 4 } }\n" + forwarding_to("echo", "l")
        )
        address = gateway.address
        with Connection(address) as first, Connection(address) as second:
            self.assertEqual(gateway.get()["x-ratelimit-remaining"], "3")
            for c in (first, second):
                c.send("GET / HTTP/1.1\r\n")
            wait_until(lambda: gateway.metrics().sum("gateway_connections", state="active") == 2)
            self.assertIn("serves", gateway.upgrade())
            self.assertEqual(gateway.get()["x-ratelimit-remaining"], "2")
            first.send("Host: h\r\n\r\n")
            r = first.response()
            self.assertEqual((r.status, r["x-ratelimit-remaining"], r["connection"]), (200, "1", "close"))
            self.assertEqual(gateway.get()["x-ratelimit-remaining"], "0")
            second.send("Host: h\r\n\r\n")
            self.assertEqual(second.response().status, 429)
        self.assertEqual(gateway.get().status, 429)
        wait_until(gateway.is_alone)

    def test_one_that_does_not_serve_in_time_is_ended_and_the_old_one_stays(self):
        path = self.directory().file("gateway")
        os.symlink(BINARY, path)
        gateway = self.upgraded(
            "upgrade_timeout: 400ms\nlimits: { l: { key: [], rate: 1/h, burst: 2 } }\n"
            + forwarding_to("echo", "l"),
            binary=path,
        )
        self.assertEqual(gateway.get().status, 200)
        for script, why in (
            ("exec sleep 60", "was not ready within 400ms, by signal 9"),
            ("exit 3", "ended before it was ready, with status 3"),
            ("kill -ABRT $$", "ended before it was ready, by signal 6"),
            (None, "could not be started: No such file or directory"),
            ("", "could not be started: Exec format error"),
        ):
            os.unlink(path)
            if script is None:
                os.symlink("/nowhere", path)
            else:
                with open(path, "w", encoding="ascii") as f:
                    f.write(f"#!/bin/sh\n{script}\n" if script else "no program\n")
                os.chmod(path, 0o755)
            with self.subTest(script=script):
                self.assertIn(why + "; this one goes on", gateway.upgrade())
                self.assertEqual(get(gateway.admin, "/readyz").status, 200)
        os.unlink(path)
        os.symlink(BINARY, path)
        # With all the time that it may want.
        gateway.reload(
            "limits: { l: { key: [], rate: 1/h, burst: 2 } }\n" + forwarding_to("echo", "l")
        )
        self.assertIn("serves", gateway.upgrade())
        self.assertEqual([gateway.get().status for _ in range(2)], [200, 429])

    def test_one_that_cannot_listen_says_so(self):
        gateway = self.upgraded(forwarding_to("echo"))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            gateway.write(f"listeners: [ {{ address: '{address}' }} ]\n" + forwarding_to("echo"))
            for _ in range(3):
                self.assertIn("ended before it was ready, with status 1;", gateway.upgrade())
                gateway.wait_for_diagnostic("Address already in use")
                gateway.diagnostics.clear()
        self.assertEqual(gateway.get().status, 200)

    def test_one_at_a_time(self):
        origin = self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.upgraded(forwarding_to(origin.address))
        with gateway.connect() as c:
            c.request()
            wait_until(lambda: origin.requests)
            self.assertIn("serves", gateway.upgrade())
            self.assertIn("no other one is begun", gateway.upgrade())
        wait_until(gateway.is_alone)

    def test_requests_of_one_that_is_killed_hold_no_places(self):
        origin = self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.upgraded(
            "limits: { l: { key: [], algorithm: concurrency, max: 2 } }\n"
            + forwarding_to(origin.address, "l")
        )
        self.assertIn("serves", gateway.upgrade())
        wait_until(gateway.is_alone)
        old = gateway.pid
        with gateway.connect() as a, gateway.connect() as b:
            for c in (a, b):
                c.request()
            wait_until(lambda: len(origin.requests) == 2)
            self.assertIn("serves", gateway.upgrade())
            self.assertEqual(gateway.get().status, 429)
            os.kill(old, signal.SIGKILL)
            wait_until(gateway.is_alone)
        with gateway.connect() as a, gateway.connect() as b:
            for c in (a, b):
                c.request()
            wait_until(lambda: len(origin.requests) == 4, what="both have places")

    def test_the_service_manager_is_told_whom_to_watch(self):
        manager = self.started(NotifySocket())
        gateway = self.upgraded(forwarding_to("echo"), environment=manager.environment())
        self.assertEqual(manager.next(), {"READY": "1"})
        gateway.write("{")
        self.assertIn("goes on", gateway.upgrade())
        self.assertEqual(manager.next()["RELOADING"], "1")
        self.assertEqual(manager.next(), {"READY": "1"})
        gateway.write(forwarding_to("echo"))
        gateway.upgrade()
        self.assertEqual(manager.next()["RELOADING"], "1")
        told = [manager.next(), manager.next()]
        self.assertIn({"READY": "1"}, told, "by the new one")
        self.assertIn({"MAINPID": str(gateway.pid), "READY": "1"}, told, "by the old one")
        wait_until(gateway.is_alone)


class HeldStart(SystemTest):
    """The new process waits before it is a gateway."""

    def setUp(self):
        self.folder = self.directory()
        self.path = self.folder.file("gateway")
        os.symlink(BINARY, self.path)

    def upgrading(self, text):
        """A gateway whose next process waits for release(): (UpgradedGateway, that process)."""
        gateway = self.started(UpgradedGateway(text, binary=self.path))
        self.hold_next()
        os.kill(gateway.pid, signal.SIGUSR2)
        return gateway, gateway.successor()

    def hold_next(self):
        gate = self.folder.file("gate")
        os.mkfifo(gate)
        os.unlink(self.path)
        with open(self.path, "w", encoding="ascii") as f:
            f.write(f'#!/bin/sh\nread go <{gate}\nexec {BINARY} "$@"\n')
        os.chmod(self.path, 0o755)

    def release(self):
        with open(self.folder.file("gate"), "w", encoding="ascii") as f:
            f.write("go\n")

    def test_signals_of_a_running_process_do_not_end_it(self):
        gateway, successor = self.upgrading(forwarding_to("echo"))
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            os.kill(successor, number)
        start = len(gateway.diagnostics)
        self.release()
        gateway.wait_for_diagnostic(f"process {successor} serves", start)
        gateway.is_followed_by(successor)
        self.assertEqual(gateway.get().status, 200)

    def test_one_that_is_told_to_end_leaves_the_old_one_serving(self):
        gateway, successor = self.upgrading(forwarding_to("echo"))
        gateway.freeze()
        start = len(gateway.diagnostics)
        self.release()
        gateway.wait_for_diagnostic("admin API on", start)
        os.kill(successor, signal.SIGTERM)
        gateway.thaw()
        gateway.wait_for_diagnostic("ended by a signal before it served", start)
        said = gateway.wait_for_diagnostic("ended before it was ready", start)
        self.assertIn("this one goes on", said)
        self.assertEqual(gateway.get().status, 200)

    def test_serves_if_the_old_one_is_killed_before_it_begins(self):
        file = self.folder.file("buckets")
        path = self.folder.file("in.sock")
        gateway, successor = self.upgrading(
            f"listeners: [ {{ address: 127.0.0.1:0 }}, {{ address: 'unix:{path}' }} ]\n"
            f"stores: {{ local: {{ snapshot: {{ file: '{file}', interval: 1s }} }} }}\n"
            "limits: { l: { key: [], rate: 1/h, burst: 100 } }\n" + forwarding_to("echo", "l")
        )
        self.assertEqual(gateway.get()["x-ratelimit-remaining"], "99")
        with_it = os.stat(file).st_mtime_ns if os.path.exists(file) else 0
        wait_until(lambda: os.path.exists(file) and os.stat(file).st_mtime_ns > with_it)
        gateway.kill(successor)
        self.release()
        gateway.wait_for_diagnostic("has ended before it gave its buckets")
        self.assertEqual(gateway.get()["x-ratelimit-remaining"], "98", "from the snapshot")
        os.unlink(self.path)
        os.symlink(BINARY, self.path)
        gateway.wait_for_diagnostic("the process before this one has ended")
        self.assertIn("serves", gateway.upgrade())
        self.assertEqual(gateway.get()["x-ratelimit-remaining"], "97")
        self.assertEqual(get(path).status, 200)
        os.kill(gateway.pid, signal.SIGTERM)
        wait_until(lambda: not os.path.exists(path), what="the last one removes the file")

    def test_serves_if_the_old_one_is_killed_while_it_waits_for_buckets(self):
        gateway, successor = self.upgrading(forwarding_to("echo"))
        gateway.freeze()
        start = len(gateway.diagnostics)
        self.release()
        gateway.wait_for_diagnostic("admin API on", start)
        gateway.kill(successor)
        self.assertEqual(gateway.get().status, 200)

    def test_serves_if_the_old_one_is_killed_at_whatever_it_says(self):
        for said in ("listening on", "admin API on", "buckets over", "serves"):
            with self.subTest(said):
                os.unlink(self.path)
                os.symlink(BINARY, self.path)
                gateway, successor = self.upgrading(forwarding_to("echo"))
                start = len(gateway.diagnostics)
                self.release()
                os.unlink(self.folder.file("gate"))
                gateway.wait_for_diagnostic(said, start)
                gateway.kill(successor)
                self.assertEqual({gateway.get().status for _ in range(5)}, {200})
                gateway.wait_for_diagnostic("the process before this one has ended", start)


class UnixSockets(SystemTest):
    def setUp(self):
        self.folder = self.directory()
        self.path = self.folder.file("in.sock")

    def text(self, *more):
        listeners = ", ".join(f"{{ address: '{a}' }}" for a in (f"unix:{self.path}",) + more)
        return f"listeners: [ {listeners} ]\n" + forwarding_to("echo")

    def upgraded(self, text):
        return self.started(UpgradedGateway(text))

    def end(self, gateway):
        os.kill(gateway.pid, signal.SIGTERM)
        wait_until(lambda: not is_running(gateway.pid))

    def test_are_there_until_the_last_process_ends(self):
        gateway = self.upgraded(self.text())
        for _ in range(3):
            self.assertIn("serves", gateway.upgrade())
            wait_until(gateway.is_alone)
            self.assertEqual(get(self.path).status, 200)
        self.end(gateway)
        self.assertFalse(os.path.exists(self.path))

    def test_are_removed_with_their_listener(self):
        more = self.folder.file("more.sock")
        gateway = self.upgraded(self.text("unix:" + more))
        self.assertEqual(get(more).status, 200)
        gateway.write(self.text())
        self.assertIn("serves", gateway.upgrade())
        wait_until(lambda: not os.path.exists(more))
        self.assertEqual(get(self.path).status, 200)

    def test_of_a_process_that_could_not_follow_are_removed_and_those_of_the_old_one_stay(self):
        more = self.folder.file("more.sock")
        gateway = self.upgraded(self.text())
        with socket.create_server(("127.0.0.1", 0)) as taken:
            gateway.write(self.text("unix:" + more, "127.0.0.1:%d" % taken.getsockname()[1]))
            self.assertIn("this one goes on", gateway.upgrade())
        self.assertFalse(os.path.exists(more))
        self.assertEqual(get(self.path).status, 200)
        self.end(gateway)
        self.assertFalse(os.path.exists(self.path))

    def test_of_another_process_at_the_same_path_stay(self):
        gateway = self.upgraded(self.text())
        os.unlink(self.path)
        with socket.socket(socket.AF_UNIX) as theirs:
            theirs.bind(self.path)
            theirs.listen()
            self.assertIn("serves", gateway.upgrade())
            wait_until(gateway.is_alone)
            self.end(gateway)
            self.assertTrue(os.path.exists(self.path))


class Reload(SystemTest):
    """A reload of what a process cannot change of its own."""

    LIMITED = "limits: { l: { key: [], rate: 1/h, burst: 3 } }\n" + forwarding_to("echo", "l")

    def gateway_here(self, text="", **options):
        return self.started(UpgradedGateway(text + self.LIMITED, **options))

    def test_takes_effect_by_a_process_that_follows(self):
        gateway = self.gateway_here()
        self.assertEqual(gateway.get()["x-ratelimit-remaining"], "2")
        port = free_port()
        listeners = "listeners: [ { address: '127.0.0.1:0' }, { address: '127.0.0.1:%d' } ]\n" % port
        for text in (
            "workers: 1\n",
            "workers: 1\n" + listeners,
            "workers: 1\nmax_connections: 999\n" + listeners,
            "workers: 1\nmax_connections: 999\nstores: { local: { max_buckets: 5000 } }\n" + listeners,
            "workers: 1\nadmin: { address: 127.0.0.1:0, max_connections: 7 }\n" + listeners,
        ):
            with self.subTest(text):
                before = gateway.pid
                gateway.write(text + self.LIMITED)
                self.assertIn("serves", gateway.upgrade(signal.SIGHUP))
                self.assertNotEqual(gateway.pid, before)
                wait_until(gateway.is_alone)
        with Connection(("127.0.0.1", port)) as c:
            self.assertEqual(c.ask()["x-ratelimit-remaining"], "1", "nobody is forgiven")

    def test_that_cannot_be_is_refused(self):
        gateway = self.gateway_here()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            gateway.write(f"listeners: [ {{ address: '{address}' }} ]\n" + self.LIMITED)
            self.assertIn("this one goes on", gateway.upgrade(signal.SIGHUP))
        gateway.wait_for_diagnostic("reload refused, the old configuration stays in force")
        metrics = gateway.metrics()
        self.assertEqual(metrics.sum("gateway_config_last_reload_successful"), 0)
        self.assertEqual(metrics.sum("gateway_config_reloads_total", result="failure"), 1)
        self.assertEqual(gateway.get().status, 200)

    def test_waits_for_the_end_of_the_process_before(self):
        origin = self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.started(UpgradedGateway(forwarding_to(origin.address)))
        with gateway.connect() as c:
            c.request()
            wait_until(lambda: origin.requests)
            self.assertIn("serves", gateway.upgrade())
            gateway.write("workers: 1\n" + forwarding_to(origin.address))
            os.kill(gateway.pid, signal.SIGHUP)
            gateway.wait_for_diagnostic("the one before this one has not ended yet")
        wait_until(gateway.is_alone)
        self.assertIn("serves", gateway.upgrade(signal.SIGHUP))

    def test_keeps_old_values_where_nobody_would_follow(self):
        gateway = self.gateway(self.LIMITED, place=Watched())
        gateway.reload("workers: 1\n" + self.LIMITED)
        gateway.wait_for_diagnostic("workers: a changed value takes effect at the next start only")
        wait_until(lambda: gateway.metrics().sum("gateway_config_reloads_total", result="success") == 1)
        self.assertEqual(gateway.get().status, 200)


class UnderLoad(SystemTest):
    # Of its listener, as YAML.
    spoken = ""

    def upgraded_under_load(self):
        port, burst, clients = free_port(), 300 * UPGRADES, 8
        origin = self.origin(echo_frames_or_ok)

        def text(workers):
            return (
                f"workers: {workers}\nlisteners: [ {{ address: '127.0.0.1:{port}'{self.spoken} }} ]\n"
                "drain_timeout: 20s\nlog: { access: false }\n"
                f"limits:\n  all: {{ key: [], rate: 1/h, burst: {burst} }}\n"
                "  each: { key: 'header:X-Client', missing_key: skip, rate: 1/h, burst: 100 }\n"
                "routes:\n - { match: { path: /ws }, upstream: up }\n"
                " - { match: { path: /each }, limits: [each], upstream: up }\n"
                " - { limits: [all], upstream: up }\n"
                f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
            )

        gateway = self.started(UpgradedGateway(text(2)))
        flows = [("all", b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")] * 4
        flows += [("all", b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")] * 4
        flows += [
            (i, b"GET /each HTTP/1.1\r\nHost: h\r\nX-Client: %d\r\n\r\n" % i) for i in range(clients)
        ]
        if self.spoken:
            secured[gateway.address] = self.context
        load = Load(gateway.address, flows, interval=0.01).start()
        over, fates, done = threading.Event(), [], []
        tunnels = Tunnels(gateway, over, lambda: len(done))
        threads = [
            threading.Thread(target=lambda seed=i: fates.append(tunnels.run(seed))) for i in range(4)
        ]
        for t in threads:
            t.start()
        for turn in range(UPGRADES):
            count = len(load.answers)
            wait_until(lambda: len(load.answers) > count + 200)
            if turn % 3 == 1:
                gateway.write("{")
                self.assertIn("this one goes on", gateway.upgrade())
            gateway.write(text((1, 3, 2)[turn % 3]))
            # A reload that changes the number of workers is one, too.
            self.assertIn("serves", gateway.upgrade((signal.SIGUSR2, signal.SIGHUP)[turn % 2]))
            done.append(turn)
            wait_until(gateway.is_alone, 30)
        wait_until(lambda: ("all", 429) in {a[:2] for a in load.answers[-500:]}, 60, "all is used up")
        over.set()
        for t in threads:
            t.join()
        answers = load.finish()
        self.assertEqual(load.lost, [])
        passed = [a.tag for a in answers if a.status == 200]
        self.assertEqual({a.status for a in answers}, {200, 429})
        self.assertEqual(passed.count("all"), burst, "not one more, and not one less")
        self.assertEqual([passed.count(i) for i in range(clients)], [100] * clients)
        seen = sum(fates[1:], start=fates[0])
        print(f"     {len(answers)} answers, {UPGRADES} upgrades, {dict(seen)}")
        self.assertEqual([seen[f] for f in (CUT, REFUSED, SILENT)], [0, 0, 0], seen)
        self.assertTrue(seen[IN_ORDER] and seen[OUTLIVED] and seen[RESET])

    def test_nothing_fails_and_nobody_is_forgiven(self):
        self.upgraded_under_load()


@only_as_shipped
class UnderLoadOverTls(UnderLoad):
    def setUp(self):
        made = Certificates(self.directory())
        made.issue("gateway.test", "DNS:gateway.test")
        self.spoken = f", tls: {{ certificates: [ {made.certificate('gateway.test')} ] }}"
        self.context = made.context()


def echo_frames_or_ok(peer, request):
    if request.target == "/ws":
        return echo_frames(peer, request)
    return peer.reply()
