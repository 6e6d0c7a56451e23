"""Limits in a real PostgreSQL: what is stored there, who may, and how it is reached."""
import re
import threading

from harness.case import SystemTest, forwarding_to
from harness.documents import documented
from harness.gateway import BINARY
from harness.load import pipelined
from harness.pgbouncer import PgBouncer
from harness.postgres_server import PostgresServer
from harness.process import free_port, run_tool, wait_until

REQUEST = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


class InPostgres(SystemTest):
    def text(self, url, limit="rate: 1/h, burst: 5", more="", timeout="1s"):
        return (
            f"workers: 1\nstores: {{ p: {{ url: '{url}', timeout: {timeout}{more} }} }}\n"
            f"limits: {{ l: {{ key: [], {limit}, store: p, on_store_failure: closed }} }}\n"
            + forwarding_to("echo", "l")
        )

    def ready(self, url, **options):
        gateway = self.gateway(self.text(url, **options))
        wait_until(
            lambda: gateway.metrics().sum("gateway_store_up", store="p"), 10, "the store is up"
        )
        return gateway

    def told(self, url, *words, more=""):
        gateway = self.gateway(self.text(url, more=more))
        for word in words:
            gateway.wait_for_diagnostic(word)
        self.assertEqual(gateway.get().status, 503)
        gateway.stop()
        self.assertNotIn("s3cret", str(gateway.diagnostics))
        self.assertLess(len(gateway.diagnostics), 12, gateway.diagnostics)


class WhyItFails(InPostgres):
    """The log says what a person needs to mend it, and no secret."""

    def test_that_cannot_be_reached(self):
        self.told(f"postgresql://u:s3cret@127.0.0.1:{free_port()}/d", "unreachable (", "refused")
        self.told("postgresql://u:s3cret@no-such-host.invalid/d", "unreachable (no-such-host.invalid: Host")

    def test_that_does_not_know_us(self):
        server = self.started(PostgresServer(hba="host all all 127.0.0.1/32 scram-sha-256\n"))
        server.command("CREATE ROLE u LOGIN PASSWORD 'right'")
        at = f"127.0.0.1:{server.port}/postgres"
        self.told(f"postgresql://u:s3cret@{at}", "auth (password authentication failed for user")
        self.told(f"postgresql://nobody:s3cret@{at}", "auth (password authentication failed")

    def test_that_has_no_such_database(self):
        server = self.started(PostgresServer())
        url = server.url.replace("/postgres", "/none")
        self.told(url, 'config (database \\"none\\" does not exist')

    def test_that_has_no_schema_and_may_not_be_given_one(self):
        server = self.started(PostgresServer())
        self.told(server.url, 'install it with \\"gateway migrate\\"', more=", migrate: false")

    def test_whose_schema_is_of_another_time(self):
        server = self.started(PostgresServer())
        self.ready(server.url)
        server.command("UPDATE gateway.version SET version = 9, oldest = 1")
        self.assertEqual(self.ready(server.url).get().status, 200)
        server.command("UPDATE gateway.version SET oldest = 9")
        self.told(server.url, "this gateway needs 3: run a newer gateway")

    def test_whose_schema_is_older_is_brought_up_to_date_and_keeps_its_buckets(self):
        server = self.started(PostgresServer())
        gateway = self.ready(server.url)
        self.assertEqual([gateway.get().status for _ in range(6)], [200] * 5 + [429])
        gateway.stop()
        server.command("CREATE TABLE public.kept AS SELECT * FROM gateway.buckets")
        path = self.directory().file(
            "gateway.yaml", "listeners: [ { address: 127.0.0.1:0 } ]\n" + self.text(server.url))
        script = run_tool([BINARY, "migrate", "--config", path, "--print-sql"])[1]
        for version in (1, 2):
            with self.subTest(version=version):
                server.command("DROP SCHEMA gateway CASCADE")
                server.command(script[: script.index(f"-- Version {version + 1}:")] + "COMMIT")
                server.command("INSERT INTO gateway.buckets SELECT * FROM public.kept")
                self.told(server.url, 'upgrade it with \\"gateway migrate\\"', more=", migrate: false")
                upgrading = self.ready(server.url)
                self.assertEqual(upgrading.get().status, 429)
                self.assertEqual(
                    server.command("SELECT version || ' ' || oldest FROM gateway.version"), "3 1")
                upgrading.stop()  # it would do so again when the schema is gone


