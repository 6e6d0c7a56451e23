"""Whatever a real server or framework reads as limited was charged to that limit, or refused.

Limits differ in their burst, so X-RateLimit-Limit names the one that charged a request. For
values, a plain request takes the first token of a fresh bucket; another spelling of its value must
take the second.
"""
import json
import os

from harness import spellings, value_spellings
from harness.backends import BACKENDS, LENIENT_BACKENDS, lenient, missing
from harness.case import SystemTest, only_as_shipped
from harness.client import Closed

COUNT = int(os.environ.get("GATEWAY_DIFFERENTIAL", "60"))
SEED = int(os.environ.get("GATEWAY_DIFFERENTIAL_SEED", "1"))

BURST_OF_HANDLER = {"login": 800001, "mount": 800002}
BURST_OF_METHOD = {m: 800010 + i for i, m in enumerate(spellings.METHODS) if m != "HEAD"}
BURST_OF_VALUE = 101
# How many findings a failure lists.
TOLD = int(os.environ.get("GATEWAY_DIFFERENTIAL_TOLD", "40"))


def configuration(address):
    def shared(burst):
        return f"{{ key: [], rate: 1/h, burst: {burst} }}"

    def by(part):
        return f"{{ key: '{part}', missing_key: skip, rate: 1/h, burst: {BURST_OF_VALUE} }}"

    def route(match, limit):
        return f"  - {{ match: {{ {match} }}, limits: [{limit}], upstream: backend }}"

    # A handler of GET has the HEAD requests, too.
    methods = {m: m + (", HEAD" if m == "GET" else "") for m in BURST_OF_METHOD}
    return "\n".join(
        ["log: { access: false }", "http: { body_timeout: 2s }", "limits:"]
        + [f"  {name}: {shared(burst)}" for name, burst in BURST_OF_HANDLER.items()]
        + [f"  {name}: {shared(burst)}" for name, burst in BURST_OF_METHOD.items()]
        + [f"  query: {by('query:api_key')}", f"  cookie: {by('cookie:session_id')}"]
        + [f"  authorization: {by('header:authorization')}", "routes:"]
        + [route("path: /api/login", "login"), route("path: /graphql", "mount")]
        + [route(f"path: /method, methods: [{m}]", name) for name, m in methods.items()]
        + [route(f"path: /{name}", name) for name in ("query", "cookie", "authorization")]
        + ["  - { upstream: backend }"]
        + [f"upstreams: {{ backend: {{ servers: ['{address}'], response_timeout: 3s }} }}", ""]
    )


def loose_configuration(address):
    limits = "\n".join(f"  {name}: {{ key: [], rate: 1/h, burst: {burst} }}" for name, burst in BURST_OF_HANDLER.items())
    return (
        f"log: {{ access: false }}\nlimits:\n{limits}\nroutes:\n"
        "  - { match: { path_exact: /api/login, ignore_case: true }, limits: [login], upstream: backend }\n"
        "  - { match: { path: /GraphQL, ignore_case: true }, limits: [mount], upstream: backend }\n"
        "  - { upstream: backend }\n"
        f"upstreams: {{ backend: {{ servers: ['{address}'], response_timeout: 3s }} }}\n"
    )


def message(target="/", field=None, method="GET"):
    lines = [f"{method} {target} HTTP/1.1", "Host: gateway.test"] + ([field] if field else [])
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


class Answer:
    """What the client saw, and what the backend says it read: None if the request was refused."""

    def __init__(self, response):
        self.status = response.status
        self.read = json.loads(response["x-read"] or "null")
        self.limit = int(response["x-ratelimit-limit"] or 0)
        self.remaining = int(response["x-ratelimit-remaining"] or 0)

    def __str__(self):
        charged = f"limit {self.limit}, {self.remaining} left" if self.limit else "no limit"
        return f"{self.status}, charged to {charged}, read {json.dumps(self.read)}"


