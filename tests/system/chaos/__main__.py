#!/usr/bin/env python3
"""Chaos around three gateways: python3 tests/system/chaos --store redis|sentinel|cluster|postgres
[--seed N] [--seconds S]; ten minutes by default.

Gateways and the servers of the store are on machines of their own (network namespaces). By a random
schedule, which the seed decides, servers crash, freeze and fail over, gateways are killed, frozen,
restarted and reloaded, and connections between them are cut, while clients ask for more than they may
get. Ends with status 0 if every promise of docs/operations.md and docs/stores.md was kept. The same
seed has the same schedule. Needs root, for the machines; status 77 says that they cannot be made.
"""
import argparse
import datetime
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from chaos import network  # noqa: E402
from chaos.clients import Clients  # noqa: E402
from chaos.gateways import Gateways  # noqa: E402
from chaos.journal import Journal  # noqa: E402
from chaos.judge import Judge  # noqa: E402
from chaos.schedule import GATEWAYS, LAST, schedule, told  # noqa: E402
from chaos.stores import STORES  # noqa: E402
from harness.postgres_server import PostgresError  # noqa: E402
from harness.process import wait_until  # noqa: E402
from harness.redis_server import RedisError  # noqa: E402


class Network:
    """Between gateways and the store."""

    def __init__(self, gateways, store, journal):
        self._gateways, self._store, self._journal = gateways, store, journal

    def cut(self, hold, gateways, machines, way):
        with self._journal.outage(gateways):
            theirs = [self._store.machines[m] for m in machines]
            cut = network.Cut([self._gateways.machines[g] for g in gateways], theirs, way)
            hold()
            cut.heal()


class Hold:
    """Until the planned end of an action."""

    def __init__(self, end):
        self._end = end

    def left(self):
        return max(0.0, self._end - time.monotonic())

    def over(self):
        return self.left() == 0

    def __call__(self, incident=None):
        """Returns at the end. Until then the store of `incident` answers nobody."""
        time.sleep(self.left())
        if incident is not None:
            incident.sure_until = time.monotonic()


class Run:
    def __init__(self, options):
        self._seconds = options.seconds
        self._plan = schedule(options.store, options.seed, options.seconds)
        self._journal = Journal(GATEWAYS)
        self.problems = []
        self.began = None
        # To the end of the run: what a thread has started is killed when the thread ends.
        self._threads = ThreadPoolExecutor(3)
        self._store = STORES[options.store](self._journal)
        more = [f", key_prefix: 'gw{n}:'" if options.apart else "" for n in range(GATEWAYS)]
        self._gateways = self._store.gateways = Gateways(self._store.url, more, self._journal)
        self._lanes = {
            "store": self._store,
            "network": Network(self._gateways, self._store, self._journal),
            "gateway": self._gateways,
        }

    def _act(self, lane, start):
        for action in (a for a in self._plan if a.lane == lane):
            time.sleep(max(0.0, start + action.begin - time.monotonic()))
            try:
                if lane == "store":
                    wait_until(self._store.is_well, 30, "the servers are well")
                now = time.monotonic() - start
                if now > self._seconds - LAST:
                    return  # the servers took too long to be well
                print(f"{now:8.3f}  {told(action)}", flush=True)
                getattr(self._lanes[lane], action.name)(Hold(start + action.end), **action.arguments)
            except (AssertionError, OSError, PostgresError, RedisError) as e:
                self.problems.append(f"{told(action)}: {type(e).__name__}: {e}")
                return

    def _ready(self):
        for gateway in self._gateways.running:
            up = lambda g=gateway: g.metrics().sum("gateway_store_up", store="shared") == 1
            wait_until(up, 20, "the gateways have the store")

    def __call__(self):
        self._ready()
        clients = Clients([m.host for m in self._gateways.machines], self._seconds)
        start = time.monotonic()
        self.began = datetime.datetime.now(datetime.timezone.utc).isoformat()
        acting = [self._threads.submit(self._act, lane, start) for lane in self._lanes]
        answers, lost = clients.finish()
        for done in acting:
            done.result()
        self._journal.stop()
        self._judge(answers, lost, start)

    def _judge(self, answers, lost, start):
        # Moments are told as seconds from the start, as in the schedule.
        answers = [a._replace(sent=a.sent - start, answered=a.answered - start) for a in answers]
        lost = [it._replace(sent=it.sent - start, ended=it.ended - start) for it in lost]
        for it in self._journal.incidents:
            it.begin, it.end = it.begin - start, it.end - start
            it.sure_until = it.sure_until and it.sure_until - start
        judge = Judge(self._journal.incidents, [(g, at - start) for g, at in self._journal.lives])
        judge.answers(answers)
        judge.lost(lost)
        judge.recoveries(answers)
        judge.bounds(answers)
        since = dict(judge.lives)
        for number, gateway in enumerate(self._gateways.running):
            judge.metrics(number, since[number], gateway.metrics(), answers)
        if self._journal.overbooked > 0:
            print(f"{self._journal.overbooked:.1f} s of processes that waited for a processor are excused")
        nearest = max(judge.figures, key=lambda figure: figure[1].excess)
        print(f"{len(answers)} answers; nearest to its promise: {nearest[0]}, {nearest[1].excess:+.2f} tokens")
        self.problems += judge.problems

    def tell_logs(self):
        print(f"the load began at {self.began}; the gateways said:")
        for number, line in self._gateways.said:
            print(f"gateway {number}: {line}")

    def stop(self):
        self._gateways.stop()
        self._store.stop()
        self._threads.shutdown()
        self.problems += self._gateways.problems


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", choices=sorted(STORES), required=True)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--apart", action="store_true", help="let no two gateways share a bucket: must be found")
    return parser.parse_args()


def main():
    network.in_own_namespace()
    chosen = options()
    print(f"--store {chosen.store} --seed {chosen.seed} --seconds {chosen.seconds:g}", flush=True)
    run = Run(chosen)
    try:
        run()
    finally:
        run.stop()
    if run.problems:
        run.tell_logs()
    for problem in run.problems:
        print(f"PROBLEM: {problem}")
    verdict = f"{len(run.problems)} problems" if run.problems else "passed"
    print(f"chaos: {verdict}: --store {chosen.store} --seed {chosen.seed} --seconds {chosen.seconds:g}")
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