class Reached(InPostgres):
    def test_over_a_socket_with_the_password_in_a_file(self):
        server = self.started(PostgresServer(hba="local all u scram-sha-256\n"))
        server.command("CREATE ROLE u LOGIN PASSWORD 'right'")
        server.command("GRANT CREATE ON DATABASE postgres TO u")
        secret = self.directory().file("password", "right\n")
        folder = server.socket_folder.replace("/", "%2F")
        url = f"postgresql://u@{folder}:{server.port}/postgres"
        gateway = self.ready(url, more=f", password_file: {secret}")
        self.assertEqual(gateway.get().status, 200)

    def test_where_the_first_host_that_takes_writes_is(self):
        standby = self.started(PostgresServer("default_transaction_read_only=on"))
        server = self.started(PostgresServer())
        hosts = f"127.0.0.1:{free_port()},127.0.0.1:{standby.port},127.0.0.1:{server.port}"
        gateway = self.ready(f"postgresql://gateway@{hosts}/postgres")
        self.assertEqual([gateway.get().status for _ in range(6)], [200] * 5 + [429])
        self.assertEqual(len(server.buckets()), 1)

    def test_through_pgbouncer_in_transaction_mode(self):
        server = self.started(PostgresServer())
        gateway = self.ready(self.started(PgBouncer(server)).url, limit="rate: 1/h, burst: 50")
        self.assertEqual(pipelined(gateway.address, [REQUEST] * 80, connections=8).count(200), 50)

    def test_through_a_pooler_whose_sessions_have_the_same_settings_and_forget_statements(self):
        server = self.started(PostgresServer())
        for setting in ("plan_cache_mode = force_generic_plan", "lock_timeout = '1s'"):
            server.command(f"ALTER ROLE gateway SET {setting}")
        settings = ("ignore_startup_parameters = options", "default_pool_size = 1")
        pooler = self.started(PgBouncer(server, *settings))
        gateway = self.ready(pooler.url)
        if not pooler.keeps_statements:
            self.assertEqual(gateway.get().status, 200)
            pooler.command("DEALLOCATE ALL")
        self.assertEqual(gateway.get().status, 503, "who is asked does not know what was prepared")
        wait_until(lambda: gateway.get().status == 200, 5, "the store is asked as behind a pooler")
        pooler.command("DEALLOCATE ALL")
        self.assertEqual(gateway.get().status, 200)

    def test_over_several_connections(self):
        server = self.started(PostgresServer())
        gateway = self.ready(server.url, limit="rate: 1/h, burst: 50", more=", connections: 3")
        self.assertEqual(pipelined(gateway.address, [REQUEST] * 80, connections=8).count(200), 50)
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gateway'"
        self.assertEqual(server.command(count), "4", "one of them keeps the database in order")


