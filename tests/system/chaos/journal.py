"""What was done to whom, and when: what the judge excuses, and nothing else. Times are of
time.monotonic()."""
import contextlib
import os
import threading
import time
from dataclasses import dataclass

# Kinds of incidents.
OUTAGE = "outage"  # these gateways may be without the store
LOSS = "loss"  # the store may forget what is in it
DOWN = "down"  # these gateways do not run
FROZEN = "frozen"  # these gateways stand still
SPLIT = "split"  # two servers may decide, each as if it were the only one

# A processor of the machine that all of this runs on stood still if a sleep of TICK took PAUSE on it.
TICK, PAUSE = 0.005, 0.050
# The machine had too few of them if for OVERBOOKED of WINDOW some process waited for one. On a quiet one a
# run with PostgreSQL had that for 2 % of the time, one with Redis never.
WINDOW, OVERBOOKED = 0.100, 0.8
PRESSURE = "/proc/pressure/cpu"


@dataclass
class Incident:
    kind: str
    gateways: tuple
    begin: float
    # From `begin` until then the store surely answered none of them, if it is known.
    sure_until: float = None
    end: float = float("inf")


class Journal:
    def __init__(self, gateways):
        self.all = tuple(range(gateways))
        self.incidents = []
        self.lives = []  # (gateway, since when it runs)
        self._over = threading.Event()
        for cpu in os.sched_getaffinity(0):
            threading.Thread(target=self._note_pauses, args=[cpu], daemon=True).start()
        self.overbooked = 0.0  # seconds
        if os.path.exists(PRESSURE):
            threading.Thread(target=self._note_pressure, daemon=True).start()

    def _note_pauses(self, cpu):
        """What was under way then may have come too late for its gateway."""
        os.sched_setaffinity(0, [cpu])  # of this thread
        last = time.monotonic()
        while not self._over.wait(TICK):
            now = time.monotonic()
            if now - last > PAUSE:
                self.note(OUTAGE, last, now)
            last = now

    def _note_pressure(self):
        last, waited = time.monotonic(), seconds_waited()
        while not self._over.wait(WINDOW):
            now, waited_by_now = time.monotonic(), seconds_waited()
            if waited_by_now - waited > OVERBOOKED * (now - last):
                self.overbooked += now - last
                self.note(OUTAGE, last, now)
            last, waited = now, waited_by_now

    def note(self, kind, begin, end):
        self.incidents.append(Incident(kind, self.all, begin, end=end))

    def stop(self):
        self._over.set()

    @contextlib.contextmanager
    def incident(self, kind, gateways=None):
        it = Incident(kind, self.all if gateways is None else tuple(gateways), time.monotonic())
        self.incidents.append(it)
        yield it
        it.end = time.monotonic()

    def outage(self, gateways=None):
        return self.incident(OUTAGE, gateways)

    def loss(self):
        return self.incident(LOSS)


def seconds_waited():
    """How long some process of the machine has waited for a processor."""
    with open(PRESSURE, encoding="ascii") as f:
        return int(f.readline().rsplit("=", 1)[1]) / 1e6
