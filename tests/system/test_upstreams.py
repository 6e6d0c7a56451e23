"""Several servers per upstream: who gets a request, who dies and comes back, who has to wait."""
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from harness.case import SystemTest
from harness.client import Closed
from harness.load import Load
from harness.origin import answer_ok
from harness.process import SLOW, wait_until
from harness.websocket import WebSocket, grant_of

PLAIN = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


def to_servers(servers, options="", workers=2):
    listed = ", ".join(s if s.startswith("{") else f"'{s}'" for s in servers)
    return (
        f"workers: {workers}\nlog: {{ access: false }}\n"
        "routes: [ { upstream: up } ]\n"
        f"upstreams: {{ up: {{ servers: [{listed}]{options} }} }}\n"
    )


class Held:
    """A script that keeps every request until it is let go, and knows how many it has."""

    def __init__(self):
        self._lock = threading.Lock()
        self._go = threading.Semaphore(0)
        self.now = self.most = 0

    def __call__(self, peer, request):
        peer.read_body(request)
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self._go.acquire()
        with self._lock:
            self.now -= 1
        peer.reply()

    def let_go(self, count=1):
        self._go.release(count)


class Balance(SystemTest):
    def requests_at(self, origins, options, count=400, weights=None):
        servers = [
            f"{{ address: '{o.address}', weight: {w} }}"
            for o, w in zip(origins, weights or [1] * len(origins))
        ]
        gateway = self.gateway(to_servers(servers, options, workers=1))
        before = [len(o.requests) for o in origins]
        with gateway.connect() as c:
            for _ in range(count):
                self.assertEqual(c.ask().status, 200)
        return [len(o.requests) - b for o, b in zip(origins, before)]

    def test_idle_servers_get_requests_by_weight(self):
        origins = [self.origin() for _ in range(3)]
        for options in ("", ", balance: least_requests"):
            got = self.requests_at(origins, options, 600, [1, 2, 3])
            for count, expected in zip(got, (100, 200, 300)):
                self.assertAlmostEqual(count, expected, delta=65, msg=got)
        self.assertEqual(
            self.requests_at(origins, ", balance: round_robin", 600, [1, 2, 3]), [100, 200, 300]
        )

    def test_a_busy_server_is_left_alone_by_all_workers(self):
        held = Held()
        slow, quick = self.origin(held), self.origin()
        gateway = self.gateway(to_servers([slow.address, quick.address]))
        first = []
        while held.now == 0:  # which of two idle servers is drawn is chance
            before = len(quick.requests)
            first.append(gateway.connect())
            self.addCleanup(first[-1].close)
            first[-1].request()
            wait_until(lambda: held.now or len(quick.requests) > before)
        for _ in range(40):  # each on a connection of its own, so at both workers
            self.assertEqual(gateway.get().status, 200)
        self.assertEqual(len(slow.requests), 1)
        held.let_go()
        self.assertEqual(first[-1].response().status, 200)

    def test_hash_sends_a_client_to_one_server_and_moves_few_when_one_leaves(self):
        origins = [self.origin() for _ in range(4)]
        options = ", balance: hash"
        gateway = self.gateway(to_servers([o.address for o in origins], options))

        def server_of(client):
            before = [len(o.requests) for o in origins]
            for _ in range(3):
                with gateway.connect(source=client) as c:
                    self.assertEqual(c.ask().status, 200)
            new = [len(o.requests) - b for o, b in zip(origins, before)]
            self.assertEqual(sorted(new), [0, 0, 0, 3], client)
            return new.index(3)

        clients = [f"127.0.0.{i}" for i in range(2, 42)]
        first = {c: server_of(c) for c in clients}
        self.assertEqual(set(first.values()), {0, 1, 2, 3})
        gateway.reload(to_servers([o.address for o in origins[1:]], options))
        self.assertEqual(gateway.get().status, 200)
        for client, server in first.items():
            with gateway.connect(source=client) as c:
                c.ask()  # until both workers have the new list, it may still be the old one
        for client, server in first.items():
            now = server_of(client)
            self.assertNotEqual(now, 0)
            self.assertIn(server, (now, 0))


