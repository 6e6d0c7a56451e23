"""How a process begins, whatever it is started with and whatever is sent to it, and what ends it."""
import itertools
import os
import re
import signal
import sys

from harness import client
from harness.case import SystemTest, forwarding_to
from harness.client import Connection, get
from harness.gateway import BINARY, whole_configuration
from harness.metrics import Metrics
from harness.place import Redirected
from harness.process import Child, free_port, wait_until

# Those that stop a process, tell of a fault in it, or do nothing to it, and SIGKILL.
LEFT_ALONE = {
    getattr(signal, "SIG" + name)
    for name in "ILL TRAP ABRT BUS FPE SEGV SYS KILL STOP TSTP TTIN TTOU CONT CHLD URG WINCH".split()
}
ENDINGS = {signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}
CHANGES = {signal.SIGHUP, signal.SIGUSR2}
IGNORED = signal.valid_signals() - LEFT_ALONE - ENDINGS - CHANGES


def signals_of(pid, field):
    """A set of signals from /proc: SigBlk, SigIgn, SigCgt or ShdPnd."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        mask = int(re.search(rf"{field}:\s+(\w+)", f.read()).group(1), 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


class StandardDescriptors(SystemTest):
    def serving(self, redirections, more="", **options):
        """A process whose log cannot be read: (Child, address, address of its admin API)."""
        port, admin = free_port(), free_port()
        text = (
            f"listeners: [ {{ address: '127.0.0.1:{port}' }} ]\n"
            f"admin: {{ address: '127.0.0.1:{admin}' }}\n" + forwarding_to("echo") + more
        )
        config = self.directory().file("gateway.yaml", whole_configuration(text))
        words = [BINARY, "run", "--config", config]
        child = self.started(Child(Redirected(redirections).words(words), **options))

        def serves():
            try:
                return get(("127.0.0.1", port)).status == 200
            except ConnectionError:
                return not child.running()

        wait_until(serves)
        self.assertTrue(child.running())
        client.named["127.0.0.1", admin] = "localhost"
        self.addCleanup(client.named.pop, ("127.0.0.1", admin))
        return child, ("127.0.0.1", port), ("127.0.0.1", admin)

    def test_no_connection_takes_the_number_of_one_that_is_closed(self):
        combinations = [c for n in range(4) for c in itertools.combinations(range(3), n)]
        for closed in combinations:
            with self.subTest(closed=closed):
                child, address, admin = self.serving(" ".join(f"{fd}>&-" for fd in closed))
                for fd in closed:
                    self.assertEqual(os.readlink(f"/proc/{child.pid}/fd/{fd}"), "/dev/null")
                child.signal(signal.SIGHUP)  # which is logged
                with Connection(address) as c:
                    for _ in range(20):
                        self.assertEqual(c.ask().status, 200)
                    self.assertTrue(c.silent_for(0.02), "a client gets no line of a log")
                self.assertEqual(get(admin, "/healthz").status, 200)
                self.assertEqual(child.stop(), 0)

    def test_a_log_that_nobody_takes_costs_its_lines_only(self):
        reader, broken = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, broken)
        warned_of = "client: { trusted_hops: 1 }\n"
        for redirections in (">/dev/full 2>/dev/full", f">&{broken} 2>&{broken}"):
            with self.subTest(redirections):
                child, address, admin = self.serving(redirections, warned_of, pass_fds=[broken])
                self.assertEqual({get(address).status for _ in range(20)}, {200})
                lost = "gateway_access_log_dropped_lines_total"
                wait_until(lambda: Metrics(get(admin, "/metrics").text).sum(lost) >= 20)
                self.assertEqual(child.stop(), 0)


class Signals(SystemTest):
    def starting(self):
        """A process that waits for its configuration, which is a pipe: (Child, path of the pipe)."""
        pipe = self.directory().file("gateway.yaml")
        os.mkfifo(pipe)
        child = self.started(Child([BINARY, "run", "--config", pipe]))
        wait_until(lambda: signals_of(child.pid, "SigBlk") >= CHANGES)
        wait_until(lambda: signals_of(child.pid, "SigCgt") >= ENDINGS)
        return child, pipe

    def wait_for(self, child, text, start=0):
        return child.wait_for_line(lambda line: line if text in line else None, start=start)

    def write(self, pipe, text=forwarding_to("echo")):
        """Waits until the process reads it."""
        with open(pipe, "w", encoding="utf-8") as f:
            f.write(whole_configuration(text))

    def test_those_that_mean_nothing_to_it_do_nothing(self):
        self.assertIn(signal.SIGUSR1, IGNORED)
        gateway = self.gateway(forwarding_to("echo"))
        child, pipe = self.starting()
        for number in IGNORED:
            gateway.signal(number)
            child.signal(number)
        self.assertEqual(gateway.get().status, 200)
        self.write(pipe)
        self.wait_for(child, "admin API on")
        self.assertEqual(child.stop(), 0)

    def test_a_reload_that_comes_before_it_serves_is_made_when_it_does(self):
        child, pipe = self.starting()
        for _ in range(3):
            child.signal(signal.SIGHUP)
        self.write(pipe)
        self.wait_for(child, "admin API on")
        self.write(pipe)
        self.wait_for(child, "reloaded")
        self.assertEqual(child.stop(), 0)

    def test_an_upgrade_that_comes_before_it_serves_is_made_when_it_does(self):
        child, pipe = self.starting()
        child.signal(signal.SIGUSR2)
        self.write(pipe)
        self.wait_for(child, "upgrade: starting")
        self.write(pipe, "{")
        self.wait_for(child, "ended before it was ready, with status 2; this one goes on")
        self.assertEqual(child.stop(), 0)

    def test_an_end_that_comes_before_it_serves_comes_at_once(self):
        for number in ENDINGS:
            with self.subTest(number):
                child, _ = self.starting()
                child.signal(number)
                self.assertEqual(child.wait(), 0)

    def test_an_end_that_comes_as_it_listens_loses_no_client(self):
        config = self.directory().file("gateway.yaml", whole_configuration(forwarding_to("echo")))
        for _ in range(10):
            child = self.started(Child([BINARY, "run", "--config", config]))
            port = child.wait_for_line(lambda line: re.search(r"listening on [^ ]+:(\d+)", line)).group(1)
            with Connection(("127.0.0.1", int(port))) as c:
                c.request("/")
                child.signal(signal.SIGTERM)
                self.assertEqual(c.response().status, 200)
            self.assertEqual(child.wait(), 0)

    def test_whatever_it_was_started_with_they_mean_the_same(self):
        """A parent may have them ignored or blocked."""
        odd = (
            "import os, signal, sys\n"
            "for s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(s, signal.SIG_IGN)\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
            "os.execv(sys.argv[1], sys.argv[1:])\n"
        )
        config = self.directory().file("gateway.yaml", whole_configuration(forwarding_to("echo")))
        child = self.started(
            Child([sys.executable, "-c", odd, BINARY, "run", "--config", config])
        )
        self.wait_for(child, "admin API on")
        child.signal(signal.SIGHUP)
        self.wait_for(child, "reloaded")
        with open(config, "w", encoding="ascii") as f:
            f.write("{")
        child.signal(signal.SIGUSR2)
        self.wait_for(child, "ended before it was ready, with status 2; this one goes on")
        child.signal(signal.SIGTERM)
        self.assertEqual(child.wait(), 0)
