"""Cases of HTTP/2: frames that a client sends, and what must come. The tables are
in http2_frame_cases and http2_message_cases.

Field blocks are literals without indexing, so that a case changes no table of HPACK by accident.
"""
import struct
from dataclasses import dataclass
from typing import Callable

from harness.http2 import (
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    frame,
)

PRIORITY_FLAG = 0x20


def integer(value, bits, first=0):
    """RFC 7541 §5.1: an integer in the last `bits` of an octet that begins with `first`."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def octets(text):
    """A string of HPACK, without Huffman."""
    raw = text.encode("latin-1") if isinstance(text, str) else text
    return integer(len(raw), 7) + raw


def literal(name, value, first=0):
    return bytes([first]) + octets(name) + octets(value)


def block(fields):
    return b"".join(literal(name, value) for name, value in fields)


def pseudo(path="/good", method="GET", scheme="http", authority="gateway.test"):
    made = [(":method", method), (":scheme", scheme), (":authority", authority), (":path", path)]
    return [(name, value) for name, value in made if value is not None]


def head(fields=None, stream=1, flags=END_HEADERS | END_STREAM):
    return frame(HEADERS, flags, stream, block(pseudo() if fields is None else fields))


def open_head(stream=1, path="/good", more=()):
    """The head of a POST whose content follows."""
    return head([*pseudo(path, "POST"), *more], stream, END_HEADERS)


def raw_head(tail, stream=1, path="/bad"):
    """A head with these octets behind its pseudo-fields."""
    return frame(HEADERS, END_HEADERS | END_STREAM, stream, block(pseudo(path)) + tail)


def data(content=b"", stream=1, end=False):
    return frame(DATA, END_STREAM if end else 0, stream, content)


def window(by, stream=0):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", by))


def reset(error=8, stream=1):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", error))


def goaway(error=0, last=0, stream=0):
    return frame(GOAWAY, 0, stream, struct.pack(">II", last, error))


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", name, value) for name, value in pairs))


def priority(on=0, stream=1, weight=15):
    return frame(PRIORITY, 0, stream, struct.pack(">IB", on, weight))


def ping(payload=b"01234567", flags=0, stream=0):
    return frame(PING, flags, stream, payload)


# ---- what must come


@dataclass(frozen=True)
class Fails:
    """The connection ends: GOAWAY with one of these codes, or a close without one."""

    codes: tuple


@dataclass(frozen=True)
class Resets:
    """RST_STREAM with one of these codes, and the connection serves on."""

    codes: tuple
    stream: int = 1


@dataclass(frozen=True)
class Answers:
    """A response with this status, and the connection serves on."""

    status: int = 200
    stream: int = 1


@dataclass(frozen=True)
class Ignores:
    """Nothing comes on any stream, and the connection serves on."""


@dataclass(frozen=True)
class Case:
    section: str  # of RFC 9113, or of RFC 7541 behind "hpack"
    title: str
    sent: bytes | tuple  # pieces of a tuple are sent one by one, after what callables in it await
    comes: object
    fine_stream: int = 101


def fails(*codes):
    return Fails(codes)


def resets(*codes, stream=1):
    return Resets(codes, stream)


def answered(stream=1):
    """A step of `sent`: awaits the end of the response."""
    return lambda c: c.wait(lambda: c.answer(stream).over)


def seen(what: Callable):
    """A step of `sent`: awaits that `what` of the connection is true."""
    return lambda c: c.wait(lambda: what(c))
