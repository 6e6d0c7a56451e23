"""What a decision costs in PostgreSQL, by our store and by functions that others keep there."""
import json
import os
import pathlib
import pwd
import subprocess
import tempfile
import time

from cpu import cpu_seconds, cpu_since
from proxies import PROGRAMS, free_port
from table import show

PROGRAM = PROGRAMS / "store_load"
BINARIES = next(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), pathlib.Path())
WAYS = {"upsert": "upsert, a call each", "update": "update, then insert, serializable", "ours": "gateway"}
WRITING = {"writing_upsert": "upsert that writes refusals, too"}
CALLERS = (1, 8, 64)
KEYS = {"hot key": 1, "10,000 keys": 10_000}
COLUMNS = ("way", "ns per decision", "p99, us", "calls", "repeats", "decisions per s of PostgreSQL CPU",
           "beside the first")
FAR_OVER = {"keys": 1, "per_second": 10, "burst": 10}
OVER_GRANT = dict(FAR_OVER, callers=8, lasts_ms=3050)
MOST = 40  # 10 at once, and 10 a second for 3 s; the last of them is there at the end of these
AS_USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []
SERIALIZABLE = "?options=-c%20default_transaction_isolation%3Dserializable"


class Postgres:
    """A server of our own, on both cores, as its processes and the callers take turns."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        folder = self.directory.name
        if AS_USER:
            owner = pwd.getpwnam("postgres")
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        self.port = free_port()
        words = ["-D", f"{folder}/data", "-U", "gateway", "-A", "trust", "-N", "--locale=C"]
        subprocess.run([*AS_USER, BINARIES / "initdb", *words], check=True, stdout=subprocess.DEVNULL)
        words = ["-D", f"{folder}/data", "-p", str(self.port), "-k", folder, "-c", "max_connections=300"]
        self.process = subprocess.Popen([*AS_USER, BINARIES / "postgres", *words],
                                        stderr=subprocess.DEVNULL)
        while subprocess.run([BINARIES / "pg_isready", "-q", "-h", folder, "-p", str(self.port)],
                             check=False).returncode != 0:
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()

    def sessions(self):
        """How many processes of it serve a client, or have ended and are not counted yet."""
        count = 0
        for which in (["-f", "gateway postgres"], ["--runstates", "Z"]):
            words = ["pgrep", "-P", str(self.process.pid), *which]
            count += len(subprocess.run(words, check=False, stdout=subprocess.PIPE).stdout.split())
        return count

    def url(self, way):
        more = SERIALIZABLE if way == "update" else ""
        return f"postgresql://gateway@127.0.0.1:{self.port}/postgres{more}"


def measured(server, way, **options):
    """What store_load says, with what the server did meanwhile."""
    before = cpu_seconds(server.process.pid)
    words = [f"{key}={value}" for key, value in options.items()]
    said = subprocess.run([PROGRAM, server.url(way), way, *words], check=True, timeout=120,
                          stdout=subprocess.PIPE)
    result = json.loads(said.stdout.splitlines()[-1])
    while server.sessions():  # which count as children when they have ended
        time.sleep(0.01)
    result["per_cpu"] = result["decisions"] / cpu_since(server.process.pid, before)
    return result


def row(name, r, plain):
    """Its last figure is beside that of `plain`, the row above all."""
    calls = (r["calls"] or r["decisions"] + r["repeats"]) / r["decisions"]
    return (name, f"{1e9 * r['seconds'] / r['decisions']:,.0f}", f"{r['p99_us']:,.0f}", f"{calls:.3f}",
            f"{r['repeats'] / r['decisions']:.3f}", f"{r['per_cpu']:,.0f}",
            f"{r['per_cpu'] / plain['per_cpu']:.2f}")


def compare(server, title, ways, ours=None, **workload):
    """A table of these ways. `ours`: what only our store is told."""
    results = {way: measured(server, way, lasts_ms=2000, **workload, **(ours or {} if way == "ours" else {}))
               for way in ways}
    plain = results[next(iter(ways))]
    show(f"postgres: {title}", COLUMNS, [row(ways[way], r, plain) for way, r in results.items()])


def run(_):
    """The ways beside each other: exactness, then speed."""
    lines = []
    with Postgres() as server:
        for way, name in WAYS.items():
            r = measured(server, way, **OVER_GRANT)
            most = int(10 + 10 * r["seconds"])
            lines.append((name, f"{r['allowed']}", f"{most}", f"{100 * r['allowed'] / most:.0f} %",
                          f"{r['repeats'] / r['decisions']:.2f}"))
        show(f"postgres: 8 callers of one bucket of 10, 10/s, for 3 s (at most {MOST}; more where a way "
             "took longer)", ("way", "allowed", "at most", "of it", "repeats per decision"), lines)
        for title, keys in KEYS.items():
            for callers in CALLERS:
                compare(server, f"{title}, {callers} caller(s)", WAYS, callers=callers, keys=keys)
        for callers in CALLERS:
            compare(server, f"far over the limit, {callers} caller(s)", WAYS, callers=callers, **FAR_OVER)
        for callers in CALLERS:
            compare(server, f"far over the limit, {callers} caller(s), a call each", WRITING | WAYS,
                    {"remember": 0, "stores": callers}, callers=callers, **FAR_OVER)
