"""One client far over its limit in a shared store, on a thousand connections: it gets what its limit
says, costs the store next to nothing, and nobody else feels it."""
import subprocess
import time

from harness.case import SystemTest
from harness.load import Load
from harness.process import SLOW, wait_until
from harness.redis_server import RedisServer

CONNECTIONS = 1000
SECONDS = 4
WORKERS = 2
WINDOW = 256  # calls under way per worker


def by(address):
    return [("X-Forwarded-For", address)]


class Flood(SystemTest):
    def setUp(self):
        self.redis = self.started(RedisServer())
        self.limited = self.gateway(
            f"workers: {WORKERS}\n"
            f"stores: {{ r: {{ url: '{self.redis.url}', timeout: {250 if SLOW else 25}ms }} }}\n"
            "client: { trusted_proxies: [127.0.0.1] }\n"
            "limits:\n"
            "  flood: { key: client_ip, rate: 1/s, burst: 10, store: r, on_store_failure: open }\n"
            "  quiet: { key: client_ip, rate: 1/s, burst: 10, store: r, on_store_failure: open }\n"
            "routes:\n"
            "  - { match: { path: /quiet }, limits: [quiet], upstream: up }\n"
            "  - { limits: [flood], upstream: up }\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        wait_until(lambda: self.count("gateway_store_up") == 1, what="the store is up")

    def count(self, name, **labels):
        return self.limited.metrics().sum(name, **labels)

    def decisions(self, limit):
        outcomes = ("allowed", "rejected", "failed_open", "failed_closed", "failed_local")
        name = "gateway_decisions_total"
        return {o: n for o in outcomes if (n := int(self.count(name, limit=limit, outcome=o)))}

    def flood(self):
        host, port = self.limited.address
        return subprocess.Popen(
            ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s",
             "-H", "X-Forwarded-For: 192.0.2.66", f"http://{host}:{port}/"],
            stdout=subprocess.DEVNULL)

    def test_a_client_on_a_thousand_connections_gets_its_limit_and_others_theirs(self):
        others = [
            (n, f"GET /quiet HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.{n}\r\n\r\n".encode())
            for n in range(20)
        ]
        began = time.monotonic()
        wrk = self.flood()
        load = Load(self.limited.address, others, interval=2.0)
        answers = load.run(SECONDS - 1)
        wrk.wait(SECONDS + 20)
        took = time.monotonic() - began

        flood = self.decisions("flood")
        self.assertEqual(set(flood), {"allowed", "rejected"}, "nothing is decided without the store")
        self.assertGreater(flood["rejected"], CONNECTIONS)
        self.assertGreaterEqual(flood["allowed"], 10)
        self.assertLessEqual(flood["allowed"], 10 + took)
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {200})
        self.assertEqual(self.decisions("quiet"), {"allowed": len(answers)})
        self.assertEqual(self.count("gateway_store_failures_total"), 0)
        self.assertEqual(self.count("gateway_store_up"), 1)
        # At most a window of calls a worker for each token that comes back, and the others' calls.
        calls = self.count("gateway_store_requests_total")
        self.assertLess(calls, len(answers) + WORKERS * WINDOW * (10 + took))

    def test_a_limited_client_stays_limited_when_its_store_fails_open(self):
        statuses = [self.limited.get("/", by("192.0.2.1")).status for _ in range(11)]
        self.assertEqual(statuses, [200] * 10 + [429])
        self.redis.stop()
        answer = self.limited.get("/", by("192.0.2.1"))
        self.assertEqual(answer.status, 429)
        self.assertEqual(answer["retry-after"], "1")
        self.assertEqual(self.limited.get("/", by("192.0.2.2")).status, 200)