class Locks(InPostgres):
    def holder(self, server):
        """Of every bucket, until "COMMIT"."""
        session = server.session()
        self.addCleanup(session.stop)
        session.stdin.write(b"BEGIN; SELECT key FROM gateway.buckets FOR UPDATE;\n")
        session.stdin.flush()
        session.stdout.readline()
        return session

    def waiting(self, server):
        return int(
            server.command("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        )

    def test_are_not_waited_for_longer_behind_a_pooler_that_drops_what_sessions_are_told(self):
        server = self.started(PostgresServer())
        pooler = self.started(PgBouncer(server, "ignore_startup_parameters = options"))
        gateway = self.ready(pooler.url)
        self.assertEqual(gateway.get().status, 200)
        self.holder(server)
        self.assertEqual(gateway.get().status, 503)
        wait_until(lambda: self.waiting(server) == 0, 3, "the server has given the call up")

    def test_are_waited_for_as_long_as_the_timeout(self):
        server = self.started(PostgresServer())
        gateway = self.ready(server.url, timeout="5s")
        self.assertEqual(gateway.get().status, 200)
        session = self.holder(server)
        given = []
        asking = threading.Thread(target=lambda: given.append(gateway.get().status))
        asking.start()
        wait_until(lambda: self.waiting(server) == 1, 5, "the call waits")
        server.command("SELECT pg_sleep(1.5)")
        session.stdin.write(b"COMMIT;\n")
        session.stdin.flush()
        asking.join()
        self.assertEqual(given, [200])

    def test_a_server_that_ends_the_connection_says_why(self):
        server = self.started(PostgresServer())
        gateway = self.ready(server.url, timeout="10s")
        self.assertEqual(gateway.get().status, 200)
        self.holder(server)
        asking = threading.Thread(target=gateway.get)
        asking.start()
        wait_until(lambda: self.waiting(server) == 1, 5, "the call waits")
        server.command(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        )
        gateway.wait_for_diagnostic("terminating connection due to administrator command")
        asking.join()


class Migrations(InPostgres):
    def test_are_made_by_somebody_who_may(self):
        server = self.started(PostgresServer())
        server.command("CREATE ROLE u LOGIN")
        url = server.url.replace("gateway@", "u@")
        refused = self.run_gateway("migrate", self.text(url))
        said = "stores.p: auth: permission denied for database postgres\n"
        self.assertEqual(refused, (1, "", said))
        for _ in range(2):
            done = self.run_gateway("migrate", self.text(server.url))
            self.assertEqual(done, (0, "stores.p: ready\n", ""))
        server.command("GRANT USAGE ON SCHEMA gateway TO u")
        server.command("GRANT SELECT ON gateway.version TO u")
        server.command("GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.buckets TO u")
        self.assertEqual(self.ready(url).get().status, 200)

    def run_gateway(self, command, text, *more):
        path = self.directory().file("gateway.yaml", "listeners: [ { address: 127.0.0.1:0 } ]\n" + text)
        return run_tool([BINARY, command, "--config", path, *more])

    def test_are_printed_for_somebody_who_may(self):
        server = self.started(PostgresServer())
        text = self.text(server.url, more=", migrate: false, durable: true")
        status, script, said = self.run_gateway("migrate", text, "--print-sql")
        self.assertEqual((status, said), (0, ""))
        self.assertTrue(script.startswith("-- stores.p\nBEGIN;\n"), script[:99])
        server.command(script)
        self.assertEqual(self.run_gateway("migrate", text), (0, "stores.p: ready\n", ""))
        gateway = self.gateway(text)
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="p"), 10, "up")
        nowhere = self.text("postgresql://u@no-such-host.invalid/d")
        self.assertEqual(self.run_gateway("migrate", nowhere, "--print-sql")[0], 0, "nobody is asked")
        redis = self.text("redis://no-such-host.invalid")
        self.assertEqual(
            self.run_gateway("migrate", redis, "--print-sql"), (0, "", "no store needs anything installed\n")
        )

    def test_of_many_at_once_install_it_once(self):
        server = self.started(PostgresServer())
        gateways = [self.gateway(self.text(server.url)) for _ in range(4)]
        for gateway in gateways:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="p"), 10, "up")
        self.assertEqual(server.command("SELECT count(*) FROM gateway.version"), "1")

    def test_make_a_durable_table_if_that_is_wanted(self):
        server = self.started(PostgresServer())
        gateway = self.ready(server.url, more=", durable: true")
        self.assertEqual([gateway.get().status for _ in range(6)], [200] * 5 + [429])
        server.kill()
        server.start()
        wait_until(lambda: gateway.get().status == 429, 10, "it has forgotten nothing")

    def test_say_that_an_unlogged_table_is_not_durable(self):
        server = self.started(PostgresServer())
        self.ready(server.url)
        text = self.text(server.url, more=", durable: true")
        told = "the table is unlogged, so a crash of the server makes every bucket full"
        statement = "ALTER TABLE gateway.buckets SET LOGGED"
        gateway = self.gateway(text)
        gateway.wait_for_diagnostic(f"store p: {told}")
        status, out, err = self.run_gateway("migrate", text)
        self.assertEqual((status, out), (0, "stores.p: ready\n"))
        self.assertTrue(err.startswith(f"warning: stores.p: {told}"), err)
        self.assertTrue(err.endswith(f"To change it: {statement}\n"), err)
        server.command(statement)
        self.assertEqual(self.run_gateway("migrate", text), (0, "stores.p: ready\n", ""))

    def test_wait_for_a_lock_as_long_as_a_person_does(self):
        server = self.started(PostgresServer())
        text = self.text(server.url, timeout="25ms")
        self.assertEqual(self.run_gateway("migrate", text)[0], 0)
        session = server.session()
        self.addCleanup(session.stop)
        session.stdin.write(b"BEGIN; LOCK TABLE gateway.version; SELECT 1;\n")
        session.stdin.flush()
        session.stdout.readline()
        status, _, said = self.run_gateway("migrate", text)
        self.assertEqual(status, 1)
        self.assertIn("stores.p: timeout: canceling statement due to lock timeout: another session", said)
        self.assertIn("When that has ended, run this again", said)
        session.stdin.write(b"SELECT pg_sleep(1); COMMIT;\n")
        session.stdin.flush()
        self.assertEqual(self.run_gateway("migrate", text), (0, "stores.p: ready\n", ""))

    def test_are_not_for_redis(self):
        text = self.text("redis://no-such-host.invalid")
        self.assertEqual(self.run_gateway("migrate", text), (0, "stores.p: nothing to install\n", ""))


