"""An authority of the test's own, and certificates that it vouches for."""
import os
import ssl
import subprocess

from harness.process import FAKETIME, tool

EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
RSA = ("-newkey", "rsa:2048")


class Certificates:
    """In a folder: ca.pem, ca.key, and what issue() makes."""

    def __init__(self, folder):
        self._folder = folder
        self._openssl("req", "-x509", *EC, "-nodes", "-days", "1", "-subj", "/CN=test authority",
                      "-addext", "keyUsage=critical,keyCertSign,cRLSign",
                      "-keyout", self.path("ca.key"), "-out", self.path("ca.pem"))  # fmt: skip

    def path(self, name):
        return self._folder.file(name)

    def issue(self, name, alternative, kind=EC, days=1, by="ca", more=""):
        """NAME.pem and NAME.key, vouched for by that one; with days below 0 it has expired. `more`: lines
        of extensions."""
        request, extensions = self.path(name + ".csr"), self.path(name + ".ext")
        with open(extensions, "w", encoding="ascii") as f:
            f.write(f"subjectAltName={alternative}\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n{more}")
        self._openssl("req", *kind, "-nodes", "-subj", f"/CN={name}",
                      "-keyout", self.path(name + ".key"), "-out", request)  # fmt: skip
        # Vouched for so long ago that it lasts until then: OpenSSL 3.5 makes none that ends before it begins.
        ago = {"LD_PRELOAD": FAKETIME, "FAKETIME": f"{2 * days}d"} if days < 0 else {}
        self._openssl("x509", "-req", "-in", request, "-days", str(abs(days)), "-CAcreateserial",
                      "-CA", self.path(by + ".pem"), "-CAkey", self.path(by + ".key"),
                      "-extfile", extensions, "-out", self.path(name + ".pem"), env=ago)  # fmt: skip

    def certificate(self, name):
        """As an element of `certificates`."""
        return f"{{ cert: '{self.path(name + '.pem')}', key: '{self.path(name + '.key')}' }}"

    def context(self, client=None):
        """Of a client that believes the authority; `client` names its own certificate."""
        made = ssl.create_default_context(cafile=self.path("ca.pem"))
        if client is not None:
            made.load_cert_chain(self.path(client + ".pem"), self.path(client + ".key"))
        return made

    def together(self, name):
        """A file with both, as HAProxy wants it."""
        parts = [self.path(name + kind) for kind in (".pem", ".key")]
        both = ""
        for part in parts:
            with open(part, encoding="ascii") as f:
                both += f.read()
        return self._folder.file(name + ".both", both)

    def served(self, name):
        """A context of a server with that certificate."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.path(name + ".pem"), self.path(name + ".key"))
        return made

    @staticmethod
    def _openssl(*words, env=None):
        environment = os.environ | (env or {})
        subprocess.run([tool("openssl"), *words], check=True, capture_output=True, timeout=30, env=environment)
