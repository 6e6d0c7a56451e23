"""What an HTTP/2 client can do to others: each of these is bounded, and told."""
import json
import struct
import threading

from harness.case import SystemTest, forwarding_to, only_as_shipped
from harness.client import get
from harness.http2 import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    HEADERS,
    INITIAL_WINDOW,
    PADDED,
    PING,
    PRIORITY,
    PROTOCOL_ERROR,
    REFUSED_STREAM,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Http2,
    frame,
    setting,
)
from harness.origin import answer_ok
from harness.process import wait_until
from harness.redis_server import RedisServer


HEAD = [(":method", "GET"), (":scheme", "http"), (":authority", "gateway.test"), (":path", "/")]


class Floods(SystemTest):
    """Frames that do no work: the connection ends, and is counted."""

    def setUp(self):
        self.target = self.gateway(forwarding_to("echo"))

    def flood(self, one, reason, says=True, times=3000):
        """`says`: the client is told why, which it is not if it would have to read for that."""
        with Http2(self.target.address) as c:
            stream = c.request("/", method="POST", end=False)
            try:
                c.send(one(stream) * times)
            except OSError:
                pass
            ended = c.wait_for_end()
        if says:
            self.assertEqual(ended[1], ENHANCE_YOUR_CALM)
        wait_until(lambda: self.closed(reason) == 1)
        self.assertEqual(self.target.get().status, 200)

    def closed(self, reason):
        return self.target.metrics().sum("gateway_http2_connections_closed_total", reason=reason)

    def test_pings(self):
        self.flood(lambda _: frame(PING, 0, 0, b"01234567"), "idle_frames", says=False)

    def test_answers_to_pings_nobody_sent(self):
        self.flood(lambda _: frame(PING, 1, 0, b"01234567"), "idle_frames")

    def test_settings(self):
        self.flood(lambda _: frame(SETTINGS, 0, 0, setting(_4=65535)), "idle_frames", says=False)

    def test_priorities(self):
        self.flood(lambda s: frame(PRIORITY, 0, s, struct.pack(">IB", 0, 1)), "idle_frames")

    def test_windows(self):
        self.flood(lambda s: frame(WINDOW_UPDATE, 0, s, struct.pack(">I", 1)), "idle_frames")

    def test_empty_content(self):
        self.flood(lambda s: frame(DATA, 0, s), "idle_frames")

    def test_padding(self):
        for padding in (0, 255):
            self.flood(lambda s: frame(DATA, PADDED, s, bytes([padding]) + b"0" * padding), "idle_frames")
            self.target = self.gateway(forwarding_to("echo"))

    def test_padded_content_is_none(self):
        with Http2(self.target.address) as c:
            stream = c.request("/", method="POST", end=False)
            for _ in range(2000):
                c.send_frame(DATA, PADDED, stream, b"\x03x000")
            c.data(stream, b"", end=True)
            self.assertEqual(c.wait_for(stream).status, 200)

    def test_one_line_in_ten_seconds_names_the_peer(self):
        for _ in range(3):
            with Http2(self.target.address) as c:
                try:
                    c.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) * 2000)
                except OSError:
                    pass
                c.wait_for_end()
        wait_until(lambda: self.closed("idle_frames") == 3)
        lines = [line for line in self.target.diagnostics if "HTTP/2 connection of 127.0.0.1 closed" in line]
        self.assertEqual(len(lines), 1)

    def test_heads_without_an_end(self):
        with Http2(self.target.address) as c:
            c.send_frame(HEADERS, END_STREAM, 1, c.block([(":method", "GET")]))
            try:
                for _ in range(100):
                    c.send_frame(CONTINUATION, 0, 1, b"")
            except OSError:
                pass
            c.wait_for_end()
        wait_until(lambda: self.closed("idle_frames") == 1)

    def test_heads_on_streams_that_are_over(self):
        with Http2(self.target.address) as c:
            self.assertEqual(c.ask().status, 200)
            literal = b"\x00\x03x-a\x7f\xa9\x45" + b"b" * 9000  # not indexed
            late = frame(HEADERS, END_HEADERS | END_STREAM, 1, literal)
            try:
                c.send(late * 300)
            except OSError:
                pass
            self.assertEqual(c.wait_for_end()[1], ENHANCE_YOUR_CALM)

    def test_one_byte_for_fields_of_thousands_is_not_decoded_for_long(self):
        with Http2(self.target.address) as c:
            first = c.block(HEAD + [("x-a", "a" * 3000)])
            c.send_frame(HEADERS, END_HEADERS | END_STREAM, 1, first)
            try:
                c.send_frame(HEADERS, END_HEADERS | END_STREAM, 3, b"\xbe" * 16000)
            except OSError:
                pass
            c.wait_for_end()
        wait_until(lambda: self.closed("large_heads") == 1)

    def test_work_is_no_flood(self):
        """Windows and PINGs of a client that gets content for them."""
        with Http2(self.target.address) as c:
            for _ in range(600):
                c.ping()
                self.assertEqual(c.ask().status, 200)