class Failing(SystemTest):
    EJECTION = ", ejection: { time: 300ms, max_time: 300ms }, slow_start: 100ms"

    def test_no_idempotent_request_fails_when_a_server_dies_and_it_is_used_again_when_back(self):
        origins = [self.origin() for _ in range(3)]
        gateway = self.gateway(to_servers([o.address for o in origins], self.EJECTION))
        load = Load(gateway.address, [(i, PLAIN) for i in range(8)], interval=0.002).start()
        wait_until(lambda: all(len(o.requests) > 50 for o in origins))
        origins[0].stop()
        up = lambda: gateway.metrics().sum(  # noqa: E731
            "gateway_upstream_server_up", upstream="up", server=origins[0].address
        )
        wait_until(lambda: up() == 0, what="the ejection")
        others = len(origins[1].requests)
        wait_until(lambda: len(origins[1].requests) > others + 100)
        port = int(origins[0].address.rpartition(":")[2])
        again = self.origin(port=port)
        wait_until(lambda: len(again.requests) > 50, 10, "the server to be used again")
        load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in load.answers}, {200})
        m = gateway.metrics()
        self.assertEqual(up(), 1)
        self.assertGreaterEqual(
            m.sum("gateway_upstream_server_ejections_total", server=again.address), 1
        )
        self.assertGreaterEqual(
            m.sum("gateway_upstream_server_failures_total", server=again.address), 5
        )

    def test_a_post_is_never_doubled_while_servers_die_and_return(self):
        seen, lock = {}, threading.Lock()

        def count(peer, request):
            peer.read_body(request)
            with lock:
                seen[request.target] = seen.get(request.target, 0) + 1
            peer.reply()

        origins = [self.origin(count) for _ in range(2)]
        ports = [int(o.address.rpartition(":")[2]) for o in origins]
        gateway = self.gateway(to_servers([o.address for o in origins], self.EJECTION))
        stop = threading.Event()
        answered = []

        def client(number):
            sent = 0
            while not stop.is_set():
                with gateway.connect() as c:
                    try:
                        while not stop.is_set():
                            sent += 1
                            target = f"/{number}/{sent}"
                            r = c.ask(target, method="POST", body=b"once")
                            answered.append((target, r.status))
                    except (Closed, OSError):
                        pass

        threads = [threading.Thread(target=client, args=(i,)) for i in range(6)]
        for t in threads:
            t.start()
        for turn in range(6):
            enough = len(answered) + 100
            wait_until(lambda: len(answered) > enough, 10)
            origins[turn % 2].stop()
            enough = len(answered) + 100
            wait_until(lambda: len(answered) > enough, 10)
            origins[turn % 2] = self.origin(count, port=ports[turn % 2])
        stop.set()
        for t in threads:
            t.join(20)
        self.assertEqual({n for n in seen.values()}, {1})
        for target, status in answered:
            self.assertIn(status, (200, 502))
            if status == 200:
                self.assertIn(target, seen)
        failed = sum(status != 200 for _, status in answered)
        self.assertLess(failed, len(answered) / 20)

    def test_a_get_whose_new_connection_is_cut_goes_to_another_server_and_a_post_does_not(self):
        def cut(peer, request):
            peer.read_body(request)
            peer.reset()
            return False

        bad, good = self.origin(cut), self.origin()
        gateway = self.gateway(
            to_servers([bad.address, good.address], ", balance: round_robin, ejection: { failures: 0 }")
        )
        for _ in range(10):
            self.assertEqual(gateway.get().status, 200)
        self.assertTrue(bad.requests)
        m = gateway.metrics()
        self.assertEqual(
            m.sum("gateway_upstream_retries_total", result="sent"), len(bad.requests)
        )
        before = len(bad.requests) + len(good.requests)
        statuses = [
            gateway.get(method="POST", body=b"x").status for _ in range(10)
        ]
        self.assertIn(502, statuses)
        self.assertEqual(len(bad.requests) + len(good.requests), before + 10)

    def test_all_that_a_dying_server_had_is_answered_by_another(self):
        """Half of what is under way, more at once than the retries of ordinary times."""
        count = 300
        held = Held()

        def script(peer, request):
            return held(peer, request) if request.target == "/held" else answer_ok(peer, request)

        origins = [self.origin(script) for _ in range(2)]
        gateway = self.gateway(
            to_servers([o.address for o in origins], ", balance: round_robin, connect_timeout: 1m, response_timeout: 5m",
                       workers=1)
        )
        with gateway.connect() as c:
            for _ in range(5 * count):  # saves for what is to come
                self.assertEqual(c.ask("/quick").status, 200)
        clients = [gateway.connect() for _ in range(2 * count)]
        for c in clients:
            self.addCleanup(c.close)
            c.request("/held")
        wait_until(lambda: held.now == 2 * count, 60, "all are at a server")
        at_first = sum(r.target == "/held" for r in origins[0].requests)
        self.assertGreater(at_first, 200)
        origins[0].stop()
        held.let_go(3 * count)
        self.assertEqual({c.response().status for c in clients}, {200})
        m = gateway.metrics()
        self.assertEqual(m.sum("gateway_upstream_retries_total", result="sent"), at_first)

    def test_the_retry_goes_to_another_server_though_the_last_one_is_not_to_blame(self):
        """Both know the gateway; one then ends each connection at its next request."""
        ends = []

        def script(peer, request):
            peer.read_body(request)
            if peer.socket.getsockname()[1] in ends:
                return False
            peer.reply()

        origins = [self.origin(script) for _ in range(2)]
        gateway = self.gateway(
            to_servers([o.address for o in origins], ", ejection: { failures: 0 }", workers=1)
        )
        with gateway.connect() as c:
            for turn in range(40):
                ends[:] = []
                before = [len(o.requests) for o in origins]
                wait_until(
                    lambda: c.ask().status == 200
                    and all(len(o.requests) > b for o, b in zip(origins, before))
                )
                ends.append(int(origins[turn % 2].address.rpartition(":")[2]))
                for _ in range(4):
                    self.assertEqual(c.ask().status, 200, turn)

    def test_one_server_alone_is_asked_whatever_it_did(self):
        origin = self.origin()
        gateway = self.gateway(to_servers([origin.address]))
        self.assertEqual(gateway.get().status, 200)
        origin.stop()
        for _ in range(20):
            self.assertEqual(gateway.get().status, 502)
        again = self.origin(port=int(origin.address.rpartition(":")[2]))
        self.assertEqual(gateway.get().status, 200)
        self.assertEqual(len(again.requests), 1)

    def test_without_a_budget_nothing_is_sent_twice(self):
        def first_only(peer, request):
            peer.read_body(request)
            if request.target == "/second":
                return False
            peer.reply()

        origin = self.origin(first_only)
        for budget, expected in ((20, 2), (0, 1)):
            gateway = self.gateway(
                to_servers([origin.address], f", retry_budget: {budget}", workers=1)
            )
            with gateway.connect() as c:
                self.assertEqual(c.ask("/first").status, 200)
                before = len(origin.requests)
                self.assertEqual(c.ask("/second").status, 502)
                self.assertEqual(len(origin.requests) - before, expected)
            m = gateway.metrics()
            result = "sent" if budget else "refused"
            self.assertEqual(m.sum("gateway_upstream_retries_total", result=result), 1)

    def test_without_a_budget_a_connection_is_looked_at_before_it_is_used(self):
        origin = self.origin()
        gateway = self.gateway(to_servers([origin.address], ", retry_budget: 0", workers=1))
        with gateway.connect() as c:
            for turn in range(5):
                self.assertEqual(c.ask().status, 200, turn)
                gateway.freeze()
                c.request()  # the gateway hears of it before it hears of the end
                origin.close_connections()
                wait_until(lambda: origin.open_connections() == 0)
                gateway.thaw()
                self.assertEqual(c.response().status, 200, turn)

    def test_a_granted_websocket_is_a_success(self):
        def script(peer, request):
            peer.read_body(request)
            if request.method == "GET":
                peer.send(grant_of())
            else:
                peer.reset()
            return False

        origins = [self.origin(script) for _ in range(2)]
        gateway = self.gateway(
            to_servers(
                [o.address for o in origins], ", balance: hash, ejection: { failures: 2, time: 1h }"
            )
        )
        for _ in range(4):
            self.assertEqual(gateway.get(method="POST", body=b"x").status, 502)
            with gateway.connect() as c:
                WebSocket(c)
        self.assertEqual(gateway.metrics().sum("gateway_upstream_server_up"), 2)
        self.assertEqual(sorted(len(o.requests) for o in origins), [0, 8])

    def test_the_end_of_a_connection_that_served_before_is_not_the_servers_failure(self):
        def once(peer, request):
            peer.read_body(request)
            if request.method == "POST":
                return False
            peer.reply()

        origin = self.origin(once)
        gateway = self.gateway(to_servers([origin.address], workers=1))
        failures = lambda: gateway.metrics().sum(  # noqa: E731
            "gateway_upstream_server_failures_total", server=origin.address
        )
        with gateway.connect() as c:
            self.assertEqual(c.ask().status, 200)
            self.assertEqual(c.ask(method="POST", body=b"x").status, 502)
            self.assertEqual(failures(), 0)
            self.assertEqual(c.ask(method="POST", body=b"x").status, 502)
            self.assertEqual(failures(), 1)
        self.assertEqual(origin.connections, 2)

    def test_where_no_other_server_is_left_the_first_cause_is_told_and_counted_once(self):
        def cut(peer, request):
            peer.read_body(request)
            peer.reset()
            return False

        origin = self.origin(cut)
        gateway = self.gateway(to_servers([origin.address, "no-such-host.invalid:80"]))
        answer = gateway.get()
        self.assertEqual(answer.status, 502)
        self.assertIn(b"closed the connection", answer.body)
        m = gateway.metrics()
        self.assertEqual(m.sum("gateway_upstream_failures_total", upstream="up"), 1)
        self.assertEqual(m.sum("gateway_upstream_failures_total", reason="reset"), 1)
        self.assertEqual(m.sum("gateway_upstream_server_failures_total"), 1)

    def test_5xx_count_only_if_asked_for(self):
        def sick(peer, request):
            peer.read_body(request)
            peer.reply(500)

        bad, good = self.origin(sick), self.origin()
        for on_5xx in ("false", "true"):
            gateway = self.gateway(
                to_servers(
                    [bad.address, good.address],
                    f", balance: round_robin, ejection: {{ time: 1h, on_5xx: {on_5xx} }}",
                )
            )
            statuses = [gateway.get().status for _ in range(60)]
            up = gateway.metrics().sum("gateway_upstream_server_up", server=bad.address)
            if on_5xx == "true":
                self.assertEqual(up, 0)
                self.assertEqual(statuses.count(500), 5)
            else:
                self.assertEqual(up, 1)
                self.assertGreaterEqual(statuses.count(500), 28)


