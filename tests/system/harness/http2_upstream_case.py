"""The base of tests of upstreams that speak HTTP/2, and one request over each protocol that clients speak."""
import threading
from dataclasses import dataclass, field

from harness.case import SystemTest
from harness.certificates import Certificates
from harness.client import Closed
from harness.http2 import Http2
from harness.http2_origin import Http2Origin, answer_ok
from harness.process import SLOW, run_tool, wait_until


def over_http2(*addresses, options="", more="", workers=1):
    """A configuration with one route and one upstream of these servers, which speak HTTP/2."""
    listed = ", ".join(a if a.startswith("{") else f"'{a}'" for a in addresses)
    return (
        f"workers: {workers}\n{more}"
        + ("" if "routes:" in more else "routes: [ { upstream: up } ]\n")
        + f"upstreams: {{ up: {{ servers: [{listed}], protocol: h2{options} }} }}\n"
    )


@dataclass
class Got:
    """A response, whichever protocol carried it. `whole` is False if it was cut."""

    status: int = None
    fields: list = field(default_factory=list)
    body: bytes = b""
    trailers: list = field(default_factory=list)
    interim: list = field(default_factory=list)
    whole: bool = True

    def all(self, name):
        return [value for n, value in self.fields if n == name]

    def __getitem__(self, name):
        values = self.all(name)
        return values[0] if values else None


def final_head(c):
    """The final response head on a connection of HTTP/1.1, and the interim ones before it."""
    interim = []
    while True:
        r = c.head()
        if r.status >= 200:
            return r, interim
        interim.append((r.status, r.fields))


def chunked(body, size=10000):
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces)


def ask_over_1(gateway, target="/", fields=(), method="GET", body=None, length=True, trailers=None):
    """One request on a connection of its own; a body without `length` is sent in chunks."""
    with gateway.connect() as c:
        try:
            if body is None or length:
                c.request(target, fields, method, body)
            else:
                c.request(target, [*fields, ("Transfer-Encoding", "chunked")], method)
                more = b"".join(f"{n}: {v}\r\n".encode() for n, v in trailers or ())
                c.send(chunked(body) + b"0\r\n" + more + b"\r\n")
            c.accepts_trailers = ("TE", "trailers") in fields
            r, interim = final_head(c)
        except (Closed, ConnectionError):
            return Got(whole=False)
        got = Got(r.status, r.fields, interim=interim)
        try:
            c._read_body(r, method == "HEAD")
            got.body, got.trailers = r.body, r.trailers
        except (Closed, ConnectionError):
            got.whole = False
        return got


def ask_over_2(gateway, target="/", fields=(), method="GET", body=None, length=True, trailers=None):
    with Http2(gateway.address) as c:
        sent = [(n.lower(), v) for n, v in fields]
        if body is not None and length:
            sent.append(("content-length", str(len(body))))
        stream = c.request(target, sent, end=body is None, method=method)
        if body is not None:
            c.upload(stream, body, end=trailers is None)
        if trailers is not None:
            c.trailers(stream, trailers)
        answer = c.wait_for(stream)
    if answer is None:
        return Got(whole=False)
    interim = [(int(dict(f)[":status"]), [x for x in f if x[0] != ":status"]) for f in answer.interim]
    if answer.fields is None:
        return Got(whole=False, interim=interim)
    plain = [f for f in answer.fields if f[0] != ":status"]
    return Got(answer.status, plain, answer.body, answer.trailers or [], interim, answer.ended)


ASKS = (("http/1.1", ask_over_1), ("h2", ask_over_2))


class Held:
    """A script that keeps every request until it is let go."""

    def __init__(self):
        self._go = threading.Semaphore(0)

    def __call__(self, call):
        call.read_body()
        self._go.acquire()
        call.reply(body=call.target.encode())

    def let_go(self, count=1):
        self._go.release(count)


class Http2UpstreamTest(SystemTest):
    def http2_origin(self, script=answer_ok, **options):
        return self.origin(script, kind=Http2Origin, **options)

    def in_front_of(self, *origins, **options):
        return self.gateway(over_http2(*(o.address for o in origins), **options))

    def through(self, script=answer_ok, settings=None, **options):
        """A gateway with one worker, and the scripted server behind it."""
        origin = self.http2_origin(script, settings=settings)
        return self.in_front_of(origin, **options), origin

    def assert_echoes(self, gateway, content):
        for name, ask in ASKS:
            with self.subTest(client=name):
                self.assertTrue(ask(gateway, "/", method="POST", body=content, length=False).body == content)

    def load(self, gateway, target, count, *words):
        url = "http://%s:%d%s" % (*gateway.address, target)
        for more in ([], ["--h1"]):
            status, said, _ = run_tool(["h2load", "-n", str(count), *words, *more, url])
            self.assertEqual(status, 0)
            self.assertIn(f"{count} succeeded, 0 failed, 0 errored, 0 timeout", said)
            self.assertIn("0 3xx, 0 4xx, 0 5xx", said)

    def wait_for_requests(self, origin, count):
        wait_until(lambda: len(origin.requests) >= count, what=f"{count} requests at the server")
        return origin.requests[count - 1]

    def assert_grew_less(self, gateway, before, most):
        """Of memory; a sanitizer keeps what was freed."""
        if not SLOW:
            self.assertLess(gateway.memory() - before, most)

    @staticmethod
    def failures(gateway, reason):
        return gateway.metrics().count("gateway_upstream_failures_total", reason=reason)


class StreamsTest(Http2UpstreamTest):
    """Tests that hold requests at the server."""

    def held(self, **options):
        """A gateway and a server that answers when it is let go."""
        held = Held()
        self.addCleanup(held.let_go, 1000)
        return (*self.through(held, **options), held)

    def begin(self, c, *targets, method="GET", body=None):
        """Begins requests on a client's connection; their streams."""
        streams = []
        for target in targets:
            streams.append(c.request(target, method=method, end=body is None))
            if body is not None:
                c.data(streams[-1], body, end=True)
        return streams

    def assert_all_well(self, c, streams, targets):
        answers = [c.wait_for(stream) for stream in streams]
        self.assertEqual([(a.status, a.body) for a in answers], [(200, t.encode()) for t in targets])


def certificates(folder):
    """Certificates for a gateway and an origin."""
    made = Certificates(folder)
    made.issue("gateway.test", "DNS:gateway.test,IP:127.0.0.1")
    made.issue("origin.test", "DNS:origin.test")
    return made
