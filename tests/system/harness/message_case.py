"""The base of tests of limits that read what requests and responses say."""
import json

from harness.case import SystemTest
from harness.client import get
from harness.gateway import run_command, whole_configuration
from harness.http2_upstream_case import ASKS
from harness.origin import answer_ok
from harness.process import wait_until

JSON = ("Content-Type", "application/json")
BURST = 1000000
TOKEN = "secret"


def reading(address, limit, http="", route="", more=""):
    """A configuration with one limit `l` on the only route. Its tokens come back too slowly to be seen."""
    return (
        f"workers: 1\nhttp: {{ body_timeout: 20s{', ' + http if http else ''} }}\n"
        f"limits: {{ l: {{ rate: 100/d, burst: {BURST}, {limit} }} }}\n"
        f"routes: [ {{ limits: [l], upstream: up{', ' + route if route else ''} }} ]\n"
        f"upstreams: {{ up: {{ servers: ['{address}'] }} }}\n{more}"
    )


class Whole:
    """A script of an origin that remembers the bodies whose end it has seen."""

    def __init__(self):
        self.bodies = []

    def __call__(self, peer, request):
        peer.read_body(request)
        self.bodies.append(request.body)
        peer.reply()


class Chunks:
    """Decodes a chunked response as it comes."""

    def __init__(self, connection):
        self._connection, self._left = connection, b""

    def exactly(self, count):
        while len(self._left) < count:
            size = int(self._connection.read_until(b"\r\n"), 16)
            assert size, "the end"
            self._left += self._connection.read_exactly(size)
            assert self._connection.read_exactly(2) == b"\r\n"
        found, self._left = self._left[:count], self._left[count:]
        return found

    def end(self):
        assert not self._left and self._connection.read_exactly(5) == b"0\r\n\r\n"


class MessageTest(SystemTest):
    asking_over = None  # the protocol of over_each_protocol()

    def token_of_admin(self):
        """The key `admin` of a configuration whose buckets `left` can look at."""
        path = self.directory().file("token", TOKEN + "\n")
        return f"admin: {{ address: '127.0.0.1:0', token_file: '{path}' }}\n"

    def limited(self, limit, script=answer_ok, **options):
        """A gateway with that limit, in front of `self.origin_`."""
        self.origin_ = self.origin(script)
        more = options.pop("more", "") + self.token_of_admin()
        return self.gateway(reading(self.origin_.address, limit, more=more, **options))

    def check(self, text):
        """The status of `gateway check`, and what it complains of. What is printed of a good file reads the same."""
        path = self.directory().file("gateway.yaml", whole_configuration(text))
        status, _, complaint = run_command("check", "--config", path)
        if status == 0:
            printed = run_command("print", "--config", path)
            again = run_command("print", "--config", self.directory().file("printed.yaml", printed[1]))
            self.assertEqual(again, printed, "what was printed")
        return status, complaint

    def look(self, gateway, key=(), limit="l"):
        fields = [("Authorization", f"Bearer {TOKEN}"), JSON]
        asked = json.dumps({"limit": limit, "key": list(key)}).encode()
        answer = get(gateway.admin, "/v1/look", fields, method="POST", body=asked)
        self.assertEqual(answer.status, 200, answer.text)
        return json.loads(answer.text)

    def used(self, gateway, key=(), limit="l", burst=BURST):
        """Tokens that have been taken from a bucket and not given back."""
        return burst - self.look(gateway, key, limit)["remaining"]

    def assert_used(self, expected, gateway, key=(), limit="l", burst=BURST, what=""):
        """As soon as the worker has made its corrections."""
        seen = []

        def is_so():
            seen.append(self.used(gateway, key, limit, burst))
            return seen[-1] == expected

        try:
            wait_until(is_so, what="the charge")
        except AssertionError:
            self.fail(f"{seen[-1]} tokens are used, not {expected}: {what}")

    def over_each_protocol(self):
        """Yields the functions that ask over HTTP/1.1 and HTTP/2; a failure meanwhile names the protocol."""
        for name, ask in ASKS:
            self.asking_over = name
            yield ask
        self.asking_over = None

    def _formatMessage(self, msg, standardMsg):
        said = super()._formatMessage(msg, standardMsg)
        return f"over {self.asking_over}: {said}" if self.asking_over else said


def post(ask, gateway, body, fields=(JSON,), target="/", **options):
    """One POST of that body, which may be a text."""
    sent = body.encode() if isinstance(body, str) else body
    return ask(gateway, target, list(fields), method="POST", body=sent, **options)
