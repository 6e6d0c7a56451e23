"""Listeners that speak TLS, with real clients: Python's ssl, openssl and curl."""
import base64
import os
import re
import socket
import ssl
import subprocess
import time

from harness.case import SystemTest, forwarding_to, only_as_shipped
from harness.certificates import EC, RSA, Certificates
from harness.client import Connection, secured
from harness.gateway import ROOT, run_command, whole_configuration
from harness.load import Load
from harness.process import tool, wait_until

GET = b"GET / HTTP/1.1\r\nHost: gateway.test\r\n\r\n"
LAST = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


# What issue() is told.
KNOWN = {
    "gateway.test": ("DNS:gateway.test,DNS:*.gateway.test",),
    "other.test": ("DNS:other.test",),
    "rsa": ("DNS:gateway.test", RSA),
    "old": ("DNS:gateway.test", EC, -1),
}


class TlsTest(SystemTest):
    def setUp(self):
        self.folder = self.directory()
        self.made = Certificates(self.folder)

    def text(self, tls="", certificates=("gateway.test",), more=""):
        for name in certificates:
            if not os.path.exists(self.made.path(name + ".pem")):
                self.made.issue(name, *KNOWN[name])
        all_of_them = ", ".join(self.made.certificate(name) for name in certificates)
        return (
            f"listeners: [ {{ address: 127.0.0.1:0, tls: {{ certificates: [ {all_of_them} ], {tls} }} }} ]\n"
            + more + forwarding_to("echo")
        )  # fmt: skip

    def listening(self, *arguments, **named):
        return self.gateway(self.text(*arguments, **named))

    def connected(self, gateway, name="gateway.test", context=None, **options):
        raw = socket.create_connection(gateway.address, timeout=10)
        self.addCleanup(raw.close)
        return (context or self.made.context()).wrap_socket(raw, server_hostname=name, **options)

    @staticmethod
    def answer(connection, request=GET):
        connection.sendall(request)
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(65536)
        return got

    def shown(self, gateway, name, context=None):
        """The common name of the certificate that is shown to who asks for that name."""
        context = context or self.made.context()
        context.check_hostname = False
        found = self.connected(gateway, name, context).getpeercert()
        return dict(pair for part in found["subject"] for pair in part)["commonName"]

    def openssl(self, gateway, *words, name="gateway.test", text=b""):
        """What s_client says; it sends `text` and waits for the end."""
        host, port = gateway.address
        done = subprocess.run(
            [tool("openssl"), "s_client", "-connect", f"{host}:{port}", "-servername", name,
             "-CAfile", self.made.path("ca.pem"), *words],
            input=text, capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        return (done.stdout + done.stderr).decode("latin-1")

    @staticmethod
    def handshakes(gateway, result):
        return gateway.metrics().sum("gateway_tls_handshakes_total", result=result)


class Names(TlsTest):
    def test_a_certificate_is_chosen_by_the_name(self):
        gateway = self.listening(certificates=("gateway.test", "other.test"))
        for asked, shown in {
            "gateway.test": "gateway.test",
            "other.test": "other.test",
            "OTHER.test": "other.test",
            "a.gateway.test": "gateway.test",
            "a.b.gateway.test": "gateway.test",  # the first one, as none is for it
            "nobody.test": "gateway.test",
        }.items():
            self.assertEqual(self.shown(gateway, asked), shown, asked)
        no_name = self.made.context()
        no_name.check_hostname = False
        self.assertEqual(self.shown(gateway, None, no_name), "gateway.test")

    def test_a_name_may_have_an_rsa_certificate_too(self):
        gateway = self.listening(certificates=("gateway.test", "rsa"))
        self.assertEqual(self.shown(gateway, "gateway.test"), "gateway.test")
        said = self.openssl(gateway, "-sigalgs", "RSA-PSS+SHA256")
        self.assertRegex(said, "CN ?= ?rsa")
        self.assertIn("Verification: OK", said)

    def test_a_session_is_believed_under_its_own_name_only(self):
        gateway = self.listening(certificates=("gateway.test", "other.test"))
        kept = self.folder.file("session")
        for version in ("-tls1_2", "-tls1_3"):
            with self.subTest(version):
                said = self.openssl(gateway, version, "-ign_eof", "-sess_out", kept, text=LAST)
                self.assertIn("New, TLSv1.", said)
                self.assertNotRegex(said, "Max Early Data: [1-9]")
                again = self.openssl(gateway, version, "-sess_in", kept)
                self.assertIn("Reused, TLSv1.", again)
                elsewhere = self.openssl(gateway, version, "-sess_in", kept, name="other.test")
                self.assertIn("New, TLSv1.", elsewhere)


    def test_a_client_that_uses_a_ticket_once_resumes_every_time(self):
        """With keys of this process, and with those that a file gives to several."""
        shared = self.folder.file("keys")
        with open(shared, "wb") as f:
            f.write(os.urandom(80))
        for keys in ("", f"tickets_file: '{shared}'"):
            gateway = self.listening(keys)
            number = 0
            path = lambda: self.folder.file(f"session {number}{len(keys)}")
            self.openssl(gateway, "-tls1_3", "-ign_eof", "-sess_out", path(), text=LAST)
            for _ in range(6):
                used = path()
                number += 1
                said = self.openssl(
                    gateway, "-tls1_3", "-ign_eof", "-sess_in", used, "-sess_out", path(), text=LAST
                )
                self.assertIn("Reused, TLSv1.3", said)
                os.remove(used)
            self.assertEqual(self.handshakes(gateway, "full"), 1)
            self.assertEqual(self.handshakes(gateway, "resumed"), 6)


class Handshakes(TlsTest):
    def test_old_versions_and_other_protocols_are_refused(self):
        gateway = self.listening("min_version: '1.3'")
        self.assertIn("TLSv1.3", self.openssl(gateway))
        self.assertIn("alert protocol version", self.openssl(gateway, "-tls1_2"))
        context = self.made.context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        self.assertEqual(self.connected(gateway, context=context).selected_alpn_protocol(), "h2")
        context.set_alpn_protocols(["http/1.1", "h2"])
        self.assertEqual(self.connected(gateway, context=context).selected_alpn_protocol(), "http/1.1")
        context.set_alpn_protocols(["spdy/3"])
        with self.assertRaisesRegex(ssl.SSLError, "no application protocol"):
            self.connected(gateway, context=context)
        wait_until(lambda: self.handshakes(gateway, "failed") >= 2)

    def test_only_ciphers_of_the_list_are_spoken(self):
        gateway = self.listening("ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305'")
        self.assertIn("CHACHA20", self.openssl(gateway, "-tls1_2"))
        self.assertIn("alert handshake failure", self.openssl(gateway, "-tls1_2", "-cipher", "AES128-SHA"))

    def test_ciphers_that_would_leave_no_client_or_no_secret_are_refused(self):
        for ciphers, complaint in {
            "aNULL": "none of them can be used",
            "PSK": "none of them can be used",
            "nonsense": "OpenSSL knows none of them",
            "aNULL:@SECLEVEL=0": "proves nothing of the server, or does not encrypt",
            "eNULL:@SECLEVEL=0": "proves nothing of the server, or does not encrypt",
            "HIGH:!MD5": "",
        }.items():
            text = whole_configuration(self.text(f"ciphers: '{ciphers}'"))
            path = self.folder.file("gateway.yaml", text)
            status, _, said = run_command("check", "--config", path)
            self.assertEqual(status, 2 if complaint else 0, said)
            self.assertIn(complaint, said)

    def test_renegotiation_is_refused(self):
        gateway = self.listening()
        child = subprocess.Popen(
            [tool("openssl"), "s_client", "-tls1_2", "-connect", "%s:%d" % gateway.address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.addCleanup(child.kill)
        said, _ = child.communicate(b"R\n", timeout=30)
        self.assertIn(b"no renegotiation", said)

    def test_what_is_no_tls_is_closed_and_counted(self):
        gateway = self.listening()
        huge_record = b"\x16\x03\x01\xff\xff" + b"x" * 70000
        for number, junk in enumerate((GET, b"\x00" * 100, huge_record, b"\x15\x03\x01\x00\x02\x02\x28")):
            with Connection(gateway.address) as c:
                c.send(junk)
                try:
                    c.rest()
                except ConnectionError:
                    pass
            wait_until(lambda n=number: self.handshakes(gateway, "failed") == n + 1)
        self.assertEqual(self.answer(self.connected(gateway))[:12], b"HTTP/1.1 200")

    def test_one_that_does_not_end_is_closed(self):
        gateway = self.listening("handshake_timeout: 300ms")
        half = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 40
        for begin in (b"", b"\x16", half):
            with Connection(gateway.address) as c:
                c.send(begin)
                self.assertTrue(c.ends())
        wait_until(lambda: self.handshakes(gateway, "timeout") == 3)

    def test_byte_by_byte(self):
        gateway = self.listening("handshake_timeout: 1m")
        coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.made.context().wrap_bio(coming, going, server_hostname="gateway.test")
        with Connection(gateway.address) as c:
            c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def until_done(step):
                while True:
                    try:
                        return step()
                    except ssl.SSLWantReadError:
                        for byte in going.read():
                            c.send(bytes([byte]))
                        coming.write(c.socket.recv(7))

            until_done(tls.do_handshake)
            tls.write(GET)
            got = until_done(lambda: tls.read(12))
        self.assertEqual(got, b"HTTP/1.1 200"[: len(got)])

    def test_half_handshakes_do_not_keep_others_waiting(self):
        gateway = self.listening("handshake_timeout: 1m")
        waiting = [socket.create_connection(gateway.address) for _ in range(300)]
        for s in waiting:
            s.sendall(b"\x16\x03\x01\x02\x00\x01")
            self.addCleanup(s.close)
        for _ in range(5):
            self.assertEqual(self.answer(self.connected(gateway))[:12], b"HTTP/1.1 200")

    def test_clients_come_back_to_any_worker_and_gateway(self):
        tickets = self.folder.file("tickets")
        with open(tickets, "wb") as f:
            f.write(os.urandom(80))
        kept = self.folder.file("session")
        first = self.listening(f"tickets_file: '{tickets}'", more="workers: 4\n")
        second = self.listening(f"tickets_file: '{tickets}'")
        self.openssl(first, "-ign_eof", "-sess_out", kept, text=LAST)
        for _ in range(8):
            self.assertIn("Reused", self.openssl(first, "-sess_in", kept))
        self.assertIn("Reused", self.openssl(second, "-sess_in", kept))
        wait_until(lambda: self.handshakes(first, "resumed") == 8)
        with open(tickets, "wb") as f:
            f.write(os.urandom(160))
        self.assertIn("reloaded", second.reload(self.text(f"tickets_file: '{tickets}'")))
        self.assertIn("New", self.openssl(second, "-sess_in", kept))


class Connections(TlsTest):
    def test_both_sides_say_their_end(self):
        gateway = self.listening()
        c = self.connected(gateway)
        self.answer(c)
        c.unwrap()  # says the end, and waits for the other side's
        c = self.connected(gateway)
        self.answer(c, LAST)
        c.suppress_ragged_eofs = False
        while c.recv(65536):
            pass

    def test_the_upstream_hears_of_it(self):
        trusted = "client: { trusted_proxies: [127.0.0.1] }\n"
        for more, said, proto in (
            ("", b"", b"https"),
            ("", b"X-Forwarded-Proto: http\r\n", b"https"),
            (trusted, b"X-Forwarded-Proto: http\r\n", b"http"),
        ):
            with self.subTest(more=more, said=said):
                c = self.connected(self.listening(more=more))
                c.sendall(GET[:-2] + said + b"Connection: close\r\n\r\n")
                got = b""
                while piece := c.recv(65536):
                    got += piece
                self.assertEqual(re.findall(rb'"X-Forwarded-Proto","(\w+)"', got), [proto])

    @only_as_shipped
    def test_an_idle_one_needs_little_memory(self):
        asks = f"client_certificates: optional, client_ca: '{self.made.path('ca.pem')}'"
        self.made.issue("alice", "DNS:alice.test")
        # OpenSSL 3.5 holds more of itself, and of X25519MLKEM768, the key exchange that it prefers.
        more = 16 * 1024 if ssl.OPENSSL_VERSION_INFO >= (3, 5) else 0
        for shown, most in ((None, 16 * 1024 + more), ("alice", 28 * 1024 + more)):
            gateway = self.listening(asks, more="workers: 1\n")
            context = self.made.context(shown)
            self.answer(self.connected(gateway, context=context))
            before = gateway.memory()
            held = [self.connected(gateway, context=context) for _ in range(400)]
            for c in held:
                self.answer(c)
            each = (gateway.memory() - before) / len(held)
            print(f"     {each / 1024:.1f} KiB, certificate: {shown}")
            self.assertLess(each, most)

    def test_behind_a_proxy_header(self):
        text = self.text(more="client: { trusted_proxies: [127.0.0.1] }\n")
        gateway = self.gateway(text.replace("tls:", "proxy_protocol: true, tls:"))
        raw = socket.create_connection(gateway.address, timeout=10)
        self.addCleanup(raw.close)
        raw.sendall(b"PROXY TCP4 192.0.2.7 198.51.100.1 4000 443\r\n")
        c = self.made.context().wrap_socket(raw, server_hostname="gateway.test")
        c.sendall(GET)
        self.assertEqual(gateway.log_lines(1)[0]["peer"], "192.0.2.7")

    def test_curl_and_a_large_body(self):
        origin = self.origin()
        text = self.text().replace(forwarding_to("echo"), forwarding_to(origin.address))
        gateway = self.gateway(text)
        body = os.urandom(3_000_000)
        done = subprocess.run(
            [tool("curl"), "-sS", "--cacert", self.made.path("ca.pem"), "--data-binary", "@-",
             "--resolve", f"gateway.test:{gateway.address[1]}:127.0.0.1", "-o", "/dev/null",
             "-w", "%{http_code}", f"https://gateway.test:{gateway.address[1]}/"],
            input=body, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual((done.stdout, done.stderr), (b"200", b""))
        self.assertEqual(origin.last().body, body)


    def test_certificates_are_replaced_under_load(self):
        text = self.text(more="log: { access: false }\n")
        gateway = self.gateway(text)
        secured[gateway.address] = self.made.context()
        load = Load(gateway.address, [("stays", GET), ("comes back", LAST)] * 4, interval=0.01).start()
        shown = {self.certificate_of(gateway)}
        for turn in range(1, 4):
            count = len(load.answers)
            self.made.issue("gateway.test", *KNOWN["gateway.test"])
            self.assertIn("reloaded", gateway.reload(text))
            # Each worker adopts it by itself.
            wait_until(lambda due=turn + 1: shown.add(self.certificate_of(gateway)) or len(shown) == due)
            wait_until(lambda least=count + 50: len(load.answers) > least)
        answers = load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {200})

    def certificate_of(self, gateway):
        return self.connected(gateway).getpeercert(binary_form=True)


class ClientCertificates(TlsTest):
    def setUp(self):
        super().setUp()
        self.made.issue("alice", "DNS:alice.test,URI:spiffe://test/alice")
        self.made.issue("bob", "DNS:bob.test")
        self.stranger = Certificates(self.directory())
        self.stranger.issue("alice", "DNS:alice.test")

    def asking(self, how, more="", limits=""):
        text = self.text(f"client_certificates: {how}, client_ca: '{self.made.path('ca.pem')}'{more}")
        text = text.replace(forwarding_to("echo"), limits or forwarding_to("echo"))
        return self.gateway(text)

    def status(self, gateway, client=None, host="gateway.test", name="gateway.test"):
        """Or None if the handshake fails."""
        context = self.made.context(client if client != "stranger" else None)
        if client == "stranger":
            context.load_cert_chain(self.stranger.path("alice.pem"), self.stranger.path("alice.key"))
        try:
            c = self.connected(gateway, name, context)
            return int(self.answer(c, GET.replace(b"gateway.test", host.encode()))[9:12])
        except (ssl.SSLError, ConnectionError):
            return None

    def test_who_must_have_one(self):
        required, optional = self.asking("require"), self.asking("optional")
        for gateway, nobody in ((required, None), (optional, 200)):
            self.assertEqual(self.status(gateway, "alice"), 200)
            self.assertEqual(self.status(gateway), nobody)
            self.assertEqual(self.status(gateway, "stranger"), None)

    def test_another_host_is_misdirected(self):
        gateway = self.asking("optional")
        self.assertEqual(self.status(gateway, "alice", host="GATEWAY.test:443"), 200)
        self.assertEqual(self.status(gateway, "alice", host="other.test"), 421)
        self.assertEqual(self.status(gateway, host="other.test"), 421)

    def resumed(self, gateway, version, host="gateway.test"):
        """What is said to a client that comes back once."""
        kept = self.folder.file("session")
        ask = LAST.replace(b"gateway.test", host.encode())
        self.openssl(gateway, version, "-ign_eof", "-sess_out", kept, text=LAST)
        said = self.openssl(gateway, version, "-ign_eof", "-sess_in", kept, text=ask)
        self.assertIn("Reused", said)
        return said

    def test_another_host_is_misdirected_in_a_session_that_goes_on_too(self):
        gateway = self.asking("optional")
        for version in ("-tls1_2", "-tls1_3"):
            with self.subTest(version):
                self.assertIn("HTTP/1.1 200", self.resumed(gateway, version))
                self.assertIn("HTTP/1.1 421", self.resumed(gateway, version, "other.test"))

    def test_a_session_is_believed_only_where_clients_are_asked_in_the_same_way(self):
        for version in ("-tls1_2", "-tls1_3"):
            with self.subTest(version):
                gateway = self.asking("optional")
                self.resumed(gateway, version)
                how = f"client_certificates: require, client_ca: '{self.made.path('ca.pem')}'"
                self.assertIn("reloaded", gateway.reload(self.text(how)))
                kept = self.folder.file("session")
                said = self.openssl(gateway, version, "-ign_eof", "-sess_in", kept, text=LAST)
                self.assertNotIn("HTTP/1.1", said)
                self.assertIn("alert", said)

    def test_a_reload_may_bring_another_authority(self):
        gateway = self.asking("require")
        alice = ("-cert", self.made.path("alice.pem"), "-key", self.made.path("alice.key"))
        kept = self.folder.file("session")
        self.assertIn("HTTP/1.1 200", self.openssl(gateway, *alice, "-ign_eof", "-sess_out", kept, text=LAST))
        before = self.connected(gateway, context=self.made.context("alice"))
        self.answer(before)
        how = f"client_certificates: require, client_ca: '{self.stranger.path('ca.pem')}'"
        self.assertIn("reloaded", gateway.reload(self.text(how)))
        self.assertEqual(self.answer(before)[:12], b"HTTP/1.1 200", "it is shown no other rules")
        self.assertEqual(self.status(gateway, "stranger"), 200)
        said = self.openssl(gateway, *alice, "-ign_eof", "-sess_in", kept, text=LAST)
        self.assertIn("alert unknown ca", said)
        self.assertNotIn("HTTP/1.1", said)

    def test_each_has_a_bucket_of_its_own(self):
        for part in ("fingerprint", "subject", "san"):
            with self.subTest(part):
                limits = (
                    f"limits: {{ l: {{ key: 'cert:{part}', missing_key: reject, rate: 1/h, burst: 2 }} }}\n"
                    + forwarding_to("echo", "l")
                )
                gateway = self.asking("optional", limits=limits)
                for client in ("alice", "bob"):
                    got = [self.status(gateway, client) for _ in range(3)]
                    self.assertEqual(got, [200, 200, 429], client)
                self.assertEqual(self.status(gateway), 400)

    def test_upstreams_are_told_of_it(self):
        gateway = self.asking("optional", ", forward_client_cert: true")
        lied = LAST[:-2] + b"Client-Cert: :bGll:\r\nclient-cert-chain: :bGll:\r\n\r\n"

        def told(client):
            c = self.connected(gateway, context=self.made.context(client))
            c.sendall(lied)
            got = b""
            while piece := c.recv(65536):
                got += piece
            return re.findall(rb'"Client-Cert(?:-Chain)?","([^"]+)"', got, re.IGNORECASE)

        with open(self.made.path("alice.pem"), encoding="ascii") as f:
            der = ssl.PEM_cert_to_DER_cert(f.read())
        own, *chain = told("alice")
        self.assertEqual(own, b":" + base64.b64encode(der) + b":")
        self.assertEqual(len(chain), 1)
        self.assertEqual(told(None), [])


class Documented(TlsTest):
    """The commands and examples of docs/tls.md."""

    def test_the_examples_work(self):
        with open(os.path.join(ROOT, "docs/tls.md"), encoding="utf-8") as f:
            page = f.read()
        blocks = dict(enumerate(re.findall(r"^```(?:yaml|sh)\n(.*?)^```", page, re.S | re.M)))
        served, hook, tickets, clients, limit, authority, revocation = (blocks[n] for n in range(7))
        self.made.issue("server", "DNS:gateway.test")
        folder = self.made.path("")
        shell = lambda text: subprocess.run(["sh", "-ec", text], cwd=folder, check=True, capture_output=True)
        copies = self.directory().path
        hook = hook.replace("/etc/gateway/tls", copies).replace("-g gateway-tls", f"-g {os.getgid()}")
        shell("cp server.pem fullchain.pem; cp server.key privkey.pem")
        shell(f"systemctl() {{ echo \"$@\" > told; }}\nRENEWED_LINEAGE={folder}\n{hook}")
        self.assertEqual(sorted(os.listdir(copies)), ["fullchain.pem", "privkey.pem"])
        with open(self.made.path("told"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "reload gateway\n")
        shell(authority)
        shell("openssl rand 160 > keys")
        for _ in range(2):
            shell(tickets)
        self.assertEqual(os.path.getsize(self.made.path("keys")), 240)

        def listener(block, more=""):
            nested = "".join(f"    {line}\n" for line in (block + more).splitlines())
            return "listeners:\n  - address: 127.0.0.1:0\n" + nested

        live = "/etc/letsencrypt/live/example.com/"
        text = served.replace(live + "fullchain", folder + "server").replace(live + "privkey.pem", folder + "server.key")
        gateway = self.gateway(listener(text, f"  tickets_file: {folder}keys\n") + forwarding_to("echo"))
        self.assertEqual(self.answer(self.connected(gateway))[:12], b"HTTP/1.1 200")
        text = re.sub(r"(\w[\w-]*\.(pem|key))", folder + r"\1", clients)
        gateway = self.gateway(listener(text) + f"limits:\n  {limit}" + forwarding_to("echo", "each"))
        context = self.made.context()
        context.load_cert_chain(self.made.path("alice.pem"), self.made.path("alice.key"))
        self.assertEqual(self.answer(self.connected(gateway, context=context))[:12], b"HTTP/1.1 200")
        shell(revocation)
        gateway = self.gateway(listener(text, f"  client_crl: {folder}revoked.pem\n") + forwarding_to("echo"))
        with self.assertRaisesRegex((ssl.SSLError, ConnectionError), "revoked|reset"):
            self.answer(self.connected(gateway, context=context))

    def test_plain_http_goes_to_https(self):
        with open(os.path.join(ROOT, "docs/tls.md"), encoding="utf-8") as f:
            section = f.read().partition("\n## Plain HTTP goes to https\n")[2]
        routes = re.search(r"^```yaml\n(.*?)^```", section, re.S | re.M)[1].replace('"127.0.0.1:9000"', "echo")
        self.made.issue("gateway.test", *KNOWN["gateway.test"])
        secured = f"{{ address: 127.0.0.1:0, tls: {{ certificates: [ {self.made.certificate('gateway.test')} ] }} }}"
        gateway = self.gateway(f"listeners: [ {secured}, {{ address: 127.0.0.1:0 }} ]\n" + routes)
        self.assertEqual(self.answer(self.connected(gateway))[:12], b"HTTP/1.1 200")
        host, _, port = gateway.addresses()[1].rpartition(":")
        with Connection((host, int(port))) as plain:
            moved = plain.ask("/a?b", [("Host", "www.example.com")])
            self.assertEqual((moved.status, moved["Location"]), (308, "https://www.example.com/a?b"))
            self.assertEqual(plain.ask("/.well-known/acme-challenge/x").status, 200)


class Reload(TlsTest):
    def test_a_new_certificate_is_for_new_connections(self):
        gateway = self.listening()
        c = self.connected(gateway)
        self.answer(c)
        self.assertIn("reloaded", gateway.reload(self.text(certificates=("rsa",))))
        wait_until(lambda: self.shown(gateway, "gateway.test") == "rsa")
        self.assertEqual(self.answer(c)[:12], b"HTTP/1.1 200")

    def test_what_is_broken_changes_nothing(self):
        gateway = self.listening()
        self.text(certificates=("rsa",))
        broken = self.text().replace("gateway.test.key", "rsa.key")
        self.assertIn("refused", gateway.reload(broken))
        gateway.wait_for_diagnostic(
            "listeners[0].tls.certificates[0].key: no private key in PEM form, without a passphrase"
        )
        self.assertEqual(self.shown(gateway, "gateway.test"), "gateway.test")

    def test_an_expired_certificate_is_warned_of(self):
        gateway = self.listening(certificates=("old",))
        gateway.wait_for_diagnostic("has expired")
        name = "gateway_tls_certificate_expiry_timestamp_seconds"
        expired = gateway.metrics().sum(name, certificate=self.made.path("old.pem"))
        self.assertTrue(time.time() - 2 * 86400 < expired < time.time())
        context = self.made.context()
        with self.assertRaisesRegex(ssl.SSLError, "certificate has expired"):
            self.connected(gateway, context=context)

    def test_an_expired_certificate_does_not_take_the_place_of_another(self):
        gateway = self.listening()
        expired = self.text(certificates=("old",))
        self.assertIn("refused", gateway.reload(expired))
        gateway.wait_for_diagnostic("old.pem\\\" has expired, and was not shown before this reload")
        self.assertEqual(self.shown(gateway, "gateway.test"), "gateway.test")
        served = self.listening(certificates=("old",))
        self.assertIn("reloaded", served.reload(expired), "it was shown before")

    def test_no_request_fails_meanwhile(self):
        gateway = self.listening()
        context = self.made.context()
        for turn in range(10):
            gateway.signal(1)
            c = self.connected(gateway, context=context)
            for _ in range(5):
                self.assertEqual(self.answer(c)[:12], b"HTTP/1.1 200", turn)
            c.close()


