"""Servers of stores that announce more than any reply has: elements, arrays within arrays, bytes. At
each step of a conversation the worker goes on serving, in bounded memory."""
import hashlib
import itertools
import time

from harness.case import SystemTest
from harness.listener import Listener
from harness.process import SLOW, wait_until
from harness.redis_server import encoded

# Replies of Redis. Each is the whole of what the server says to one command.
ANNOUNCEMENTS = {
    "elements": b"*2000000000\r\n",
    "elements in an array": b"*1\r\n*2000000000\r\n",
    "many arrays": b"*1000\r\n" + b"*2000\r\n" * 1000,
    "arrays within arrays": b"*1\r\n" * 200_000,
    "bytes": b"$2000000000\r\n" + b"x" * 100_000,
    "a negative number": b"*-2000000000\r\n",
    "a line without an end": b"+" + b"x" * 3_000_000,
}

# Messages of PostgreSQL: the kind, the length, and how it begins.
MESSAGES = {
    "authentication": b"R\x7f\xff\xff\xff\x00\x00\x00\x00",
    "an error": b"E\x7f\xff\xff\xffSERROR\x00",
    "a parameter": b"S\x7f\xff\xff\xffa",
    "columns": b"T\x7f\xff\xff\xff\xff\xff",
    "a row": b"D\x7f\xff\xff\xff\xff\xff\x7f\xff\xff\xff",
    "a notice": b"N\x7f\xff\xff\xffSNOTICE\x00",
    "no length": b"Z\x00\x00\x00\x00",
}
if not SLOW:
    # More than a gigabyte libpq refuses itself. This much it reserves, of which a sanitizer writes an
    # eighth in its own memory, for seconds.
    MESSAGES["a row that could come"] = b"D\x3f\xff\xff\x00\x00\x01\x3f\xff\x00\x00"


class Scripted:
    """A Redis server, node or sentinel, that answers one command by an announcement, and others well."""

    def __init__(self, poisoned, announcement):
        self.poisoned, self.announcement = poisoned, announcement
        self.announced = 0
        self._server = Listener(self._serve)
        self.port = self._server.port
        self.stop = self._server.stop

    def _serve(self, connected):
        with connected.makefile("rb") as commands:
            while line := commands.readline():
                words = []
                for _ in range(int(line[1:])):
                    words.append(commands.read(int(commands.readline()[1:]) + 2)[:-2])
                connected.sendall(self._reply(words))

    def _reply(self, words):
        name = words[0].decode().upper()
        if name == "SENTINEL":
            name += " " + words[1].decode().upper()
        if name == self.poisoned:
            self.announced += 1
            return self.announcement
        port = str(self.port)
        return {
            "SCRIPT": lambda: b"$40\r\n%s\r\n" % hashlib.sha1(words[-1]).hexdigest().encode(),
            "ROLE": lambda: b"*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n",
            "PING": lambda: b"+PONG\r\n",
            "SUBSCRIBE": lambda: b"*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n",
            "SENTINEL GET-MASTER-ADDR-BY-NAME": lambda: encoded("127.0.0.1", port),
            "SENTINEL MASTER": lambda: encoded("config-epoch", "1"),
            "CLUSTER": lambda: b"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n" % self.port,
            "EVALSHA": lambda: b"-ERR nothing\r\n",
        }.get(name, lambda: b"+OK\r\n")()  # fmt: skip


class HugeReplies(SystemTest):
    # Stalls last seconds without the bounds.
    LONGEST = 1.0
    MOST_MEMORY = 64 << 20

    def text(self, url):
        return (
            f"workers: 1\nstores: {{ r: {{ url: '{url}', timeout: 300ms }} }}\n"
            "limits: { l: { key: [], rate: 1/s, burst: 1000000, store: r, on_store_failure: open } }\n"
            "routes:\n  - { match: { path: /limited }, limits: [l], upstream: up }\n  - { upstream: up }\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )

    def serves_meanwhile(self, url, server):
        gateway = self.gateway(self.text(url))
        before = gateway.memory("VmHWM")

        def served():
            begin = time.monotonic()
            self.assertEqual(gateway.get("/limited").status, 200)
            self.assertEqual(gateway.get("/open").status, 200)
            self.assertLess(time.monotonic() - begin, self.LONGEST)
            return server.announced >= 2

        wait_until(served, 20, "it has announced twice")
        for _ in range(5):
            served()
        self.assertLess(gateway.memory("VmHWM") - before, self.MOST_MEMORY)
        gateway.stop()

    def test_redis(self):
        steps = {
            "redis://:secret@127.0.0.1:{}/3": ("AUTH", "SELECT", "SCRIPT", "EVALSHA"),
            "redis://127.0.0.1:{}": ("PING",),
            "redis-sentinel://127.0.0.1:{}/m": (
                "SENTINEL GET-MASTER-ADDR-BY-NAME", "SENTINEL MASTER", "SUBSCRIBE", "ROLE",
            ),
            "redis-cluster://:secret@127.0.0.1:{}": ("AUTH", "CLUSTER", "SCRIPT", "EVALSHA"),
        }  # fmt: skip
        pairs = [(url, step) for url, of_it in steps.items() for step in of_it]
        # Each step meets one of them, and CLUSTER SLOTS, a tree of any shape, all.
        turns = itertools.cycle(ANNOUNCEMENTS)
        cases = [(url, step, next(turns)) for url, step in pairs if step != "CLUSTER"]
        cases += [("redis-cluster://127.0.0.1:{}", "CLUSTER", kind) for kind in ANNOUNCEMENTS]
        cases += [("redis://127.0.0.1:{}", "EVALSHA", "elements")]
        for url, step, kind in cases:
            with self.subTest(url=url, step=step, kind=kind):
                server = self.started(Scripted(step, ANNOUNCEMENTS[kind]))
                self.serves_meanwhile(url.format(server.port), server)

    def test_postgres(self):
        good = b"R\x00\x00\x00\x08\x00\x00\x00\x00" + b"Z\x00\x00\x00\x05I"
        for name, message in MESSAGES.items():
            for step, greeting in (("start", b""), ("query", good)):
                with self.subTest(message=name, step=step):

                    def serve(connected, greeting=greeting, message=message):
                        connected.recv(65536)
                        if greeting:
                            connected.sendall(greeting)
                            connected.recv(65536)
                        server.announced += 1
                        connected.sendall(message + b"x" * 100_000)
                        connected.recv(65536)

                    server = self.started(Listener(serve))
                    server.announced = 0
                    url = f"postgresql://u:p@127.0.0.1:{server.port}/d?sslmode=disable&gssencmode=disable"
                    self.serves_meanwhile(url, server)
