"""The stores under test, each on machines of its own, and what is done to them.

Each fault is a method: it begins, holds until the planned end, mends what it did, and notes in the
journal whom it took the store from and whether the store may have forgotten something."""
import contextlib
import threading
import time

from chaos.failovers import FailoverWatch
from chaos.journal import SPLIT
from chaos.network import Cut, Machine
from harness.postgres_server import PostgresServer
from harness.process import wait_until
from harness.redis_cluster import RedisCluster
from harness.redis_server import RedisError, RedisServer
from harness.sentinels import Replicated

REDIS = ("--protected-mode", "no")
SEEN = 0.1  # after it happened, at most: a new master
# A sentinel gives a failover up after its failover-timeout of 5 s. One whose clock jumped, as on a machine
# that stood still for 2 s, does nothing for 30 s.
GIVEN_UP, ASKED = 10, 4


def is_replica(server):
    """One that has its master. What it is may change between two questions."""
    role = server.command("ROLE")
    return role[0] == b"slave" and role[3] == b"connected"


class AnyRedis:
    """Faults of the server that takes the writes, whichever that is."""

    def hang_up(self, hold):
        with self.journal.outage():
            for kind in ("normal", "pubsub"):
                self.master().command("CLIENT", "KILL", "TYPE", kind)
        hold()

    def forget_scripts(self, hold):
        self.master().command("SCRIPT", "FLUSH")
        hold()

    def flush(self, hold):
        with self.journal.loss():
            self.master().command("FLUSHALL")
        hold()


class OneServer:
    """A store that is one server, on a machine of its own."""

    def is_well(self):
        return True

    def crash(self, hold):
        with self.journal.loss(), self.journal.outage() as out:
            self._server.kill()
            hold(out)
            self._server.start()

    def freeze(self, hold):
        with self.journal.outage() as out:
            self._server.freeze()
            hold(out)
            self._server.thaw()

    def stop(self):
        self._server.stop()
        for machine in self.machines:
            machine.stop()


class Redis(AnyRedis, OneServer):
    def __init__(self, journal):
        self.journal = journal
        self.machines = [Machine("redis")]
        self._server = RedisServer(
            *REDIS, "--maxmemory-policy", "noeviction", "--busy-reply-threshold", "100", place=self.machines[0]
        )
        self.url = self._server.url

    def master(self):
        return self._server

    def stutter(self, hold):
        """Slow, but never as slow as its gateways wait."""
        while not hold.over():
            self._server.freeze()
            time.sleep(0.015)
            self._server.thaw()
            time.sleep(0.010)

    def pause(self, hold):
        with self.journal.outage() as out:
            self._server.command("CLIENT", "PAUSE", max(1, int(hold.left() * 1000)), "ALL")
            hold(out)
            self._server.command("PING")

    def fill_up(self, hold):
        with self.journal.outage() as out:
            self._server.command("CONFIG", "SET", "maxmemory", "1")
            hold(out)
            self._server.command("CONFIG", "SET", "maxmemory", "0")

    def refuse_writes(self, hold):
        with self.journal.outage() as out:
            self._server.command("REPLICAOF", "127.0.0.1", "1")
            hold(out)
            self._server.command("REPLICAOF", "NO", "ONE")

    def run_a_script(self, hold):
        def run():
            with contextlib.suppress(RedisError):
                self._server.command("EVAL", "while true do end", "0", seconds=60)

        with self.journal.outage() as out:
            script = threading.Thread(target=run)
            script.start()
            hold(out)

            def killed():
                with contextlib.suppress(RedisError):
                    return self._server.command("SCRIPT", "KILL") == b"OK"
                return not script.is_alive()

            wait_until(killed, 5, "the script is killed")
            script.join()


