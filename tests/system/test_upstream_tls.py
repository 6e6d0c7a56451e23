"""Upstreams that speak TLS: who is believed, what is kept, and what is said when it fails."""
import shutil
import signal
import socket
import ssl
import threading
import time

from harness.case import SystemTest
from harness.certificates import EC, Certificates
from harness.documents import documented
from harness.haproxy import HAProxy
from harness.origin import Origin, answer_ok
from harness.process import free_port, wait_until

HERE = "IP:127.0.0.1"


class UpstreamTlsTest(SystemTest):
    def setUp(self):
        self.made = Certificates(self.directory())

    def served(self, alternative=HERE, days=1, by=None):
        made = by or self.made
        made.issue("server", alternative, EC, days)
        return made.served("server")

    def secured(self, script=answer_ok, context=None, **options):
        return self.origin(script, tls=context or self.served(), **options)

    def text(self, *servers, tls="", more=""):
        return (
            "routes: [ { upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: [{', '.join(servers)}], {more} "
            f"tls: {{ ca: '{self.made.path('ca.pem')}', {tls} }} }} }}\n"
        )

    def in_front_of(self, *servers, **options):
        return self.gateway(self.text(*(s.address for s in servers), **options))

    @staticmethod
    def failures(gateway, reason):
        return gateway.metrics().sum("gateway_upstream_failures_total", reason=reason)

    @staticmethod
    def handshakes(gateway, result):
        return gateway.metrics().sum("gateway_upstream_tls_handshakes_total", result=result)

    def assert_refused(self, gateway, reason, why):
        answer = gateway.get()
        self.assertEqual(answer.status, 502)
        self.assertEqual(self.failures(gateway, reason), 1)
        self.assertGreaterEqual(self.handshakes(gateway, "failed"), 1)
        gateway.wait_for_diagnostic(why)