class Bounds(SystemTest):
    def test_a_server_has_no_more_requests_than_its_bound_and_the_rest_wait(self):
        held = Held()
        origin = self.origin(held)
        gateway = self.gateway(
            to_servers(
                [f"{{ address: '{origin.address}', max_connections: 2 }}"], ", queue_timeout: 60s"
            )
        )
        with ThreadPoolExecutor(10) as clients:
            answers = [clients.submit(gateway.get) for _ in range(10)]
            queued = lambda: gateway.metrics().sum("gateway_upstream_queue_length")  # noqa: E731
            wait_until(lambda: queued() == 8, what="eight to wait")
            wait_until(lambda: held.now == 2)
            self.assertEqual(
                gateway.metrics().sum(
                    "gateway_upstream_server_connections", server=origin.address, state="active"
                ),
                2,
            )
            held.let_go(10)
            self.assertEqual([a.result().status for a in answers], [200] * 10)
        self.assertEqual(held.most, 2)
        self.assertEqual(queued(), 0)

    def test_a_full_queue_and_a_long_wait_are_503(self):
        held = Held()
        origin = self.origin(held)
        gateway = self.gateway(
            to_servers(
                [origin.address], ", max_connections: 1, max_queue: 1, queue_timeout: 700ms"
            )
        )
        with gateway.connect() as first, gateway.connect() as second:
            first.request()
            wait_until(lambda: held.now == 1)
            began = time.monotonic()
            second.request()
            wait_until(lambda: gateway.metrics().sum("gateway_upstream_queue_length") == 1)
            third = gateway.get()
            self.assertEqual(third.status, 503)
            self.assertEqual(third["retry-after"], "1")
            self.assertEqual(third["content-type"], "application/problem+json")
            late = second.response()
            self.assertEqual(late.status, 503)
            self.assertGreaterEqual(time.monotonic() - began, 0.7)
            held.let_go()
            self.assertEqual(first.response().status, 200)
            second.request()
            held.let_go()
            self.assertEqual(second.response().status, 200)
        m = gateway.metrics()
        failures = "gateway_upstream_failures_total"
        self.assertEqual(m.sum(failures, upstream="up", reason="queue_full"), 1)
        self.assertEqual(m.sum(failures, upstream="up", reason="queue_timeout"), 1)

    def test_a_client_that_leaves_the_queue_leaves_its_turn_to_the_next(self):
        held = Held()
        origin = self.origin(held)
        gateway = self.gateway(to_servers([origin.address], ", max_connections: 1, queue_timeout: 60s"))
        queued = lambda: gateway.metrics().sum("gateway_upstream_queue_length")  # noqa: E731
        with gateway.connect() as first, gateway.connect() as leaves, gateway.connect() as stays:
            first.request()
            wait_until(lambda: held.now == 1)
            leaves.request()
            wait_until(lambda: queued() == 1)
            stays.request()
            wait_until(lambda: queued() == 2)
            leaves.close()
            wait_until(lambda: queued() == 1)
            held.let_go(2)
            self.assertEqual(first.response().status, 200)
            self.assertEqual(stays.response().status, 200)
        self.assertEqual(len(origin.requests), 2)

    def test_under_load_the_bound_holds_and_everybody_gets_an_answer(self):
        now, most, lock = [0], [0], threading.Lock()

        def count(peer, request):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            peer.read_body(request)
            with lock:
                now[0] -= 1
            peer.reply()

        origins = [self.origin(count) for _ in range(2)]
        gateway = self.gateway(
            to_servers([o.address for o in origins], ", max_connections: 3, queue_timeout: 60s")
        )
        load = Load(gateway.address, [(i, PLAIN) for i in range(30)])
        answers = load.run(2 if SLOW else 3)
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {200})
        self.assertLessEqual(most[0], 3)
        served = {a.tag for a in answers}
        self.assertEqual(served, set(range(30)))  # nobody starves
        m = gateway.metrics()
        self.assertEqual(m.sum("gateway_upstream_queue_length"), 0)
        self.assertEqual(m.sum("gateway_upstream_server_connections", state="active"), 0)


