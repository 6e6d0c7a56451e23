"""Failovers that sentinels decide upon by themselves: servers that are starved of the processor look
dead for a moment. Each may lose what was not replicated, like those that are asked for."""
import contextlib
import threading
import time

from chaos.journal import LOSS, OUTAGE, SPLIT

EVERY = 0.05
# From a master's last word to that of its successor.
TAKES = 3.0


class FailoverWatch:
    """`newest_epoch()` is that of the newest word of any sentinel, -1 while none has one; each failover
    has one of its own."""

    def __init__(self, journal, newest_epoch):
        self._journal, self._newest_epoch = journal, newest_epoch
        self._asked_for = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def one_of_ours(self):
        """Whose losses whoever calls this notes: one at most."""
        self._asked_for = 1
        yield
        # It has been seen by who waited for it, but perhaps not here.
        time.sleep(2 * EVERY)
        self._asked_for = 0

    def _watch(self):
        last = self._newest_epoch()
        while not self._over.wait(EVERY):
            epoch = self._newest_epoch()
            if epoch > last >= 0 and self._asked_for:
                self._asked_for = 0
            elif epoch > last >= 0:
                self._note()
            last = max(last, epoch)

    def _note(self):
        now = time.monotonic()
        for kind in (LOSS, OUTAGE, SPLIT):
            self._journal.note(kind, now - TAKES, now)

    def stop(self):
        self._over.set()
        self._thread.join()
