"""A client that sends the bytes it is told to and reads responses strictly."""
import re
import socket
import ssl
import struct

from harness.process import PATIENCE

STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d{3}) ([\x20-\x7e]*)")
FIELD_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")



class SecureSocket(ssl.SSLSocket):
    """An end that the other side has not said is a reset."""

    def recv(self, *arguments):
        try:
            return super().recv(*arguments)
        except ssl.SSLEOFError as cut:
            raise ConnectionResetError(str(cut)) from cut


# How those addresses are spoken to where the gateway speaks TLS: ssl.SSLContext.
secured = {}


# The hosts that requests to those addresses name, where it is not gateway.test.
named = {}


class Malformed(AssertionError):
    """A response that breaks the grammar."""


class Closed(AssertionError):
    """The connection ended where a response was due."""


def field_of(line):
    """The name, in lower case, and the value."""
    field = FIELD_LINE.fullmatch(line)
    if field is None:
        raise Malformed(f"field line {line!r}")
    return field.group(1).decode("ascii").lower(), field.group(2).decode("latin-1")


class Response:
    def __init__(self, status, reason, fields):
        self.status, self.reason, self.fields = status, reason, fields
        self.body = b""
        self.framing = "none"  # length | chunked | close
        self.trailers = []  # names and values

    def all(self, name):
        return [value for n, value in self.fields if n == name.lower()]

    def __getitem__(self, name):
        """The value of a field that must not come twice; None without it."""
        values = self.all(name)
        if len(values) > 1:
            raise Malformed(f"{name} comes {len(values)} times: {values}")
        return values[0] if values else None

    @property
    def text(self):
        return self.body.decode("utf-8")


class Connection:
    def __init__(self, address, timeout=10.0, source=None, receive_buffer=None, segment=None):
        family = (
            socket.AF_UNIX
            if isinstance(address, str)
            else socket.AF_INET6
            if ":" in address[0]
            else socket.AF_INET
        )
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout * PATIENCE)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if segment is not None:  # bytes, of what is sent to us: loopback's are huge
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.connect(address)
        self._host = named.get(address, "gateway.test")
        if address in secured:
            context = secured[address]
            context.sslsocket_class = SecureSocket
            self.socket = context.wrap_socket(
                self.socket, server_hostname="gateway.test", suppress_ragged_eofs=False
            )
        self._bytes = b""
        self.accepts_trailers = False  # the last request said so

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def send(self, text):
        self.socket.sendall(text.encode("latin-1") if isinstance(text, str) else text)

    def request(self, target="/", headers=(), method="GET", body=None, version="1.1"):
        """Sends a well-formed request."""
        self.accepts_trailers = ("TE", "trailers") in headers
        lines = [f"{method} {target} HTTP/{version}"]
        if not any(name.lower() == "host" for name, _ in headers):
            lines.append(f"Host: {self._host}")
        lines += [f"{name}: {value}" for name, value in headers]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b""))

    def ask(self, target="/", headers=(), method="GET", body=None, version="1.1"):
        """Sends a request and reads its final response."""
        self.request(target, headers, method, body, version)
        return self.response(head=method == "HEAD")

    def _fill(self):
        data = self.socket.recv(262144)
        self._bytes += data
        return bool(data)

    def read_until(self, end):
        while end not in self._bytes:
            if not self._fill():
                raise Closed(f"the connection ended after {self._bytes[:200]!r}")
        found, _, self._bytes = self._bytes.partition(end)
        return found

    def read_exactly(self, count):
        parts, have = [self._bytes], len(self._bytes)
        while have < count:
            data = self.socket.recv(262144)
            if not data:
                raise Closed(f"the connection ended after {have} of {count} bytes")
            parts.append(data)
            have += len(data)
        whole = b"".join(parts)
        self._bytes = whole[count:]
        return whole[:count]

    def head(self):
        """One response head, interim or final."""
        first, *lines = self.read_until(b"\r\n\r\n").split(b"\r\n")
        start = STATUS_LINE.fullmatch(first)
        if start is None:
            raise Malformed(f"status line {first!r}")
        return Response(
            int(start.group(1)), start.group(2).decode("ascii"), [field_of(line) for line in lines]
        )

    def response(self, head=False):
        """The next final response; interim ones are passed over."""
        while True:
            r = self.head()
            if r.status >= 200:
                break
        self._read_body(r, head)
        return r

    def _read_body(self, r, head):
        coding, length = r["transfer-encoding"], r["content-length"]
        if coding is not None and length is not None:
            raise Malformed("both Transfer-Encoding and Content-Length")
        if head or r.status in (204, 304):
            return
        if coding is not None:
            if coding.lower() != "chunked":
                raise Malformed(f"Transfer-Encoding {coding!r}")
            r.framing, r.body = "chunked", self._read_chunks()
            r.trailers = self._read_trailers()
        elif length is not None:
            if not length.isdigit():
                raise Malformed(f"Content-Length {length!r}")
            r.framing, r.body = "length", self.read_exactly(int(length))
        else:
            r.framing, r.body = "close", self.rest()

    def _read_chunks(self):
        parts = []
        while True:
            line = self.read_until(b"\r\n")
            if not re.fullmatch(rb"[0-9a-fA-F]+", line):
                raise Malformed(f"chunk size {line!r}")
            size = int(line, 16)
            if size == 0:
                return b"".join(parts)
            parts.append(self.read_exactly(size))
            if self.read_exactly(2) != b"\r\n":
                raise Malformed("a chunk is longer than its size")

    def _read_trailers(self):
        trailers = []
        while line := self.read_until(b"\r\n"):
            if not self.accepts_trailers:
                raise Malformed("a trailer")
            trailers.append(field_of(line))
        return trailers

    def rest(self):
        """Everything until the other side closes."""
        while self._fill():
            pass
        found, self._bytes = self._bytes, b""
        return found

    def ends(self):
        """True if the other side closes, in order or not, without another byte."""
        try:
            return not self._bytes and self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def silent_for(self, seconds):
        """True if nothing comes within `seconds`."""
        before = self.socket.gettimeout()
        self.socket.settimeout(seconds)
        try:
            self._bytes = self._bytes or self.socket.recv(1)
            return False
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(before)

    def finish_sending(self):
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        """Leaves without a goodbye: RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        self.socket.close()


def get(address, target="/", headers=(), **options):
    """One request on a connection of its own."""
    with Connection(address) as c:
        return c.ask(target, headers, **options)


def exchange_raw(address, request, head=False):
    """Sends these bytes on a connection of their own and reads one response."""
    with Connection(address) as c:
        c.send(request)
        return c.response(head)
