"""The program under test: one process of it, started from a YAML text."""
import json
import os
import re
import signal
import subprocess

from harness import client
from harness.client import Connection, get
from harness.metrics import Metrics
from harness.place import HERE
from harness.process import FAKETIME, SLOW, Child, Directory, wait_until

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BINARY = os.path.abspath(
    os.environ.get("GATEWAY_BIN", os.path.join(ROOT, "build/release/bin/gateway"))
)

# What a test does not care about.
COMMON = {
    "listeners": "listeners: [ { address: 127.0.0.1:0 } ]",
    "admin": "admin: { address: 127.0.0.1:0 }",
    "drain_timeout": "drain_timeout: 5s",
    "workers": "workers: 2",
}



def whole_configuration(text, tls=None):
    """`text` with the keys of COMMON that it lacks."""
    if tls is not None:
        spoken = f"tls: {{ certificates: [ {tls.certificate('gateway.test')} ] }}"
        text = f"listeners: [ {{ address: 127.0.0.1:0, {spoken} }} ]\n" + text
    text = with_upstream_tls(text)
    present = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    return "\n".join(line for key, line in COMMON.items() if key not in present) + "\n" + text


# Addresses of servers that speak TLS, and the certificates that they are known by: what a
# configuration says of an upstream with one of them need not say so.
secured_servers = {}


def with_upstream_tls(text):
    def say(found):
        known = [c for address, c in secured_servers.items() if address in found[0]]
        ca = f", tls: {{ ca: '{known[0].path('ca.pem')}', server_name: origin.test }}" if known else ""
        return found[0] + ca

    return re.sub(r"servers: *(\[[^\[\]]*\]|'[^']*')", say, text) if secured_servers else text


def run_command(*words, seconds=20, cwd=None, input=None):
    """Runs the program to its end, with `input` on its stdin; (status, stdout, stderr)."""
    done = subprocess.run(
        [BINARY, *words],
        capture_output=True,
        text=True,
        timeout=seconds * (5 if SLOW else 1),
        check=False,
        cwd=cwd,
        input=input,
    )
    return done.returncode, done.stdout, done.stderr


def clock_shifted_by(offset):
    """Environment of a process whose wall clock is `offset` away from the true one, "+3h" say."""
    return {
        "LD_PRELOAD": FAKETIME,
        "FAKETIME": offset,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "ASAN_OPTIONS": "verify_asan_link_order=0",
    }


class MovingClock:
    """For processes whose wall clock a test moves while they run."""

    def __init__(self):
        self._directory = Directory()
        self._path = self._directory.file("offset", "+0")
        self.environment = clock_shifted_by("+0") | {
            "FAKETIME_TIMESTAMP_FILE": self._path,
            "FAKETIME_NO_CACHE": "1",
        }
        del self.environment["FAKETIME"]  # it would win over the file
        # The library reads the file on any thread, without a lock.
        theirs = self._directory.file("suppressions", "called_from_lib:libfaketime\n")
        self.environment["TSAN_OPTIONS"] = f"suppressions={theirs}"

    def move(self, offset):
        """`offset` from the true time, as clock_shifted_by() takes it."""
        new = self._path + ".new"
        with open(new, "w", encoding="ascii") as f:
            f.write(offset)
        os.replace(new, self._path)

    def stop(self):
        self._directory.stop()


