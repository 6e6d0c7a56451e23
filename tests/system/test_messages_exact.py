"""A budget that many requests spend at once, although each says only at its end what it has cost: no more begin
than their reserves allow, and in the end the bucket has lost what they have cost, debt included."""
import json
import math
import random
import signal
import threading

from harness.case import only_as_shipped
from harness.client import Closed, get
from harness.http2 import Http2
from harness.message_case import JSON, TOKEN, MessageTest
from harness.model_shapes import anthropic_delta, anthropic_start, named_events, price
from harness.origin import Origin
from harness.postgres_server import PostgresServer
from harness.process import SLOW, wait_until
from harness.redis_server import RedisServer

BUDGET, RESERVE, REQUESTS = 1000, 100, 50
SECONDS_PER_TOKEN = 360
TEXT = """
workers: 2
{admin}{stores}limits:
  l: {{ key: [], rate: 10/h, burst: %d, cost: %d, {where}settle: {{ json: {{ "message.usage.input_tokens": 1,
        "usage.output_tokens | message.usage.output_tokens": 4 }}, max: 100000{more} }} }}
routes: [ {{ limits: [l], upstream: up }} ]
upstreams: {{ up: {{ servers: ['{origin}'] }} }}
""" % (BUDGET, RESERVE)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Model:
    """A script of an origin whose streams begin at once, and end with their usage when the gate opens."""

    GIVEN = 30

    def __init__(self):
        self.gate = threading.Event()
        self.made = 30
        self.spent = []  # by each stream that has ended
        self.dies = False

    @property
    def full(self):
        return price(self.GIVEN, self.made)

    @property
    def begun(self):
        """The price of a stream of which only the beginning was seen."""
        return price(self.GIVEN, 1)

    def __call__(self, peer, request):
        peer.read_body(request)
        made = int(request.target.partition("?made=")[2] or self.made)
        start = named_events([anthropic_start(self.GIVEN)])
        peer.send(HEAD + b"%x\r\n%s\r\n" % (len(start), start))
        self.gate.wait(60)
        if self.dies:
            return False
        rest = named_events([anthropic_delta(made), {"type": "message_stop"}])
        peer.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(rest), rest))
        self.spent.append(price(self.GIVEN, made))


