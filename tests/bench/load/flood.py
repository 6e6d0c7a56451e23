"""What a client far over its limit in Redis costs the store, and the other clients.

One gateway with two workers, a real Redis, one client on CONNECTIONS connections that asks as fast
as it is answered, and one after the other a few requests of other clients, which are timed."""
import json
import re
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from proxies import ROOT, free_port
from table import show

CONNECTIONS = 1000
SECONDS = 5
PROBES_A_SECOND = 200
GATEWAY = ROOT / "build/release/bin/gateway"
CONFIGURATION = """
listeners: [ {{ address: "127.0.0.1:{port}" }} ]
admin: {{ address: "127.0.0.1:{admin}" }}
workers: 2
client: {{ trusted_proxies: [127.0.0.0/8] }}
stores: {{ shared: {{ url: "redis://127.0.0.1:{redis}", remember_rejections: {remember} }} }}
limits:
  flood: {{ key: client_ip, rate: 10/s, burst: 10, store: shared, on_store_failure: open }}
  others: {{ key: client_ip, rate: 1000000/s, burst: 1000, store: shared, on_store_failure: open }}
routes:
  - {{ match: {{ path: /others }}, limits: [others], upstream: up }}
  - {{ limits: [flood], upstream: up }}
upstreams: {{ up: {{ servers: [echo] }} }}
log: {{ access: false }}
"""
COLUMNS = ("", "flood, requests/s", "of it let through", "calls of Redis/s", "CPU of Redis",
           "others p50, us", "others p99, us", "decided without Redis")


class Servers:
    """Context manager: Redis and a gateway on it."""

    def __init__(self, directory, remember):
        self.directory = Path(directory)
        self.ports = {name: free_port() for name in ("port", "admin", "redis")}
        self.remember = remember
        self.redis = self.gateway = None

    def __enter__(self):
        self.redis = subprocess.Popen(
            ["redis-server", "--port", str(self.ports["redis"]), "--save", "", "--bind", "127.0.0.1"],
            stdout=subprocess.DEVNULL)
        file = self.directory / "gateway.yaml"
        file.write_text(CONFIGURATION.format(remember=str(self.remember).lower(), **self.ports),
                        encoding="utf-8")
        self.gateway = subprocess.Popen([GATEWAY, "run", "--config", file], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                if self.totals(("gateway_store_up", "")) == [1]:
                    return self
            except OSError:
                pass
            time.sleep(0.05)
        self.__exit__()
        raise RuntimeError("the gateway does not reach its store")

    def __exit__(self, *_):
        for process in (self.gateway, self.redis):
            process.terminate()
            process.wait(20)

    def totals(self, *counted):
        """Of one scrape: a sum for each (name, part of the labels)."""
        url = f"http://127.0.0.1:{self.ports['admin']}/metrics"
        text = urllib.request.urlopen(url, timeout=5).read().decode()
        return [sum(float(value) for row, value in
                    re.findall(rf"^{name}(\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
                    if labels in row) for name, labels in counted]

    def redis_seconds(self):
        stat = Path(f"/proc/{self.redis.pid}/schedstat").read_text(encoding="ascii")
        return int(stat.split()[0]) / 1e9


def probe(port, seconds):
    """Times of requests of other clients, in seconds, on one connection at a fixed pace."""
    times = []
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begin = time.perf_counter()
        for i in range(seconds * PROBES_A_SECOND):
            time.sleep(max(0.0, begin + i / PROBES_A_SECOND - time.perf_counter()))
            sent = time.perf_counter()
            connection.sendall(
                b"GET /others HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.%d\r\n\r\n" % (i % 250))
            connection.recv(65536)
            times.append(time.perf_counter() - sent)
    return sorted(times)


def flood(port):
    return subprocess.Popen(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS + 2}s", "-H", "X-Forwarded-For: 198.51.100.1",
         f"http://127.0.0.1:{port}/"], stdout=subprocess.DEVNULL)


def measure(with_flood, remember):
    with tempfile.TemporaryDirectory(prefix="flood-") as directory, \
            Servers(directory, remember) as servers:
        load = flood(servers.ports["port"]) if with_flood else None
        time.sleep(1)  # connecting is over
        counted = [("gateway_decisions_total", 'limit="flood"'),
                   ("gateway_decisions_total", 'limit="flood",outcome="rejected"'),
                   ("gateway_store_requests_total", ""),
                   ("gateway_decisions_total", 'outcome="failed_open"')]
        before = servers.totals(*counted)
        cpu, began = servers.redis_seconds(), time.monotonic()
        times = probe(servers.ports["port"], SECONDS)
        took = time.monotonic() - began
        cpu = servers.redis_seconds() - cpu
        asked, rejected, calls, failed = (
            after - b for after, b in zip(servers.totals(*counted), before))
        if load is not None:
            load.wait(SECONDS + 30)
        return {"flood": asked / took, "passed": (asked - rejected) / took, "calls": calls / took,
                "cpu": cpu / took, "p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100],
                "failed": failed}


def run(results):
    cases = {"in peace": (False, True), "with the flood": (True, True),
             "with the flood, remember_rejections: false": (True, False)}
    figures = {name: measure(*case) for name, case in cases.items()}
    (results / "flood.json").write_text(json.dumps(figures, indent=2), encoding="utf-8")
    show(f"flood: one client on {CONNECTIONS:,} connections, limited to 10 requests/s", COLUMNS,
         [(name, f"{f['flood']:,.0f}", f"{f['passed']:,.1f}/s", f"{f['calls']:,.0f}",
           f"{f['cpu']:.1%}", f"{f['p50'] * 1e6:,.0f}", f"{f['p99'] * 1e6:,.0f}",
           f"{f['failed']:,.0f}") for name, f in figures.items()])