class Gateway:
    """Listening when the constructor returns. Its stdout is the file `log_path`."""

    def __init__(self, text, environment=None, descriptors=None, tls=None, binary=BINARY, place=HERE):
        """With `tls`, which are Certificates, a listener that `text` does not name speaks it, and
        so do clients with it."""
        self._directory = Directory()
        self._tls = tls = None if re.search(r"^listeners:", text, re.MULTILINE) else tls
        self.config_path = self._directory.file("gateway.yaml")
        self.log_path = self._directory.file("access.log")
        self.write(text)
        words = [binary, "run", "--config", self.config_path]
        if descriptors is not None:
            words = ["prlimit", f"--nofile={descriptors}:{descriptors}", "--"] + words
        with open(self.log_path, "wb") as log:
            self._child = Child(place.words(words), stdout=log, environment=environment)
        self.status = None
        try:
            self.address = self._await_address(r"[^ ]*listening on ([^ ]+:\S+?)\"?\}?$")
            self.admin = self._await_address(r"admin API on ([^ ]+:\S+?)\"?\}?$")
            if tls is not None:
                client.secured[self.address] = tls.context()
            client.named[self.admin] = "localhost"
        except BaseException:
            self._child.kill()
            self._directory.stop()
            raise

    def _await_address(self, pattern):
        found = self._child.wait_for_line(lambda line: re.search(pattern, line)).group(1)
        if found.startswith("unix:"):
            return found[len("unix:") :]
        host, _, port = found.rpartition(":")
        return host.strip("[]"), int(port)

    def addresses(self):
        """Of all listeners, in the order of the configuration."""
        found = [re.search(r"listening on ([^ ]+:\S+?)\"?\}?$", line) for line in self.diagnostics]
        return [m.group(1) for m in found if m]

    @property
    def pid(self):
        return self._child.pid

    @property
    def diagnostics(self):
        return list(self._child.lines)

    def wait_for_diagnostic(self, text, start=0):
        return self._child.wait_for_line(lambda line: line if text in line else None, start=start)

    def connect(self, **options):
        return Connection(self.address, **options)

    def get(self, target="/", headers=(), **options):
        return get(self.address, target, headers, **options)

    def metrics(self):
        return Metrics(get(self.admin, "/metrics").text)

    def log_lines(self, count):
        """The access log, as soon as it has `count` lines."""

        def enough():
            with open(self.log_path, encoding="utf-8") as f:
                lines = f.read().splitlines()
            return lines if len(lines) >= count else None

        return [json.loads(line) for line in wait_until(enough, 10, f"{count} lines of access log")]

    def memory(self, field="VmRSS"):
        """Bytes, from /proc: VmRSS now, VmHWM at most so far."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return int(re.search(rf"{field}:\s+(\d+) kB", f.read()).group(1)) * 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def write(self, text):
        """Replaces the configuration file; `reload` makes it count."""
        with open(self.config_path, "w", encoding="utf-8") as f:
            f.write(whole_configuration(text, self._tls))

    def reload(self, text):
        """Writes the file, sends SIGHUP, and waits for what the log says of it."""
        start = len(self._child.lines)
        self.write(text)
        self._child.signal(signal.SIGHUP)
        return self._child.wait_for_line(
            lambda line: line if "reload" in line else None, start=start
        )

    def signal(self, number):
        self._child.signal(number)

    def freeze(self):
        """Returns when every thread of it stands still."""

        def stands(task):
            with open(f"/proc/{self.pid}/task/{task}/stat", encoding="utf-8") as stat:
                return stat.read().rpartition(")")[2].split()[0] == "T"

        self.signal(signal.SIGSTOP)
        wait_until(lambda: all(stands(t) for t in os.listdir(f"/proc/{self.pid}/task")))

    def thaw(self):
        self.signal(signal.SIGCONT)

    def running(self):
        return self._child.running()

    def wait(self, seconds=15.0):
        self.status = self._child.wait(seconds)
        return self.status

    def stop(self):
        """Must end in order: status 0, unless the test ended it, and no report of a sanitizer."""
        client.secured.pop(self.address, None)
        client.named.pop(self.admin, None)
        ended_by_test = self.status is not None
        status = self._child.stop(15)
        self._directory.stop()
        reports = [
            line for line in self._child.lines if "Sanitizer" in line or "runtime error:" in line
        ]
        assert not reports, "\n".join(self._child.lines)
        assert ended_by_test or status == 0, f"ended with {status}: " + "\n".join(
            self._child.lines[-20:]
        )
