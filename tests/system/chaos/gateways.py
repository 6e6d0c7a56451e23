"""Three gateways, each on a machine of its own, and what is done to them."""
import signal
import time

from chaos.journal import DOWN, FROZEN
from chaos.limits import configuration
from chaos.network import Machine
from harness.gateway import Gateway


class Gateways:
    def __init__(self, url, more, journal):
        """`url`: of the store. `more`: settings of it, of each gateway."""
        count = len(more)
        self.machines = [Machine(f"gateway {n}") for n in range(count)]
        self.problems = []
        self.said = []  # (gateway, line) of those that have ended
        self._url, self._more, self._journal = url, more, journal
        self._reloads = [0] * count
        self.running = [None] * count
        for number in range(count):
            self._start(number)

    def _text(self, number):
        host = self.machines[number].host
        return configuration(self._url, host, self._reloads[number], self._more[number])

    def _start(self, number):
        self._journal.lives.append((number, time.monotonic()))
        self.running[number] = Gateway(self._text(number), place=self.machines[number])

    # Faults

    def kill(self, hold, number):
        with self._journal.incident(DOWN, [number]):
            gateway = self.running[number]
            gateway.signal(signal.SIGKILL)
            gateway.wait()
            hold()
            self._end(number)
            self._start(number)

    def restart(self, hold, number):
        with self._journal.incident(DOWN, [number]):
            self._end(number)
            hold()
            self._start(number)

    def freeze(self, hold, number):
        with self._journal.incident(FROZEN, [number]):
            self.running[number].freeze()
            hold()
            self.running[number].thaw()

    def reload(self, hold, number):
        self._reloads[number] += 1
        said = self.running[number].reload(self._text(number))
        if "reloaded" not in said:
            self.problems.append(f"gateway {number} does not reload: {said}")
        hold()

    def _end(self, number):
        gateway = self.running[number]
        try:
            gateway.stop()
        except AssertionError as e:
            self.problems.append(str(e))
        self.said += [(number, line) for line in gateway.diagnostics]

    def stop(self):
        for number, gateway in enumerate(self.running):
            if gateway is not None:
                if not gateway.running():
                    self.problems.append(f"gateway {number} has died: {gateway.diagnostics[-20:]}")
                self._end(number)
        for machine in self.machines:
            machine.stop()
