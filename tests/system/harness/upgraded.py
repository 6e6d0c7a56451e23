"""A gateway that is followed by others of its kind: the same address, one process after another."""
import contextlib
import os
import re
import signal

from harness.gateway import Gateway
from harness.process import wait_until


class UpgradedGateway(Gateway):
    """`pid` is the process that serves; those before it may still drain."""

    def __init__(self, text, **options):
        self._serving = None
        super().__init__(text, **options)

    @property
    def pid(self):
        return self._serving or self._child.pid

    def upgrade(self, number=signal.SIGUSR2):
        """Sends SIGUSR2, or SIGHUP where that has the same effect, and returns what the log says of the
        outcome. If another process serves now, all connections of the one before it know by then that
        they end."""
        start = len(self._child.lines)
        os.kill(self.pid, number)
        said = self._child.wait_for_line(
            lambda line: line if re.search("process .*(serves|goes on)|SIGUSR2", line) else None,
            seconds=30,
            start=start,
        )
        followed = re.search(r"process (\d+) serves", said)
        if followed:
            self._serving = int(followed.group(1))
            self._child.wait_for_line(lambda line: '"draining"' in line, seconds=30, start=start)
        return said

    def successor(self):
        """The process that the serving one has begun, which may not be a gateway yet."""

        def child():
            with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as f:
                return int((f.read().split() or [0])[0])

        return wait_until(child)

    def kill(self, successor):
        """Kills the process that serves; `successor` is to serve instead."""
        killed = self.pid
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: not is_running(killed))
        self.status = -signal.SIGKILL
        self.is_followed_by(successor)

    def is_followed_by(self, successor):
        self._serving = successor

    def is_alone(self):
        """Whether those before it have ended."""
        began = sum("serves" in line for line in self.diagnostics)
        return sum("the process before this one has ended" in line for line in self.diagnostics) == began

    def stop(self):
        if self._serving is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and somebody has looked after it
                os.kill(self._serving, signal.SIGTERM)
            wait_until(lambda: not is_running(self._serving), 15, "the last process ends")
            wait_until(lambda: not is_running(self._child.pid), 15, "the first process has ended")
        super().stop()


def is_running(pid):
    """Not so of one whose parent has not looked after it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # before it is opened, or before it is read
        return False
