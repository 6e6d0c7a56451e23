"""Started by a service manager: sockets that are open already, and what is said of the state."""
import os
import re
import signal
import socket

from harness.case import SystemTest, forwarding_to
from harness.client import Connection, get
from harness.gateway import BINARY, whole_configuration
from harness.notified import NotifySocket
from harness.process import Child, free_port, tool, wait_until
from harness.upgraded import is_running

# Starts a program with these descriptors from 3 on, as systemd does; LISTEN_FDS may say something else.
ACTIVATE = """
import fcntl, os, sys
os.environ["LISTEN_PID"] = sys.argv[1] if sys.argv[1] != "own" else str(os.getpid())
given = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 100) for fd in sys.argv[2].split(",")]
os.environ.setdefault("LISTEN_FDS", str(len(given)))
for i, fd in enumerate(given):
    os.dup2(fd, 3 + i)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Activation(SystemTest):
    def config(self, text):
        return self.directory().file("gateway.yaml", whole_configuration(text))

    def activated(self, text, sockets, pid="own", environment=None):
        """With these sockets."""
        given = [os.dup(s.fileno()) for s in sockets]
        words = [tool("python3"), "-c", ACTIVATE, pid, ",".join(map(str, given))]
        child = Child(words + [BINARY, "run", "--config", self.config(text)], pass_fds=given, environment=environment)
        for fd in given:
            os.close(fd)
        return self.started(child)

    def wait_until_it_serves(self, child):
        child.wait_for_line(lambda line: "admin API on" in line)

    def test_systemd_hands_tcp_and_unix_sockets_over(self):
        port, path = free_port(), self.directory().file("in.sock")
        config = self.config(
            f"workers: 3\nlisteners: [ {{ address: '127.0.0.1:{port}' }}, {{ address: 'unix:{path}' }} ]\n"
            + forwarding_to("echo")
        )
        child = self.started(
            Child([tool("systemd-socket-activate"), "-l", f"127.0.0.1:{port}", "-l", path]
                  + [BINARY, "run", "--config", config])
        )  # fmt: skip
        wait_until(lambda: os.path.exists(path))
        for _ in range(20):
            self.assertEqual(get(("127.0.0.1", port)).status, 200)
            self.assertEqual(get(path).status, 200)
        child.signal(signal.SIGTERM)
        self.assertEqual(child.wait(), 0)
        self.assertTrue(os.path.exists(path), "it is systemd's")

    def test_more_sockets_than_workers_and_fewer(self):
        for count, workers in ((5, 2), (2, 5)):
            with self.subTest(sockets=count, workers=workers):
                sockets = [socket.socket() for _ in range(count)]
                for s in sockets:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                    s.bind(("127.0.0.1", sockets[0].getsockname()[1] if s is not sockets[0] else 0))
                    s.listen()
                address = sockets[0].getsockname()
                waiting = [Connection(address) for _ in range(40)]
                child = self.activated(
                    f"workers: {workers}\nlisteners: [ {{ address: '127.0.0.1:{address[1]}' }} ]\n"
                    + forwarding_to("echo"),
                    sockets,
                )
                for s in sockets:
                    s.close()
                for c in waiting:
                    self.assertEqual(c.ask().status, 200, "whichever socket it waited at")
                    c.close()
                self.assertEqual(child.stop(), 0)

    def test_what_is_not_ours_is_told_and_closed(self):
        with socket.create_server(("127.0.0.1", 0)) as stray, socket.socket() as idle:
            child = self.activated(forwarding_to("echo"), [stray, idle])
            self.wait_until_it_serves(child)
            told = "\n".join(child.lines)
            self.assertIn("descriptor 4 of LISTEN_FDS is no listening stream socket", told)
            self.assertIn(f"127.0.0.1:{stray.getsockname()[1]}", re.findall("listening on (\\S+:\\d+)", told)[0])

    def test_sockets_for_another_process_are_left_alone(self):
        with socket.create_server(("127.0.0.1", 0)) as stray:
            child = self.activated(forwarding_to("echo"), [stray], pid="1")
            self.wait_until_it_serves(child)
            self.assertNotIn(str(stray.getsockname()[1]), "\n".join(child.lines))


    def test_a_number_that_is_not_that_of_the_sockets_ends_the_start_with_the_reason(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            for pid, count, why in (
                ("own", "2", "LISTEN_FDS is 2, but descriptor 4 is not open"),
                ("own", "9000", "LISTEN_FDS is 9000, but descriptor 4 is not open"),
                ("own", "-1", 'LISTEN_FDS is "-1", not a number'),
                ("own", "99999999999999999999", "LISTEN_FDS is .*, not a number"),
                ("own", "one", "LISTEN_FDS is .*, not a number"),
                ("mine", "1", 'LISTEN_PID is "mine", not a number'),
            ):
                with self.subTest(pid=pid, count=count):
                    child = self.activated(
                        forwarding_to("echo"), [s], pid, {"LISTEN_FDS": count}
                    )
                    self.assertEqual(child.wait(), 1)
                    self.assertRegex("\n".join(child.lines), why + ".*whoever starts the gateway must")

    def test_a_number_for_another_process_means_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            for count in ("2", "-1", "one"):
                child = self.activated(forwarding_to("echo"), [s], "1", {"LISTEN_FDS": count})
                self.wait_until_it_serves(child)

    def test_files_of_sockets_are_systemds_after_an_upgrade_too(self):
        path = self.directory().file("in.sock")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
            s.listen()
            child = self.activated(
                f"listeners: [ {{ address: 'unix:{path}' }} ]\n" + forwarding_to("echo"), [s]
            )
        self.wait_until_it_serves(child)
        child.signal(signal.SIGUSR2)
        pattern = re.compile(r"process (\d+) serves")
        successor = int(child.wait_for_line(pattern.search).group(1))
        self.assertEqual(get(path).status, 200)
        os.kill(successor, signal.SIGTERM)
        wait_until(lambda: not is_running(successor))
        self.assertTrue(os.path.exists(path))


class Notices(SystemTest):
    def test_it_says_when_it_serves_reloads_and_stops(self):
        manager = self.started(NotifySocket())
        gateway = self.gateway(forwarding_to("echo"), environment=manager.environment())
        self.assertEqual(manager.next(), {"READY": "1"})
        self.assertEqual(gateway.get().status, 200)
        for text in (forwarding_to("echo"), "{"):
            gateway.reload(text)
            begun = manager.next()
            self.assertEqual(begun["RELOADING"], "1")
            self.assertGreater(int(begun["MONOTONIC_USEC"]), 0)
            self.assertEqual(manager.next(), {"READY": "1"})
        gateway.signal(signal.SIGTERM)
        self.assertEqual(manager.next(), {"STOPPING": "1"})
        self.assertEqual(gateway.wait(), 0)

    def test_whoever_does_not_listen_stops_nothing(self):
        for path in ("/nowhere", "@nobody", "", "relative", "/" + "x" * 200):
            with self.subTest(path=path):
                gateway = self.gateway(forwarding_to("echo"), environment={"NOTIFY_SOCKET": path})
                self.assertEqual(gateway.get().status, 200)
                gateway.stop()