class ReloadOfServers(SystemTest):
    def test_servers_come_and_go_under_load(self):
        origins = [self.origin() for _ in range(4)]
        addresses = [o.address for o in origins]
        gateway = self.gateway(to_servers(addresses[:2]))
        load = Load(gateway.address, [(i, PLAIN) for i in range(8)], interval=0.002).start()
        for some, options in (
            ([0, 1, 2], ""),
            ([1, 2, 3], ", balance: round_robin"),
            ([3], ""),
            ([0, 3], ", max_connections: 4, queue_timeout: 30s"),
            ([0, 1], ", balance: hash"),
        ):
            gateway.reload(to_servers([addresses[i] for i in some], options))
            before = [len(origins[i].requests) for i in some]
            if options != ", balance: hash":
                wait_until(
                    lambda: all(len(origins[i].requests) > b + 20 for i, b in zip(some, before))
                )
        load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in load.answers}, {200})
        m = gateway.metrics()
        self.assertIsNone(m.sum("gateway_upstream_server_up", server=addresses[2]))
        self.assertEqual(m.sum("gateway_upstream_server_up", server=addresses[0]), 1)
        self.assertEqual(
            m.sum("gateway_upstream_server_requests_total", server=addresses[2]),
            len(origins[2].requests),
        )

    def test_a_bound_counts_requests_of_before_the_reload(self):
        held = Held()
        origin = self.origin(held)
        gateway = self.gateway(to_servers([origin.address], ", max_connections: 1"))
        with gateway.connect() as first:
            first.request()
            wait_until(lambda: held.now == 1)
            gateway.reload(
                to_servers([origin.address], ", max_connections: 1, queue_timeout: 50ms, max_idle: 9")
            )
            wait_until(lambda: gateway.get().status == 503)
            self.assertEqual(held.now, 1)
            held.let_go()
            self.assertEqual(first.response().status, 200)
        held.let_go()
        self.assertEqual(gateway.get().status, 200)
