"""One client far over its limit in a shared store, on a thousand connections: it gets what its limit
says, costs the store next to nothing, and nobody else feels it."""
import subprocess
import time

from harness.case import SystemTest
from harness.load import Load
from harness.process import wait_until
from harness.redis_server import RedisServer

CONNECTIONS = 1000
SECONDS = 4
WORKERS = 2
CALLS = 4  # calls under way per worker


def by(address):
    return [("X-Forwarded-For", address)]


class Flood(SystemTest):
    def start(self, rate):
        self.redis = self.started(RedisServer())
        self.limited = self.gateway(
            f"workers: {WORKERS}\n"
            f"stores: {{ r: {{ url: '{self.redis.url}', timeout: 5s }} }}\n"
            "client: { trusted_proxies: [127.0.0.1] }\n"
            "limits:\n"
            f"  flood: {{ key: client_ip, rate: {rate}, burst: 10, store: r, on_store_failure: open }}\n"
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

    def what_goes_wrong(self):
        """In one flood; nothing, if all goes well."""
        self.start("1/s")
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
        flood, quiet = self.decisions("flood"), self.decisions("quiet")
        calls = self.count("gateway_store_requests_total")
        checks = {
            f"the flood is decided by the store: {flood}": set(flood) == {"allowed", "rejected"},
            f"it gets its limit: {flood}": 10 <= flood.get("allowed", 0) <= 10 + took,
            f"it is a flood: {flood}": flood.get("rejected", 0) > CONNECTIONS,
            f"others are served: {load.lost}, {quiet}":
                not load.lost and quiet == {"allowed": len(answers)},
            "the store is thought well of": self.count("gateway_store_up") == 1,
            # At most so many a worker for each token that comes back, and for each time that the
            # store has told it nothing for 100 ms; and the others' calls.
            f"it costs few calls: {calls}":
                calls < len(answers) + WORKERS * CALLS * (10 + took + 10 * took),
        }
        return [what for what, good in checks.items() if not good]

    def test_a_client_on_a_thousand_connections_gets_its_limit_and_others_theirs(self):
        self.assertEqual(self.what_goes_wrong(), [])

    def test_a_limited_client_stays_limited_when_its_store_fails_open(self):
        self.start("1/h")
        # On one connection: each worker remembers what it has heard itself.
        with self.limited.connect() as c:
            statuses = [c.ask("/", by("192.0.2.1")).status for _ in range(11)]
            self.assertEqual(statuses, [200] * 10 + [429])
            self.redis.stop()
            answer = c.ask("/", by("192.0.2.1"))
            self.assertEqual(answer.status, 429)
            self.assertIn(int(answer["retry-after"]), range(3500, 3601))
            self.assertEqual(c.ask("/", by("192.0.2.2")).status, 200)
