"""Keys of tokens by a URL over a process's life: renewed in time, and while one process stops or follows another."""
import contextlib
import signal
import threading

from harness.http2 import Http2
from harness.key_server import key_set
from harness.process import wait_until
from harness.upgraded import UpgradedGateway
from test_jwks import REFUSED, RotationTest

MINUTE = 60


class LifeTest(RotationTest):
    def begun(self, more=""):
        """A gateway that has the old key, while the issuer has a new one, too."""
        gateway = self.started(UpgradedGateway(self.text_for(self.server.url, more)))
        self.assertEqual(self.status(gateway, self.before), 200)
        self.server.answer = key_set(self.old, self.new)
        return gateway


class Followed(LifeTest):
    """By another process, which SIGUSR2 starts."""

    def test_the_new_process_knows_what_the_issuer_has_by_then(self):
        gateway = self.begun()
        self.server.answer = key_set(self.new)
        for _ in range(3):
            self.assertIn("serves", gateway.upgrade())
            self.assertEqual([self.status(gateway, t) for t in (self.after, self.before)], [200, REFUSED])
            wait_until(gateway.is_alone)

    def test_the_old_process_serves_while_the_issuer_is_slow(self):
        gateway = self.begun()
        with self.upgraded_meanwhile(gateway) as said:
            self.assertEqual(self.status(gateway, self.before), 200)
        self.assertIn("serves", said[0])
        self.assertEqual(self.status(gateway, self.after), 200)
        wait_until(gateway.is_alone)

    def test_an_issuer_that_fails_meanwhile_takes_no_keys_away(self):
        for more in ("", ", on_no_keys: wait"):
            with self.subTest(more):
                self.server.answer = key_set(self.old)
                gateway = self.begun(more)
                self.server.answer = (500, b"", {})
                self.assertIn("goes on", gateway.upgrade())
                self.assertTrue(any("no keys can be fetched from" in line for line in gateway.diagnostics))
                self.assertEqual(self.status(gateway, self.before), 200)
                self.assertEqual(self.readiness(gateway)[0], 200)
                self.server.answer = key_set(self.old)
                self.assertIn("serves", gateway.upgrade())
                self.assertEqual(self.status(gateway, self.before), 200)

    def test_who_comes_late_with_a_new_key_is_served(self):
        gateway = self.begun()
        with gateway.connect() as c:
            c.send("GET / HTTP/1.1\r\nHost: h\r\n")
            wait_until(lambda: gateway.metrics().sum("gateway_connections", state="active") == 1)
            self.assertIn("serves", gateway.upgrade())
            c.send(f"Authorization: Bearer {self.after}\r\n\r\n")
            self.assertEqual(c.response().status, 200)

    def test_who_waits_for_a_key_gets_it(self):
        gateway = self.begun()
        with self.served_in_the_end(gateway), self.upgraded_meanwhile(gateway) as said:
            pass
        self.assertIn("serves", said[0])
        wait_until(gateway.is_alone)

    def test_also_if_nobody_follows(self):
        gateway = self.begun()
        with self.served_in_the_end(gateway):
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("drain")
        self.assertEqual(gateway.wait(), 0)

    @contextlib.contextmanager
    def upgraded_meanwhile(self, gateway):
        """Yields what the log will say of an upgrade, once its process waits for the issuer, which answers then."""
        self.server.hold()
        fetches, said = len(self.server.requests), []
        upgrade = threading.Thread(target=lambda: said.append(gateway.upgrade()))
        upgrade.start()
        try:
            self.server.fetched(fetches + 1)
            yield said
        finally:
            self.server.go_on()
            upgrade.join()

    @contextlib.contextmanager
    def served_in_the_end(self, gateway):
        """Two clients that wait for a key when this begins, and are served when the issuer answers."""
        self.server.hold()
        with gateway.connect() as first, Http2(gateway.address) as second:
            first.request("/", [("Authorization", "Bearer " + self.after)])
            stream = second.request("/", [("authorization", "Bearer " + self.after)])
            wait_until(lambda: gateway.metrics().count("gateway_requests_waiting") == 2)
            yield
            self.server.go_on()
            self.assertEqual(first.response().status, 200)
            self.assertEqual(second.wait_for(stream).status, 200)


class InTime(LifeTest):
    long = True  # nothing is fetched again sooner than after a minute

    def test_keys_are_fetched_again(self):
        """By `refresh`, or by what the issuer says of its answer, which is never less than a minute."""
        servers = {}
        for more, said in (
            (", refresh: 1m", "max-age=86400"),
            (", refresh: 1m", "no-transform"),
            ("", "public, max-age=60"),
            ("", "max-age=0"),
        ):
            headers = {"Cache_Control": said}
            server = self.serve(self.old, **headers)
            gateway = self.gateway(self.text_for(server.url, more))
            self.assertEqual(self.status(gateway, self.before), 200)
            server.answer = key_set(self.new, **headers)
            servers[said] = server, gateway
        later, of_later = servers.pop("max-age=86400")
        for said, (server, gateway) in servers.items():
            with self.subTest(said):
                wait_until(lambda s=server: len(s.requests) == 2, 2 * MINUTE, "keys are fetched again")
                wait_until(lambda g=gateway: self.fetches(g, "success") == 2)
                self.assertEqual(self.status(gateway, self.after), 200)
                self.assertEqual(len(server.requests), 2, "for no token")
                self.assertEqual(self.status(gateway, self.before), REFUSED)
        self.assertEqual(len(later.requests), 1)
        self.assertEqual(self.status(of_later, self.before), 200)
