"""A Redis that speaks TLS, and passwords in files."""
import shutil

from harness.case import SystemTest, forwarding_to
from harness.certificates import Certificates
from harness.process import wait_until
from harness.redis_cluster import RedisCluster
from harness.redis_server import RedisServer
from harness.sentinels import Replicated, client_port


class Tls(SystemTest):
    LIMIT = "l: {{ key: client_ip, rate: {rate}, burst: 3, store: r, on_store_failure: closed }}"

    def setUp(self):
        self.made = Certificates(self.directory())
        self.made.issue("redis", "DNS:localhost,IP:127.0.0.1")
        self.made.issue("gateway", "DNS:gateway")

    def redis(self, *more, wanted="no"):
        return self.started(
            RedisServer(
                "--tls-cert-file", self.made.path("redis.pem"),
                "--tls-key-file", self.made.path("redis.key"),
                "--tls-ca-cert-file", self.made.path("ca.pem"),
                "--tls-auth-clients", wanted, *more, tls=True,
            )
        )  # fmt: skip

    def text(self, redis, tls, host="localhost", rate="1/m", more=""):
        url = f"rediss://{host}:{redis.tls_port}/0"
        return (
            f"stores: {{ r: {{ url: '{url}', timeout: 5s, tls: {{ {tls} }} {more} }} }}\n"
            f"limits: {{ {self.LIMIT.format(rate=rate)} }}\n" + forwarding_to("echo", "l")
        )

    def trusted(self):
        return f"ca: '{self.made.path('ca.pem')}'"

    def up(self, gateway):
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="it is up")
        return gateway

    def test_gateways_share_buckets(self):
        redis = self.redis()
        first, second = (self.up(self.gateway(self.text(redis, self.trusted()))) for _ in "12")
        statuses = [g.get().status for g in (first, second, first, second)]
        self.assertEqual(statuses, [200, 200, 200, 429])
        self.assertEqual(len(redis.keys()), 1)

    def test_who_is_not_the_server_is_told_nothing(self):
        redis = self.redis()
        folder = self.directory()
        stranger = Certificates(folder)
        for tls, host, words in (
            ("verify: true", "localhost", "the server's certificate: "),
            (f"ca: '{stranger.path('ca.pem')}'", "localhost", "the server's certificate: "),
            (self.trusted() + ", server_name: redis.internal", "localhost", "hostname mismatch"),
            (self.trusted(), "127.0.0.2", "IP address mismatch"),
        ):
            with self.subTest(tls=tls, host=host):
                gateway = self.gateway(self.text(redis, tls, host))
                gateway.wait_for_diagnostic("store r: failing at ")
                gateway.wait_for_diagnostic(words)
                self.assertEqual(gateway.get().status, 503)
                gateway.stop()
        self.assertEqual(redis.keys(), [])

    def test_a_name_of_its_own_or_no_look_at_all(self):
        redis = self.redis()
        for tls, host in (
            (self.trusted() + ", server_name: localhost", "127.0.0.2"),
            ("verify: false", "127.0.0.2"),
            (self.trusted(), "127.0.0.1"),
        ):
            with self.subTest(tls=tls):
                redis.command("FLUSHALL")
                gateway = self.up(self.gateway(self.text(redis, tls, host)))
                self.assertEqual(gateway.get().status, 200)

    def test_who_we_are_is_shown_to_a_server_that_asks(self):
        redis = self.redis(wanted="yes")
        gateway = self.gateway(self.text(redis, self.trusted()))
        gateway.wait_for_diagnostic("store r: failing at ")
        self.assertEqual(gateway.get().status, 503)
        ours = (
            f"{self.trusted()}, cert: '{self.made.path('gateway.pem')}', "
            f"key: '{self.made.path('gateway.key')}'"
        )
        self.assertIn("reloaded", gateway.reload(self.text(redis, ours)))
        self.assertEqual(self.up(gateway).get().status, 200)

    def test_a_server_or_client_without_tls_is_told_of(self):
        redis = self.redis()
        plain = self.text(redis, self.trusted()).replace(str(redis.tls_port), str(redis.port))
        self.gateway(plain).wait_for_diagnostic("store r: failing at ")
        careless = self.text(redis, "").replace("rediss:", "redis:").replace(", tls: {  }", "")
        self.gateway(careless).wait_for_diagnostic("store r: failing at ")

    def test_it_comes_back_and_rates_change_as_without_tls(self):
        redis = self.redis()
        gateway = self.up(self.gateway(self.text(redis, self.trusted(), rate="1/h")))
        self.assertEqual([gateway.get().status for _ in range(4)], [200] * 3 + [429])
        before = redis.command("PTTL", redis.keys()[0])
        self.assertIn("reloaded", gateway.reload(self.text(redis, self.trusted(), rate="60/h")))
        gateway.wait_for_diagnostic("all buckets follow the changed rates")
        self.assertLess(redis.command("PTTL", redis.keys()[0]), before / 30)
        redis.kill()
        gateway.wait_for_diagnostic("store r: failing at ")
        redis.start()
        self.assertEqual(self.up(gateway).get().status, 200)

    def test_certificates_are_read_again_at_a_reload(self):
        redis = self.redis()
        stranger = Certificates(self.directory())
        trusted = self.made.path("trusted.pem")
        shutil.copy(stranger.path("ca.pem"), trusted)
        text = self.text(redis, f"ca: '{trusted}'")
        gateway = self.gateway(text)
        gateway.wait_for_diagnostic("the server's certificate: ")
        shutil.copy(self.made.path("ca.pem"), trusted)
        self.assertIn("reloaded", gateway.reload(text))
        self.assertEqual(self.up(gateway).get().status, 200)

    def test_a_password_in_a_file_is_read_again_at_a_reload(self):
        redis = self.redis()
        redis.command("CONFIG", "SET", "requirepass", "p@ss word")
        redis.password = "p@ss word"
        path = self.directory().file("password")
        with open(path, "w", encoding="ascii") as f:
            f.write("wrong s3cret\n")
        text = self.text(redis, self.trusted(), more=f", password_file: '{path}'")
        gateway = self.gateway(text)
        gateway.wait_for_diagnostic("auth (WRONGPASS")
        with open(path, "w", encoding="ascii") as f:
            f.write("p@ss word\n")
        self.assertIn("reloaded", gateway.reload(text))
        self.assertEqual(self.up(gateway).get().status, 200)
        self.assertNotIn("s3cret", str(gateway.diagnostics))
        self.assertNotIn("p@ss", str(gateway.diagnostics))


