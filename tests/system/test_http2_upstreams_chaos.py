"""Upstreams that speak HTTP/2 and fail at random, clients that leave at random: no message is mixed with another."""
import random
import threading
import time

from harness.case import only_as_shipped
from harness.client import Closed
from harness.http2 import INTERNAL_ERROR, MAX_STREAMS, REFUSED_STREAM, Http2
from harness.http2_upstream_case import Http2UpstreamTest, certificates
from harness.process import SLOW, wait_until

SECONDS = 20 if SLOW else 6
KINDS = ("echo", "large", "late", "reset", "refuse", "goodbye", "cut", "half-reset", "half-cut", "early", "trailers", "bad")
# Kinds whose own response is whole, if its connection lives as long.
WELL = ("echo", "large", "late", "goodbye", "early", "trailers")


def content_of(target, size):
    """Bytes that no other target has."""
    word = target.encode() + b"|"
    return (word * (size // len(word) + 1))[:size]


def response_of(target):
    return content_of(target, 100000 if "/large/" in target else 300)


def request_of(target):
    return content_of(target[::-1], 1 + hash(target) % 20000)


class Failing:
    """A script that does what its request's target says, and notes requests that are not what was sent."""

    def __init__(self):
        self.wrong = []

    def __call__(self, call):
        kind = call.target.split("/")[1]
        random.seed(call.target)
        if kind != "early":
            call.read_body()
            if call.method == "POST" and call.body != request_of(call.target):
                self.wrong.append(call.target)
        body = response_of(call.target)
        if kind == "late":
            time.sleep(random.random() / 50)
        elif kind == "reset":
            call.reset_with(INTERNAL_ERROR)
            return
        elif kind == "refuse":
            call.reset_with(REFUSED_STREAM)
            return
        elif kind == "cut":
            call.peer.cut()
            return
        elif kind == "bad":
            call.head(200, [("content-length", "3x")])
            return
        elif kind == "goodbye":
            call.peer.say_goodbye(max(call.peer.calls))
        call.head(200)
        if kind.startswith("half"):
            call.data(body[:150])
            call.reset_with(INTERNAL_ERROR) if kind == "half-reset" else call.peer.cut()
        elif kind == "trailers":
            call.data(body)
            call.send_fields([("x-target", call.target)], end=True)
        else:
            call.data(body, end=True)


class Chaos(Http2UpstreamTest):
    long = True

    def setUp(self):
        self.over = threading.Event()
        self.wrong, self.well, self.failed = [], [], []

    def judge(self, target, status, body, is_whole):
        expected = response_of(target)
        if status != 200:
            self.failed.append(target)
            if status not in (502, 503, 504):
                self.wrong.append((target, status))
        elif is_whole and body != expected or not expected.startswith(body):
            self.wrong.append((target, status, body[:100]))
        elif is_whole:
            self.well.append(target)
            if target.split("/")[1] not in WELL:
                self.wrong.append((target, "is whole"))

    def targets(self, name):
        draw = random.Random(name)
        number = 0
        while not self.over.is_set():
            number += 1
            kind = draw.choice(KINDS if draw.random() < 0.5 else ("echo", "large"))
            yield f"/{kind}/{name}/{number}", "POST" if draw.random() < 0.4 else "GET", draw

    def over_2(self, gateway, name):
        targets = self.targets(name)
        while not self.over.is_set():
            with Http2(gateway.address) as c:
                for _ in range(20):
                    self.turn(c, targets)
                    if c.goaway or c.closed:
                        break

    def turn(self, c, targets):
        begun = {}
        for _, (target, method, draw) in zip(range(8), targets):
            stream = c.request(target, method=method, end=method == "GET")
            if method == "POST":
                body = request_of(target)
                c.upload(stream, body[: len(body) // 2], end=False)
                if not c.answer(stream).over:
                    c.upload(stream, body[len(body) // 2 :])
            if draw.random() < 0.1 and not c.answer(stream).over:
                c.reset(stream)
            else:
                begun[stream] = target
        if begun:
            c.wait(lambda: all(c.answer(s).over for s in begun), 60)
        for stream, target in begun.items():
            answer = c.answer(stream)
            if answer.fields is not None:
                self.judge(target, answer.status, answer.body, answer.ended)

    def over_1(self, gateway, name):
        targets = self.targets(name)
        while not self.over.is_set():
            with gateway.connect(timeout=60) as c:
                try:
                    for target, method, draw in targets:
                        c.request(target, method=method, body=request_of(target) if method == "POST" else None)
                        if draw.random() < 0.05:
                            c.reset()
                            break
                        r = c.response()
                        self.judge(target, r.status, r.body, True)
                        if r["connection"] == "close":
                            break
                except (Closed, ConnectionError, BrokenPipeError):
                    self.failed.append(name)

    def guarded(self, work, *words):
        try:
            work(*words)
        except Exception as e:  # noqa: BLE001: a thread's exception must reach the test
            self.wrong.append(f"{type(e).__name__}: {e}")
            self.over.set()

    def test_nothing_is_mixed_lost_or_doubled(self):
        script = Failing()
        origins = [self.http2_origin(script, settings={MAX_STREAMS: bound}) for bound in (100, 7)]
        gateway = self.in_front_of(
            *origins, options=", ejection: { failures: 0 }, retry_budget: 100, idle_timeout: 500ms", workers=2
        )
        works = [(self.over_2, "two"), (self.over_1, "one")]
        threads = [
            threading.Thread(target=self.guarded, args=(work, gateway, f"{name}{i}")) for work, name in works for i in range(4)
        ]
        for thread in threads:
            thread.start()
        self.over.wait(SECONDS)
        self.over.set()
        for thread in threads:
            thread.join(90)
        self.assertEqual([t.is_alive() for t in threads], [False] * len(threads))
        self.assertEqual(self.wrong[:5], [])
        self.assertEqual(script.wrong[:5], [])
        self.assertGreater(len(self.well), 100)
        self.assertGreater(len(self.failed), 10)
        begun = [c for o in origins for c in o.requests if c.method == "POST" and c.body]
        posts = [c.target for c in begun if not c.target.startswith("/refuse/")]
        self.assertEqual(len(posts), len(set(posts)))
        wait_until(lambda: not any(o.open_peers() for o in origins), what="the idle connections' end")
        gauge = lambda name, **labels: gateway.metrics().count(name, **labels)  # noqa: E731
        wait_until(lambda: gauge("gateway_upstream_server_connections", state="active") == 0)
        wait_until(lambda: gauge("gateway_connections", side="client", state="active") == 0)
        wait_until(lambda: gauge("gateway_upstream_queue_length") == 0)


@only_as_shipped
class ChaosOverTls(Chaos):
    def setUp(self):
        super().setUp()
        self.origin_tls = self.tls = certificates(self.directory())