class Resets(SystemTest):
    def test_each_request_is_charged_and_few_reach_the_upstream_at_a_time(self):
        """CVE-2023-44487. The connection ends at the bound, and so does the next."""
        present, most, lock = 0, 0, threading.Lock()

        def script(peer, request):
            nonlocal present, most
            with lock:
                present += 1
                most = max(most, present)
            peer.wait_for_end()
            with lock:
                present -= 1
            return False

        origin = self.origin(script)
        gateway = self.gateway(
            "workers: 1\nlimits: { l: { key: [], rate: 100000/h, burst: 100000 } }\n"
            + forwarding_to(origin.address, "l")
        )
        sent = 0
        for _ in range(2):
            with Http2(gateway.address) as c:
                try:
                    for _ in range(1500):
                        c.reset(c.request())
                        sent += 1
                except OSError:
                    pass
                self.assertEqual(c.wait_for_end()[1], ENHANCE_YOUR_CALM)
        wait_until(
            lambda: gateway.metrics().sum("gateway_http2_connections_closed_total", reason="resets") == 2
        )
        charged = gateway.metrics().sum("gateway_decisions_total", outcome="allowed")
        self.assertGreaterEqual(charged, 2000)
        self.assertLessEqual(charged, sent + 2)
        self.assertLessEqual(most, 110)

    def test_each_is_charged_before_a_shared_store_has_been_asked(self):
        """The head and the reset come together, over either protocol."""
        redis = self.started(RedisServer())
        gateway = self.gateway(
            f"workers: 1\nstores: {{ s: {{ url: '{redis.url}', timeout: 10s }} }}\n"
            "limits: { l: { key: [], rate: 1000/h, store: s } }\n" + forwarding_to("echo", "l")
        )
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="s"), what="store")
        with Http2(gateway.address) as c:
            block = c.block(HEAD)
            streams = range(1, 401, 2)
            c.send(b"".join(
                frame(HEADERS, END_HEADERS | END_STREAM, s, block) + frame(RST_STREAM, 0, s, struct.pack(">I", 8))
                for s in streams
            ))
            wait_until(lambda: gateway.metrics().sum("gateway_decisions_total", outcome="allowed") == 200)
        for _ in range(50):
            with gateway.connect() as c:
                c.request("/")
        wait_until(lambda: gateway.metrics().sum("gateway_decisions_total", outcome="allowed") == 250)
        self.assertEqual(gateway.get()["X-RateLimit-Remaining"], "749")

    def test_who_leaves_at_once_takes_no_tokens_that_it_would_have_waited_for(self):
        """One after the other, so that each is the last in its line."""
        redis = self.started(RedisServer())
        token = self.directory().file("token", "secret\n")
        gateway = self.gateway(
            f"workers: 1\nstores: {{ s: {{ url: '{redis.url}', timeout: 10s }} }}\n"
            f"admin: {{ address: '127.0.0.1:0', token_file: '{token}' }}\n"
            "limits: { l: { key: [], rate: 1/m, burst: 1, max_wait: 10m, store: s } }\n" + forwarding_to("echo", "l")
        )
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="s"), what="store")

        def full_in():
            fields = [("Authorization", "Bearer secret"), ("Content-Type", "application/json")]
            asked = get(gateway.admin, "/v1/look", fields, method="POST", body=b'{"limit": "l", "key": []}')
            return json.loads(asked.text)["reset"]

        with Http2(gateway.address) as c:
            for count in range(1, 6):
                c.reset(c.request("/"))
                wait_until(lambda n=count: gateway.metrics().sum("gateway_decisions_total", outcome="allowed") == n)
                wait_until(lambda: 0 < full_in() <= 60, what="the first one's token and no other")

    def test_resets_that_a_client_makes_us_send_count_as_well(self):
        """CVE-2025-8671."""
        gateway = self.gateway(forwarding_to(self.origin(lambda peer, request: peer.wait_for_end()).address))
        with Http2(gateway.address) as c:
            try:
                for _ in range(1500):
                    stream = c.request(fields=[("content-length", "1")], method="POST", end=False)
                    c.data(stream, b"more")
                    c.ping()
            except OSError:
                pass
            self.assertEqual(c.wait_for_end()[1], ENHANCE_YOUR_CALM)

    def test_streams_above_the_bound_count_as_well(self):
        gateway = self.gateway(
            "http2: { max_streams: 1 }\n"
            + forwarding_to(self.origin(lambda peer, request: peer.wait_for_end()).address)
        )
        with Http2(gateway.address, settles=False) as c:
            try:
                for _ in range(1500):
                    c.request()
            except OSError:
                pass
            self.assertEqual(c.wait_for_end()[1], ENHANCE_YOUR_CALM)

    def test_a_client_that_resets_after_each_answer_is_left_alone(self):
        gateway = self.gateway(forwarding_to("echo"))
        with Http2(gateway.address) as c:
            for _ in range(1500):
                stream = c.request(method="POST", end=False)
                c.data(stream, b"x", end=True)
                self.assertEqual(c.wait_for(stream).status, 200)
                c.reset(stream)
            self.assertEqual(c.ask().status, 200)


