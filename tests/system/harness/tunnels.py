"""WebSockets in large numbers, each with a fate, and an account of what became of them."""
import collections
import random
import time

from harness.client import Closed
from harness.load import LATE
from harness.websocket import BINARY, CLOSE, Refused, WebSocket, frame

SIZES = (1, 125, 4_000, 70_000)
PAUSE = 0.02  # between frames: what counts is the number of tunnels, not their speed
SILENCE = 30.0  # the longest that a byte may be late

IN_ORDER, RESET, OUTLIVED, CUT, REFUSED, SILENT, CAME_LATE = (
    "ended in order",
    "reset by the client",
    "lived across a reload",
    "cut",
    "not granted",
    "neither answered nor closed",
    "closed as the client was late",
)


class Tunnels:
    """Opens tunnels to an echo until `over` is set. `reloads()` is how many there have been."""

    def __init__(self, gateway, over, reloads):
        self._gateway, self._over, self._reloads = gateway, over, reloads

    def run(self, seed):
        """One tunnel after the other, in the caller's thread; how many had which fate."""
        chance, fates = random.Random(seed), collections.Counter()
        while not self._over.is_set():
            began, opened = time.monotonic(), False
            # Before there is a tunnel: who waited for the one after the next would never end.
            seen = self._reloads()
            try:
                with self._gateway.connect(timeout=SILENCE) as connection:
                    ws = WebSocket(connection, headers=[("X-Client", str(chance.randrange(64)))])
                    opened = True
                    self._live(ws, seen, chance, fates)
            except TimeoutError:
                fates[SILENT] += 1
            except Refused:
                fates[REFUSED] += 1
            except (Closed, OSError):
                late = not opened and time.monotonic() - began >= LATE
                fates[CAME_LATE if late else CUT] += 1
            self._over.wait(PAUSE)
        return fates

    def _live(self, ws, seen, chance, fates):
        stays = chance.random() < 0.3
        for _ in range(chance.randrange(1, 4)):
            self._carry(ws, chance)
        while stays and self._reloads() == seen and not self._over.is_set():
            self._carry(ws, chance)
        if self._reloads() > seen:
            self._carry(ws, chance)
            fates[OUTLIVED] += 1
        if chance.random() < 0.5:
            text = frame(BINARY, chance.randbytes(4_000), masked=True)
            ws.connection.send(text[: chance.randrange(len(text))])
            ws.connection.reset()
            fates[RESET] += 1
        else:
            ws.send(CLOSE)
            assert ws.receive() == (CLOSE, b""), "another answer to a close"
            assert ws.connection.ends(), "bytes after the end"
            fates[IN_ORDER] += 1

    def _carry(self, ws, chance):
        payload = chance.randbytes(chance.choice(SIZES))
        assert ws.echo(payload) == (BINARY, payload), "other bytes come back"
        self._over.wait(PAUSE)
