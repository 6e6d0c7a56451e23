"""A real redis-server of the test's own, and as much of its protocol as the tests need."""
import signal
import socket

from harness.place import HERE
from harness.process import Child, Directory, free_port, tool, wait_until


class RedisError(Exception):
    """An error reply."""


class RedisServer:
    def __init__(self, *more, tls=False, port=None, tls_port=None, place=HERE):
        self.place = place
        self._directory = Directory()
        self.port = port or free_port()
        self.socket_path = self._directory.file("redis.sock")
        self.tls_port = tls_port or free_port() if tls else None
        # One that speaks TLS is reached by an address that its certificate may not have, too.
        tls_words = ("--tls-port", str(self.tls_port), "--bind", "127.0.0.1", "127.0.0.2")
        self._more = (*more, *tls_words) if tls else more
        self._child = None
        self.password = None
        self.start()

    @property
    def url(self):
        return f"redis://{self.place.host}:{self.port}/0"

    def words(self):
        """Its command line."""
        return [
            tool("redis-server"),
            "--port",
            str(self.port),
            "--bind",
            self.place.host,
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            self._directory.path,
            "--unixsocket",
            self.socket_path,
            "--logfile",
            self._directory.file("log"),
            *self._more,
        ]

    def start(self):
        self._child = Child(self.place.words(self.words()))
        wait_until(self._answers, 10, "redis-server answers")

    def _answers(self):
        try:
            return self.command("PING") == b"PONG"
        except RedisError:
            return True
        except OSError:
            return False

    def kill(self):
        self._child.kill()

    def freeze(self):
        self._child.signal(signal.SIGSTOP)

    def thaw(self):
        self._child.signal(signal.SIGCONT)

    def command(self, *words, seconds=5):
        """Runs one command on a connection of its own."""
        with socket.create_connection((self.place.host, self.port), seconds) as s, s.makefile(
            "rb"
        ) as replies:
            if self.password is not None:
                s.sendall(encoded("AUTH", self.password))
                read_reply(replies)
            s.sendall(encoded(*words))
            return read_reply(replies)

    def forget_all(self):
        self.command("FLUSHALL")

    def time_to_live(self):
        """Milliseconds for which the first of its keys lives; 0: it has none any more."""
        keys = self.keys()
        return max(self.command("PTTL", keys[0]), 0) if keys else 0

    def role(self):
        return self.command("ROLE")[0].decode()

    def keys(self):
        return sorted(self.command("KEYS", "*"))

    def stop(self):
        if self._child is not None:
            self._child.stop()
        self._directory.stop()


def encoded(*words):
    raw = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in raw)


def read_reply(replies):
    line = replies.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("redis closed the connection")
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise RedisError(rest.decode())
    if kind == b":":
        return int(rest)
    if kind == b"$":
        size = int(rest)
        return None if size < 0 else replies.read(size + 2)[:-2]
    if kind == b"*":
        return [read_reply(replies) for _ in range(int(rest))]
    return rest