@only_as_shipped  # a sanitizer keeps what was given back
class Memory(SystemTest):
    def test_one_byte_for_a_field_of_thousands(self):
        """CVE-2026-49975: indexed fields and cookie crumbs, against a window that stays shut."""
        release = threading.Event()
        self.addCleanup(release.set)

        def script(peer, request):
            release.wait(20)
            return answer_ok(peer, request)

        gateway = self.gateway(
            "workers: 1\nhttp: { max_header_bytes: 64KiB }\n" + forwarding_to(self.origin(script).address)
        )
        connections = 20
        before = gateway.memory()
        opened, sent, refused = [], 0, 0
        for _ in range(connections):
            c = Http2(gateway.address, settings=setting(_4=0), opens_windows=False)
            self.addCleanup(c.raw.close)
            opened.append(c)
            head = [(":method", "GET"), (":scheme", "http"), (":authority", "g"), (":path", "/")]
            first = c.block(head + [("x-a", "a" * 3000)])
            c.send_frame(HEADERS, END_HEADERS | END_STREAM, 1, first)
            more = c.block(head + [("x-a", "a" * 3000)] * 15)
            c.send(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, 3 + 2 * i, more) for i in range(99)))
            sent += len(first) + 99 * (len(more) + 9)
            c.ping()
            refused += sum(a.reset == REFUSED_STREAM for a in c.answers.values())
        self.assertGreater(refused, connections * 50)
        grown = gateway.memory() - before
        # Each stream has its request beside its head, and each open one a connection to the server.
        self.assertLess(grown, connections * (10 * sent // connections + 400 * 1024))

    def test_heads_of_a_client_that_reads_nothing(self):
        """Each is refused, as 100 streams are open; the refusals wait for it."""
        release = threading.Event()
        self.addCleanup(release.set)
        gateway, _ = self.proxy(lambda peer, request: release.wait(20) and False, "workers: 1\n")
        before = gateway.memory()
        c = Http2(gateway.address, settles=False)
        self.addCleanup(c.raw.close)
        c.raw.settimeout(2)
        many = b"".join(frame(HEADERS, END_HEADERS | END_STREAM, 1 + 2 * i,
                              c.block([(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "g")]))
                        for i in range(20000))  # fmt: skip
        try:
            while True:
                c.raw.sendall(many)
        except OSError:
            pass
        self.assertLess(gateway.memory() - before, 16 * 1024 * 1024)

    def test_a_response_waits_at_the_upstream(self):
        """100 streams of a client whose windows stay shut keep next to nothing of 64 KiB each."""
        gateway, _ = self.proxy(lambda peer, request: peer.reply(body=b"x" * 65536), "workers: 1\n")
        with Http2(gateway.address) as c:
            c.wait_for(*[c.request() for _ in range(100)])
        before = gateway.memory()
        with Http2(gateway.address, settings=setting(_4=0), opens_windows=False) as c:
            streams = [c.request() for _ in range(100)]
            c.wait(lambda: all(c.answer(s).fields for s in streams))
            self.assertLess(gateway.memory() - before, 100 * 16 * 1024)

    def test_a_window_that_stays_shut_ends_its_stream_only(self):
        gateway, _ = self.proxy(
            lambda peer, request: peer.reply(body=b"x" * 1000), "http: { body_timeout: 300ms }\n"
        )
        with Http2(gateway.address, settings=setting(_4=0), opens_windows=False) as c:
            answer = c.wait_for(c.request())
            self.assertEqual((answer.status, answer.body), (200, b""))
            self.assertIsNotNone(answer.reset)
            self.assertTrue(c.ping())
