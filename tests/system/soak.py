#!/usr/bin/env python3
"""Saturation while everything around the gateway fails: soak.py [SECONDS]; 20 minutes by default.

In rounds: load and WebSockets, reloads, restarts of upstreams and of Redis, clients that break off;
then quiet, and a look at memory and descriptors. The first quarter of the rounds, two at least, is
warm-up. Ends with one line, and status 0 if every request and every tunnel was answered or its
connection closed, nothing grew, and the process, GATEWAY_BIN if that is set, ended in order without
a word from a sanitizer.
"""
import collections
import os
import random
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from harness.gateway import Gateway  # noqa: E402
from harness.load import Load  # noqa: E402
from harness.nginx import Nginx  # noqa: E402
from harness.origin import Origin  # noqa: E402
from harness.process import SLOW, run_tool, wait_until  # noqa: E402
from harness.redis_server import RedisServer  # noqa: E402
from harness.tunnels import CUT, IN_ORDER, OUTLIVED, RESET, SILENT, Tunnels  # noqa: E402
from harness.websocket import BINARY, echo_frames, frame, handshake  # noqa: E402

FILE_BYTES = 300_000
GROWTH = 8 * 2**20  # that is no leak: the allocator's keeping
FATES = (IN_ORDER, RESET, OUTLIVED, CUT)  # each must have happened
LOOKS = 3  # descriptors: connections of the looks themselves that are about to end
QUARANTINE = 400 * 2**20  # of what a sanitizer's allocator does not give back
TUNNELS = 16  # at once

CONFIGURATION = """
log: {{ access: false }}
stores: {{ shared: {{ url: {redis} }} }}
limits:
  near: {{ key: client_ip, rate: {rate}/s, burst: 100000000 }}
  far: {{ key: "header:X-Client", missing_key: client_ip, rate: {rate}/s, burst: 1000,
          store: shared, on_store_failure: local }}
routes:
  - {{ match: {{ path: /shared }}, limits: [near, far], upstream: up }}
  - {{ match: {{ path: /ws }}, limits: [near, far], upstream: sockets }}
  - {{ limits: [near], upstream: up }}
upstreams:
  up: {{ servers: ['{servers[0]}', '{servers[1]}'], idle_timeout: 1s, max_idle: {idle} }}
  sockets: {{ servers: ['{sockets}'], idle_timeout: 1s }}
"""


def request(target, client):
    return f"GET {target} HTTP/1.1\r\nHost: h\r\nX-Client: {client}\r\n\r\n".encode()


class Counted(Load):
    """A load that counts its answers instead of keeping them."""

    def __init__(self, address, flows):
        super().__init__(address, flows)
        self.statuses = collections.Counter()

    def _answered(self, flow, text, closes):
        super()._answered(flow, text, closes)
        self.statuses[self.answers.pop().status] += 1


