"""Envoy's side of envoy.service.ratelimit.v3.RateLimitService, by python3-grpcio. Its messages are
written and read here."""
import sys
from dataclasses import dataclass, field

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, whichever Python runs

import grpc  # noqa: E402

METHOD = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
OK, OVER_LIMIT = 1, 2
SECOND, MINUTE, HOUR = 1, 2, 3


def _varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(name, value):
    return _varint(name << 3) + _varint(value)


def text(name, value):
    value = value if isinstance(value, bytes) else value.encode()
    return _varint(name << 3 | 2) + _varint(len(value)) + value


def fields_of(message):
    """(number, value) of each field: integers and bytes."""
    at, found = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            found.append((tag >> 3, varint()))
        else:
            size = varint()
            found.append((tag >> 3, message[at : at + size]))
            at += size
    return found


def descriptor(*entries, limit=None, hits=None):
    """`entries` are (key, value); `limit` is (requests, unit)."""
    message = b"".join(text(1, text(1, key) + text(2, value)) for key, value in entries)
    if limit is not None:
        message += text(2, number(1, limit[0]) + number(2, limit[1]))
    return message if hits is None else message + text(3, number(1, hits) if hits else b"")


@dataclass
class Status:
    code: int = 0
    remaining: int = 0
    limit: tuple = None
    seconds_until_reset: int = None


@dataclass
class Response:
    code: int = 0
    statuses: list = field(default_factory=list)
    headers: dict = field(default_factory=dict)


def _status(message):
    status = Status()
    for name, value in fields_of(message):
        if name == 1:
            status.code = value
        elif name == 2:
            inner = dict(fields_of(value))
            status.limit = (inner.get(1, 0), inner.get(2, 0))
        elif name == 3:
            status.remaining = value
        elif name == 4:
            status.seconds_until_reset = dict(fields_of(value)).get(1, 0)
    return status


def response_of(message):
    response = Response()
    for name, value in fields_of(message):
        if name == 1:
            response.code = value
        elif name == 2:
            response.statuses.append(_status(value))
        elif name == 3:
            header = dict(fields_of(value))
            response.headers[header[1].decode()] = header.get(2, b"").decode()
    return response


class Envoy:
    """A channel to a listener that speaks the protocol."""

    def __init__(self, address, domain="edge"):
        self._domain = domain
        self._channel = grpc.insecure_channel(f"{address[0]}:{address[1]}")

    def stop(self):
        self._channel.close()

    def method(self, name=METHOD):
        return self._channel.unary_unary(name, request_serializer=bytes, response_deserializer=bytes)

    def send(self, message, timeout=10):
        return response_of(self.method()(message, timeout=timeout))

    def ask(self, *descriptors, hits=0, domain=None):
        message = text(1, self._domain if domain is None else domain)
        message += b"".join(text(2, d) for d in descriptors)
        return self.send(message + (number(3, hits) if hits else b""))
