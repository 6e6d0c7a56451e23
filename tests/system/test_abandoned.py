"""Requests whose clients leave: what the upstream still works on keeps its place."""
import signal
import threading
import time

from harness.case import SystemTest
from harness.certificates import EC, Certificates
from harness.gate import Gate
from harness.process import wait_until

HOST = "Host: gateway.test\r\n"
WHOLE = f"GET / HTTP/1.1\r\n{HOST}\r\n"
CHUNKED = f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n"
MANY = 60


class Speaking(Gate):
    """A gate that says something to a request before it works on it, and reads nothing behind it."""

    def __init__(self, first=b""):
        super().__init__()
        self.first = first

    def __call__(self, peer, request):
        peer.send(self.first)
        super().__call__(peer, request)
        return False


class Abandoned(SystemTest):
    def setUp(self):
        super().setUp()
        self.gate = Gate()

    def text(self, address, limit="algorithm: concurrency, max: 2", route="", upstream="", store=None, more=""):
        limits = stores = where = ""
        if store is not None:
            stores = f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = ", store: r, on_store_failure: closed"
        if limit:
            limits = f"limits: {{ l: {{ key: [], {limit}{where} }} }}\n"
        return (
            f"{more}{stores}{limits}"
            f"routes: [ {{ upstream: up, limits: [{'l' if limit else ''}]{route} }} ]\n"
            f"upstreams: {{ up: {{ servers: ['{address}'], response_timeout: 1h{upstream} }} }}\n"
        )

    def in_front_of(self, origin, store=None, **options):
        gateway = self.gateway(self.text(origin.address, store=store, **options))
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    @staticmethod
    def abandoned(gateway):
        return gateway.metrics().sum("gateway_exchanges_abandoned")

    @staticmethod
    def wait_until_all_have_left(gateway):
        active = lambda: gateway.metrics().sum("gateway_connections", side="client", state="active")  # noqa: E731
        wait_until(lambda: active() == 0, what="all have left")

    def send_and_reset(self, gateway, sent=WHOLE, rejected=429):
        """One request that arrives, or is rejected, and whose client leaves."""
        before, is_rejected = self.gate.inside, self.gate.most == 2
        c = gateway.connect()
        c.send(sent)
        if is_rejected:
            self.assertEqual(c.response().status, rejected)
        else:
            wait_until(lambda: self.gate.inside > before, what="it runs")
        c.reset()

    def let_all_end(self, gateway):
        self.gate.open.set()
        wait_until(lambda: self.abandoned(gateway) == 0, what="the upstream is done")
        wait_until(lambda: gateway.get().status == 200, what="the places are back")

    def assert_no_more_than_two_run(self, gateway, **asked):
        for _ in range(MANY):
            self.send_and_reset(gateway, **asked)
        self.assertEqual((self.gate.inside, self.gate.most), (2, 2))
        self.assertEqual(self.abandoned(gateway), 2)
        self.let_all_end(gateway)


