"""An upstream server that speaks HTTP/2 frame by frame and does what a script says, also what no server may."""
import contextlib
import select
import socket
import ssl
import struct
import threading

from harness.clock import running
from harness.http2 import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    INITIAL_WINDOW,
    MAX_STREAMS,
    NO_ERROR,
    PING,
    PREFACE,
    REFUSED_STREAM,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    Decoder,
    Encoder,
    frame,
)
from harness.listener import accepted
from harness.process import PATIENCE

PRIORITY_FLAG, PADDED_FLAG = 0x20, 0x8
DEFAULT_WINDOW = 65535
LARGEST_FRAME = 16384
LARGEST_STREAM = 2**31 - 1
# Seconds that a script may wait for a window: a slow client's may be shut for as long as its test lasts.
LONGEST_WAIT = 300
# Fields that HTTP/2 forbids (RFC 9113 §8.2.2).
OF_CONNECTIONS = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings"}
REQUEST_PSEUDO = {":method", ":scheme", ":authority", ":path"}


class Cut(OSError):
    """The stream or the connection ended before what was awaited."""


def broken_rules(fields):
    """The rules of RFC 9113 §8 that the fields of a request break."""
    names = [name for name, _ in fields]
    found = [f"{n!r} is not in lower case" for n in names if n != n.lower()]
    found += [f"{n} is of a connection" for n in names if n in OF_CONNECTIONS]
    found += [f"unknown {n}" for n in names if n.startswith(":") and n not in REQUEST_PSEUDO]
    found += [f"{n} comes {names.count(n)} times" for n in (":method", ":scheme", ":path") if names.count(n) != 1]
    pseudo = [n.startswith(":") for n in names]
    if pseudo != sorted(pseudo, reverse=True):
        found.append("a pseudo-field behind others")
    found += [f"te: {v}" for n, v in fields if n == "te" and v != "trailers"]
    found += [f"{n}: {v!r}" for n, v in fields if v != v.strip() or any(c in v for c in "\r\n\0")]
    return found


class SharedTls:
    """A TLS socket that one thread reads while others write; OpenSSL allows only one call at a time."""

    def __init__(self, secured):
        self._secured, self._lock = secured, threading.Lock()
        secured.setblocking(False)

    def recv(self, most):
        while True:
            with self._lock, contextlib.suppress(ssl.SSLWantReadError):
                return self._secured.recv(most)
            select.select([self._secured], [], [])

    def sendall(self, data):
        left = memoryview(data)
        while len(left):
            with self._lock, contextlib.suppress(ssl.SSLWantWriteError):
                left = left[self._secured.send(left) :]
                continue
            select.select([], [self._secured], [])

    def setsockopt(self, *words):
        self._secured.setsockopt(*words)

    def shutdown(self, how):
        # The method of ssl would make the thread that reads take records for text.
        socket.socket.shutdown(self._secured, how)

    def close(self):
        self._secured.close()


