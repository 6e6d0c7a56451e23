"""Listeners of TLS and clients that fail, flood, or speak something else."""
import os
import re
import ssl
import subprocess
import threading

from harness.certificates import Certificates
from harness.client import Connection
from harness.openssl_client import OpensslClient
from harness.process import tool, wait_until
from test_tls import GET, TlsTest


class PeersTest(TlsTest):
    def text(self, tls="", more="workers: 1\n"):
        return super().text(tls, more=more)

    def counted(self, gateway, result):
        return gateway.metrics().sum("gateway_tls_handshakes_total", result=result)

    def answers(self, gateway, context=None):
        with self.connected(gateway, context=context) as c:
            c.sendall(GET)
            return c.recv(65536)[:12] == b"HTTP/1.1 200"


class Floods(PeersTest):
    def floods(self, gateway):
        return gateway.metrics().sum("gateway_tls_floods_total")

    def test_updates_of_keys_without_end_close_the_connection(self):
        for requested in (True, False):
            with self.subTest(requested=requested):
                gateway = self.listening()
                client = self.started(OpensslClient(gateway.address))

                def flood(client=client, requested=requested):
                    while client.update_keys(requested):
                        pass

                flooding = threading.Thread(target=flood, daemon=True)
                flooding.start()
                while flooding.is_alive():
                    self.assertTrue(self.answers(gateway), "others are served meanwhile")
                wait_until(lambda g=gateway: self.floods(g) == 1)

    def test_data_in_between_does_not_pay_for_them(self):
        gateway = self.listening()
        client = self.started(OpensslClient(gateway.address))
        self.assertTrue(client.send(b"GET / HTTP/1.1\r\nHost: gateway.test\r\nA: "))
        for _ in range(10_000):
            if not (client.send(b"x") and client.update_keys()):
                break
        else:
            self.fail("it is never closed")
        wait_until(lambda: self.floods(gateway) == 1)

    def test_an_update_now_and_then_works(self):
        gateway = self.listening()
        client = self.started(OpensslClient(gateway.address))
        for number in range(20):
            self.assertTrue(client.update_keys(number % 2 == 0))
            self.assertTrue(client.send(GET))
            self.assertEqual(client.receive()[:12], b"HTTP/1.1 200")
        self.assertEqual(self.floods(gateway), 0)


class Failures(PeersTest):
    def refused(self, gateway, context=None, name="gateway.test"):
        try:
            with self.connected(gateway, name, context) as c:
                c.sendall(GET)
                c.recv(1)
        except (ssl.SSLError, ConnectionError):
            return
        self.fail("the handshake succeeds")

    def test_each_is_logged_with_peer_name_and_reason(self):
        gateway = self.listening("min_version: '1.3'")
        begins = "TLS handshake with 127.0.0.1 failed: TLS: "
        old = self.made.context()
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        self.refused(gateway, old)
        gateway.wait_for_diagnostic(begins + "unsupported protocol; it asked for the name gateway.test")
        stranger = ssl.create_default_context()
        self.refused(gateway, stranger)
        gateway.wait_for_diagnostic(begins + "tlsv1 alert unknown ca; it asked for the name gateway.test")
        self.refused(gateway, name="unknown.test")
        gateway.wait_for_diagnostic("; it asked for the name unknown.test")
        other = self.made.context()
        other.set_alpn_protocols(["spdy/3"])
        self.refused(gateway, other)
        gateway.wait_for_diagnostic(begins + "no application protocol")
        with Connection(gateway.address) as c:
            c.send(b"\x00" * 100)
            c.rest()
        gateway.wait_for_diagnostic(begins + "wrong version number")
        self.assertEqual(self.counted(gateway, "failed"), 5)

    def test_one_that_stands_still_is_logged_and_one_that_says_nothing_is_not(self):
        gateway = self.listening("handshake_timeout: 300ms")
        for begin in (b"", b"\x16\x03\x01\x02\x00"):
            with Connection(gateway.address) as c:
                c.send(begin)
                self.assertTrue(c.ends())
        line = "TLS handshake with 127.0.0.1 failed: it did not end within handshake_timeout"
        gateway.wait_for_diagnostic(line)
        wait_until(lambda: self.counted(gateway, "timeout") == 2)
        self.assertEqual(str(gateway.diagnostics).count(line), 1)

    def test_lines_are_bounded_and_say_how_many_are_missing(self):
        gateway = self.listening()

        def fails():
            with Connection(gateway.address) as c:
                c.send(b"\x00" * 100)
                c.rest()
            return " more were not logged" in str(gateway.diagnostics)

        wait_until(fails, 30, "some were not logged")
        logged = str(gateway.diagnostics)
        lines = logged.count("TLS handshake with")
        missing = sum(int(n) for n in re.findall(r"(\d+) more were not logged", logged))
        self.assertGreaterEqual(lines, 11)
        self.assertLessEqual(lines + missing, self.counted(gateway, "failed"))

    def test_names_are_bounded_and_escaped(self):
        gateway = self.listening("min_version: '1.3'")
        name = "x" * 200 + ".test"
        context = self.made.context()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.refused(gateway, context, "a" * 60 + ".test")
        gateway.wait_for_diagnostic("a" * 60)
        words = ["-connect", "%s:%d" % gateway.address, "-tls1_2", "-servername", 'b"\\\n' + name]
        subprocess.run([tool("openssl"), "s_client", *words], input=b"", capture_output=True, timeout=30, check=False)
        gateway.wait_for_diagnostic('b\\"\\\\')


