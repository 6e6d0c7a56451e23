"""Whatever member of a body a real framework reads, that one was charged, or none: no spelling has the bucket of
one value and the handler of another. Routes by a member are stricter: a body that is read as theirs has their
limits, or is refused."""
import json
import os

from harness.backends import JSON_BACKENDS, reader_of_json
from harness.case import SystemTest, only_as_shipped
from harness.client import Closed
from harness.http2 import Http2
from harness.json_spellings import TYPE, bodies, plain

COUNT = int(os.environ.get("GATEWAY_DIFFERENTIAL", "300"))
SEED = int(os.environ.get("GATEWAY_DIFFERENTIAL_SEED", "1"))
TOLD = int(os.environ.get("GATEWAY_DIFFERENTIAL_TOLD", "40"))

BURST, NAMED = 1000003, 1000007
TEXT = """
log: {{ access: false }}
http: {{ body_timeout: 5s, on_long_body: missing }}
limits:
  by_model: {{ key: 'json:model', missing_key: skip, rate: 100/d, burst: {burst} }}
  named: {{ key: [], rate: 100/d, burst: {named} }}
routes:
  - {{ match: {{ path: /match, json: {{ model: limited }} }}, limits: [named], upstream: up }}
  - {{ match: {{ path: /any/match, json: {{ model: limited }} }}, limits: [named], upstream: up }}
  - {{ match: {{ path: /match }}, upstream: up }}
  - {{ match: {{ path: /any/match }}, upstream: up }}
  - {{ limits: [by_model], upstream: up }}
upstreams: {{ up: {{ servers: ['{address}'], response_timeout: 5s }} }}
"""


class Answer:
    """What the client saw, and what the framework says it read: None if it read nothing."""

    def __init__(self, status, fields):
        fields = dict(fields)
        self.status = status
        self.read = json.loads(fields.get("x-read") or "{}").get("model")
        self.limit = int(fields.get("x-ratelimit-limit") or 0)
        self.left = int(fields.get("x-ratelimit-remaining") or 0)

    def __str__(self):
        charged = f"limit {self.limit}, {self.left} left" if self.limit else "no limit"
        return f"{self.status}, {charged}, read {json.dumps(self.read)[:80]}"


class Asker:
    """Sends requests one by one over HTTP/1.1, on one connection as long as it lives."""

    def __init__(self, gateway):
        self._gateway, self._c = gateway, None

    def ask(self, target, fields, body):
        if self._c is None:
            self._c = self._gateway.connect()
        try:
            self._c.request(target, fields, "POST", body)
            r = self._c.response()
        except (Closed, ConnectionError):
            self.stop()
            raise
        if "close" in (r["connection"] or ""):
            self.stop()
        return Answer(r.status, r.fields)

    def stop(self):
        if self._c is not None:
            self._c.close()
            self._c = None


class Asker2:
    """The same over HTTP/2."""

    def __init__(self, gateway):
        self._gateway, self._c = gateway, None

    def ask(self, target, fields, body):
        if self._c is None or self._c.next_stream > 400:
            self.stop()
            self._c = Http2(self._gateway.address)
        own = [(n.lower(), v) for n, v in fields] + [("content-length", str(len(body)))]
        stream = self._c.request(target, own, method="POST", end=False)
        self._c.upload(stream, body)
        answer = self._c.wait_for(stream)
        assert answer is not None, f"the connection ended: {self._c.goaway}"
        # An error of the stream is no answer that anybody could use.
        return Answer(answer.status, answer.fields) if answer.fields else Answer(400, [])

    def stop(self):
        if self._c is not None:
            self._c.raw.close()
            self._c = None


@only_as_shipped
class JsonBackends(SystemTest):
    def judge(self, name, asker):
        backend = self.started(reader_of_json(name))
        gateway = self.gateway(TEXT.format(burst=BURST, named=NAMED, address=backend.address))
        self.asker = self.started(asker(gateway))
        told = []
        for compare in (self.keys, self.matches):
            for prefix in ("", "/any") if name == "express" else ("",):
                with self.subTest(compare.__name__, prefix=prefix):
                    self.asked = self.read = self.charged = 0
                    findings = compare(prefix)
                    told.append(f"{compare.__name__} {self.read} of {self.asked}, charged {self.charged}")
                    if findings:
                        self.fail("\n".join([f"seed {SEED}: {len(findings)} findings", *findings[:TOLD]]))
                    self.assertGreaterEqual(self.charged, 60, "hardly anything was charged")
        print(f"     {name}, seed {SEED}, read: {'; '.join(told)}")

    def asked_for(self, target, fields, body):
        answer = self.asker.ask(target, fields, body)
        self.asked += 1
        self.read += answer.read is not None
        self.charged += answer.limit > 0
        return answer, f"{fields} {body if len(body) < 300 else body[:60] + b'...' + body[-60:]!r}: {answer}"

    def keys(self, prefix):
        """The bucket that was charged must be that of what the framework read."""
        findings = []
        for fields, body in bodies(SEED, COUNT):
            answer, said = self.asked_for(prefix + "/", fields, body)
            if answer.read is None or not answer.limit:
                continue
            again = self.asker.ask(prefix + "/", [TYPE], plain(answer.read))
            if (again.limit, again.left) != (BURST, answer.left - 1):
                findings.append(f"{said}; plainly: {again}")
        return findings

    def matches(self, prefix):
        """What the framework reads as `limited` has that route's limit."""
        findings = []
        for fields, body in bodies(SEED, COUNT, lambda pick: "limited"):
            answer, said = self.asked_for(prefix + "/match", fields, body)
            if answer.read == "limited" and answer.limit != NAMED:
                findings.append(said)
        return findings


for backend_name in JSON_BACKENDS:
    setattr(JsonBackends, f"test_{backend_name}", lambda self, n=backend_name: self.judge(n, Asker))
setattr(JsonBackends, "test_express_over_http2", lambda self: self.judge("express", Asker2))