class Believing(UpstreamTlsTest):
    def test_a_server_that_is_vouched_for(self):
        origin = self.secured()
        gateway = self.in_front_of(origin)
        with gateway.connect() as client:
            for _ in range(5):
                self.assertEqual(client.ask().status, 200)
        self.assertEqual(origin.connections, 1)
        self.assertEqual(self.handshakes(gateway, "full"), 1)

    def test_names_are_asked_for_and_addresses_are_not(self):
        asked = []
        context = self.served("DNS:api.test,DNS:localhost," + HERE)
        context.sni_callback = lambda _, name, __: asked.append(name)
        origin = self.secured(context=context)
        by_name = origin.address.replace("127.0.0.1", "localhost")
        for server, tls, name in (
            (origin.address, "", None),
            (by_name, "", "localhost"),
            (by_name, "server_name: api.test", "api.test"),
            (origin.address, "server_name: api.test.", "api.test"),
        ):
            gateway = self.gateway(self.text(f"'{server}'", tls=tls))
            self.assertEqual(gateway.get().status, 200)
            self.assertEqual(asked.pop(), name)

    def test_an_expired_certificate(self):
        origin = self.secured(context=self.served(days=-1))
        self.assert_refused(
            self.in_front_of(origin), "certificate", "the server's certificate: certificate has expired"
        )
        self.assertEqual(origin.requests, [])

    def test_a_certificate_for_somebody_else(self):
        origin = self.secured(context=self.served("DNS:other.test"))
        self.assert_refused(self.in_front_of(origin), "certificate", "IP address mismatch")
        self.assert_refused(
            self.in_front_of(origin, tls="server_name: api.test"), "certificate", "hostname mismatch"
        )
        self.assertEqual(origin.requests, [])

    def test_a_certificate_that_nobody_known_vouches_for(self):
        stranger = Certificates(self.directory())
        origin = self.secured(context=self.served(by=stranger))
        self.assert_refused(self.in_front_of(origin), "certificate", "unable to get local issuer")
        unlooked = self.in_front_of(origin, tls="verify: false")
        self.assertEqual(unlooked.get().status, 200)
        text = f"routes: [ {{ upstream: up }} ]\nupstreams: {{ up: {{ servers: ['{origin.address}'], tls: {{}} }} }}\n"
        by_the_system = self.gateway(text)
        self.assertEqual(by_the_system.get().status, 502)
        self.assertEqual(self.failures(by_the_system, "certificate"), 1)
        known_there = self.gateway(text, environment={"SSL_CERT_FILE": stranger.path("ca.pem")})
        self.assertEqual(known_there.get().status, 200)

    def test_a_name_counts_where_it_should_be_and_in_whole_labels(self):
        for alternative, believed in (
            ("DNS:*.part.test", True),
            ("DNS:ap*.part.test", False),
            ("DNS:*.test", False),
            ("DNS:other.test", False),
        ):
            origin = self.secured(context=self.served(alternative))
            gateway = self.in_front_of(origin, tls="server_name: api.part.test")
            self.assertEqual(gateway.get().status, 200 if believed else 502, alternative)
        origin = self.secured(context=self.served("email:nobody@part.test"))
        gateway = self.in_front_of(origin, tls="server_name: server")  # its common name
        self.assertEqual(gateway.get().status, 502)

    def test_who_the_gateway_is(self):
        context = self.served()
        context.load_verify_locations(self.made.path("ca.pem"))
        context.verify_mode = ssl.CERT_REQUIRED
        seen = []

        def look(peer, request):
            seen.append(peer.socket.getpeercert()["subjectAltName"])
            answer_ok(peer, request)

        origin = self.secured(look, context)
        self.made.issue("gateway", "DNS:gateway.internal")
        own = f"cert: '{self.made.path('gateway.pem')}', key: '{self.made.path('gateway.key')}'"
        self.assertEqual(self.in_front_of(origin, tls=own).get().status, 200)
        self.assertEqual(seen, [(("DNS", "gateway.internal"),)])
        nobody = self.in_front_of(origin)
        self.assertEqual(nobody.get().status, 502)
        nobody.wait_for_diagnostic("certificate required")
        self.assertEqual(self.failures(nobody, "reset"), 1)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.assert_refused(self.in_front_of(origin), "tls", "handshake failure")

    def test_who_the_gateway_is_in_health_checks(self):
        context = self.served()
        context.load_verify_locations(self.made.path("ca.pem"))
        context.verify_mode = ssl.CERT_REQUIRED
        origin = self.secured(context=context)
        self.made.issue("gateway", "DNS:gateway.internal")
        own = f"cert: '{self.made.path('gateway.pem')}', key: '{self.made.path('gateway.key')}'"
        checked = "health: { path: /, interval: 100ms, timeout: 5s },"
        self.in_front_of(origin, tls=own, more=checked)
        wait_until(lambda: len(origin.requests) > 2, 10, "it is checked")
        self.in_front_of(origin, more=checked).wait_for_diagnostic(f"{origin.address} is unhealthy")

    def test_an_address_of_ipv6(self):
        origin = self.secured(context=self.served("IP:::1"), host="::1")
        self.assertEqual(self.in_front_of_quoted(origin).get().status, 200)
        other = self.secured(context=self.served("IP:::2"), host="::1")
        self.assert_refused(self.in_front_of_quoted(other), "certificate", "IP address mismatch")

    def in_front_of_quoted(self, origin):
        return self.gateway(self.text(f"'{origin.address}'"))

    def test_an_expired_certificate_of_our_own_is_warned_of(self):
        self.made.issue("gateway", "DNS:gateway.internal", EC, -1)
        path = self.made.path("gateway.pem")
        own = f"cert: '{path}', key: '{self.made.path('gateway.key')}'"
        gateway = self.in_front_of(self.secured(), tls=own)
        gateway.wait_for_diagnostic("has expired")
        name = "gateway_tls_certificate_expiry_timestamp_seconds"
        self.assertLess(gateway.metrics().sum(name, certificate=path), time.time())

    def test_a_reload_reads_the_files_again(self):
        origin = self.secured()
        gateway = self.in_front_of(origin)
        self.assertEqual(gateway.get().status, 200)
        text = self.text(origin.address)
        for believed, status in ((Certificates(self.directory()), 502), (self.kept_aside(), 200)):
            with open(believed.path("ca.pem"), "rb") as new, open(self.made.path("ca.pem"), "wb") as ca:
                ca.write(new.read())
            self.assertIn("reloaded", gateway.reload(text))
            self.assertEqual(gateway.get().status, status)

    def test_a_reload_reads_the_certificates_of_the_system_again(self):
        origin = self.secured()
        folder = self.directory()
        believed = folder.file("believed.pem")
        shutil.copy(Certificates(self.directory()).path("ca.pem"), believed)
        text = self.text(origin.address).replace(f"ca: '{self.made.path('ca.pem')}', ", "")
        system = {"SSL_CERT_FILE": believed, "SSL_CERT_DIR": folder.file("nowhere")}
        gateway = self.gateway(text, environment=system)
        self.assertEqual(gateway.get().status, 502)
        shutil.copy(self.made.path("ca.pem"), believed)
        self.assertIn("reloaded", gateway.reload(text))
        self.assertEqual(gateway.get().status, 200)

    def kept_aside(self):
        """The authority of now, in another folder."""
        aside = Certificates(self.directory())
        shutil.copy(self.made.path("ca.pem"), aside.path("ca.pem"))
        return aside