class Postgres(OneServer):
    """Its table is unlogged, so it is lost when the server crashes."""

    def __init__(self, journal):
        self.journal = journal
        self.machines = [Machine("postgres")]
        self._server = PostgresServer(hba="host all all all trust\n", place=self.machines[0])
        self.url = self._server.url

    def restart(self, hold):
        with self.journal.outage() as out:
            self._server.end()
            hold(out)
            self._server.start()

    def lock(self, hold):
        """Somebody locks the table. What is refused without a lock goes on."""
        with self.journal.outage():
            session = self._server.session()
            session.stdin.write(b"BEGIN; LOCK TABLE gateway.buckets IN ACCESS EXCLUSIVE MODE;\n")
            session.stdin.flush()
            hold()
            session.stop()

    def hang_up(self, hold):
        with self.journal.outage():
            self._server.command(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gateway'"
            )
        hold()

    def flush(self, hold):
        with self.journal.loss():
            self._server.forget_all()
        hold()


class Sentinel(AnyRedis):
    """On each of three machines a server and a sentinel."""

    def __init__(self, journal):
        self.journal = journal
        self.machines = [Machine(f"server and sentinel {n}") for n in range(3)]
        self._kept = Replicated(places=self.machines)
        self.url = self._kept.url
        self._master = self._kept.servers[0]
        self._failovers = FailoverWatch(journal, lambda: self._newest_word()[0])

    def _newest_word(self):
        """That any sentinel has: its epoch, and where the master is."""
        words = [(-1, None)]
        for sentinel in self._kept.sentinels:
            with contextlib.suppress(OSError, RedisError):
                words.append(sentinel.word(seconds=0.2))
        return max(words, key=lambda word: word[0])

    def master(self):
        """The one of the newest word, once it is one."""
        epoch, address = self._newest_word()
        with contextlib.suppress(OSError, RedisError):
            if epoch >= 0 and self._at(address).command("ROLE", seconds=0.2)[0] == b"master":
                self._master = self._at(address)
        return self._master

    def _at(self, address):
        return next(s for s in self._kept.servers if (s.place.host, s.port) == address)

    def _others(self, machine):
        return [m for m in self.machines if m is not machine]

    def is_well(self):
        """Whether another failover could follow."""
        try:
            master = self.master()
            replicas = [s for s in self._kept.servers if s is not master]
            return all(s.knows(2, 2) for s in self._kept.sentinels) and all(map(is_replica, replicas))
        except (OSError, RedisError):
            return False

    def _await_promotion(self, before, seconds=30):
        wait_until(lambda: self.master() is not before, seconds, "another server becomes master")

    @contextlib.contextmanager
    def _failover(self):
        with self._failovers.one_of_ours(), self.journal.loss(), self.journal.outage():
            yield

    def _ask_for_failover(self, before):
        """A sentinel gives up one that takes too long, and tells nobody: it is asked again."""
        for left in reversed(range(ASKED)):
            with contextlib.suppress(RedisError):  # one is under way
                self._kept.sentinels[0].command("SENTINEL", "FAILOVER", "buckets")
            try:
                return self._await_promotion(before, GIVEN_UP)
            except AssertionError:
                if not left:
                    raise

    def _note_split(self, since):
        """The one that has been replaced took writes, too, from then until now."""
        self.journal.note(SPLIT, since, time.monotonic())

    def crash(self, hold):
        before = self.master()
        with self._failover():
            before.kill()
            self._await_promotion(before)
        hold()
        before.start()

    def freeze(self, hold):
        """Some are over before the sentinels notice."""
        before = self.master()
        with self._failover():
            before.freeze()
            while not hold.over() and self.master() is before:
                time.sleep(0.01)
            if self.master() is before:
                thawed = time.monotonic()
                before.thaw()
                # They may have agreed by now that it is down, and replace it while it takes writes.
                wait_until(self.is_well, 30, "the sentinels agree")
                if self.master() is not before:
                    self._note_split(thawed)
        hold()
        before.thaw()

    def fail_over(self, hold):
        before = self.master()
        with self._failover():
            self._ask_for_failover(before)
        self._note_split(time.monotonic() - SEEN)
        hold()

    def crash_replica(self, hold):
        replica = next(s for s in self._kept.servers if s is not self.master())
        replica.kill()
        hold()
        replica.start()

    def crash_sentinel(self, hold):
        sentinel = self._kept.sentinels[1]
        sentinel.kill()
        hold()
        sentinel.start()

    def isolate(self, hold):
        """The master's machine is cut off from all others."""
        before = self.master()
        gateways = self.gateways.machines
        with self._failover():
            cut = Cut([before.place], self._others(before.place) + gateways)
            self._await_promotion(before)
        hold()
        cut.heal()

    def isolate_among_servers(self, hold):
        """It is cut off from the other servers and sentinels, while gateways reach all."""
        before = self.master()
        with self._failover():
            cut = Cut([before.place], self._others(before.place))
            self._await_promotion(before)
        self._note_split(time.monotonic() - SEEN)
        hold()
        cut.heal()

    def stop(self):
        self._failovers.stop()
        self._kept.stop()
        for machine in self.machines:
            machine.stop()


