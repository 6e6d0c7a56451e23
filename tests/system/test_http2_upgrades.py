"""Upgrades and reloads under HTTP/2 load: no request is lost that was let in."""
import collections
import signal
import threading

from harness.case import SystemTest, forwarding_to
from harness.http2 import Http2
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
