"""Drivers that put load on the gateway and remember every answer.

`Load` keeps one request in flight per connection and times each; `pipelined` pushes prepared
requests as fast as they are taken. Both are one loop over one selector, in the caller's thread.
"""
import heapq
import re
import selectors
import socket
import ssl
import threading
import time
from collections import namedtuple

from harness.client import secured
from harness.clock import running

Answer = namedtuple("Answer", "tag status sent at text")  # times are of clock.running()

# A gateway that drains closes a connection that was quiet for half a second (docs/operations.md).
LATE = 0.4

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CLOSES = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)


class _Flow:
    """One connection of a Load."""

    def __init__(self, tag, request):
        self.tag, self.request = tag, request
        self.socket = None
        self.buffer = b""
        self.sent = 0.0
        self.waiting = False
        self.spoke = 0.0  # real time, as the gateway counts it
        self.was_late = False


class Load:
    """`flows` are (tag, request bytes), one connection each. With an `interval`, each sends one
    request per interval, as long as answers keep up; without, as fast as answers come.

    A response with `Connection: close` is followed by a new connection; a connection that ends
    in any other way is recorded in `lost`: a request without an answer, or a refused connect.
    Only where this client itself was late, as on a machine that stood still, it asks once more, as
    all clients do whose connection was closed meanwhile (RFC 9110 9.2.2)."""

    def __init__(self, address, flows, interval=None):
        self._address, self._interval = address, interval
        self._flows = [_Flow(tag, request) for tag, request in flows]
        self._selector = selectors.DefaultSelector()
        self._due = []  # (time, number): flows whose next request waits
        self._stopping = threading.Event()
        self._thread = None
        self.answers = []
        self.lost = []

    def run(self, seconds):
        """Returns the answers, after those in flight have come."""
        self._end = running() + seconds
        start = running()
        for number, flow in enumerate(self._flows):
            offset = (self._interval or 0) * number / len(self._flows)
            heapq.heappush(self._due, (start + offset, number))
        give_up = self._end + 30
        while running() < give_up:
            self._send_due()
            if self._over() and not any(f.waiting for f in self._flows):
                break
            self._turn()
        for flow in self._flows:
            if flow.waiting:
                self.lost.append((flow.tag, "no answer at all"))
            self._drop(flow)
        self._selector.close()
        return self.answers

    def start(self):
        """Runs in a thread of its own until `finish`."""
        self._thread = threading.Thread(target=self.run, args=(3600,), daemon=True)
        self._thread.start()
        return self

    def finish(self):
        self._stopping.set()
        self._thread.join(60)
        return self.answers

    def _over(self):
        return self._stopping.is_set() or running() >= self._end

    def _turn(self):
        limit = 0.05 if not self._due else max(0.0, min(0.05, self._due[0][0] - running()))
        for key, _ in self._selector.select(limit):
            self._receive(key.data)

    def _send_due(self):
        while self._due and self._due[0][0] <= running():
            _, number = heapq.heappop(self._due)
            if not self._over():
                self._send(self._flows[number])

    def _send(self, flow):
        before = flow.spoke if flow.socket else time.monotonic()
        failed = None
        try:
            if flow.socket is None:
                self._connect(flow)
            flow.sent = running()
            flow.socket.sendall(flow.request)
            flow.waiting = True
        except OSError as e:
            failed = e
        flow.spoke = time.monotonic()
        flow.was_late = flow.spoke - before >= LATE
        if failed:
            self._lose(flow, failed)

    def _connect(self, flow):
        family = socket.AF_UNIX if isinstance(self._address, str) else socket.AF_INET
        flow.socket = socket.socket(family, socket.SOCK_STREAM)
        flow.socket.settimeout(10)
        flow.socket.connect(self._address)
        if family == socket.AF_INET:
            flow.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._address in secured:
            context = secured[self._address]
            flow.socket = context.wrap_socket(flow.socket, server_hostname="gateway.test")
            flow.socket.settimeout(0)  # what can be read may be no text
        flow.buffer = b""
        self._selector.register(flow.socket, selectors.EVENT_READ, flow)

    def _receive(self, flow):
        try:
            data = flow.socket.recv(65536)
            while isinstance(flow.socket, ssl.SSLSocket) and flow.socket.pending():
                data += flow.socket.recv(65536)
        except ssl.SSLWantReadError:
            return
        except OSError as e:
            self._lose(flow, e)
            return
        if not data:
            if flow.waiting:
                self._lose(flow, "closed before the answer")
            else:
                self._drop(flow)
            return
        flow.buffer += data
        end = flow.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        length = LENGTH.search(flow.buffer, 0, end)
        size = end + 4 + (int(length.group(1)) if length else 0)
        if len(flow.buffer) >= size:
            self._answered(flow, flow.buffer[:size], bool(CLOSES.search(flow.buffer, 0, end)))

    def _answered(self, flow, text, closes):
        now = running()
        self.answers.append(Answer(flow.tag, int(text[9:12]), flow.sent, now, text))
        flow.buffer = flow.buffer[len(text) :]
        flow.waiting = False
        if closes:
            self._drop(flow)
        self._next(flow, now)

    def _next(self, flow, now):
        at = now if self._interval is None else max(now, flow.sent + self._interval)
        heapq.heappush(self._due, (at, self._flows.index(flow)))

    def _lose(self, flow, why):
        if not flow.was_late:
            self.lost.append((flow.tag, str(why)))
        flow.waiting = False
        self._drop(flow)
        self._next(flow, running() + 0.005)

    def _drop(self, flow):
        if flow.socket is not None:
            try:
                self._selector.unregister(flow.socket)
            except (KeyError, ValueError):
                pass
            flow.socket.close()
            flow.socket = None


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


def pipelined(address, requests, connections=8, window=64, source=None):
    """Sends prepared requests, dealt to the connections in blocks, up to `window` unanswered on
    each; the statuses in the order of the requests. No body may look like a status line."""
    share = (len(requests) + connections - 1) // connections
    lanes = [
        _Lane(address, requests[i * share : (i + 1) * share], window, source)
        for i in range(connections)
    ]
    lanes = [lane for lane in lanes if lane.requests]
    selector = selectors.DefaultSelector()
    try:
        for lane in lanes:
            selector.register(lane.socket, selectors.EVENT_READ, lane)
            lane.push()
        active = len(lanes)
        while active:
            ready = selector.select(60)
            assert ready, "no answer for a minute"
            for key, _ in ready:
                lane = key.data
                if lane.pull():
                    selector.unregister(lane.socket)
                    active -= 1
    finally:
        for lane in lanes:
            lane.socket.close()
        selector.close()
    return [status for lane in lanes for status in lane.statuses]


class _Lane:
    def __init__(self, address, requests, window, source):
        self.requests, self.window = requests, window
        self.statuses = []
        self.pushed = 0
        self.tail = b""
        self.socket = socket.create_connection(
            address, 60, source_address=None if source is None else (source, 0)
        )

    def push(self):
        upto = min(len(self.requests), len(self.statuses) + self.window)
        if upto - self.pushed >= self.window // 2 or upto == len(self.requests):
            self.socket.sendall(b"".join(self.requests[self.pushed : upto]))
            self.pushed = upto

    def pull(self):
        """True when all answers are there."""
        data = self.socket.recv(262144)
        assert data, f"closed after {len(self.statuses)} of {len(self.requests)} answers"
        text = self.tail + data
        last = 0
        for match in STATUS.finditer(text):
            self.statuses.append(int(match.group(1)))
            last = match.end()
        self.tail = text[max(last, len(text) - 16) :]
        self.push()
        return len(self.statuses) == len(self.requests)