class PlainHttp(PeersTest):
    def test_gets_a_400_that_says_so(self):
        gateway = self.listening()
        for request in (
            GET,
            b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000,
            b"BREW / HTTP/1.1\r\nHost: h\r\n\r\n",
            b"g",
        ):
            with self.subTest(request[:20]), Connection(gateway.address) as c:
                c.send(request)
                answer = c.response()
                self.assertEqual(answer.status, 400)
                self.assertEqual(answer["content-type"], "text/plain; charset=utf-8")
                self.assertEqual(answer["connection"], "close")
                self.assertIn(b"plain HTTP: write https://", answer.body)
                self.assertEqual(c.rest(), b"")
        gateway.wait_for_diagnostic("TLS handshake with 127.0.0.1 failed: TLS: the client speaks without TLS")
        self.assertEqual(self.counted(gateway, "failed"), 4)
        self.assertTrue(self.answers(gateway))

    def test_a_client_that_sends_on_is_closed(self):
        gateway = self.gateway("http: { linger_timeout: 200ms, max_linger_bytes: 65536 }\n" + self.text())
        for more in (b"", b"x" * 1_000_000):
            with Connection(gateway.address) as c:
                c.send(GET)
                try:
                    c.send(more)
                except ConnectionError:
                    pass
                m = gateway.metrics
                wait_until(lambda: m().sum("gateway_connections", side="client") == 0, 10, "it is let go")


class Revocation(PeersTest):
    def setUp(self):
        super().setUp()
        for client in ("alice", "bob"):
            self.made.issue(client, f"DNS:{client}")
        self.stranger = Certificates(self.directory())

    def revoke(self, *names, by=None, times=("-crldays", "1"), into="revoked.pem"):
        """A list of an authority, by openssl."""
        by = by or self.made
        index = by.path("index")
        with open(index, "w", encoding="ascii"):
            pass
        settings = by.path("authority.cnf")
        with open(settings, "w", encoding="ascii") as f:
            f.write(f"[ca]\ndefault_ca = d\n[d]\ndatabase = {index}\ndefault_md = sha256\n")
        words = [tool("openssl"), "ca", "-config", settings, "-cert", by.path("ca.pem"), "-keyfile", by.path("ca.key")]
        for name in names:
            subprocess.run([*words, "-revoke", self.made.path(name + ".pem")], check=True, capture_output=True)
        made = by.path("made.pem")
        subprocess.run([*words, "-gencrl", *times, "-out", made], check=True, capture_output=True)
        os.replace(made, self.made.path(into))
        return self.made.path(into)

    def asking(self, revoked, how="require"):
        return self.text(
            f"client_certificates: {how}, client_ca: '{self.made.path('ca.pem')}', client_crl: '{revoked}'"
        )

    def passes(self, gateway, client):
        try:
            return self.answers(gateway, self.made.context(client))
        except (ssl.SSLError, ConnectionError):
            return False

    def test_who_is_in_a_list_is_refused_and_logged(self):
        for how in ("require", "optional"):
            gateway = self.gateway(self.asking(self.revoke("bob"), how))
            self.assertTrue(self.passes(gateway, "alice"))
            self.assertFalse(self.passes(gateway, "bob"))
            gateway.wait_for_diagnostic("failed: the client's certificate: certificate revoked")

    def test_a_reload_reads_it_again_and_ends_sessions(self):
        gateway = self.gateway(self.asking(self.revoke("bob")))
        context = self.made.context("alice")
        with self.connected(gateway, context=context) as c:
            c.sendall(GET)
            self.assertEqual(c.recv(65536)[:12], b"HTTP/1.1 200")
            kept = c.session
        self.assertIn("reloaded", gateway.reload(self.asking(self.revoke("bob", "alice"))))
        wait_until(lambda: not self.passes(gateway, "alice"), 10, "alice is refused")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            with self.connected(gateway, context=context, session=kept) as c:
                c.sendall(GET)
                self.assertEqual(c.recv(1), b"x")
        self.assertIn("reloaded", gateway.reload(self.asking(self.revoke())))
        wait_until(lambda: self.passes(gateway, "bob"), 10, "bob is welcome again")

    def test_a_list_that_says_nothing_is_a_clear_error(self):
        good = self.revoke("bob")
        gateway = self.gateway(self.asking(good))
        past = ("-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200102000000Z")
        foreign = self.revoke(by=self.stranger, into="foreign.pem")
        damaged = self.made.path("damaged.pem")
        with open(good, encoding="ascii") as f, open(damaged, "w", encoding="ascii") as out:
            out.write(f.read()[:200])
        for revoked, complaint in (
            (foreign, 'is signed by no authority in \\"client_ca\\"'),
            (self.made.path("ca.pem"), "client_crl: expected lists of revoked certificates (CRL)"),
            (damaged, "client_crl: expected lists of revoked certificates (CRL)"),
            (self.revoke(times=past, into="old.pem"), "has expired: clients of its authority would be refused"),
        ):
            with self.subTest(complaint):
                self.assertIn("refused", gateway.reload(self.asking(revoked)))
                gateway.wait_for_diagnostic(complaint)
        self.assertTrue(self.passes(gateway, "alice"))
        self.assertFalse(self.passes(gateway, "bob"))
