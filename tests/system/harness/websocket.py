"""WebSockets (RFC 6455) for both ends: the handshake, and frames over a socket."""
import base64
import hashlib
import os
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10

KEY = "dGhlIHNhbXBsZSBub25jZQ=="

HANDSHAKE = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Key", KEY),
    ("Sec-WebSocket-Version", "13"),
]


def handshake(target="/ws", host="gateway.test"):
    """The whole request, as bytes."""
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in HANDSHAKE]
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n"


def accept_of(key):
    magic = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    return base64.b64encode(hashlib.sha1(key.encode("ascii") + magic).digest()).decode("ascii")


def grant_of(key=KEY):
    """The 101 to a handshake with this key, as bytes."""
    return (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accept_of(key)}\r\n\r\n"
    ).encode("ascii")


def frame(kind, payload, masked):
    size = len(payload)
    if size < 126:
        length = bytes([size | (128 if masked else 0)])
    elif size < 65536:
        length = bytes([126 | (128 if masked else 0)]) + struct.pack(">H", size)
    else:
        length = bytes([127 | (128 if masked else 0)]) + struct.pack(">Q", size)
    start = bytes([128 | kind]) + length
    return start + (b"\0\0\0\0" + payload if masked else payload)  # a mask of zeros is one too


def read_frame(exactly):
    """(kind, payload), by a function that reads so many bytes."""
    first, second = exactly(2)
    assert first & 0xF0 == 0x80, f"no whole frame: {first:#x}"
    size = second & 127
    if size == 126:
        size = struct.unpack(">H", exactly(2))[0]
    elif size == 127:
        size = struct.unpack(">Q", exactly(8))[0]
    mask = exactly(4) if second & 128 else b"\0\0\0\0"
    assert mask == b"\0\0\0\0", "our clients mask with zeros"
    return first & 15, exactly(size)


class Refused(AssertionError):
    """An answer that is no grant."""


class WebSocket:
    """A client's end, over a connection of its own."""

    def __init__(self, connection, target="/ws", headers=()):
        self.connection = connection
        connection.request(target, HANDSHAKE + list(headers))
        self.granted = connection.head()
        if self.granted.status != 101:
            raise Refused(self.granted.status)
        assert self.granted["sec-websocket-accept"] == accept_of(KEY)

    def send(self, kind, payload=b""):
        self.connection.send(frame(kind, payload, masked=True))

    def receive(self):
        return read_frame(self.connection.read_exactly)

    def echo(self, payload):
        """What comes back for it."""
        self.send(BINARY, payload)
        return self.receive()


def echo_frames(peer, request):
    """A script for an origin: grants what is a handshake, sends every frame back, and closes after
    a close; another request gets its fields as text."""
    if request["upgrade"] is None:
        peer.read_body(request)
        peer.reply(200, repr(request.fields).encode("ascii"))
        return None
    assert (request["upgrade"], request["connection"]) == ("websocket", "upgrade"), request.fields
    peer.send(grant_of(request["sec-websocket-key"]))
    while True:
        kind, payload = read_frame(peer.exactly)
        peer.send(frame(PONG if kind == PING else kind, payload, masked=False))
        if kind == CLOSE:
            return False


def random_bytes(count):
    return os.urandom(count)