class Budget:
    """Mixed with MessageTest; `server` is the kind of store, None: the local one of one gateway."""

    server = None
    gateways_count = 3

    def setUp(self):
        self.model = Model()
        self.addCleanup(self.model.gate.set)
        self.origin_ = self.started(Origin(self.model))
        self.admin_ = self.token_of_admin()
        self.store = None if self.server is None else self.started(self.server())
        self.begin()

    def begin(self, more=""):
        stores, where = "", ""
        if self.store is not None:
            stores = f"stores: {{ r: {{ url: '{self.store.url}', timeout: 5s }} }}\n"
            where = "store: r, on_store_failure: closed, "
        text = TEXT.format(admin=self.admin_, stores=stores, where=where, more=more, origin=self.origin_.address)
        count = 1 if self.store is None else self.gateways_count
        self.gateways = [self.gateway(text) for _ in range(count)]
        for g in self.gateways if self.store is not None else ():
            wait_until(lambda g=g: g.metrics().count("gateway_store_up", store="r") == 1, what="the store is up")

    # ---- asking

    def spent(self, gateway=None):
        """Tokens that the bucket lacks, also those that it owes."""
        return math.ceil(self.look(gateway or self.gateways[-1])["reset"] / SECONDS_PER_TOKEN)

    def assert_spent(self, expected):
        seen = []
        try:
            wait_until(lambda: seen.append(self.spent()) or seen[-1] == expected, 10)
        except AssertionError:
            self.fail(f"{seen[-1]} tokens are spent, not {expected}")

    def begin_requests(self, count=REQUESTS, target="/"):
        """So many at once, dealt to the gateways: the connections of those that have begun."""
        connections = [self.gateways[n % len(self.gateways)].connect(timeout=30) for n in range(count)]
        for c in connections:
            self.addCleanup(c.close)
            c.request(target, [JSON], "POST", b"{}")
        heads = [c.head() for c in connections]
        self.assertLessEqual({h.status for h in heads}, {200, 429})
        return [c for c, h in zip(connections, heads) if h.status == 200]

    @staticmethod
    def finish(connections):
        for c in connections:
            c.read_until(b"message_stop")
            c.read_until(b"\r\n0\r\n\r\n")

    def rejected(self):
        return sum(g.metrics().sum("gateway_requests_total", code="429") for g in self.gateways)

    def grant(self, tokens):
        fields = [("Authorization", f"Bearer {TOKEN}"), JSON]
        asked = json.dumps({"limit": "l", "key": [], "tokens": tokens}).encode()
        self.assertEqual(get(self.gateways[0].admin, "/v1/grant", fields, method="POST", body=asked).status, 200)

    # ---- promises

    def test_reserves_bound_what_begins_and_the_debt_is_exact(self):
        begun = self.begin_requests()
        self.assertEqual(len(begun), BUDGET // RESERVE)
        self.assertEqual(self.spent(), BUDGET)
        self.model.gate.set()
        self.finish(begun)
        self.assert_spent(10 * self.model.full)
        debt = 10 * self.model.full - BUDGET
        self.assertGreater(debt, 0)
        refused = self.gateways[0].get()
        self.assertEqual(refused.status, 429)
        seconds = (debt + RESERVE) * SECONDS_PER_TOKEN
        self.assertIn(int(refused["retry-after"]), range(seconds - 60, seconds + 1))

    def test_a_debt_that_is_repaid_lets_the_next_one_pass(self):
        begun = self.begin_requests()
        self.model.gate.set()
        self.finish(begun)
        spent = 10 * self.model.full
        self.assert_spent(spent)
        self.grant(spent - BUDGET + RESERVE - 1)
        wait_until(lambda: self.spent() == BUDGET - RESERVE + 1)
        self.assertEqual(len(self.begin_requests(6)), 0, "one token is lacking")
        self.grant(1)
        wait_until(lambda: self.spent() == BUDGET - RESERVE)
        # A gateway that has just rejected remembers that for a moment.
        wait_until(lambda: len(self.begin_requests(1)) == 1)
        self.assertGreaterEqual(self.spent(), BUDGET)

    def test_what_was_reserved_in_vain_is_there_for_others(self):
        self.model.made = 5
        begun = self.begin_requests()
        self.model.gate.set()
        self.finish(begun)
        self.assert_spent(10 * self.model.full)
        self.model.gate.clear()
        again = wait_until(lambda: self.begin_requests())
        self.assertEqual(len(again), (BUDGET - 10 * self.model.full) // RESERVE)

    def test_clients_that_leave_in_the_middle(self):
        begun = self.begin_requests()
        for c in begun[::2]:
            c.read_until(b"message_start")
            c.read_until(b"\r\n")  # the event's data
            c.close()
        left, stayed = len(begun[::2]), begun[1::2]
        self.assert_spent(BUDGET - left * (RESERVE - self.model.begun))
        self.model.gate.set()
        self.finish(stayed)
        self.assert_spent(left * self.model.begun + len(stayed) * self.model.full)

    def test_streams_of_http2_that_are_reset(self):
        with Http2(self.gateways[0].address) as c:
            streams = [c.request() for _ in range(REQUESTS)]
            c.wait(lambda: all(c.answer(s).over or c.answer(s).body for s in streams))
            begun = [s for s in streams if c.answer(s).status == 200]
            self.assertEqual(len(begun), BUDGET // RESERVE)
            for stream in begun[:4]:
                c.reset(stream)
            self.assert_spent(BUDGET - 4 * (RESERVE - self.model.begun))
            self.model.gate.set()
            c.wait_for(*begun[4:])
        self.assert_spent(4 * self.model.begun + 6 * self.model.full)

    def test_an_upstream_that_dies(self):
        begun = self.begin_requests()
        for c in begun:
            c.read_until(b"message_start")
            c.read_until(b"\r\n")
        self.model.dies = True
        self.model.gate.set()
        for c in begun:
            self.assertRaises((Closed, ConnectionError), c.read_until, b"message_stop")
        self.assert_spent(10 * self.model.begun)

    def test_an_upstream_that_dies_before_it_says_anything(self):
        self.begin(", missing: refund")
        self.origin_.script = lambda peer, request: self.model.gate.wait(60) and False
        connections = [self.gateways[n % len(self.gateways)].connect() for n in range(REQUESTS)]
        for c in connections:
            self.addCleanup(c.close)
            c.request("/", [JSON], "POST", b"{}")
        wait_until(lambda: len(self.origin_.requests) == 10, what="ten are asked")
        wait_until(lambda: self.rejected() == 40, what="the others are decided before a reserve comes back")
        self.model.gate.set()
        statuses = sorted(c.response().status for c in connections)
        self.assertEqual(statuses, [429] * 40 + [502] * 10)
        self.assert_spent(0)

    def test_waves_of_any_prices_add_up(self):
        pick = random.Random(7)
        self.model.gate.set()
        most = 3 if SLOW else 12
        for _ in range(most):
            made = pick.choice((0, 1, 5, 20, 40))
            self.finish(self.begin_requests(8, f"/?made={made}"))
        self.assert_spent(sum(self.model.spent))
        dearest = price(Model.GIVEN, 40)
        self.assertLess(sum(self.model.spent), BUDGET + (BUDGET // RESERVE) * (dearest - RESERVE))


@only_as_shipped
class OneGateway(Budget, MessageTest):
    pass


@only_as_shipped
class ThreeWithRedis(Budget, MessageTest):
    server = RedisServer

    def test_a_gateway_that_is_killed_leaves_its_reserves(self):
        begun = self.begin_requests()
        self.assertEqual(len(begun), BUDGET // RESERVE)
        lost = self.gateways[0]
        own = sum(c.socket.getpeername() == lost.address for c in begun)
        lost.signal(signal.SIGKILL)
        lost.wait()
        others = [c for c in begun if c.socket.getpeername() != lost.address]
        self.model.gate.set()
        self.finish(others)
        self.assert_spent(own * RESERVE + len(others) * self.model.full)


@only_as_shipped
class ThreeWithPostgres(Budget, MessageTest):
    server = PostgresServer
