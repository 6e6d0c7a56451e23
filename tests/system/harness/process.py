"""Child processes that never outlive their test, and waiting without guessing how long.

Each process is stopped by its own pid, and the kernel kills it should the test runner die first.
"""
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from harness.clock import running

SLOW = os.environ.get("GATEWAY_SLOW") == "1"  # a sanitizer build: less load, wider bounds
PATIENCE = 6 if SLOW else 1
# Loaded into a process, it has the time that the variable of this name says.
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


def wait_until(condition, seconds=15.0, what="the condition"):
    """Polls until `condition()` is true and returns its value."""
    deadline = running() + seconds * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if running() >= deadline:
            raise AssertionError(f"not within {seconds * PATIENCE} s: {what}")
        time.sleep(0.005)


def free_port():
    """A port that nobody has; for servers that cannot choose one themselves. It is none of those
    that the kernel gives to clients, so it is still free a moment later."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def tool(name):
    """The path of a program, also of those that live in sbin."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if path is None:
        raise AssertionError(f"{name} is not installed (scripts/test installs it)")
    return path


class StillRunning(AssertionError):
    """A process that should have ended."""


class Directory:
    """A temporary directory."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="gateway-test-")
        os.chmod(self.path, 0o755)  # nginx's workers may run as another user

    def file(self, name, text=None):
        path = os.path.join(self.path, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return path

    def stop(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Child:
    """One process; its stderr is kept line by line."""

    def __init__(
        self,
        words,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        environment=None,
        **options,
    ):
        guarded = [tool("setpriv"), "--pdeathsig", "KILL", "--"]
        if environment:
            guarded += ["env"] + [f"{name}={value}" for name, value in environment.items()]
        self.lines = []
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            guarded + list(words), stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, **options
        )
        self.pid = self._process.pid
        self.stdin, self.stdout = self._process.stdin, self._process.stdout
        self._reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._reader.start()

    def _read_stderr(self):
        for raw in self._process.stderr:
            with self._changed:
                self.lines.append(raw.decode("utf-8", "replace").rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_for_line(self, matches, seconds=10.0, start=0):
        """The first line of stderr, from number `start` on, for which `matches(line)` is true."""
        deadline = running() + seconds * PATIENCE
        with self._changed:
            while True:
                for line in self.lines[start:]:
                    found = matches(line)
                    if found:
                        return found
                if self._process.poll() is not None and not self._reader.is_alive():
                    raise AssertionError(f"ended with {self._process.returncode}: {self.lines}")
                left = deadline - running()
                if left <= 0:
                    raise AssertionError(f"no such line in time: {self.lines}")
                self._changed.wait(min(left, 0.2))

    def signal(self, number):
        self._process.send_signal(number)

    def running(self):
        return self._process.poll() is None

    def wait(self, seconds=10.0):
        """The exit status."""
        try:
            status = self._process.wait(seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            raise StillRunning(
                f"has not ended within {seconds * PATIENCE} s: {self.lines[-5:]}"
            ) from None
        self._reader.join(5)
        return status

    def kill(self):
        if self.running():
            self._process.kill()
        return self.wait()

    def stop(self, seconds=10.0):
        """SIGTERM, then SIGKILL for one that does not listen. The exit status."""
        try:
            if self.running():
                self._process.send_signal(signal.SIGCONT)
                self._process.terminate()
            return self.wait(seconds)
        except StillRunning:
            return self.kill()
        finally:
            for stream in (self._process.stderr, self.stdin, self.stdout):
                if stream is not None:
                    stream.close()


def run_tool(words, seconds=60, **options):
    """Runs a program to its end; (status, stdout, stderr)."""
    words = [tool(words[0])] + list(words[1:])
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=seconds * PATIENCE, check=False, **options
    )
    return done.returncode, done.stdout, done.stderr