class Call:
    """One request of the gateway's: a stream, and the ways to answer it."""

    def __init__(self, peer, number, fields, window):
        self.peer, self.number, self.fields = peer, number, fields
        self.trailers = None
        self.body = b""
        self.frames = 0  # of DATA
        self.ended = False
        self.reset = None
        self.window = window  # bytes that this side may send
        self.granted = peer.granted_window  # bytes that the gateway may send
        self.finished = False  # by this side
        self.refused = False  # because there were too many at once, or behind a goodbye

    def all(self, name):
        return [value for n, value in self.fields if n == name]

    def __getitem__(self, name):
        values = self.all(name)
        return values[0] if values else None

    @property
    def method(self):
        return self[":method"]

    @property
    def target(self):
        return self[":path"]

    # ---- waiting for the gateway

    def wait(self, until, seconds=10):
        """Raises Cut if the connection or the stream ends first."""
        self.peer.wait(until, seconds, lambda: self.reset is not None)

    def read_body(self):
        self.wait(lambda: self.ended)
        return self.body

    def wait_for_reset(self, seconds=10):
        """The error code with which the gateway has reset the stream."""
        self.peer.wait(lambda: self.reset is not None, seconds)
        return self.reset

    # ---- answering

    def send_fields(self, fields, end=False):
        self._note_end(end)
        self.peer.send_fields(self.number, fields, end)

    def head(self, status=200, fields=(), end=False):
        self.send_fields([(":status", str(status)), *fields], end)

    def data(self, content, end=False):
        """Sends `content` as the gateway's windows let it."""
        left = memoryview(content)
        while True:
            size = self.peer.take_window(self, len(left)) if len(left) else 0
            piece, left = left[:size], left[size:]
            last = not len(left)
            self._note_end(end and last)
            self.peer.send_frame(DATA, END_STREAM if end and last else 0, self.number, bytes(piece))
            if last:
                return

    def reply(self, status=200, body=b"ok", fields=(), trailers=None):
        self.head(status, fields, end=not body and trailers is None)
        if body:
            self.data(body, end=trailers is None)
        if trailers is not None:
            self.send_fields(trailers, end=True)

    def reset_with(self, error):
        self._note_end(True)
        self.peer.send_frame(RST_STREAM, 0, self.number, struct.pack(">I", error))

    def _note_end(self, end):
        """Called before the end is sent: the gateway may open another stream as soon as it has it."""
        if end:
            self.finished = True


