"""One request over HTTP/1.1 and over HTTP/2, to compare what becomes of it."""
import re
from dataclasses import dataclass

from harness.client import Closed, Response
from harness.http2 import COMPRESSION_ERROR, CONTINUATION, END_HEADERS, END_STREAM, HEADERS, PROTOCOL_ERROR, Http2, frame
from harness.http2_cases import block

# Fields that HTTP/2 has no words for, or says otherwise.
OF_CONNECTIONS = {"connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"}
ABSOLUTE = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://([^/?#]*)(.*)", re.DOTALL)
# Requests of a connection: fewer than it may have reset.
MOST_REQUESTS = 500


LARGEST_FRAME = 16384
HUGE = 65536


def frames_of(stream, fields, flags):
    """HEADERS, and CONTINUATION for what does not fit."""
    pieces = [fields[i : i + LARGEST_FRAME] for i in range(0, len(fields), LARGEST_FRAME)]
    kinds = [HEADERS] + [CONTINUATION] * (len(pieces) - 1)
    ends = [0] * (len(pieces) - 1) + [END_HEADERS]
    return b"".join(
        frame(kind, end | (flags if kind == HEADERS else 0), stream, piece) for kind, end, piece in zip(kinds, ends, pieces)
    )


@dataclass
class Message:
    method: str
    target: str
    fields: list  # of names and values
    body: bytes = b""

    def all(self, name):
        return [value for n, value in self.fields if n.lower() == name]

    def text(self):
        """Over HTTP/1.1."""
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{n}:{v}" for n, v in self.fields)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + self.body

    def has_huge_field(self):
        return any(len(part) > HUGE for field in self.fields for part in field)

    def can_be_said(self):
        """True if HTTP/2 can carry it."""
        names = {name.lower() for name, _ in self.fields}
        return not names & OF_CONNECTIONS and self.method != "CONNECT"

    def head(self):
        """The fields of HTTP/2. An absolute target is an authority and a path, and its host counts."""
        scheme, authority, path = "http", None, self.target
        found = ABSOLUTE.fullmatch(self.target)
        if found:
            scheme, authority, path = found.groups()
            path = path if path.startswith("/") else "/" + path
        fields = []
        for name, value in self.fields:
            if name.lower() != "host":
                fields.append((name.lower(), value.strip(" \t")))
            elif authority is None:
                authority = value.strip(" \t")
            elif not found:
                fields.append(("host", value.strip(" \t")))
        pseudo = [(":method", self.method), (":scheme", scheme), (":authority", authority), (":path", path)]
        return [(n, v) for n, v in pseudo if v is not None] + fields


class OneByOne:
    """Sends messages in either protocol, on a connection of each as long as it lives."""

    def __init__(self, address, connect):
        self._address, self._connect = address, connect
        self._first = self._second = None

    def over_http1(self, message):
        if self._first is None:
            self._first = self._connect()
        self._first.send(message.text())
        try:
            response = self._first.response(head=message.method == "HEAD")
        except (Closed, ConnectionError):
            self._stop_first()
            raise
        if "close" in (response["connection"] or ""):
            self._stop_first()
        return response

    def over_http2(self, message):
        """The same as a Response; an error of the stream is a 400, and a field that HPACK's reader does not
        take, which ends the connection, is a 431."""
        if self._second is None or self._second.next_stream > 2 * MOST_REQUESTS:
            self._stop_second()
            self._second = Http2(self._address)
        c = self._second
        stream, c.next_stream = c.next_stream, c.next_stream + 2
        c.send(frames_of(stream, block(message.head()), 0 if message.body else END_STREAM))
        if message.body:
            c.data(stream, message.body, end=True)
        answer = c.wait_for(stream)
        if answer is None and c.goaway[1] == COMPRESSION_ERROR and message.has_huge_field():
            self._stop_second()
            return Response(431, "", [])
        assert answer is not None, f"the connection ended: {c.goaway}"
        if answer.fields is None:
            assert answer.reset == PROTOCOL_ERROR, f"reset {answer.reset}"
            return Response(400, "", [])
        response = Response(answer.status, "", answer.fields)
        response.body = answer.body
        return response

    def _stop_first(self):
        if self._first is not None:
            self._first.close()
            self._first = None

    def _stop_second(self):
        if self._second is not None:
            self._second.raw.close()
            self._second = None

    def stop(self):
        self._stop_first()
        self._stop_second()


LINE = re.compile(r"([^ \r\n]*) ([^ \r\n]*) HTTP/1\.1")


def message_of(text):
    """A request of HTTP/1.1 as a Message, or None if HTTP/2 has no way to say it: with another version, a
    folded line, a line that is no field, a coding, or a body that is not framed by its length."""
    head, end, body = text.partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    start, fields = LINE.fullmatch(first), [line.partition(":") for line in lines]
    if not end or not start or not all(colon and name[:1] not in ("", " ", "\t") for name, colon, _ in fields):
        return None
    found = Message(*start.groups(), [(name, value) for name, _, value in fields], body.encode("latin-1"))
    lengths = found.all("content-length")
    framed = (lengths == [] and not body) or (len(set(lengths)) == 1 and lengths[0].strip(" \t") == str(len(body)))
    return found if framed and found.can_be_said() else None


# Fields of a forwarded request that are its own, or say which protocol carried it.
OWN = {"x-request-id", "via", "traceparent", "tracestate"}


def seen(request):
    """What an origin got, in a form that two protocols have in common: cookies are one, at any place."""
    fields = [(n, v) for n, v in request.fields if n not in OWN and n != "cookie"]
    return request.method, request.target, fields, "; ".join(request.all("cookie")), request.body


class Handshake(Message):
    """A WebSocket's: Upgrade of HTTP/1.1, and extended CONNECT (RFC 8441) of HTTP/2."""

    def text(self):
        asked = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
        asked.append(("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="))
        return Message("GET", self.target, self.fields + asked).text()

    def head(self):
        said = [(":protocol", "websocket"), (":method", "CONNECT")]
        return said + super().head()[1:] + [("sec-websocket-version", "13")]
