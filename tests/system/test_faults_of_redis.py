"""Faults of a real redis-server, under load, for each policy."""
import threading

from harness.clock import running
from harness.fault_case import BURST, FaultTest, POLICIES, RECOVERY, follows_policy
from harness.process import wait_until


class RealServer(FaultTest):
    def setUp(self):
        super().setUp()
        self.empty_buckets()
        self.gateway_under_test = self.start(self.store.url)

    def configure(self, *words):
        return lambda: self.store.command("CONFIG", "SET", *words)

    def test_frozen(self):
        self.run_fault("SIGSTOP", self.store.freeze, self.store.thaw)

    def test_out_of_memory(self):
        """A rejection writes nothing and is possible all the same: this needs buckets with tokens."""
        gateway = self.gateway_under_test
        self.store.command("FLUSHALL")
        self.store.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        self.store.command("CONFIG", "SET", "maxmemory", "1")
        for _ in range(20):
            self.assertEqual([gateway.get("/" + p).status for p in POLICIES], [200, 503, 200])
        self.assertIsNone(gateway.get("/open")["x-ratelimit-limit"])
        self.store.command("CONFIG", "SET", "maxmemory", "0")

        def recovered():  # on all workers
            answers = [gateway.get("/open") for _ in range(16)]
            return all(r["x-ratelimit-limit"] == str(BURST) for r in answers)

        wait_until(recovered, RECOVERY)

    def test_becomes_a_replica(self):
        self.store.command("CONFIG", "SET", "replica-serve-stale-data", "no")
        self.run_fault(
            "REPLICAOF",
            lambda: self.store.command("REPLICAOF", "127.0.0.1", "1"),
            lambda: self.store.command("REPLICAOF", "NO", "ONE"),
        )

    def test_busy_with_a_script(self):
        self.store.command("CONFIG", "SET", "busy-reply-threshold", "10")

        def occupy():
            threading.Thread(
                target=self.swallow, args=("EVAL", "while true do end", "0"), daemon=True
            ).start()

        self.run_fault("BUSY", occupy, lambda: self.store.command("SCRIPT", "KILL"))

    def swallow(self, *words):
        try:
            self.store.command(*words)
        except Exception:  # noqa: BLE001: killed, as it should be
            pass

    def test_killed_and_started_again(self):
        """Its memory is lost: buckets are full again, which is documented."""
        gateway = self.gateway_under_test
        load = self.load(gateway)
        self.store.kill()
        broken_at = running()
        self.settled(load, broken_at, 5, follows_policy)
        self.store.start()
        cured_at = running()
        outcomes = lambda: sum(
            gateway.metrics().count("gateway_decisions_total", outcome=o)
            for o in ("failed_open", "failed_closed", "failed_local")
        )

        def recovered():
            before = outcomes()
            count = len(load.answers)
            wait_until(lambda: len(load.answers) > count + 50)
            return outcomes() == before

        wait_until(recovered, 3, "the store decides again")
        load.finish()
        self.assertEqual(load.lost, [])
        refused = [a for a in load.answers if a.tag == "closed" and a.status == 503]
        self.assertLess(max(a.at for a in refused) - cured_at, RECOVERY + 0.1)

    def test_a_flushed_script_is_loaded_again_without_a_failure(self):
        gateway = self.start(self.store.url, timeout=5000)
        load = self.load(gateway)
        for _ in range(5):
            count = len(load.answers)
            self.store.command("SCRIPT", "FLUSH")
            wait_until(lambda: len(load.answers) > count + 40)
        answers = load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {429})

    def test_a_password_that_changes(self):
        gateway = self.gateway_under_test
        self.store.command("CONFIG", "SET", "requirepass", "other")
        self.store.password = "other"
        self.store.command("CLIENT", "KILL", "TYPE", "normal")
        wait_until(lambda: gateway.get("/closed").status == 503, 5)
        wait_until(lambda: any("auth" in line and "error" in line for line in gateway.diagnostics))
        self.store.command("CONFIG", "SET", "requirepass", "")
        self.store.password = None
        wait_until(
            lambda: gateway.get("/closed").status == 429,
            35,
            "recovers from a wrong password by itself",
        )

    def test_a_key_of_another_type_hurts_only_its_client(self):
        gateway = self.gateway_under_test
        for key in self.store.keys():
            self.store.command("DEL", key)
        self.assertEqual(gateway.get("/closed").status, 200)
        (key,) = self.store.keys()
        self.store.command("DEL", key)
        self.store.command("LPUSH", key, "nonsense")
        for _ in range(30):
            self.assertEqual(gateway.get("/closed").status, 503)
        self.assertEqual(gateway.get("/local")["x-ratelimit-limit"], str(BURST))
        self.assertIsNotNone(
            gateway.get("/open")["x-ratelimit-limit"], "the store still decides for others"
        )
