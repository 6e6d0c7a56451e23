"""Upgrades and reloads under HTTP/2 load: no request is lost that was let in."""
import collections
import signal
import threading
import time

from harness.case import SystemTest, forwarding_to
from harness.http2 import (
    ACK,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    NO_ERROR,
    PING,
    REFUSED_STREAM,
    Http2,
    frame,
    setting,
)
from harness.http2_origin import Http2Origin
from harness.http2_upstream_case import over_http2
from harness.origin import answer_ok
from harness.process import SLOW, wait_until
from harness.upgraded import UpgradedGateway

UPGRADES = 5 if SLOW else 20
CLIENTS, STREAMS = 3, 10


class Client:
    """Keeps streams open on one connection after the other, until `over` is set."""

    def __init__(self, address, over):
        self._address, self._over = address, over
        self.found = collections.Counter()

    def run(self):
        try:
            while not self._over.is_set():
                self._use_a_connection()
        except Exception as e:  # the test looks at what was found
            self.found[f"failed: {e!r}"] += 1

    def _use_a_connection(self):
        with Http2(self._address) as c:
            self.found["connections"] += 1
            asked = []
            while c.goaway is None and not c.closed and not self._over.is_set():
                streams = [c.request(f"/{i}") for i in range(STREAMS)]
                asked += streams
                c.wait(lambda: c.closed or c.goaway is not None or all(c.answer(s).over for s in streams))
            c.wait(lambda: c.closed or (c.goaways != 1 and all(self._settled(c, s) for s in asked)))
            for stream in asked:
                self.found[self._fate(c, stream)] += 1

    @staticmethod
    def _settled(c, stream):
        return c.answer(stream).over or (c.goaway is not None and stream > c.goaway[0])

    @staticmethod
    def _fate(c, stream):
        if c.answer(stream).ended and c.answer(stream).status == 200:
            return "answered"
        return "not let in" if c.goaway is not None and stream > c.goaway[0] else "lost"


class Upgrades(SystemTest):
    def test_nothing_is_lost(self):
        self.assert_nothing_is_lost(forwarding_to(self.origin(answer_ok).address))

    def test_nothing_is_lost_where_the_upstream_speaks_http_2_too(self):
        self.assert_nothing_is_lost(over_http2(self.started(Http2Origin()).address, workers=2))

    def assert_nothing_is_lost(self, text):
        gateway = self.started(UpgradedGateway(text))
        over = threading.Event()
        self.addCleanup(over.set)
        clients = [Client(gateway.address, over) for _ in range(CLIENTS)]
        threads = [threading.Thread(target=c.run) for c in clients]
        for thread in threads:
            thread.start()
        for i in range(UPGRADES):
            self.assertIn("serves", gateway.upgrade())
            wait_until(gateway.is_alone, 20)
        over.set()
        for thread in threads:
            thread.join()
        found = sum((c.found for c in clients), collections.Counter())
        self.assertEqual(set(found) - {"answered", "not let in", "connections"}, set(), found)
        self.assertGreaterEqual(found["connections"], CLIENTS * UPGRADES)
        self.assertGreater(found["answered"], CLIENTS * UPGRADES * STREAMS)

    def test_a_reload_leaves_connections_as_they_are(self):
        origin = self.origin(answer_ok)
        gateway = self.gateway(forwarding_to(origin.address))
        with Http2(gateway.address) as c:
            for i in range(5):
                self.assertEqual(c.ask().status, 200)
                gateway.reload(f"http: {{ max_headers: {50 + i} }}\n" + forwarding_to(origin.address))
            self.assertEqual(c.ask(fields=[("x-a", "1")] * 60).status, 431)

    def test_a_stream_that_runs_when_the_process_ends_is_served(self):
        """A long response, as of a stream of events, goes on until it ends or the drain does."""
        more = threading.Event()
        self.addCleanup(more.set)

        def script(peer, request):
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
            more.wait(10)
            peer.send(b"4\r\nlast\r\n0\r\n\r\n")
            return False

        gateway = self.gateway(forwarding_to(self.origin(script).address))
        with Http2(gateway.address) as c:
            stream = c.request()
            c.wait(lambda: c.answer(stream).body == b"first")
            gateway.signal(signal.SIGTERM)
            c.wait(lambda: c.goaways == 2)
            more.set()
            self.assertEqual(c.wait_for(stream).body, b"firstlast")
        self.assertEqual(gateway.wait(), 0)


class LastStreams(SystemTest):
    """What GOAWAY calls not processed was neither charged nor forwarded."""

    def connection(self, *args, **options):
        c = Http2(*args, **options)
        self.addCleanup(c.raw.close)
        return c

    def drained_with_a_request_beside_the_pong(self, gateway, drain):
        """Answers the PING of a drain, and begins a request in the same segment; its stream and the connection."""
        c = self.connection(gateway.address, answers_pings=False)
        self.assertEqual(c.ask("/first").status, 200)
        drain(c)
        c.wait(lambda: c.pings)
        stream, c.next_stream = c.next_stream, c.next_stream + 2
        head = [(":method", "GET"), (":scheme", "http"), (":authority", "gateway.test"), (":path", "/late")]
        pong = frame(PING, ACK, 0, c.pings[0])
        c.send(pong + frame(HEADERS, END_HEADERS | END_STREAM, stream, c.block(head)))
        c.wait_for_end()
        return c, stream

    def assert_served(self, c, stream, origin):
        self.assertEqual(c.goaway, (stream, NO_ERROR))
        self.assertEqual(c.answer(stream).status, 200)
        self.assertEqual(origin.last().target, "/late")

    def test_a_request_beside_the_answer_to_the_ping(self):
        gateway, origin = self.proxy(answer_ok)
        c, stream = self.drained_with_a_request_beside_the_pong(gateway, lambda _: gateway.signal(signal.SIGTERM))
        self.assert_served(c, stream, origin)
        self.assertEqual(c.goaways, 2)
        self.assertEqual(gateway.wait(), 0)

    def test_a_request_beside_the_answer_to_the_ping_after_the_last_one_allowed(self):
        origin = self.origin(answer_ok)
        gateway = self.gateway("http2: { max_requests: 2 }\n" + forwarding_to(origin.address))
        c, stream = self.drained_with_a_request_beside_the_pong(gateway, lambda c: c.ask("/second"))
        self.assert_served(c, stream, origin)

    def test_a_request_while_goaway_waits_for_a_client_that_does_not_read(self):
        large = b"x" * 16_000_000

        def script(peer, request):
            return peer.reply(body=large)

        origin = self.origin(script)
        gateway = self.gateway("drain_timeout: 1m\n" + forwarding_to(origin.address))
        c = self.connection(gateway.address, settings=setting(_4=2**31 - 1), opens_windows=False)
        c.open_window(0, 2**30)
        first = c.request("/first")
        wait_until(lambda: origin.requests)
        time.sleep(0.5)  # The socket's buffers are full.
        gateway.signal(signal.SIGTERM)
        gateway.wait_for_diagnostic("draining")
        time.sleep(1)  # The time for the answer to the PING has passed.
        late = c.request("/late")
        time.sleep(0.2)
        c.wait_for_end()
        self.assertEqual(c.answer(first).body, large)
        self.assertEqual(c.goaway, (first, NO_ERROR))
        self.assertEqual((c.answer(late).fields, c.answer(late).reset), (None, REFUSED_STREAM))
        self.assertEqual([r.target for r in origin.requests], ["/first"])