class Soak:
    def __init__(self):
        self._servers = [Nginx(), Nginx()]
        for server in self._servers:
            for name, size in (("ok.txt", 2), ("large", FILE_BYTES), ("shared", 10)):
                with open(server.path(name), "wb") as f:
                    f.write(b"x" * size)
        self._sockets = Origin(echo_frames)
        self._redis = RedisServer()
        self._gateway = Gateway(self._text(0))
        self._over = threading.Event()
        # One for all rounds: what a thread has started is killed when the thread ends.
        self._threads = ThreadPoolExecutor(6 + TUNNELS)
        self._problems = []
        self.statuses = collections.Counter()
        self.closed = collections.Counter()
        self.tunnels = collections.Counter()
        self.events = collections.Counter()

    def _text(self, turn):
        return CONFIGURATION.format(
            redis=self._redis.url,
            rate=(1_000_000, 500_000)[turn % 2],
            idle=(16, 8)[turn % 2],
            servers=[s.address for s in self._servers],
            sockets=self._sockets.address,
        )

    # What happens around the gateway: each until the round is over.

    def _every(self, interval, act):
        """Calls act(turn) again and again."""
        turn = 0
        while not self._over.wait(interval):
            turn += 1
            act(turn)

    def _reload(self, turn):
        line = self._gateway.reload(self._text(turn))
        assert "reloaded" in line, line
        self.events["reloads"] += 1

    def _restart_upstream(self, turn):
        server = self._servers[turn % 2]
        server.kill()
        self._over.wait(0.2)
        server.start()
        self.events["upstream restarts"] += 1

    def _restart_sockets(self, _):
        """Cuts all tunnels."""
        self._sockets.stop()
        self._over.wait(0.2)
        self._sockets = Origin(echo_frames, port=int(self._sockets.address.rpartition(":")[2]))
        self.events["restarts of the WebSockets' upstream"] += 1

    def _restart_redis(self, _):
        self._redis.kill()
        self._over.wait(0.3)
        self._redis.start()
        self.events["Redis restarts"] += 1

    def _break_off(self, turn):
        """A client that leaves: half a head, body, frame or answer, or a pipeline unread."""
        chance = random.Random(turn)
        whole = (
            request("/large", turn),
            request("/shared", turn) * 20,
            b"PUT /put/x HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\n" + b"y" * 90000,
            b"PUT /put/y HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            handshake() + frame(BINARY, b"z" * 9000, masked=True),
        )[turn % 5]
        connection = self._gateway.connect(receive_buffer=8192)
        try:
            connection.send(whole[: chance.randrange(1, len(whole) + 1)])
            if chance.random() < 0.3:
                connection.socket.settimeout(0.05)
                connection.socket.recv(1000)
        except OSError:
            pass  # refused, or nothing came
        connection.reset() if chance.random() < 0.7 else connection.close()
        self.events["clients broken off"] += 1

    def _saturate(self, seconds):
        status, out, err = run_tool(
            ["wrk", "-t1", "-c48", f"-d{seconds}s", "http://%s:%d/ok" % self._gateway.address],
            seconds=seconds + 60,
        )
        assert status == 0, f"wrk: {out} {err}"
        self.events["requests of wrk"] += int(re.search(r"(\d+) requests in", out).group(1))

    # Rounds

    def round(self, seconds):
        """Returns memory and descriptors when it is quiet again."""
        self._over.clear()
        targets = ("/ok.txt", "/shared", "/large", "/shared")
        flows = [(i, request(targets[i % 4], i)) for i in range(32)]
        load = Counted(self._gateway.address, flows)
        tunnels = Tunnels(self._gateway, self._over, lambda: self.events["reloads"])
        around = [
            self._threads.submit(self._every, 0.7, self._reload),
            self._threads.submit(self._every, 1.1, self._restart_upstream),
            self._threads.submit(self._every, 1.7, self._restart_sockets),
            self._threads.submit(self._every, 1.9, self._restart_redis),
            self._threads.submit(self._every, 0.005, self._break_off),
            self._threads.submit(self._saturate, max(1, int(seconds))),
        ]
        carried = [self._threads.submit(tunnels.run, i) for i in range(TUNNELS)]
        load.run(seconds)
        self._over.set()
        for done in around:
            done.result()
        for done in carried:
            self.tunnels += done.result()
        self.statuses += load.statuses
        self.closed += collections.Counter(why for _, why in load.lost)
        if not load.statuses[200]:
            self._problems.append("a round without one good answer")
        return self._quiet()

    def _quiet(self):
        def at_rest():
            metrics = self._gateway.metrics()
            return (
                metrics.sum("gateway_connections") == 0
                and metrics.sum("gateway_tunnels") == 0
                and metrics.sum("gateway_store_up", store="shared") == 1
            )

        wait_until(at_rest, 30, "all connections end, and Redis is asked again")
        return self._gateway.memory(), self._gateway.descriptors()

    def end(self):
        """Stops everything; the gateway says by its status whether it ended in order."""
        self._problems += [f"no tunnel {fate}" for fate in FATES if not self.tunnels[fate]]
        for started in (self._gateway, self._redis, self._sockets, *self._servers):
            try:
                started.stop()
            except AssertionError as e:
                self._problems.append(str(e))
        self._threads.shutdown()
        return self._problems

    def unanswered(self):
        return self.closed["no answer at all"] + self.tunnels[SILENT]


def grown(looks):
    """What grew after the first quarter of these (memory, descriptors), or the first two: a list of
    sentences."""
    count = max(2, len(looks) // 4)  # in the first round a slow machine does not get far
    warm, rest = looks[:count], looks[count:]
    allowed = max(m for m, _ in warm) + (QUARANTINE if SLOW else GROWTH)
    found = []
    if rest[-1][0] > allowed:
        found.append(f"memory grew from {warm[-1][0] >> 10} KiB to {rest[-1][0] >> 10} KiB")
    if rest[-1][1] > max(d for _, d in warm) + LOOKS:
        found.append(f"descriptors grew from {warm[-1][1]} to {rest[-1][1]}")
    return found


def run(seconds, tell=print):
    """The problems that were found; none is what we want."""
    count = max(4, round(seconds / 60))
    soak, looks, problems = Soak(), [], []
    started = time.monotonic()
    try:
        for number in range(count):
            looks.append(soak.round(seconds / count))
            tell(
                f"round {number + 1} of {count}: {soak.statuses.total()} answers, "
                f"{soak.closed.total()} closed, {looks[-1][0] >> 10} KiB, "
                f"{looks[-1][1]} descriptors"
            )
        problems += grown(looks)
    except (AssertionError, OSError) as e:
        problems.append(f"{type(e).__name__}: {e}")
    problems += soak.end()
    if soak.unanswered():
        problems.append(f"{soak.unanswered()} requests or tunnels neither answered nor closed")
    happened = ", ".join(f"{n} {what}" for what, n in sorted(soak.events.items()))
    answers = ", ".join(f"{n} × {status}" for status, n in sorted(soak.statuses.items()))
    tunnels = ", ".join(f"{n} {fate}" for fate, n in sorted(soak.tunnels.items()))
    tell(f"{happened}; answers: {answers}; closed: {dict(soak.closed)}; tunnels: {tunnels}")
    verdict = "; ".join(problems) if problems else "passed"
    tell(f"soak of {time.monotonic() - started:.0f} s: {verdict}")
    return problems


if __name__ == "__main__":
    sys.exit(1 if run(float(sys.argv[1]) if len(sys.argv) > 1 else 1200.0) else 0)