class Peer:
    """One connection of the gateway's. A thread reads it, and one more runs the script of each request."""

    def __init__(self, origin, connected):
        self.origin, self.socket = origin, connected
        self.settings = {}  # the gateway's
        self.calls = {}
        self.goaway = None  # (last stream, error) of the gateway's
        self.pings = self.pongs = 0
        self.closed = False
        self.most_open = 0
        self.granted_window = DEFAULT_WINDOW
        self._unacknowledged = []  # settings of this side, in order
        self._last = LARGEST_STREAM
        self._bound = None  # of streams at once, once the gateway has acknowledged it
        self._window = DEFAULT_WINDOW
        self._granted = DEFAULT_WINDOW
        self._decoder, self._encoder = Decoder(), Encoder()
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        self._left = b""

    # ---- sending

    def send(self, data):
        with self._sending:
            self.socket.sendall(data)

    def send_frame(self, kind, flags=0, stream=0, payload=b""):
        self.send(frame(kind, flags, stream, payload))

    def block(self, fields):
        return self._encoder.encode(fields)

    def send_fields(self, stream, fields, end=False):
        """HEADERS, and CONTINUATION for what does not fit."""
        with self._sending:
            block = self.block(fields)
            pieces = [block[i : i + LARGEST_FRAME] for i in range(0, len(block), LARGEST_FRAME)] or [b""]
            for number, piece in enumerate(pieces):
                flags = END_HEADERS if number == len(pieces) - 1 else 0
                kind = CONTINUATION if number else HEADERS
                flags |= END_STREAM if end and not number else 0
                self.socket.sendall(frame(kind, flags, stream, piece))

    def settle(self, values):
        """Sends SETTINGS: {number: value}."""
        with self._changed:
            self._unacknowledged.append(dict(values))
        self.send_frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", n, v) for n, v in values.items()))

    def bound_table(self, size):
        """Has the gateway's use of more than `size` bytes of HPACK's table fail the test."""
        with self._changed:
            self._decoder.max_allowed_table_size = size

    def wait_for_settled(self):
        self.wait(lambda: not self._unacknowledged)

    def open_window(self, stream, by):
        with self._changed:
            if stream == 0:
                self._granted += by
            else:
                self.calls[stream].granted += by
        self.send_frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", by))

    def say_goodbye(self, last, error=NO_ERROR):
        """GOAWAY; the server does not look at streams above `last`, whenever they come."""
        self._last = min(self._last, last)
        self.send_frame(GOAWAY, 0, 0, struct.pack(">II", last, error))

    def ping(self):
        """Asks the gateway, which raises `pongs`."""
        self.send_frame(PING, 0, 0, b"01234567")

    def take_window(self, call, wanted):
        """Bytes of `wanted` that may be sent on the call's stream now, at least one."""
        self.wait(lambda: min(self._window, call.window) > 0, LONGEST_WAIT, lambda: call.reset is not None)
        with self._changed:
            size = min(wanted, self._window, call.window, LARGEST_FRAME)
            self._window -= size
            call.window -= size
            return size

    def cut(self):
        """Ends the connection with a reset of TCP."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    # ---- waiting

    def wait(self, until, seconds=10, is_over=lambda: False):
        """Returns when `until()` is true; raises Cut if it never will be."""
        deadline = running() + seconds * PATIENCE
        with self._changed:
            while not until():
                if self.closed or is_over():
                    raise Cut("the gateway has ended it")
                if running() > deadline:
                    raise AssertionError(f"http2 origin: not within {seconds} s")
                self._changed.wait(0.1)

    # ---- reading

    def serve(self):
        self.origin.before(self)
        if self.take(len(PREFACE)) != PREFACE:
            raise AssertionError("http2 origin: no preface")
        self.settle(self.origin.settings)
        while True:
            size, kind, flags, stream = self._frame_head()
            payload = self.take(size)
            with self._changed:
                self._take(kind, flags, stream, payload)
                self._changed.notify_all()

    def take(self, count):
        """The next bytes of the connection."""
        while len(self._left) < count:
            got = self.socket.recv(262144)
            if not got:
                raise Cut("the end")
            self._left += got
        found, self._left = self._left[:count], self._left[count:]
        return found

    def _frame_head(self):
        head = self.take(9)
        return int.from_bytes(head[:3], "big"), *struct.unpack(">BBI", head[3:])

    def _take(self, kind, flags, stream, payload):
        if kind == HEADERS:
            self._take_fields(flags, stream, payload)
        elif kind == DATA:
            self._take_data(flags, stream, payload)
        elif kind == RST_STREAM and stream in self.calls:
            self.calls[stream].reset = struct.unpack(">I", payload)[0]
        elif kind == SETTINGS:
            self._take_settings(flags, payload)
        elif kind == WINDOW_UPDATE:
            by = struct.unpack(">I", payload)[0]
            if stream == 0:
                self._window += by
            elif stream in self.calls:
                self.calls[stream].window += by
        elif kind == PING and flags & ACK:
            self.pongs += 1
        elif kind == PING:
            self.pings += 1
            if self.origin.answers_pings:
                self.send_frame(PING, ACK, 0, payload)
        elif kind == GOAWAY:
            self.goaway = struct.unpack(">II", payload[:8])

    def _take_settings(self, flags, payload):
        if flags & ACK:
            values = self._unacknowledged.pop(0) if self._unacknowledged else {}
            self._bound = values.get(MAX_STREAMS, self._bound)
            if INITIAL_WINDOW in values:
                for call in self.calls.values():
                    call.granted += values[INITIAL_WINDOW] - self.granted_window
                self.granted_window = values[INITIAL_WINDOW]
            return
        for at in range(0, len(payload), 6):
            name, value = struct.unpack(">HI", payload[at : at + 6])
            if name == INITIAL_WINDOW:
                for call in self.calls.values():
                    call.window += value - self.settings.get(name, DEFAULT_WINDOW)
            self.settings[name] = value
        self.send_frame(SETTINGS, ACK)

    def _take_fields(self, flags, stream, payload):
        block = self._block_of(flags, payload)
        end = bool(flags & END_STREAM)
        fields = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in self._decoder.decode(block, raw=True)]
        if stream in self.calls:
            self.calls[stream].trailers = fields
            self.calls[stream].ended = True
            return
        call = Call(self, stream, fields, self.settings.get(INITIAL_WINDOW, DEFAULT_WINDOW))
        call.ended = end
        self.calls[stream] = call
        is_open = [c for c in self.calls.values() if not (c.finished and (c.ended or c.refused)) and c.reset is None]
        if self._bound is not None and len(is_open) > self._bound:
            self.origin.problems.append(f"{len(is_open)} streams where {self._bound} may be")
        if len(is_open) > self.origin.settings.get(MAX_STREAMS, len(is_open)):
            # The gateway may not know the bound yet, and a server may insist on it.
            call.refused = True
            call.reset_with(REFUSED_STREAM)
            return
        if stream > self._last:
            call.refused = True
            return
        self.most_open = max(self.most_open, len(is_open))
        self.origin.begin(call)

    def _block_of(self, flags, payload):
        """The field block that begins in this payload, without padding and priority."""
        if flags & PADDED_FLAG:
            payload = payload[1 : len(payload) - payload[0]]
        block = payload[5:] if flags & PRIORITY_FLAG else payload
        while not flags & END_HEADERS:
            size, kind, flags, _ = self._frame_head()
            assert kind == CONTINUATION, f"http2 origin: frame {kind} within a field block"
            block += self.take(size)
        return block

    def _take_data(self, flags, stream, payload):
        call = self.calls[stream]
        self._granted -= len(payload)
        call.granted -= len(payload)
        if self._granted < 0 or (call.granted < 0 and call.reset is None):
            self.origin.problems.append(f"more than the windows let through on stream {stream}")
        content = payload[1 : len(payload) - payload[0]] if flags & PADDED_FLAG else payload
        call.body += content
        call.frames += 1
        call.ended = call.ended or bool(flags & END_STREAM)
        if call.refused:
            self.open_window(0, len(payload))
        elif payload and self.origin.opens_windows:
            self.open_window(0, len(payload))
            if not call.ended:
                self.open_window(stream, len(payload))


def answer_ok(call):
    call.read_body()
    call.reply()


class Http2Origin:
    """`script(call)` runs for each request as soon as its fields are there. With `tls`, a context, the server
    offers `alpn` there. `settings` are {number: value}."""

    def __init__(self, script=answer_ok, settings=None, tls=None, alpn=("h2",), port=0, opens_windows=True):
        self.script, self.settings = script, dict(settings or {})
        self.opens_windows = opens_windows
        self.answers_pings = True
        self.before = lambda peer: None  # runs before a connection is read
        self.requests = []
        self.peers = []
        self.chosen = []  # what ALPN chose on each connection
        self.problems = []  # broken rules, which the end of the test looks at
        self._lock = threading.Lock()
        self._tls = tls
        if tls is not None and alpn:
            tls.set_alpn_protocols(list(alpn))
        self._listening = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.port = self._listening.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def connections(self):
        return len(self.peers)

    def open_peers(self):
        return [p for p in list(self.peers) if not p.closed]

    def last(self):
        return self.requests[-1]

    def targets(self):
        return [call.target for call in list(self.requests)]

    def _accept(self):
        for connected in accepted(self._listening):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connected,), daemon=True).start()

    def _serve(self, raw):
        peer = Peer(self, raw)
        with self._lock:
            self.peers.append(peer)
        try:
            if self._tls is not None:
                secured = self._tls.wrap_socket(raw, server_side=True)
                self.chosen.append(secured.selected_alpn_protocol())
                peer.socket = SharedTls(secured)
            peer.serve()
        except OSError:
            pass  # the gateway may leave
        except Exception as e:  # noqa: BLE001: a thread's assertion must reach the test
            self.problems.append(f"{type(e).__name__}: {e}")
        finally:
            with peer._changed:
                peer.closed = True
                peer._changed.notify_all()
            peer.close()
            peer.socket.close()

    def begin(self, call):
        self.problems += broken_rules(call.fields)
        with self._lock:
            self.requests.append(call)
        threading.Thread(target=self._run, args=(call,), daemon=True).start()

    def _run(self, call):
        try:
            self.script(call)
        except OSError:
            pass
        except Exception as e:  # noqa: BLE001
            self.problems.append(f"{type(e).__name__}: {e}")

    def close_listener(self):
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def stop(self):
        self.close_listener()
        for peer in self.open_peers():
            peer.close()
        assert not self.problems, self.problems[:5]
