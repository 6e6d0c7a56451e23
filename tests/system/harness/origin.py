"""An upstream server that does what a script says, threads underneath."""
import re
import socket
import struct
import threading
import time

from harness.listener import accepted

REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e\x80-\xff]+) HTTP/1\.1")


def field_of(line):
    name, colon, value = line.partition(b":")
    assert colon and name == name.strip() and name, f"origin: field line {line!r}"
    return name.decode("latin-1").lower(), value.strip(b" \t").decode("latin-1")


class Request:
    """What arrived, held to the rules that a proxy must keep."""

    def __init__(self, head):
        self.head = head + b"\r\n"
        first, *lines = head.split(b"\r\n")
        start = REQUEST_LINE.fullmatch(first)
        assert start, f"origin: request line {first!r}"
        self.method, self.target = start.group(1).decode(), start.group(2).decode("latin-1")
        self.fields = [field_of(line) for line in lines]
        self.body = b""
        self.trailers = []  # names and values
        assert len(self.all("host")) == 1, f"origin: Host {self.all('host')}"
        framings = self.all("content-length") + self.all("transfer-encoding")
        assert len(framings) <= 1, f"origin: framings {framings}"

    def all(self, name):
        return [value for n, value in self.fields if n == name.lower()]

    def __getitem__(self, name):
        values = self.all(name)
        return values[0] if values else None


class Peer:
    """One connection of the gateway's, as a script sees it."""

    def __init__(self, connected):
        self.socket = connected
        self._bytes = b""

    def _fill(self):
        data = self.socket.recv(262144)
        self._bytes += data
        return bool(data)

    def read_head(self):
        """None when the gateway closed the connection between requests."""
        while b"\r\n\r\n" not in self._bytes:
            if not self._fill():
                assert not self._bytes, f"origin: cut request {self._bytes[:200]!r}"
                return None
        head, _, self._bytes = self._bytes.partition(b"\r\n\r\n")
        return Request(head)

    def exactly(self, count):
        while len(self._bytes) < count:
            if not self._fill():
                raise ConnectionError("the request was cut")
        found, self._bytes = self._bytes[:count], self._bytes[count:]
        return found

    def _line(self):
        while b"\r\n" not in self._bytes:
            if not self._fill():
                raise ConnectionError("the request was cut")
        line, _, self._bytes = self._bytes.partition(b"\r\n")
        return line

    def read_body(self, request, sink=None):
        """Into request.body, or piece by piece to `sink`."""
        take = sink or (lambda data: setattr(request, "body", request.body + data))
        if request["content-length"] is not None:
            left = int(request["content-length"])
            while left > 0:
                if not self._bytes and not self._fill():
                    raise ConnectionError("the request was cut")
                piece, self._bytes = self._bytes[:left], self._bytes[left:]
                left -= len(piece)
                take(piece)
        elif request["transfer-encoding"] is not None:
            while size := int(self._line(), 16):
                take(self.exactly(size))
                assert self.exactly(2) == b"\r\n"
            while line := self._line():
                request.trailers.append(field_of(line))

    def send(self, data):
        self.socket.sendall(data)

    def reply(self, status=200, body=b"ok", fields=()):
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in fields]
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self.socket.close()

    def end_tls(self):
        """Says that nothing more comes, as TLS says it."""
        self.socket.settimeout(5)
        try:
            self.socket.unwrap()
        except OSError:
            pass  # the gateway does not have to say it, too

    def wait_for_end(self):
        """Until the gateway closes."""
        try:
            while self.socket.recv(65536):
                pass
        except OSError:
            pass


def answer_ok(peer, request):
    peer.read_body(request)
    peer.reply()


class Origin:
    """`script(peer, request)` runs for each request, with the body still unread. A script that
    returns False ends the connection. With `tls`, a context, it speaks that, after `greeting` of
    the plain connection."""

    def __init__(
        self, script=answer_ok, unix_path=None, port=0, tls=None, greeting=lambda raw: None, host="127.0.0.1"
    ):
        self.script = script
        self._tls = tls
        self._greeting = greeting
        self.handshakes = []  # of each connection: whether it resumed a session
        self.requests = []
        self.problems = []  # what a script or a rule said; the test's end looks
        self.connections = 0
        self._open = set()
        self._lock = threading.Lock()
        self._path = unix_path
        if unix_path is None:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._listening = socket.create_server((host, port), family=family, backlog=1024)
            brackets = "[%s]:%d" if ":" in host else "%s:%d"
            self.address = brackets % self._listening.getsockname()[:2]
        else:
            self._listening = socket.socket(socket.AF_UNIX)
            self._listening.bind(unix_path)
            self._listening.listen(1024)
            self.address = "unix:" + unix_path
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        for connected in accepted(self._listening):
            if self._path is None:
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self.connections += 1
                self._open.add(connected)
            threading.Thread(target=self._serve, args=(connected,), daemon=True).start()

    def _shake_hands(self, raw):
        self._greeting(raw)
        secured = self._tls.wrap_socket(raw, server_side=True)
        with self._lock:
            self._open.discard(raw)
            self._open.add(secured)
            self.handshakes.append(secured.session_reused)
        return secured

    def _serve(self, connected):
        peer = Peer(connected)
        try:
            if self._tls is not None:
                peer.socket = connected = self._shake_hands(connected)
            while True:
                request = peer.read_head()
                if request is None:
                    break
                with self._lock:
                    self.requests.append(request)
                if self.script(peer, request) is False:
                    break
        except OSError:
            pass  # the gateway left, which is its right
        except Exception as e:  # noqa: BLE001: a thread's assertion must reach the test
            self.problems.append(f"{type(e).__name__}: {e}")
        finally:
            with self._lock:
                self._open.discard(connected)
            peer.close()

    def last(self):
        return self.requests[-1]

    def open_connections(self):
        with self._lock:
            return len(self._open)

    def close_connections(self):
        """Ends every connection; new ones are welcome."""
        with self._lock:
            for connected in self._open:
                try:
                    # Not that of ssl: it makes whoever reads meanwhile take records for text.
                    socket.socket.shutdown(connected, socket.SHUT_RDWR)
                except OSError:
                    pass

    def stop(self):
        try:
            self._listening.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listening.close()
        self.close_connections()
        assert not self.problems, self.problems[:5]


def pause(seconds):
    """For an origin that is slow on purpose; a test never waits with it."""
    time.sleep(seconds)
