"""What a decision costs in Redis, by our store and by three published ways to keep a token bucket."""
import json
import re
import signal
import socket
import subprocess
import tempfile
import time

from cpu import cpu_seconds, cpu_since
from proxies import LOAD_CORE, PROGRAMS, PROXY_CORE, free_port, settle_on
from table import show

PROGRAM = PROGRAMS / "store_load"
WAYS = {"script": "one script", "commands": "commands", "watch": "WATCH and EXEC", "ours": "gateway"}
CALLERS = (1, 16, 64, 256)
KEYS = {"hot key": 1, "10,000 keys": 10_000}
LEASED = {"keys": 1, "lease": 10}
FAR_OVER = {"keys": 1, "per_second": 10, "burst": 10}
OVER_GRANT = dict(FAR_OVER, callers=64, lasts_ms=3050)
MOST = 40  # 10 at once, and 10 a second for 3 s; the last of them is there at the end of these
KINDS = {
    "token_bucket": {}, "fixed_window": {}, "sliding_window": {}, "sliding_log": {"burst": 1000},
    "four token buckets": {"kind": "token_bucket", "limits": 4},
}


class Redis:
    """A server of our own on the load's core."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.port = free_port()
        words = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                 "--appendonly", "no", "--dir", self.directory.name, "--logfile", "log"]
        self.process = subprocess.Popen(words, preexec_fn=settle_on(LOAD_CORE))
        until = time.monotonic() + 10
        while True:
            try:
                self.command("PING")
                return self
            except OSError:
                if time.monotonic() > until:
                    raise

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.directory.cleanup()

    def command(self, line):
        """The reply's bytes."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as s:
            s.sendall(f"{line}\r\nQUIT\r\n".encode())
            return b"".join(iter(lambda: s.recv(65536), b"")).decode()

    def calls(self, inside_scripts):
        """Commands of clients by now; what scripts do is counted among them, but for the scripts."""
        found = re.findall(r"cmdstat_(\S+?):calls=(\d+)", self.command("INFO commandstats"))
        scripts = {"eval", "evalsha", "fcall"}
        own = {"info", "ping", "quit", "flushall", "config|resetstat"}
        return sum(int(number) for name, number in found
                   if (name in scripts if not inside_scripts else name not in own))


def measured(redis, way, **options):
    """What store_load says, with what the server did meanwhile."""
    redis.command("FLUSHALL")
    redis.command("CONFIG RESETSTAT")
    before = cpu_seconds(redis.process.pid)
    words = [f"{key}={value}" for key, value in options.items()]
    said = subprocess.run([PROGRAM, str(redis.port), way, *words], check=True, timeout=60,
                          preexec_fn=settle_on(PROXY_CORE), stdout=subprocess.PIPE)
    result = json.loads(said.stdout.splitlines()[-1])
    result["cpu"] = cpu_since(redis.process.pid, before)
    result["calls"] = redis.calls(inside_scripts=way in ("commands", "watch"))
    return result


def per_decision(result, what):
    return result[what] / result["decisions"]


def plain_per_cpu(redis, keys):
    """Decisions of one script each per second of the server's CPU: what a table's ways are beside, just
    before them, as the machine's speed changes from minute to minute."""
    r = measured(redis, "script", callers=64, keys=keys, lasts_ms=2000)
    return r["decisions"] / r["cpu"]


def row(way, r, plain):
    per_cpu = r["decisions"] / r["cpu"]
    return (way, f"{1e9 * r['seconds'] / r['decisions']:,.0f}", f"{r['p99_us']:,.0f}",
            f"{per_decision(r, 'calls'):.3f}", f"{per_decision(r, 'allocations'):.2f}",
            f"{per_cpu:,.0f}", f"{per_cpu / plain:.1f}")


def run(_):
    """The ways beside each other: exactness, then cost."""
    lines = []
    with Redis() as redis:
        for way, name in WAYS.items():
            r = measured(redis, way, **OVER_GRANT)
            most = int(10 + 10 * r["seconds"])
            lines.append((name, f"{r['allowed']}", f"{most}", f"{100 * r['allowed'] / most:.0f} %",
                          f"{per_decision(r, 'calls'):.2f}"))
        show(f"stores: 64 callers of one bucket of 10, 10/s, for 3 s (at most {MOST}; more where a way "
             "took longer)", ("way", "allowed", "at most", "of it", "calls per decision"), lines)
        columns = ("way", "ns per decision", "p99, us", "calls", "allocations",
                   "decisions per s of Redis CPU", "beside one script, 64 callers")
        for title, keys in KEYS.items():
            for callers in CALLERS:
                plain = plain_per_cpu(redis, keys)
                show(f"stores: {title}, {callers} callers", columns,
                     [row(name, measured(redis, way, callers=callers, keys=keys), plain)
                      for way, name in WAYS.items()])
        plain = plain_per_cpu(redis, 1)
        show("stores: hot key with leases, 64 callers", columns,
             [row(WAYS["ours"], measured(redis, "ours", callers=64, **LEASED), plain)])
        show("stores: far over the limit, 64 callers", columns,
             [row(name, measured(redis, way, callers=64, **FAR_OVER), plain)
              for way, name in WAYS.items() if way in ("script", "ours")])


def run_kinds():
    """Our store's cost in Redis, by kind of limit."""
    lines = []
    with Redis() as redis:
        for kind, options in KINDS.items():
            r = measured(redis, "ours", callers=64, keys=10_000, **{"kind": kind, **options})
            lines.append((kind, f"{1e6 * r['cpu'] / r['decisions']:.1f}",
                          f"{per_decision(r, 'calls'):.3f}"))
    show("limits: in Redis, 64 decisions at a time, 10,000 clients",
         ("limit", "CPU of Redis per decision, us", "calls per decision"), lines)
