"""TLS whose bytes come slowly, cut anywhere, by Python's ssl over memory."""
import signal
import socket
import ssl
import time

from harness.process import wait_until
from test_tls import LAST, TlsTest


class Pieces(TlsTest):
    """Of a client whose bytes come slowly; what it has sealed is sent when the test says so."""

    LATER = 0.7  # than the half second in which a gateway that drains closes what is idle

    def sealing(self, gateway, version=ssl.TLSVersion.TLSv1_3):
        """A socket, and TLS that writes to memory; nothing is sent yet."""
        raw = socket.create_connection(gateway.address, timeout=10)
        self.addCleanup(raw.close)
        self.coming, self.going = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = self.made.context()
        context.maximum_version = version
        return raw, context.wrap_bio(self.coming, self.going, server_hostname="gateway.test")

    def go_on(self, raw, step, *arguments):
        """Does it, and gives and gets what it takes for that."""
        while True:
            try:
                return step(*arguments)
            except ssl.SSLWantReadError:
                raw.sendall(self.going.read())
                got = raw.recv(65536)
                self.assertTrue(got, "cut off")
                self.coming.write(got)

    def answer_to(self, raw, end):
        raw.sendall(self.going.read())
        return self.go_on(raw, end.read, 65536)[:12]

    def sealed(self, gateway, words=LAST):
        """A client that has shaken hands, and a request in records."""
        raw, end = self.sealing(gateway)
        self.go_on(raw, end.do_handshake)
        raw.sendall(self.going.read())
        end.write(words)
        return raw, end, self.going.read()

    def test_a_handshake_that_has_begun_is_finished_while_the_gateway_drains(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.subTest(version):
                gateway = self.listening()
                raw, end = self.sealing(gateway, version)
                with self.assertRaises(ssl.SSLWantReadError):
                    end.do_handshake()
                hello = self.going.read()
                raw.sendall(hello[:9])
                # A turn of the gateway's loop, after which it has seen the part.
                self.assertEqual(self.answer(self.connected(gateway), LAST)[:12], b"HTTP/1.1 200")
                gateway.signal(signal.SIGTERM)
                gateway.wait_for_diagnostic("draining")
                time.sleep(self.LATER)
                raw.sendall(hello[9:])
                self.go_on(raw, end.do_handshake)
                raw.sendall(self.going.read())
                time.sleep(self.LATER)
                end.write(LAST)
                self.assertEqual(self.answer_to(raw, end), b"HTTP/1.1 200")
                self.assertEqual(gateway.wait(), 0)

    def test_a_drain_waits_half_a_second_for_who_says_nothing(self):
        gateway = self.listening("handshake_timeout: 1m")
        with socket.create_connection(gateway.address, timeout=10) as silent:
            wait_until(lambda: gateway.metrics().sum("gateway_connections", state="idle") == 1)
            gateway.signal(signal.SIGTERM)
            self.assertEqual(silent.recv(1), b"")
        self.assertEqual(gateway.wait(), 0)

    def test_a_request_in_a_record_of_which_a_part_has_come_is_under_way(self):
        gateway = self.listening()
        raw, end, record = self.sealed(gateway)
        raw.sendall(record[:9])
        # A turn of the gateway's loop, after which it has seen the part.
        self.assertEqual(self.answer(self.connected(gateway), LAST)[:12], b"HTTP/1.1 200")
        gateway.signal(signal.SIGTERM)
        gateway.wait_for_diagnostic("draining")
        time.sleep(self.LATER)
        self.going.write(record[9:])
        self.assertEqual(self.answer_to(raw, end), b"HTTP/1.1 200")
        self.assertEqual(gateway.wait(), 0)

    def test_a_record_that_does_not_end_is_no_idle_connection(self):
        gateway = self.listening(more="http: { idle_timeout: 1m, header_timeout: 300ms }\n")
        raw, end, record = self.sealed(gateway)
        for i in range(len(record) - 1):
            try:
                raw.sendall(record[i : i + 1])
                raw.settimeout(0.05)
                if not raw.recv(65536):  # else a ticket
                    break
            except TimeoutError:
                pass
            except ConnectionError:
                break
        else:
            self.fail("it may go on for ever")

    def test_a_body_in_a_large_record_may_come_slowly(self):
        gateway = self.listening(more="http: { body_timeout: 1500ms }\n")
        words = b"POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 16000\r\n\r\n"
        raw, end, head = self.sealed(gateway, words)
        raw.sendall(head)
        end.write(b"x" * 16000)
        record = self.going.read()
        for at in range(0, len(record), 2000):
            raw.sendall(record[at : at + 2000])
            time.sleep(0.25)
        self.assertEqual(self.answer_to(raw, end), b"HTTP/1.1 200")
