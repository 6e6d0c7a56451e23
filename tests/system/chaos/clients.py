"""The clients: a process of their own that notes what came of every request, and when."""
import multiprocessing
import re
import time
from collections import namedtuple

from chaos.limits import INTERVAL, LEASED_INTERVAL, LIMITS, PORT
from harness.clock import running
from harness.load import Load

# Of one request. `verdict` is one of those below, or the status. `sent` and `answered` are of
# time.monotonic(), `took` is without the pauses of the machine.
Answer = namedtuple("Answer", "gateway limit key verdict sent answered took")
Lost = namedtuple("Lost", "gateway limit key why sent ended")

ALLOWED = "allowed"  # with the fields of the whole limit
IN_PART = "allowed in part"  # with those of a part of it
UNLIMITED = "allowed without limit"  # with none
REJECTED = "rejected"
CLOSED = "failed closed"

LIMIT_FIELD = re.compile(rb"\r\nX-RateLimit-Limit: (\d+)\r\n")


def verdict(limit, text):
    status = text[9:12]
    if status == b"200":
        field = LIMIT_FIELD.search(text)
        if field is None:
            return UNLIMITED
        return ALLOWED if int(field.group(1)) == limit.burst else IN_PART
    return {b"429": REJECTED, b"503": CLOSED}.get(status, status.decode())


class _Noting(Load):
    def __init__(self, addresses, flows):
        super().__init__(None, flows)
        self._addresses = addresses
        self.noted, self.unanswered = [], []

    def _connect(self, flow):
        self._address = self._addresses[flow.tag[0]]
        super()._connect(flow)

    def _send(self, flow):
        flow.began = time.monotonic()
        super()._send(flow)

    def _answered(self, flow, text, closes):
        super()._answered(flow, text, closes)
        self.answers.clear()
        said = verdict(LIMITS[flow.tag[1]], text)
        took = running() - flow.sent
        self.noted.append(Answer(*flow.tag, said, flow.began, time.monotonic(), took))

    def _lose(self, flow, why):
        self.unanswered.append(Lost(*flow.tag, str(why), flow.began, time.monotonic()))
        super()._lose(flow, why)

    def _next(self, flow, now):
        """After the pause, if its clients are in one."""
        _, name, _ = flow.tag
        busy, idle = LIMITS[name].rhythm
        at = max(now, flow.sent + (LEASED_INTERVAL if name == "leased" else INTERVAL))
        phase = at % (busy + idle)
        super()._next(flow, at if phase < busy else at + busy + idle - phase)


def _run(addresses, seconds, pipe):
    flows = [
        ((gateway, name, key), _request(name, key))
        for gateway in range(len(addresses))
        for name, limit in LIMITS.items()
        for key in range(limit.keys)
        for _ in range(limit.flows)
    ]
    load = _Noting(addresses, flows)
    load.run(seconds)
    unanswered = [Lost(*tag, why, 0.0, time.monotonic()) for tag, why in load.lost if why == "no answer at all"]
    pipe.send((load.noted, load.unanswered + unanswered))
    pipe.close()


def _request(name, key):
    return f"GET /{name} HTTP/1.1\r\nHost: h\r\nX-Client: {name}-{key}\r\n\r\n".encode()


class Clients:
    def __init__(self, hosts, seconds):
        self._pipe, theirs = multiprocessing.Pipe(duplex=False)
        arguments = ([(host, PORT) for host in hosts], seconds, theirs)
        self._process = multiprocessing.Process(target=_run, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def finish(self):
        """All answers, and all requests that got none."""
        found = self._pipe.recv()
        self._process.join()
        return found