class Places(Abandoned):
    def test_of_a_concurrency_limit_are_kept_while_the_upstream_works(self):
        for store in self.every_store():
            for how in ("close", "finish"):
                with self.subTest(store=store, how=how):
                    self.gate = Gate()
                    origin = self.origin(self.gate)
                    gateway = self.in_front_of(origin, store, route=f", on_client_abort: {how}")
                    self.assert_no_more_than_two_run(gateway)

    def test_of_a_server_are_kept_while_it_works(self):
        for how in ("close", "finish"):
            for secured in (False, True):
                with self.subTest(how=how, secured=secured):
                    self.gate = Gate()
                    tls, options = "", {}
                    if secured:
                        made = Certificates(self.directory())
                        made.issue("server", "IP:127.0.0.1", EC)
                        tls = f", tls: {{ ca: '{made.path('ca.pem')}' }}"
                        options["tls"] = made.served("server")
                    origin = self.origin(self.gate, **options)
                    gateway = self.in_front_of(
                        origin,
                        limit="",
                        route=f", on_client_abort: {how}",
                        upstream=f", max_connections: 2, max_queue: 0{tls}",
                    )
                    self.assert_no_more_than_two_run(gateway, rejected=503)

    def test_are_not_taken_by_who_leaves_the_queue(self):
        origin = self.origin(self.gate)
        gateway = self.in_front_of(origin, limit="", upstream=", max_connections: 2, queue_timeout: 60s")
        queued = lambda: gateway.metrics().sum("gateway_upstream_queue_length")  # noqa: E731
        for _ in range(2):
            clients = [gateway.connect() for _ in range(MANY)]
            for c in clients:
                c.send(WHOLE)
            wait_until(lambda: queued() + self.gate.inside >= MANY, what="all have come")
            for c in clients:
                c.reset()
            wait_until(lambda: queued() == 0, what="all have left")
        self.assertEqual(self.gate.most, 2)
        self.let_all_end(gateway)
        self.assertEqual(len(origin.requests), 3, "nobody else was sent there")

    def test_are_kept_whenever_the_client_leaves_before_the_response(self):
        hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        for sent in (WHOLE, CHUNKED, CHUNKED + "3\r\nabc\r\n"):
            for said in (b"", hints, hints + b"HTTP/1.1 200 OK\r\nX-Begun: "):
                for how in ("close", "finish"):
                    with self.subTest(sent=sent, said=said, how=how):
                        self.gate = Speaking(said)
                        origin = self.origin(self.gate)
                        gateway = self.in_front_of(origin, route=f", on_client_abort: {how}")
                        for _ in range(5):
                            self.send_and_reset(gateway, sent)
                        self.assertEqual(self.gate.most, 2)
                        self.gate.first = b""
                        self.let_all_end(gateway)

    def test_are_kept_when_the_gateway_answers_instead(self):
        for sent, route, status in (
            (CHUNKED + "nonsense\r\n", "", 400),
            (CHUNKED + "9\r\nabcdefghi\r\n", ", max_body_bytes: 5", 413),
            (CHUNKED + "3\r\nabc\r\n", ", body_timeout: 50ms", 408),
            (WHOLE, ", timeout: 1s", 504),
        ):
            with self.subTest(status=status):
                self.gate = Speaking()
                origin = self.origin(self.gate)
                gateway = self.in_front_of(origin, route=route)
                for number in range(5):
                    with gateway.connect() as c:
                        c.send(sent)
                        self.assertEqual(c.response().status, status if number < 2 else 429)
                wait_until(lambda: self.gate.most == 2, what="both run")
                self.gate.open.set()
                wait_until(lambda: self.abandoned(gateway) == 0, what="the upstream is done")

    def test_come_back_after_response_timeout(self):
        for how in ("close", "finish"):
            with self.subTest(how=how):
                self.gate = Gate()
                origin = self.origin(self.gate)
                route = f", response_timeout: 2s, on_client_abort: {how}"
                gateway = self.in_front_of(origin, route=route)
                left = time.monotonic()
                for _ in range(2):
                    self.send_and_reset(gateway)
                wait_until(lambda: self.abandoned(gateway) == 0, what="the time is up")
                self.assertGreaterEqual(time.monotonic() - left, 2)
                self.gate.open.set()
                self.assertEqual(gateway.get().status, 200)
                failures = gateway.metrics().sum("gateway_upstream_failures_total", reason="response_timeout")
                self.assertEqual(failures, 2 if how == "finish" else 0)

    def test_are_free_as_soon_as_a_server_ends_its_side(self):
        def attentive(peer, request):
            if request.target == "/quick":
                peer.reply()
            else:
                peer.wait_for_end()

        origin = self.origin(attentive)
        gateway = self.in_front_of(origin, limit="algorithm: concurrency, max: 1", upstream=", max_connections: 1")
        for number in range(1, 6):
            c = gateway.connect()
            c.send(WHOLE)
            wait_until(lambda: len([r for r in origin.requests if r.target == "/"]) == number)
            c.reset()
            wait_until(lambda: gateway.get("/quick").status == 200, what="the place")

    def test_are_free_once_the_response_has_begun(self):
        begun = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegun"
        self.gate = Speaking(begun)
        origin = self.origin(self.gate)
        gateway = self.in_front_of(origin)
        for _ in range(5):
            c = gateway.connect()
            c.send(WHOLE)
            self.assertEqual(c.head().status, 200)
            c.reset()
            self.wait_until_all_have_left(gateway)
        self.assertEqual(self.abandoned(gateway), 0)
        self.gate.open.set()

    def test_are_given_back_by_a_gateway_that_stops(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.gate = Gate()
                origin = self.origin(self.gate)
                limit = "algorithm: concurrency, max: 2" + (", lease: 1h" if store is not None else "")
                gateway = self.in_front_of(origin, store, limit=limit)
                for _ in range(2):
                    self.send_and_reset(gateway)
                gateway.signal(signal.SIGTERM)
                self.assertEqual(gateway.wait(), 0, "nothing is waited for")
                if store is not None:
                    other = self.in_front_of(origin, store, limit=limit)
                    self.gate.open.set()
                    self.assertEqual(other.get().status, 200)


class Unread(Abandoned):
    """Clients that leave while nothing is read of them."""

    def served(self, **options):
        self.gate = Speaking()
        self.upstream = self.origin(self.gate)
        route = ", body_timeout: 1h, max_body_bytes: 1GiB"
        return self.in_front_of(self.upstream, limit="", route=route, **options)

    def connected_and_stuck(self, gateway, first, more):
        """A client whose first request is at the server, and whose further bytes are taken no more."""
        c = gateway.connect()
        c.send(first)
        wait_until(lambda: self.gate.inside == 1, what="it runs")
        c.socket.settimeout(1)
        try:
            while True:
                c.send(more)
        except TimeoutError:
            return c

    def assert_left(self, gateway):
        self.wait_until_all_have_left(gateway)
        self.assertEqual(gateway.log_lines(1)[0]["status"], 499)
        self.gate.open.set()

    def test_behind_a_body_that_the_server_does_not_take(self):
        gateway = self.served()
        self.connected_and_stuck(gateway, CHUNKED, "FFFF\r\n" + "x" * 0xFFFF + "\r\n").reset()
        self.assert_left(gateway)

    def test_behind_requests_that_wait(self):
        gateway = self.served()
        self.connected_and_stuck(gateway, WHOLE, WHOLE * 1000).reset()
        self.assert_left(gateway)
        self.assertEqual(gateway.get("/next").status, 200)
        self.assertEqual([r.target for r in self.upstream.requests], ["/", "/next"], "those that waited went with it")

    def test_in_order_behind_a_body_that_arrives_whole(self):
        size = 8 * 1024 * 1024
        ready, got = threading.Event(), []

        def slow(peer, request):
            ready.wait(30)
            peer.read_body(request)
            got.append(len(request.body))
            peer.reply()

        route = ", on_client_abort: finish, max_body_bytes: 1GiB"
        gateway = self.in_front_of(self.origin(slow), route=route)
        c = gateway.connect()
        sent = threading.Thread(target=lambda: (c.request(method="POST", body=b"x" * size), c.finish_sending()))
        sent.start()
        sent.join(2)  # as much as is taken before the server reads
        ready.set()
        wait_until(lambda: got == [size], what="the whole body")
        sent.join()

    def test_in_order_behind_requests_that_wait(self):
        gateway = self.served(more="http: { max_pipelined_bytes: 1KiB }\n")
        c = gateway.connect()
        c.send(WHOLE)
        wait_until(lambda: self.gate.inside == 1, what="it runs")
        for _ in range(2):
            c.send(WHOLE * 100)
        c.finish_sending()
        self.assert_left(gateway)
        self.assertEqual(len(self.upstream.requests), 1)


class Finishing(Abandoned):
    def test_the_response_counts_and_the_connection_serves_again(self):
        origin = self.origin(self.gate)
        limit = "rate: 9/d, charge_on: { status: [5xx] }"
        for how, left in (("close", "8"), ("finish", "9")):
            with self.subTest(how=how):
                self.gate.open.clear()
                gateway = self.in_front_of(
                    origin,
                    limit=limit,
                    route=f", on_client_abort: {how}",
                    upstream=", max_connections: 9",
                    more="workers: 1\n",
                )
                self.send_and_reset(gateway)
                wait_until(lambda: self.abandoned(gateway) == 1)
                connections = origin.connections
                self.let_all_end(gateway)
                self.assertEqual(gateway.get()["X-RateLimit-Remaining"], str(int(left) - 1))
                self.assertEqual(origin.connections - connections, 0 if how == "finish" else 1)
                line = gateway.log_lines(1)[0]
                self.assertEqual((line["status"], line["error"]), (499, "the client closed the connection"))

    def test_a_drain_waits_for_it(self):
        for how, waits in (("finish", True), ("close", False)):
            with self.subTest(how=how):
                self.gate = Gate()
                origin = self.origin(self.gate)
                gateway = self.in_front_of(origin, route=f", on_client_abort: {how}")
                self.send_and_reset(gateway)
                wait_until(lambda: self.abandoned(gateway) == 1)
                gateway.signal(signal.SIGTERM)
                if waits:
                    gateway.wait_for_diagnostic("draining")
                    later = time.monotonic() + 1
                    wait_until(lambda: time.monotonic() > later)
                    self.assertTrue(gateway.running())
                    self.gate.open.set()
                self.assertEqual(gateway.wait(), 0)
                self.gate.open.set()

    def test_a_drain_does_not_wait_for_ever(self):
        origin = self.origin(self.gate)
        gateway = self.in_front_of(origin, route=", on_client_abort: finish", more="drain_timeout: 200ms\n")
        self.send_and_reset(gateway)
        wait_until(lambda: self.abandoned(gateway) == 1)
        gateway.signal(signal.SIGTERM)
        self.assertEqual(gateway.wait(), 0)
        self.gate.open.set()

    def test_a_response_without_end_does_not_run_for_ever(self):
        begun = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

        def endless(peer, request):
            peer.send(begun)
            while True:
                peer.send(b"5\r\nhello\r\n")

        origin = self.origin(endless)
        gateway = self.in_front_of(origin, route=", on_client_abort: finish, response_timeout: 2s")
        c = gateway.connect()
        c.send(WHOLE)
        self.assertEqual(c.head().status, 200)
        c.reset()
        wait_until(lambda: self.abandoned(gateway) == 1)
        wait_until(lambda: self.abandoned(gateway) == 0)
        wait_until(lambda: origin.open_connections() == 0)

    def test_only_so_many_are_kept_that_hold_no_place(self):
        most, batches, each = 512, 11, 50
        origin = self.origin(self.gate)
        gateway = self.in_front_of(origin, limit="", route=", on_client_abort: finish", more="workers: 1\n")
        for batch in range(1, batches + 1):
            clients = [gateway.connect() for _ in range(each)]
            for c in clients:
                c.send(WHOLE)
            wait_until(lambda: self.gate.inside == batch * each, what="all run")  # noqa: B023
            for c in clients:
                c.reset()
        self.wait_until_all_have_left(gateway)
        self.assertEqual(self.abandoned(gateway), most)
        self.let_all_end(gateway)


class Closing(Abandoned):
    def test_where_nothing_is_held_the_connection_ends_at_once(self):
        ended = []

        def attentive(peer, request):
            peer.wait_for_end()
            ended.append(request.target)

        origin = self.origin(attentive)
        gateway = self.in_front_of(origin, limit="rate: 999/s")
        for number in range(1, 6):
            c = gateway.connect()
            c.send(WHOLE)
            wait_until(lambda: len(origin.requests) == number)
            c.reset()
            wait_until(lambda: len(ended) == number)
        self.assertEqual(self.abandoned(gateway), 0)
        self.assertEqual(gateway.metrics().sum("gateway_connections", side="upstream"), 0)