class Exact(InPostgres):
    """Never a token too many, whoever else asks."""

    def judge(self, server, **options):
        gateways = [self.ready(server.url, limit="rate: 1/h, burst: 200", **options) for _ in range(3)]
        given = []

        def ask(gateway):
            given.append(pipelined(gateway.address, [REQUEST] * 150, connections=8).count(200))

        threads = [threading.Thread(target=ask, args=(g,)) for g in gateways]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sum(given), 200, given)

    def test_with_three_gateways(self):
        self.judge(self.started(PostgresServer()))

    def test_behind_a_pooler_where_every_transaction_is_serializable(self):
        """Calls that conflict are repeated, so some may fail, and none is granted twice."""
        server = self.started(PostgresServer("default_transaction_isolation=serializable"))
        url = self.started(PgBouncer(server)).url
        gateways = [self.ready(url, limit="rate: 1/h, burst: 60") for _ in range(3)]
        given = []

        def ask(gateway):
            for _ in range(8):
                given.append(pipelined(gateway.address, [REQUEST] * 10, connections=4).count(200))

        threads = [threading.Thread(target=ask, args=(g,)) for g in gateways]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sum(given), 60, given)


class Rows(InPostgres):
    def test_that_were_spoilt_by_hand_spoil_no_others(self):
        server = self.started(PostgresServer())
        limit = "rate: 1/h, burst: 5"
        text = self.text(server.url, limit=limit).replace("key: []", "key: [ 'header:k' ], missing_key: reject")
        gateway = self.gateway(text)
        wait_until(lambda: gateway.get(headers=[("k", "a")]).status == 200, 10, "the store is up")
        self.assertEqual(gateway.get(headers=[("k", "b")]).status, 200)
        self.assertEqual(len(server.buckets()), 2)
        server.command("UPDATE gateway.buckets SET full_at = 9007199254740991, owed = 9007199254740991")
        for client in "abab":
            self.assertEqual(gateway.get(headers=[("k", client)]).status, 503)
            self.assertEqual(gateway.get(headers=[("k", client + client)]).status, 200)
        failures = gateway.metrics()
        self.assertEqual(failures.sum("gateway_store_failures_total", store="p", reason="corrupt"), 4)
        self.assertEqual(failures.sum("gateway_store_failures_total", store="p", reason="protocol"), 0)
        told = [line for line in gateway.diagnostics if "something else than a bucket" in line]
        self.assertEqual(len(told), 1, "they are told once in 10 s")
        key = re.search(r"store p: the key (gw:l:[0-9a-f]{32}) of limit l holds", told[0])[1]
        server.command(f"DELETE FROM gateway.buckets WHERE key = '{key}'")
        self.assertEqual(gateway.get(headers=[("k", "a")]).status, 200)

    def test_go_when_their_buckets_are_full_again(self):
        server = self.started(PostgresServer())
        gateway = self.ready(server.url, limit="rate: 100/s, burst: 5")
        self.assertEqual(gateway.get().status, 200)
        server.command(
            "INSERT INTO gateway.buckets (key, kind, full_at) "
            "SELECT 'gw:l:' || n, 't', 1 FROM generate_series(1, 2500) n"
        )
        server.command("INSERT INTO gateway.buckets (key, kind, full_at) VALUES ('other', 't', 1)")
        wait_until(lambda: server.buckets() == ["other"], 20, "expired rows are deleted")

    def test_follow_a_changed_rate_also_of_who_stays_away(self):
        server = self.started(PostgresServer())
        gateway = self.ready(server.url, limit="rate: 1/h, burst: 5")
        self.assertEqual([gateway.get().status for _ in range(5)], [200] * 5)
        unit = "SELECT unit FROM gateway.buckets WHERE kind = 't' AND key LIKE 'gw:l:%'"
        self.assertEqual(server.command(unit), "3600000000")
        gateway.reload(self.text(server.url, limit="rate: 1/m, burst: 5"))
        wait_until(lambda: server.command(unit) == "60000000", 10, "the row follows")


class Sessions(InPostgres):
    def test_have_called_every_function_before_the_first_request(self):
        """A first call takes many times as long as a later one."""
        server = self.started(PostgresServer("track_functions=pl"))
        self.ready(server.url)
        called = ("SELECT DISTINCT funcname FROM pg_stat_user_functions "
                  "WHERE funcname ~ '^take(_one|_usual)?_[12]$' ORDER BY 1")
        every = "take_1\ntake_one_2\ntake_usual_2"
        wait_until(lambda: server.command(called) == every, 5, "the functions have been called")
        self.assertEqual(server.buckets(), [])


class Documented(InPostgres):
    def test_grants_suffice(self):
        server = self.started(PostgresServer())
        server.command("CREATE ROLE limiter LOGIN")
        self.ready(server.url).stop()
        server.command(documented("stores.md", "sql"))
        url = server.url.replace("gateway@", "limiter@")
        gateway = self.ready(url, limit="algorithm: sliding_window, rate: 5/h")
        self.assertEqual([gateway.get().status for _ in range(6)], [200] * 5 + [429])
        self.assertNotIn("permission denied", str(gateway.diagnostics))