class Cluster:
    """Three masters and a replica of each, on a machine each. `node` is one of the masters, by the order
    of all nodes."""

    def __init__(self, journal):
        self.journal = journal
        self.machines = [Machine(f"node {n}") for n in range(6)]
        self._kept = RedisCluster(replicas=1, places=self.machines)
        self.url = self._kept.url

    def _masters(self):
        return [n for n in self._kept.nodes if n.role() == "master"]

    def _replica(self, master):
        pairs = zip(self._kept.nodes, self._kept.nodes[3:] + self._kept.nodes[:3])
        return next(other for node, other in pairs if node is master)

    def is_well(self):
        """Whether another failover could follow."""
        try:
            return (
                sum(map(is_replica, self._kept.nodes)) == 3
                and sum(n.role() == "master" for n in self._kept.nodes) == 3
                and all(n.is_well() for n in self._kept.nodes)
                and not any(b"fail" in n.cluster("NODES") for n in self._kept.nodes)
            )
        except (OSError, RedisError):
            return False

    def _await_promotion(self, before):
        heir = self._replica(before)
        wait_until(lambda: heir.role() == "master", 30, "the replica becomes master")

    def crash(self, hold, node):
        before = self._masters()[node]
        with self.journal.loss(), self.journal.outage():
            before.kill()
            self._await_promotion(before)
        hold()
        before.start()

    def freeze(self, hold, node):
        """Some are over before the others notice."""
        before = self._masters()[node]
        with self.journal.loss(), self.journal.outage():
            before.freeze()
            hold()
            before.thaw()
            wait_until(self.is_well, 30, "the nodes agree")

    def fail_over(self, hold, node):
        before = self._masters()[node]
        with self.journal.loss(), self.journal.outage():
            self._replica(before).cluster("FAILOVER")
            self._await_promotion(before)
        hold()

    def isolate(self, hold, node):
        """A master is cut off from all others."""
        self._isolate(hold, self._masters()[node], self.gateways.machines)

    def isolate_among_servers(self, hold, node):
        """From the other nodes, while gateways reach all."""
        self._isolate(hold, self._masters()[node], [])

    def _isolate(self, hold, before, gateways):
        with self.journal.loss(), self.journal.outage():
            others = [m for m in self.machines if m is not before.place]
            cut = Cut([before.place], others + gateways)
            self._await_promotion(before)
        hold()
        with self.journal.outage():
            cut.heal()
            wait_until(self.is_well, 30, "the nodes agree")

    def move_slots(self, hold, node):
        """Those that have keys, to the next master, while they are asked for. Nobody notices."""
        masters = self._masters()
        for slot in sorted({masters[node].cluster("KEYSLOT", key) for key in masters[node].keys()}):
            self._kept.move(slot, masters[node - 1])
            if hold.over():
                break
        hold()

    def hang_up(self, hold, node):
        with self.journal.outage():
            self._masters()[node].command("CLIENT", "KILL", "TYPE", "normal")
        hold()

    def forget_scripts(self, hold, node):
        self._masters()[node].command("SCRIPT", "FLUSH")
        hold()

    def flush(self, hold, node):
        with self.journal.loss():
            self._masters()[node].command("FLUSHALL")
        hold()

    def stop(self):
        self._kept.stop()
        for machine in self.machines:
            machine.stop()


STORES = {"redis": Redis, "sentinel": Sentinel, "cluster": Cluster, "postgres": Postgres}
