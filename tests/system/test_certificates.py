"""Certificates that are odd, out of date, or vouched for by an authority in between."""
import base64
import socket
import ssl

from harness.case import forwarding_to
from harness.certificates import Certificates
from harness.gateway import run_command, whole_configuration
from test_tls import KNOWN, TlsTest

AUTHORITY = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n"


class OddCertificates(TlsTest):
    def chain(self, days):
        """One for gateway.test, with an authority in between that holds for so long."""
        self.made.issue("between", "DNS:between.test", days=days, more=AUTHORITY)
        self.made.issue("leaf", "DNS:gateway.test", by="between")
        whole = ""
        for name in ("leaf", "between"):
            with open(self.made.path(name + ".pem"), encoding="ascii") as f:
                whole += f.read()
        self.folder.file("leaf.pem", whole)

    def checked(self, text):
        path = self.folder.file("checked.yaml", whole_configuration(text))
        status, _, err = run_command("check", "--config", path)
        return status, err

    def damage_key(self, name):
        """The point that is its public key is on no curve any more."""
        with open(self.made.path(name + ".pem"), encoding="ascii") as f:
            der = bytearray(ssl.PEM_cert_to_DER_cert(f.read()))
        point = der.index(b"\x03\x42\x00\x04") + 4
        der[point] ^= 1
        text = base64.encodebytes(bytes(der)).decode()
        self.folder.file(name + ".pem", f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n")

    def test_a_key_that_is_none_is_told_and_changes_nothing(self):
        gateway = self.listening()
        self.made.issue("bad", "DNS:gateway.test")
        self.damage_key("bad")
        text = self.text().replace("gateway.test.", "bad.")
        status, err = self.checked(text)
        self.assertEqual(status, 2)
        self.assertIn("certificates[0].cert: expected certificates in PEM form", err)
        self.assertIn("refused", gateway.reload(text))
        self.assertEqual(self.shown(gateway, "gateway.test"), "gateway.test")

    def test_an_authority_in_between_that_has_expired_does_not_take_the_place_of_another(self):
        gateway = self.listening()
        self.chain(days=1)
        chained = self.text().replace("gateway.test.", "leaf.")
        self.assertIn("reloaded", gateway.reload(chained))
        self.chain(days=-1)
        self.assertIn("refused", gateway.reload(chained))
        gateway.wait_for_diagnostic("has expired, and was not shown before this reload")
        self.assertEqual(self.shown(gateway, "gateway.test"), "leaf")

    def test_authorities_of_clients_of_which_all_have_expired_do_not_either(self):
        def asking(authorities):
            return self.text(f"client_certificates: optional, client_ca: '{authorities}'")

        self.made.issue("older", "DNS:older.test", days=-1, more=AUTHORITY)
        gateway = self.gateway(asking(self.made.path("ca.pem")))
        self.assertIn("refused", gateway.reload(asking(self.made.path("older.pem"))))
        both = ""
        for name in ("ca.pem", "older.pem"):
            with open(self.made.path(name), encoding="ascii") as f:
                both += f.read()
        self.assertIn("reloaded", gateway.reload(asking(self.folder.file("both.pem", both))))

    def test_a_certificate_may_hold_without_an_end(self):
        command = ("ca", "-selfsign", "-batch")  # the only one that takes dates
        self.made.issue("endless", "DNS:gateway.test")
        for name in ("index", "serial"):
            self.folder.file(name, "" if name == "index" else "01\n")
        config = self.folder.file(
            "ca.cnf",
            "[ca]\ndefault_ca=a\n[a]\npolicy=p\ndefault_md=sha256\nrand_serial=yes\nunique_subject=no\n"
            f"database={self.made.path('index')}\nnew_certs_dir={self.folder.path}\n[p]\ncommonName=supplied\n",
        )
        Certificates._openssl(
            *command, "-config", config, "-in", self.made.path("endless.csr"), "-keyfile",
            self.made.path("endless.key"), "-startdate", "20200101000000Z", "-enddate", "99991231235959Z",
            "-notext", "-out", self.made.path("endless.pem"),
        )  # fmt: skip
        status, err = self.checked(self.text().replace("gateway.test.", "endless."))
        self.assertEqual((status, err), (0, ""))

    def test_an_authority_in_between_may_vouch_for_clients(self):
        self.chain(days=1)
        how = f"client_certificates: require, client_ca: '{self.made.path('between.pem')}'"
        gateway = self.gateway(self.text(how))
        self.made.issue("alice", "DNS:alice.test", by="between")
        self.made.issue("bob", "DNS:bob.test")
        answer = self.answer(self.connected(gateway, context=self.made.context("alice")))
        self.assertEqual(answer[:12], b"HTTP/1.1 200")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.answer(self.connected(gateway, context=self.made.context("bob")))

    def test_clients_are_told_whose_certificates_are_wanted(self):
        for version in ("-tls1_2", "-tls1_3"):
            gateway = self.gateway(
                self.text(f"client_certificates: optional, client_ca: '{self.made.path('ca.pem')}'")
            )
            said = self.openssl(gateway, version)
            self.assertRegex(said, "Acceptable client certificate CA names\nCN ?= ?test authority\n")

    def test_authorities_that_nobody_is_asked_for_are_only_told(self):
        unused = f"client_certificates: none, client_ca: '{self.made.path('ca.pem')}', forward_client_cert: true"
        status, err = self.checked(self.text(unused))
        self.assertEqual(status, 0, err)
        for key in ("client_ca", "forward_client_cert"):
            self.assertIn(f'tls.{key}: has no effect without "client_certificates"', err)

    def test_ciphers_must_fit_a_certificate(self):
        rsa_only = "ciphers: ECDHE-RSA-AES128-GCM-SHA256"
        status, err = self.checked(self.text(rsa_only))
        self.assertEqual(status, 2)
        self.assertIn("tls.ciphers: none of them can be used with these certificates", err)
        for certificates, tls in ((("gateway.test", "rsa"), rsa_only), (("gateway.test",), rsa_only + ", min_version: '1.3'")):
            self.assertEqual(self.checked(self.text(tls, certificates))[0], 0)


class Hosts(TlsTest):
    def setUp(self):
        super().setUp()
        asking = f"client_certificates: optional, client_ca: '{self.made.path('ca.pem')}'"
        self.gateway_asks = self.listening(asking, certificates=("other.test", "gateway.test"))

    def test_a_name_may_end_in_a_dot(self):
        said = self.openssl(
            self.gateway_asks, "-quiet", name="gateway.test.",
            text=b"GET / HTTP/1.1\r\nHost: gateway.test.\r\nConnection: close\r\n\r\n",
        )  # fmt: skip
        self.assertRegex(said, "CN ?= ?gateway.test")
        self.assertIn("HTTP/1.1 200", said)

    def test_who_names_no_host_is_not_misdirected(self):
        answer = self.answer(self.connected(self.gateway_asks), b"GET / HTTP/1.0\r\n\r\n")
        self.assertEqual(answer[9:12], b"200")


    def test_who_asks_about_a_request_to_another_host_is_not_misdirected(self):
        required = f"client_certificates: require, client_ca: '{self.made.path('ca.pem')}'"
        self.made.issue("proxy", "DNS:proxy.test")
        text = self.text(required, more="client: { trusted_proxies: [127.0.0.1] }\n")
        gateway = self.gateway(text.replace("127.0.0.1:0,", "127.0.0.1:0, decide: true,", 1))
        secure = self.connected(gateway, context=self.made.context("proxy"))
        about = b"X-Forwarded-Host: www.example\r\nX-Forwarded-Uri: /a\r\n\r\n"
        self.assertEqual(self.answer(secure, b"GET / HTTP/1.1\r\nHost: gateway.test\r\n" + about)[9:12], b"200")
        self.assertEqual(self.answer(secure, b"GET / HTTP/1.1\r\nHost: other.test\r\n" + about)[9:12], b"421")


class PortsOfTheSystem(TlsTest):
    """Listeners on port 0: of one address there may be several."""

    def test_a_reload_leaves_each_what_it_is(self):
        self.made.issue("gateway.test", *KNOWN["gateway.test"])
        secured = f"tls: {{ certificates: [ {self.made.certificate('gateway.test')} ] }}"
        text = (
            f"listeners: [ {{ address: 127.0.0.1:0 }}, {{ address: 127.0.0.1:0, {secured} }} ]\n"
            + forwarding_to("echo")
        )
        gateway = self.gateway(text)
        self.assertIn("reloaded", gateway.reload(text))
        self.assertEqual(gateway.get("/").status, 200)
        host, _, port = gateway.addresses()[1].rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as raw:
            secure = self.made.context().wrap_socket(raw, server_hostname="gateway.test")
            self.assertEqual(self.answer(secure)[:12], b"HTTP/1.1 200")