class Several(SystemTest):
    """Clusters and sentinels of which each speaks TLS, and wants to know who its clients are."""

    def setUp(self):
        self.made = Certificates(self.directory())
        self.made.issue("redis", "DNS:redis.internal")
        self.made.issue("gateway", "DNS:gateway")
        self.stranger = Certificates(self.directory())

    def words(self):
        return (
            "--tls-cert-file", self.made.path("redis.pem"),
            "--tls-key-file", self.made.path("redis.key"),
            "--tls-ca-cert-file", self.made.path("ca.pem"),
            "--tls-auth-clients", "yes",
        )  # fmt: skip

    def spoken(self, ca=None, more=", server_name: redis.internal"):
        return (
            f"ca: '{(ca or self.made).path('ca.pem')}', cert: '{self.made.path('gateway.pem')}', "
            f"key: '{self.made.path('gateway.key')}'{more}"
        )

    def text(self, url, tls, rate="1/h"):
        return (
            f"stores: {{ r: {{ url: '{url}', timeout: 5s, tls: {{ {tls} }} }} }}\n"
            f"limits: {{ l: {{ key: ['header:X-Client'], missing_key: reject, rate: {rate}, burst: 3, "
            "store: r, on_store_failure: closed } }\n" + forwarding_to("echo", "l")
        )

    def up(self, gateway):
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), 10, "it is up")
        return gateway

    def statuses(self, gateway, client, times):
        return [gateway.get(headers=[("X-Client", client)]).status for _ in range(times)]

    def is_refused(self, url, tls, *words):
        gateway = self.gateway(self.text(url, tls))
        for said in words:
            gateway.wait_for_diagnostic(said)
        self.assertEqual(self.statuses(gateway, "a", 1), [503])
        gateway.stop()

    def is_told_nothing_without_trust(self, url):
        wrong = "the server's certificate: "
        self.is_refused(url, self.spoken(self.stranger), "store r: failing at ", wrong)
        self.is_refused(url, self.spoken(more=""), wrong, "IP address mismatch")
        self.is_refused(url, f"ca: '{self.made.path('ca.pem')}', server_name: redis.internal", "failing at ")
        plain = self.text(url.replace("rediss", "redis"), "").replace(", tls: {  }", "")
        self.gateway(plain).wait_for_diagnostic("store r: failing at ")

    def rates_change(self, gateway, url, ages):
        before = ages()
        self.assertIn("reloaded", gateway.reload(self.text(url, self.spoken(), rate="100/h")))
        gateway.wait_for_diagnostic("all buckets follow the changed rates")
        self.assertTrue(all(now < then / 30 for now, then in zip(ages(), before)))

    def test_a_cluster(self):
        cluster = self.started(RedisCluster(masters=3, tls=self.words()))
        gateway = self.up(self.gateway(self.text(cluster.url, self.spoken())))
        for number in range(20):
            self.assertEqual(self.statuses(gateway, f"c{number}", 4), [200] * 3 + [429])
        self.assertTrue(all(node.keys() for node in cluster.masters), "every node has some")
        ages = lambda: [n.command("PTTL", k) for n in cluster.masters for k in n.keys()]
        self.rates_change(gateway, cluster.url, ages)
        cluster.masters[2].kill()
        gateway.wait_for_diagnostic("store r: failing at ")
        cluster.masters[2].start()
        self.up(gateway)
        self.is_told_nothing_without_trust(cluster.url)

    def test_sentinels(self):
        kept = self.started(Replicated(replicas=1, sentinels=3, tls=self.words()))
        gateway = self.up(self.gateway(self.text(kept.url, self.spoken())))
        self.assertEqual(self.statuses(gateway, "a", 4), [200] * 3 + [429])
        self.rates_change(gateway, kept.url, lambda: [kept.master.time_to_live()])
        before = kept.master
        carried = lambda: before.command("WAIT", "1", "1000") == 1
        wait_until(carried, 10, "replication carries it")
        kept.sentinels[1].command("SENTINEL", "FAILOVER", "buckets")
        wait_until(lambda: kept.master is not before, 30, "another server is the master")
        gateway.wait_for_diagnostic(f"ready at 127.0.0.1:{client_port(kept.master)}")
        decides = lambda: 503 not in self.statuses(gateway, "c", 20)
        wait_until(decides, 10, "the store decides for every worker")
        self.assertEqual(self.statuses(gateway, "b", 4), [200] * 3 + [429])
        self.is_told_nothing_without_trust(kept.url)
