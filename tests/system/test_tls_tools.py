"""What tools make of a listener that speaks TLS: testssl.sh, and GnuTLS instead of OpenSSL."""
import json
import os
import subprocess

from harness.case import SystemTest, forwarding_to, only_as_shipped
from harness.certificates import EC, RSA, Certificates
from harness.process import tool

GET = b"GET / HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n"
# Protocols, ciphers, forward secrecy, the server's defaults and preferences, vulnerabilities; not the
# header fields of responses, which are the upstream's.
SECTIONS = ("-p", "-s", "-f", "-S", "-P", "-U")
WORTH_TELLING = ("MEDIUM", "HIGH", "CRITICAL", "FATAL")
# Ours cannot be revoked, and no DNS knows it.
OF_THE_CERTIFICATE = ("cert_revocation", "DNS_CAArecord")


class Tools(SystemTest):
    long = True

    def setUp(self):
        self.folder = self.directory()
        self.made = Certificates(self.folder)
        self.made.issue("ec", "DNS:gateway.test,DNS:localhost", EC, 90)
        self.made.issue("rsa", "DNS:gateway.test,DNS:localhost", RSA, 90)
        both = ", ".join(self.made.certificate(name) for name in ("ec", "rsa"))
        self.served = self.gateway(
            f"listeners: [ {{ address: 127.0.0.1:0, tls: {{ certificates: [ {both} ] }} }} ]\n"
            + forwarding_to("echo")
        )

    @only_as_shipped
    def test_testssl_finds_nothing_above_low(self):
        found = self.folder.file("found.json")
        port = self.served.address[1]
        subprocess.run(
            [tool("testssl"), "--quiet", "--color", "0", "--warnings", "off", "--ip", "one", "--fast",
             "--jsonfile", found, "--add-ca", self.made.path("ca.pem"), *SECTIONS, f"localhost:{port}"],
            env={**os.environ, "TERM": "dumb"}, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=900, check=False,
        )  # fmt: skip
        with open(found, encoding="utf-8") as f:
            said = json.load(f)
        looked_at = {one["id"] for one in said}
        self.assertTrue({"FS", "PFS"} & looked_at, "its name since testssl 3.2, and before")
        for name in ("TLS1", "TLS1_2", "TLS1_3", "heartbleed", "CCS", "ticketbleed", "ROBOT",
                     "secure_client_renego", "CRIME_TLS", "POODLE_SSL", "SWEET32", "RC4"):  # fmt: skip
            self.assertIn(name, looked_at)
        bad = [
            f"{one['severity']} {one['id']}: {one['finding']}"
            for one in said
            if one["severity"] in WORTH_TELLING and one["id"].split(" ")[0] not in OF_THE_CERTIFICATE
        ]
        self.assertEqual(bad, [])

    def test_gnutls_speaks_and_resumes(self):
        host, port = self.served.address
        for priority, version in (("NORMAL", "TLS1.3"), ("NORMAL:-VERS-TLS1.3", "TLS1.2")):
            # At the end of its input it would leave without the answer.
            child = subprocess.Popen(
                [tool("gnutls-cli"), "--x509cafile", self.made.path("ca.pem"), "--sni-hostname", "gateway.test",
                 "--verify-hostname", "gateway.test", "--priority", priority, "--resume", "--waitresumption",
                 "--alpn", "http/1.1", "-p", str(port), host],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            self.addCleanup(child.kill)
            child.stdin.write(GET)
            child.stdin.flush()
            said = child.stdout.read().decode("latin-1")
            child.stdin.close()
            child.wait(10)
            self.assertIn("The certificate is trusted", said)
            self.assertIn(version, said)
            self.assertIn("*** This is a resumed session", said)
            self.assertIn("HTTP/1.1 200 OK", said)
            self.assertIn("Application protocol: http/1.1", said)