class Failing(UpstreamTlsTest):
    def test_a_server_that_speaks_no_tls(self):
        def say_hello(raw):
            raw.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            raw.close()

        origin = self.started(Origin(tls=self.served(), greeting=say_hello))
        self.assert_refused(self.in_front_of(origin), "tls", "wrong version number")
        silent = self.started(Origin(tls=self.served(), greeting=lambda raw: raw.close()))
        self.assert_refused(self.in_front_of(silent), "tls", "ended the connection during the handshake")

    def test_a_server_that_never_answers(self):
        end = threading.Event()
        self.addCleanup(end.set)
        origin = self.secured(greeting=lambda raw: end.wait(20))
        gateway = self.in_front_of(origin, more="connect_timeout: 200ms,")
        self.assertEqual(gateway.get().status, 504)
        self.assertEqual(self.failures(gateway, "connect_timeout"), 1)

    def test_a_handshake_is_finished_whatever_happens_to_the_gateway(self):
        waiting, go_on = threading.Event(), threading.Event()

        def hold_up(raw):
            waiting.set()
            go_on.wait(20)

        self.addCleanup(go_on.set)
        origin = self.secured(greeting=hold_up)
        text = self.text(origin.address, more="connect_timeout: 20s,")
        gateway = self.gateway(text)
        with gateway.connect() as client:
            client.request()
            waiting.wait(20)
            self.assertIn("reloaded", gateway.reload(text))
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("draining")
            go_on.set()
            self.assertEqual(client.response().status, 200)
        self.assertEqual(gateway.wait(), 0)

    def test_a_silent_server_is_unhealthy(self):
        end = threading.Event()
        self.addCleanup(end.set)
        origin = self.secured(greeting=lambda raw: end.wait(20))
        gateway = self.in_front_of(origin, more="health: { path: /, interval: 100ms, timeout: 200ms },")
        gateway.wait_for_diagnostic(f"{origin.address} is unhealthy, no complete answer in time")

    def test_another_server_takes_over(self):
        good = self.secured()
        bad = self.secured(context=self.served("DNS:other.test"))
        gateway = self.in_front_of(bad, good, more="balance: round_robin,")
        for _ in range(8):
            answer = gateway.get(method="POST", body=b"once")
            self.assertEqual(answer.status, 200)
        self.assertEqual(bad.requests, [])
        self.assertEqual(len(good.requests), 8)
        self.assertGreater(self.handshakes(gateway, "failed"), 0)

    def test_a_body_that_is_cut_off(self):
        def cut(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it?")
            if request.target == "/whole":
                peer.end_tls()
            return False

        gateway = self.in_front_of(self.secured(cut))
        self.assertEqual(gateway.get("/whole").text, "all of it?")
        with gateway.connect() as client, self.assertRaises(ConnectionError):
            client.ask("/cut")
        self.assertEqual(self.failures(gateway, "reset"), 1)


class Unasked(UpstreamTlsTest):
    def test_what_a_server_says_unasked_is_nobodys_body(self):
        idle = []

        def note(peer, request):
            peer.read_body(request)
            peer.reply(200, request.body)
            idle.append(peer)

        origin = self.secured(note)
        gateway = self.in_front_of(origin)
        for said in ("A" * 40, "B" * 4000, "C" * 40):
            with gateway.connect() as client:
                self.assertEqual(client.ask(method="POST", body=b"x").status, 200)
                gateway.freeze()
                client.request(method="POST", body=said.encode())
                idle[-1].send(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"#" * 5000)
                gateway.thaw()
                self.assertEqual(client.response().text, said)


class Keeping(UpstreamTlsTest):
    def test_a_session_that_a_server_dislikes_is_forgotten(self):
        def dislike(raw):
            hello = raw.recv(4096, socket.MSG_PEEK)
            tails = (hello[at:] for at in range(len(hello) - 4))
            # The extension pre_shared_key is the last one (RFC 8446 §4.2.11).
            if any(t[:2] == b"\0\x29" and int.from_bytes(t[2:4], "big") == len(t) - 4 for t in tails):
                raw.shutdown(socket.SHUT_RDWR)

        origin = self.secured(greeting=dislike)
        gateway = self.in_front_of(origin, more="max_idle: 0, ejection: { failures: 0 },")
        with gateway.connect() as client:
            self.assertEqual([client.ask().status for _ in range(4)], [200, 502, 200, 502])

    def resumed(self, context):
        origin = self.secured(context=context)
        gateway = self.in_front_of(origin, more="max_idle: 0,")
        with gateway.connect() as client:
            for _ in range(20):
                self.assertEqual(client.ask().status, 200)
        self.assertEqual(origin.handshakes, [False] + [True] * 19)
        self.assertEqual(self.handshakes(gateway, "full"), 1)
        self.assertEqual(self.handshakes(gateway, "resumed"), 19)

    def test_sessions_are_resumed(self):
        self.resumed(self.served())

    def test_sessions_of_tls_1_2_are_resumed(self):
        context = self.served()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.resumed(context)

    def test_tickets_do_not_end_an_idle_connection(self):
        waiting, go_on = threading.Event(), threading.Event()

        def hold_up(raw):
            waiting.set()
            go_on.wait(20)

        self.addCleanup(go_on.set)
        origin = self.secured(greeting=hold_up)
        gateway = self.in_front_of(origin, more="connect_timeout: 20s,")
        idle = lambda: gateway.metrics().sum("gateway_connections", side="upstream", state="idle")
        with gateway.connect() as client:
            client.request()
            waiting.wait(20)
            client.close()
        nobody = lambda: gateway.metrics().sum("gateway_connections", side="client", state="active") == 0
        wait_until(nobody, 10, "the client has left")
        go_on.set()
        wait_until(lambda: idle() == 1, 10, "the connection waits for a request")
        for _ in range(20):
            self.assertEqual(gateway.get().status, 200)
        self.assertLessEqual(origin.connections, 2)  # of each worker one
        self.assertEqual(self.handshakes(gateway, "failed"), 0)


class Tools(UpstreamTlsTest):
    def test_haproxy_with_a_proxy_header_before_tls(self):
        self.served()
        port = free_port()
        path = self.made.together("server")
        self.started(HAProxy(port, f"""
frontend f
    bind 127.0.0.1:{port} accept-proxy ssl crt {path}
    http-request return status 200 hdr X-From %[src] hdr X-Tls %[ssl_fc_protocol]
"""))  # fmt: skip
        gateway = self.gateway(self.text(f"127.0.0.1:{port}", more="proxy_protocol: v2,"))
        for source in ("127.0.0.8", "127.0.0.9"):
            with gateway.connect(source=source) as client:
                answer = client.ask()
            self.assertEqual((answer["x-from"], answer["x-tls"]), (source, "TLSv1.3"))

    def test_health_checks_speak_tls(self):
        good = self.secured()
        bad = self.secured(context=self.served("DNS:other.test"))
        more = "health: { path: /, interval: 100ms, timeout: 5s },"
        gateway = self.in_front_of(good, bad, more=more)
        gateway.wait_for_diagnostic(f"{bad.address} is unhealthy, its certificate: IP address mismatch")
        told = lambda server: gateway.metrics().sum("gateway_upstream_server_healthy", server=server)
        self.assertEqual((told(good.address), told(bad.address)), (1, 0))
        wait_until(lambda: len(good.requests) > 2, 10, "it is checked")
        self.assertEqual({r["user-agent"] is not None for r in good.requests}, {True})


class Documentation(UpstreamTlsTest):
    def test_the_example_works(self):
        text = documented("tls.md", "yaml", "api.internal") + "routes: [ { upstream: api } ]\n"
        origin = self.secured(context=self.served("DNS:api.internal"))
        self.made.issue("gateway", "DNS:gateway")
        text = text.replace('"api.internal:8443"', f"'{origin.address}'")
        text = text.replace("gateway.key", "gateway.key\n      server_name: api.internal")
        for name in ("gateway.pem", "gateway.key"):
            text = text.replace(name, self.made.path(name))
        text = text.replace("internal-ca.pem", self.made.path("ca.pem"))
        self.assertEqual(self.gateway(text).get().status, 200)