class Asker:
    """Sends requests one by one, on one connection as long as it lives."""

    def __init__(self, gateway):
        self._gateway = gateway
        self._connection = None

    def ask(self, request):
        if self._connection is None:
            self._connection = self._gateway.connect()
        self._connection.send(request)
        try:
            response = self._connection.response(head=request.startswith(b"HEAD "))
        except (Closed, ConnectionError):
            self.stop()
            raise
        if "close" in (response["connection"] or ""):
            self.stop()
        return Answer(response)

    def stop(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Differential(SystemTest):
    def judge(self, name, start, configured, comparisons):
        why_not = missing(name)
        if why_not:
            self.skipTest(why_not)
        backend = self.started(start())
        self.asker = self.started(Asker(self.gateway(configured(backend.address))))
        told = []
        for compare, least in comparisons:
            with self.subTest(compare.__name__):
                self.asked = self.read = 0
                findings = compare()
                told.append(f"{compare.__name__} {self.read} of {self.asked}")
                if findings:
                    said = f"seed {SEED}: {len(findings)} were read, but not charged"
                    self.fail("\n".join([said] + findings[:TOLD]))
                self.assertGreaterEqual(self.read, least, "hardly anything reached the backend")
        print(f"     {name}, seed {SEED}, read as limited: {', '.join(told)}")

    def named(self, requests, burst_of):
        """The requests that a limited handler got, and another limit or none was charged for."""
        findings = []
        for request in requests:
            answer = self.asker.ask(request)
            burst = answer.read and burst_of(answer.read)
            self.asked += 1
            self.read += bool(burst)
            if burst and answer.limit != burst:
                findings.append(f"{request!r}: {answer}")
        return findings

    def by_handler(self, targets, burst_of_handler):
        return self.named(map(message, targets), lambda read: burst_of_handler.get(read["handler"]))


@only_as_shipped
class LooseRouting(Differential):
    """Routes with `ignore_case` before servers that ignore case, and a slash at the end."""

    def paths(self):
        bursts = {"=/api/login": BURST_OF_HANDLER["login"], "/graphql": BURST_OF_HANDLER["mount"]}
        return self.by_handler(spellings.loose_paths(SEED, 2 * COUNT), bursts)

    def in_lenient(self, name):
        start = lambda: lenient(name, ["=/api/login", "/graphql"])
        self.judge(name, start, loose_configuration, [(self.paths, 40)])


@only_as_shipped
class DifferentialBackends(Differential):
    def in_strict(self, name):
        self.judge(name, BACKENDS[name], configuration, (
            (self.paths, 10),
            (self.methods, 5),
            (self.queries, 20),
            (self.cookies, 20),
            (self.credentials, 30),
        ))

    def paths(self):
        return self.by_handler(spellings.paths(SEED, 2 * COUNT), BURST_OF_HANDLER)

    def methods(self):
        return self.named(
            (message("/method", method=m) for m in spellings.methods(SEED, COUNT // 5)),
            lambda read: BURST_OF_METHOD.get(read.get("method")),
        )

    def queries(self):
        pairs = value_spellings.queries(SEED, COUNT)
        return self.valued("query", pairs, lambda query: message("/query?" + query))

    def cookies(self):
        pairs = value_spellings.cookies(SEED, COUNT)
        return self.valued("cookie", pairs, lambda text: message("/cookie", "Cookie: " + text))

    def credentials(self):
        pairs = value_spellings.credentials(SEED, COUNT)
        return self.valued(
            "authorization",
            pairs,
            lambda text: message("/authorization", "Authorization: " + text),
        )

    def valued(self, part, pairs, request_with):
        """The spellings that were read as the plain one was, but took no token of its bucket."""
        findings = []
        for plain, respelt in pairs:
            first = self.asker.ask(request_with(plain))
            taken = (first.limit, first.remaining, first.read is not None)
            self.assertEqual(taken, (BURST_OF_VALUE, BURST_OF_VALUE - 1, True), (plain, str(first)))
            again = self.asker.ask(request_with(respelt))
            self.asked += 1
            if not again.read or not set(filter(None, again.read[part])) & set(first.read[part]):
                continue
            self.read += 1
            if (again.limit, again.remaining) != (BURST_OF_VALUE, BURST_OF_VALUE - 2):
                findings.append(f"{request_with(respelt)!r}, plainly {plain!r}: {again}")
        return findings


for backend_name in BACKENDS:
    setattr(DifferentialBackends, f"test_{backend_name}", lambda self, n=backend_name: self.in_strict(n))
for backend_name in LENIENT_BACKENDS:
    setattr(LooseRouting, f"test_{backend_name}", lambda self, n=backend_name: self.in_lenient(n))

