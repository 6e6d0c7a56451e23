"""A client of HTTP/2 that sends any frame. HPACK is that of python3-hpack."""
import socket
import struct
import sys
import time

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, whichever Python runs

from hpack import Decoder, Encoder  # noqa: E402

from harness import client

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS = 0, 1, 2, 3, 4
PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 5, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = 0, 1, 2, 3
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR = 5, 6, 7, 8, 9
ENHANCE_YOUR_CALM = 11
MAX_STREAMS, INITIAL_WINDOW, MAX_FRAME = 3, 4, 5


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def setting(**values):
    return b"".join(struct.pack(">HI", int(k[1:]), v) for k, v in values.items())


class Answer:
    """What has come on a stream."""

    def __init__(self):
        self.interim = []
        self.fields = None
        self.trailers = None
        self.body = b""
        self.ended = False
        self.reset = None
        self.frames = 0

    @property
    def status(self):
        return int(self.get(":status"))

    def get(self, name):
        return dict(self.fields).get(name)

    @property
    def over(self):
        return self.ended or self.reset is not None


class Http2:
    """A connection. Windows are opened as content comes, unless `opens_windows` is False; the server's
    settings are acknowledged, unless `settles` is; and its PINGs, unless `answers_pings` is."""

    def __init__(
        self, address, settings=b"", opens_windows=True, begins=True, settles=True, answers_pings=True, timeout=10
    ):
        self.raw = socket.create_connection(address, timeout)
        self.raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        secured = client.secured.get(address)
        if secured is not None:
            secured.set_alpn_protocols(["h2", "http/1.1"])
            self.raw = secured.wrap_socket(self.raw, server_hostname="gateway.test")
            secured.set_alpn_protocols([])  # other clients have it, too
        self.opens_windows, self.settles, self.answers_pings = opens_windows, settles, answers_pings
        self.encoder, self.decoder = Encoder(), Decoder(max_header_list_size=2**20)
        self.answers = {}
        self.settings = {}
        self.goaway = None  # (last stream, error)
        self.goaways = 0
        self.opened = {}  # by WINDOW_UPDATE, of each stream
        self.sent = {}  # DATA, of each stream; both with 0 for the connection
        self.pings = []  # payloads of the server's
        self.pongs = 0
        self.closed = False
        self.next_stream = 1
        self._left = b""
        self._block, self._block_is_last = b"", False
        if begins:
            self.send(PREFACE + frame(SETTINGS, 0, 0, settings))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.raw.close()

    # ---- what is sent

    def send(self, data):
        self.raw.sendall(data)

    def send_frame(self, kind, flags=0, stream=0, payload=b""):
        self.send(frame(kind, flags, stream, payload))

    def block(self, fields):
        return self.encoder.encode(fields)

    def request(self, target="/", fields=(), method="GET", end=True, authority="gateway.test", scheme="http"):
        """Begins a request; its stream."""
        head = [(":method", method), (":scheme", scheme), (":authority", authority), (":path", target)]
        return self.request_of([*head, *fields], end)

    def request_of(self, fields, end=True):
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.send_frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, self.block(fields))
        return stream

    def data(self, stream, content, end=False):
        self.sent[0] = self.sent.get(0, 0) + len(content)
        self.sent[stream] = self.sent.get(stream, 0) + len(content)
        self.send_frame(DATA, END_STREAM if end else 0, stream, content)

    def window(self, stream):
        """Bytes that may be sent on the stream now."""
        of_stream = self.settings.get(INITIAL_WINDOW, 65535) + self.opened.get(stream, 0) - self.sent.get(stream, 0)
        return min(of_stream, 65535 + self.opened.get(0, 0) - self.sent.get(0, 0))

    def upload(self, stream, content, end=True):
        """Sends content as the windows let it, until the stream is over."""
        self.wait(lambda: self.settings)
        while content:
            self.wait(lambda: self.window(stream) > 0 or self.answer(stream).over)
            if self.answer(stream).over:
                return
            size = min(self.window(stream), 16384)
            self.data(stream, content[:size])
            content = content[size:]
        if end:
            self.data(stream, b"", end=True)

    def trailers(self, stream, fields):
        self.send_frame(HEADERS, END_HEADERS | END_STREAM, stream, self.block(fields))

    def reset(self, stream, error=CANCEL):
        self.send_frame(RST_STREAM, 0, stream, struct.pack(">I", error))

    def open_window(self, stream, by):
        self.send_frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", by))

    # ---- what comes

    def answer(self, stream):
        return self.answers.setdefault(stream, Answer())

    def _receive(self):
        """Takes what has come; False at the end."""
        try:
            got = self.raw.recv(65536)
        except ConnectionResetError:
            got = b""
        if not got:
            self.closed = True
            return False
        self._left += got
        while len(self._left) >= 9:
            size = int.from_bytes(self._left[:3], "big")
            if len(self._left) < 9 + size:
                break
            kind, flags, stream = struct.unpack(">BBI", self._left[3:9])
            payload, self._left = self._left[9 : 9 + size], self._left[9 + size :]
            self._take(kind, flags, stream, payload)
        return True

    def _take(self, kind, flags, stream, payload):
        if kind in (HEADERS, CONTINUATION):
            answer = self.answer(stream)
            if kind == HEADERS:
                self._block, self._block_is_last = b"", bool(flags & END_STREAM)
            self._block += payload
            if flags & END_HEADERS:
                self._take_fields(answer, self.decoder.decode(self._block))
                answer.ended = answer.ended or self._block_is_last
        elif kind == DATA:
            answer = self.answer(stream)
            answer.body += payload
            answer.frames += 1
            answer.ended = answer.ended or bool(flags & END_STREAM)
            if payload and self.opens_windows:
                by = struct.pack(">I", len(payload))
                self._send_back(WINDOW_UPDATE, 0, 0, by)
                if not answer.over:
                    self._send_back(WINDOW_UPDATE, 0, stream, by)
        elif kind == RST_STREAM:
            self.answer(stream).reset = struct.unpack(">I", payload)[0]
        elif kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[at : at + 6])
                self.settings[name] = value
            if self.settles:
                self._send_back(SETTINGS, ACK)
        elif kind == WINDOW_UPDATE:
            self.opened[stream] = self.opened.get(stream, 0) + struct.unpack(">I", payload)[0]
        elif kind == PING and flags & ACK:
            self.pongs += 1
        elif kind == PING:
            self.pings.append(payload)
            if self.answers_pings:
                self._send_back(PING, ACK, 0, payload)
        elif kind == GOAWAY:
            self.goaway = struct.unpack(">II", payload[:8])
            self.goaways += 1

    def _send_back(self, *words):
        """A frame that the server may no longer read."""
        try:
            self.send_frame(*words)
        except OSError:
            pass

    @staticmethod
    def _take_fields(answer, fields):
        if answer.fields is not None:
            answer.trailers = fields
        elif dict(fields)[":status"].startswith("1"):
            answer.interim.append(fields)
        else:
            answer.fields = fields

    def wait(self, until, seconds=10):
        """Takes what comes until `until()` is true; False if the connection ends before."""
        deadline = time.monotonic() + seconds
        while not until():
            self.raw.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                if not self._receive():
                    return until()
            except TimeoutError:
                raise AssertionError(f"nothing came in {seconds} s: {self.answers} {self.goaway}") from None
        return True

    def wait_for(self, *streams, seconds=10):
        """The answers on these streams, when all are over; None for one that is not, at the end of the
        connection."""
        self.wait(lambda: all(self.answer(s).over for s in streams), seconds)
        found = [self.answer(s) if self.answer(s).over else None for s in streams]
        return found[0] if len(found) == 1 else found

    def ask(self, target="/", fields=(), body=None, **options):
        stream = self.request(target, fields, end=body is None, **options)
        if body is not None:
            self.data(stream, body, end=True)
        return self.wait_for(stream)

    def wait_for_end(self, seconds=10):
        self.wait(lambda: False, seconds)
        return self.goaway

    def ping(self):
        """Awaits that all that was sent before has been looked at."""
        wanted = self.pongs + 1
        self.send_frame(PING, 0, 0, b"01234567")
        return self.wait(lambda: self.pongs >= wanted)
