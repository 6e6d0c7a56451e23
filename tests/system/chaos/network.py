"""Machines, each in a network namespace of its own, and the router between them, which is the
namespace that this process is in. What is sent from one to another can be dropped there, without a
word to either.

A namespace lives as long as the process that was started in it, so nothing is left of a run.
"""
import itertools
import os
import subprocess
import sys

from harness.place import Place
from harness.process import Child, tool, wait_until

UNSHARED = "GATEWAY_CHAOS_UNSHARED"


def in_own_namespace():
    """Starts this program anew as a router, unless that is what it is. Says so, with status 77, where
    the machine does not let us."""
    if os.environ.get(UNSHARED):
        _ip("link", "set", "lo", "up")
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as f:
            f.write("1")
        return
    probe = (
        "ip link add name probe type veth && ip rule add to 10.0.0.1 blackhole && "
        "test -w /proc/sys/net/ipv4/ip_forward"
    )
    unshare = [tool("unshare"), "--net", "--"]
    tried = subprocess.run([*unshare, "sh", "-c", probe], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        print(f"skipped: no network namespaces here: {tried.stderr.strip()}")
        sys.exit(77)
    os.environ[UNSHARED] = "1"
    os.execv(unshare[0], [*unshare, sys.executable, *sys.orig_argv[1:]])


def _ip(*words):
    done = subprocess.run([tool("ip"), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


class Machine(Place):
    numbers = itertools.count(1)

    def __init__(self, name):
        self.name = name
        number = next(self.numbers)
        self.host = f"10.77.{number}.2"
        router = f"10.77.{number}.1"
        self._keeper = Child([tool("unshare"), "--net", "--", tool("sleep"), "infinity"])
        ours = os.readlink("/proc/self/ns/net")
        space = f"/proc/{self._keeper.pid}/ns/net"
        wait_until(lambda: os.readlink(space) != ours, 10, "a network namespace")
        _ip("link", "add", f"to{number}", "type", "veth", "peer", "name", "eth0", "netns", str(self._keeper.pid))
        _ip("address", "add", f"{router}/24", "dev", f"to{number}")
        _ip("link", "set", f"to{number}", "up")
        for words in (
            ("link", "set", "lo", "up"),
            ("address", "add", f"{self.host}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("route", "add", "default", "via", router),
        ):
            done = subprocess.run(self.words([tool("ip"), *words]), capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

    def words(self, words):
        return [tool("nsenter"), f"--net=/proc/{self._keeper.pid}/ns/net", "--", *words]

    def stop(self):
        self._keeper.kill()
        self._keeper.stop()


class Cut:
    """Nothing goes from any of `some` to any of `others` until `heal`; by `way` "there", "back" or
    "both"."""

    priorities = itertools.count(1000)

    def __init__(self, some, others, way="both"):
        self._priority = str(next(self.priorities))
        self._rules = 0
        for a, b in itertools.product(some, others):
            if way in ("there", "both"):
                self._drop(a, b)
            if way in ("back", "both"):
                self._drop(b, a)

    def _drop(self, a, b):
        _ip("rule", "add", "priority", self._priority, "from", a.host, "to", b.host, "blackhole")
        self._rules += 1

    def heal(self):
        for _ in range(self._rules):
            _ip("rule", "del", "priority", self._priority)
