"""Faults of a real PostgreSQL server, under load, for each policy."""
import unittest

from harness.clock import running
from harness.case import SystemTest, forwarding_to
from harness.fault_case import (
    BURST,
    POLICIES,
    RECOVERY,
    FaultTest,
    configuration,
    follows_policy,
    store_decided,
)
from harness.postgres_server import PostgresServer, can_have_a_room
from harness.process import wait_until

DURABLE = "durable: true, "


class RealServer(FaultTest):
    server = PostgresServer

    def setUp(self):
        super().setUp()
        self.empty_buckets()
        self.gateway_under_test = self.start(self.store.url)

    def test_frozen(self):
        self.run_fault("SIGSTOP", self.store.freeze, self.store.thaw)

    def test_takes_no_writes(self):
        """A rejection writes nothing, so only connections that are made anew notice."""

        def refuse():
            self.store.command("ALTER SYSTEM SET default_transaction_read_only = on")
            self.reload()

        def accept():
            self.store.command("ALTER SYSTEM RESET default_transaction_read_only")
            self.reload()

        self.run_fault("read only", refuse, accept)

    def reload(self):
        """Connections that are made from now on have the settings."""
        loaded_at = lambda: self.store.command("SELECT pg_conf_load_time()")
        before = loaded_at()
        self.store.command("SELECT pg_reload_conf()")
        wait_until(lambda: loaded_at() != before, 10, "the server has read its settings")
        self.drop_connections()

    def drop_connections(self):
        self.store.command(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE application_name = 'gateway'"
        )

    def test_a_lock_that_somebody_holds(self):
        """What is refused locks nothing, so this needs buckets with tokens."""
        self.store.command("UPDATE gateway.buckets SET full_at = 0")
        gateway = self.gateway_under_test
        self.assertEqual(gateway.get("/closed").status, 200)
        holder = self.store.session()
        holder.stdin.write(b"BEGIN; SELECT key FROM gateway.buckets FOR UPDATE;\n")
        holder.stdin.flush()
        holder.stdout.readline()
        began = running()
        self.assertEqual(gateway.get("/closed").status, 503)
        self.assertLess(running() - began, 1.0)
        holder.stop()
        wait_until(lambda: gateway.get("/closed").status == 200, RECOVERY * 2)

    def test_killed_and_started_again(self):
        """Its table is unlogged: buckets are full again, which is documented."""
        gateway = self.gateway_under_test
        load = self.load(gateway)
        self.store.kill()
        broken_at = running()
        self.settled(load, broken_at, 5, follows_policy)
        self.store.start()
        cured_at = running()
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), 5, "it is up")
        load.finish()
        self.assertEqual(load.lost, [])
        refused = [a for a in load.answers if a.tag == "closed" and a.status == 503]
        self.assertLess(max(a.at for a in refused) - cured_at, RECOVERY + 0.1)

    def test_a_schema_that_is_gone_comes_back(self):
        """It is installed anew, by whoever may, and buckets are full."""
        gateway = self.gateway_under_test
        self.store.command("DROP SCHEMA gateway CASCADE")
        self.drop_connections()
        wait_until(lambda: gateway.get("/closed").status == 200, RECOVERY * 5)

    def test_a_schema_that_is_gone_is_noticed_between_walks_over_the_rows(self):
        """The connections stay, and so do walks that are over in a moment."""
        gateway = self.gateway_under_test
        for _ in range(2):
            self.store.command("DROP SCHEMA gateway CASCADE")
            wait_until(lambda: gateway.get("/closed").status == 503, RECOVERY)
            wait_until(lambda: gateway.get("/closed").status == 200, RECOVERY * 5)


class Standby(FaultTest):
    server = PostgresServer

    def test_that_is_promoted(self):
        """Of a durable table it has all that replication has carried."""
        standby = self.started(PostgresServer(standby_of=self.store))
        hosts = f"127.0.0.1:{self.store.port},127.0.0.1:{standby.port}"
        url = f"postgresql://gateway@{hosts}/postgres"
        gateway = self.start(url, more=DURABLE)
        taker = self.start(url, more=DURABLE, timeout=1000, cost=BURST)
        self.assertEqual([taker.get("/" + p).status for p in POLICIES], [200] * 3)
        load = self.load(gateway)
        self.settled(load, running(), 5, store_decided)
        written = self.store.command("SELECT pg_current_wal_lsn()")
        carried = f"SELECT pg_last_wal_replay_lsn() >= '{written}'"
        wait_until(lambda: standby.command(carried) == "t", what="the standby has what was taken")
        self.store.kill()
        self.settled(load, running(), 5, follows_policy)
        standby.command("SELECT pg_promote()")
        promoted_at = running()
        decided_at = self.settled(load, promoted_at, 5, store_decided)
        load.finish()
        self.assertEqual(load.lost, [])
        self.assertLess((decided_at or promoted_at) - promoted_at, RECOVERY + 0.1)


class Full(SystemTest):
    @unittest.skipUnless(can_have_a_room(), "a file system of its own takes root outside of a chroot")
    def test_a_disk_without_room(self):
        """Buckets that have a row go on; for new ones there is none."""
        server = self.started(PostgresServer(room="80m"))
        text = (
            f"stores: {{ r: {{ url: '{server.url}', timeout: 1s }} }}\n"
            "limits: { l: { key: 'header:x-client', rate: 1/d, burst: 9, "
            "missing_key: skip, store: r, on_store_failure: closed } }\n"
        )
        gateway = self.gateway(text + forwarding_to("echo", "l"))
        clients = iter(range(10_000))
        fresh = lambda: gateway.get("/", [("X-Client", str(next(clients)))]).status
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="it is up")
        self.assertEqual(fresh(), 200)
        server.fill()
        wait_until(lambda: fresh() == 503, what="there is no row for a new client")
        failures = gateway.metrics().sum("gateway_store_failures_total", reason="readonly")
        self.assertGreater(failures, 0)
        server.make_room()
        wait_until(lambda: fresh() == 200, RECOVERY * 2)

    def test_a_server_that_takes_no_more_connections(self):
        few = ("max_connections=4", "superuser_reserved_connections=0")
        server = self.started(PostgresServer(*few))
        others = [server.session() for _ in range(4)]
        for other in others:
            other.stdin.write(b"SELECT 1;\n")
            other.stdin.flush()
            self.assertEqual(other.stdout.readline(), b"1\n")
        gateway = self.gateway(configuration(server.url, burst=10) + "workers: 1\n")
        gateway.wait_for_diagnostic("too many clients already")
        self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200, 503, 200])
        for other in others:
            other.stop()
        # The schema is not there yet, which the gateway looks for every second, and then installs.
        wait_until(lambda: gateway.get("/closed").status == 200, 2 * RECOVERY + 1)


class Durable(SystemTest):
    alone = True  # each commit waits for the disk, and the store's timeout is short

    def test_a_crash_forgets_nothing(self):
        server = self.started(PostgresServer())
        gateway = self.gateway(configuration(server.url, burst=3, more=DURABLE))
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), 10, "it is up")
        self.assertEqual([gateway.get("/closed").status for _ in range(4)], [200] * 3 + [429])
        server.kill()
        server.start()
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), 10, "it is up")
        wait_until(lambda: gateway.get("/closed").status != 503, RECOVERY + 1)
        self.assertEqual(gateway.get("/closed").status, 429)
