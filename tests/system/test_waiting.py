"""Requests that wait for their tokens: max_wait, max_reserved, max_waiting."""
import json
import signal
import threading
import time

from harness.case import SystemTest, forwarding_to
from harness.origin import Origin
from harness.process import wait_until


class Arrivals:
    """An upstream that notes when each request arrives."""

    def __init__(self):
        self.at = []
        self.lock = threading.Lock()

    def __call__(self, peer, request):
        with self.lock:
            self.at.append(time.monotonic())
        peer.reply(200)


class Waiting(SystemTest):
    def setUp(self):
        super().setUp()
        self.arrivals = Arrivals()
        self.origin = self.started(Origin(self.arrivals))

    def gateway_with(self, limit, store=None, more=""):
        text, where = more, ""
        if store is not None:
            text += f"stores: {{ r: {{ url: '{store.url}', timeout: 10s }} }}\n"
            where = ", store: r, on_store_failure: closed"
        text += f"limits: {{ l: {{ key: [], {limit}{where} }} }}\n"
        gateway = self.gateway(text + forwarding_to(self.origin.address, "l"))
        if store is not None:
            wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), what="store")
        return gateway

    def waiting(self, gateway):
        return gateway.metrics().sum("gateway_requests_waiting")

    def at_once(self, gateway, number):
        """Asks on so many connections in parallel; the answers, when all are there, each with
        the seconds after which it came."""
        answers, lock = [], threading.Lock()
        began = time.monotonic()

        def ask():
            with gateway.connect() as c:
                answer = c.ask("/")
                with lock:
                    answers.append((time.monotonic() - began, answer))

        threads = [threading.Thread(target=ask) for _ in range(number)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return answers

    def all_but(self, admitted, answers):
        """The rejected ones, of which there are all but so many, and one less for each second that
        it took to ask: at 1/s."""
        rejected = [(after, a) for after, a in answers if a.status == 429]
        asked_in = max(after for after, _ in rejected)
        count = sum(a.status == 200 for _, a in answers)
        self.assertEqual(count + len(rejected), len(answers))
        self.assertIn(count, range(admitted, admitted + int(asked_in) + 1))
        return rejected

    def test_twenty_at_once_leave_one_by_one(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.arrivals.at.clear()
                g = self.gateway_with("rate: 10/s, burst: 1, max_wait: 2s", store)
                began = time.monotonic()
                answers = self.at_once(g, 20)
                self.assertEqual([a.status for _, a in answers], [200] * 20)
                # Not from the first arrival: that may be noticed late.
                for n, at in enumerate(sorted(self.arrivals.at)):
                    self.assertGreaterEqual(at - began, n * 0.1, n)

    def test_who_would_wait_too_long_is_rejected_at_once(self):
        for store in self.every_store():
            with self.subTest(store=store):
                # One worker, as each has a clock of its own, and a slow turn's is behind the others'.
                limit = "rate: 1/s, burst: 1, max_wait: 2s"
                g = self.gateway_with(limit, store, more="workers: 1\n")
                for after, a in self.all_but(3, self.at_once(g, 9)):
                    self.assertIn(int(a["Retry-After"]), range(2 - int(after), 4))

    def test_only_so_many_tokens_may_be_reserved(self):
        for store in self.every_store():
            with self.subTest(store=store):
                limit = "rate: 1/s, burst: 2, max_wait: 1m, max_reserved: 1"
                g = self.gateway_with(limit, store)
                self.all_but(3, self.at_once(g, 9))

    def test_a_client_that_leaves_gives_its_tokens_back(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.arrivals.at.clear()
                # One worker, so that the tokens are back before the next client asks.
                limit = "rate: 1/m, burst: 1, max_wait: 1m"
                g = self.gateway_with(limit, store, more="workers: 1\n")
                with g.connect() as c:
                    self.assertEqual(c.ask("/").status, 200)
                for _ in range(3):  # each is the only one that waits
                    with g.connect() as c:
                        c.request("/")
                        wait_until(lambda: self.waiting(g) == 1, what="it waits")
                    wait_until(lambda: self.waiting(g) == 0, what="it has gone")
                self.assertEqual(len(self.arrivals.at), 1)

    def test_who_leaves_makes_nobody_go_on_together(self):
        for store in self.every_store():
            with self.subTest(store=store):
                self.arrivals.at.clear()
                g = self.gateway_with("rate: 10/s, burst: 1, max_wait: 2s", store, more="workers: 1\n")
                line = [g.connect() for _ in range(12)]
                began = time.monotonic()
                for n, c in enumerate(line):
                    c.request("/")
                    wait_until(lambda n=n: self.waiting(g) + len(self.arrivals.at) > n, what="it is in line")
                leave, stay = line[6:9], line[:6] + line[9:]
                for c in leave:
                    c.close()
                    late = g.connect()
                    late.request("/")
                    stay.append(late)
                for c in stay:
                    self.assertEqual(c.response().status, 200)
                    c.close()
                self.assertGreaterEqual(len(self.arrivals.at), 12)
                for n, at in enumerate(sorted(self.arrivals.at)):
                    self.assertGreaterEqual(at - began, n * 0.1, n)

    def test_the_number_that_waits_is_bounded(self):
        g = self.gateway_with("rate: 1/m, burst: 1, max_wait: 9m", more="max_waiting: 1\n")
        with g.connect() as first, g.connect() as second, g.connect() as third:
            self.assertEqual(first.ask("/").status, 200)
            second.request("/")
            wait_until(lambda: self.waiting(g) == 1, what="it waits")
            for _ in range(3):
                answer = third.ask("/")
                self.assertEqual(answer.status, 429)
                self.assertIn(int(answer["Retry-After"]), (119, 120), "and its token is free again")
                self.assertGreaterEqual(int(answer["X-RateLimit-Reset"]), 119, "not from when it would have passed")
                self.assertEqual(len(json.loads(answer.body)["violated-policies"]), 1)
            outcomes = sorted(line["outcome"] for line in g.log_lines(4))  # each worker has lines of its own
            self.assertEqual(outcomes, ["allowed"] + ["rejected"] * 3)

    def test_a_gateway_that_drains_finishes_what_waits(self):
        g = self.gateway_with("rate: 1/s, burst: 1, max_wait: 9s")
        with g.connect() as first, g.connect() as second:
            self.assertEqual(first.ask("/").status, 200)
            second.request("/")
            wait_until(lambda: self.waiting(g) == 1, what="it waits")
            g.signal(signal.SIGTERM)
            self.assertEqual(second.response().status, 200)
        self.assertEqual(g.wait(), 0)

    def test_what_a_client_is_told_is_of_the_moment_at_which_it_is_told(self):
        g = self.gateway_with("rate: 1/s, burst: 1, max_wait: 9s")
        with g.connect() as c:
            self.assertEqual(c.ask("/")["X-RateLimit-Reset"], "1")
            self.assertEqual(c.ask("/")["X-RateLimit-Reset"], "1")
