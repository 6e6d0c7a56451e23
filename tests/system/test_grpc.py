"""gRPC through the gateway, with the clients and servers that people have."""
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from harness.case import SystemTest, only_as_shipped
from harness.gateway import secured_servers
from harness.grpc import GrpcClient, GrpcServer, NodeGrpcServer, Outbox, failure_of, grpc, node_client
from harness.http2 import CANCEL, Http2
from harness.http2_origin import Http2Origin
from harness.http2_upstream_case import certificates, over_http2
from harness.process import PATIENCE, free_port, wait_until
from harness.upgraded import UpgradedGateway

SOON = 20 * PATIENCE
LARGE = bytes(range(256)) * 65536  # 16 MiB
Code = grpc.StatusCode
LOADS, RESTARTS = 8, 6

# What a client of @grpc/grpc-js sees of each kind of call (grpc_client.js).
ALL_WELL = {
    "unary": {"code": 0, "answer": "hello", "text": ["one"], "binary": [0, 1, 254, 255], "trailing": ["1"]},
    "large": {"code": 0, "same": True},
    "serverStream": {"code": 0, "count": 200},
    "clientStream": {"code": 0, "answer": "100 100000"},
    "pingPong": {"code": 0, "answers": [f"PING {i}" for i in range(20)]},
    "fail": {"code": 5, "details": "no such thing"},
    "deadline": 4,
    "many": 100,
    "cancel": 1,
}


class GrpcTest(SystemTest):
    # True if the server speaks TLS; `tls` says it of the gateway.
    secure_server = secure_client = False

    def setUp(self):
        super().setUp()
        self.made = certificates(self.directory()) if self.secure_server or self.secure_client else None
        self.tls = self.made if self.secure_client else None

    def server(self, **options):
        if self.secure_server:
            options["tls"] = (self.made.path("origin.test.key"), self.made.path("origin.test.pem"))
        server = self.started(GrpcServer(**options))
        if self.secure_server:
            secured_servers[server.address] = self.made
            self.addCleanup(secured_servers.pop, server.address, None)
        return server

    def in_front_of(self, *servers, **options):
        gateway = self.gateway(over_http2(*(s.address for s in servers), **options))
        return gateway, self.client(gateway)

    def client(self, gateway, **options):
        return self.started(GrpcClient(gateway.address, self.tls, **options))

    def through(self, **options):
        server = self.server()
        gateway, client = self.in_front_of(server, **options)
        return gateway, client, server.service

    def wait_for_cancel(self, service, method):
        """Of a call that only its client's cancellation ends."""
        while service.over.get(timeout=SOON) != method:
            pass

    def ping_pong(self, call, outbox, rounds, first=0):
        for number in range(first, first + rounds):
            outbox.send(b"ping %d" % number)
            self.assertEqual(next(call), b"PING %d" % number)

    def opened(self, client, rounds=3):
        """A stream both ways that has been used: (call, outbox)."""
        outbox = Outbox()
        call = client.bidi(iter(outbox), timeout=3 * SOON)
        self.ping_pong(call, outbox, rounds)
        return call, outbox

    def assert_ends_well(self, call, outbox):
        outbox.close()
        self.assertEqual(list(call), [])
        self.assertEqual(call.code(), Code.OK)


class Calls(GrpcTest):
    def test_unary(self):
        _, client, service = self.through()
        for message in (b"", b"hello", bytes(range(256)) * 300):
            self.assertEqual(client.unary(message, timeout=SOON), message)
        self.assertEqual(len(service.connections()), 1)

    def test_a_stream_of_the_server(self):
        _, client, _ = self.through()
        got = list(client.server_stream(b"1000 1000", timeout=SOON))
        self.assertEqual(got, [b"%d " % i + b"x" * 1000 for i in range(1000)])
        self.assertEqual(list(client.server_stream(b"0 0", timeout=SOON)), [])

    def test_a_stream_of_the_client(self):
        _, client, service = self.through()
        self.assertEqual(client.client_stream(iter([]), timeout=SOON), b"0 0")
        self.assertEqual(client.client_stream((b"x" * 1000 for _ in range(1000)), timeout=SOON), b"1000 1000000")
        while not service.seen.empty():
            service.seen.get()
        outbox = Outbox()
        call = client.client_stream.future(iter(outbox), timeout=SOON)
        for number in range(5):
            outbox.send(b"%d" % number)
            self.assertEqual(service.seen.get(timeout=SOON), b"%d" % number)
        outbox.close()
        self.assertEqual(call.result(), b"5 5")

    def test_each_message_arrives_before_the_next_is_sent(self):
        _, client, _ = self.through()
        self.assert_ends_well(*self.opened(client, 100))

    def test_a_response_begins_before_the_first_message(self):
        _, client, _ = self.through()
        outbox = Outbox()
        call = client.bidi(iter(outbox), timeout=SOON)
        self.assertIn(("x-begun", "1"), [tuple(m) for m in call.initial_metadata()])
        self.ping_pong(call, outbox, 1)
        self.assert_ends_well(call, outbox)

    def test_large_messages(self):
        _, client, _ = self.through()
        self.assertTrue(client.unary(LARGE, timeout=3 * SOON) == LARGE)
        self.assertEqual(client.client_stream(iter([LARGE, LARGE]), timeout=3 * SOON), b"2 %d" % (2 * len(LARGE)))
        sizes = [len(m) for m in client.server_stream(b"2 %d" % len(LARGE), timeout=3 * SOON)]
        self.assertEqual(sizes, [len(LARGE) + 2] * 2)

    def test_metadata(self):
        _, client, service = self.through()
        sent = [
            ("x-test", "one"),
            ("x-test", "two"),
            ("x-test-bin", bytes(range(256))),
            ("x-test-empty-bin", b""),
            ("x-test-long", "v" * 4000),
        ]
        answer, call = client.unary.with_call(b"m", metadata=sent, timeout=SOON)
        self.assertEqual(answer, b"m")
        initial = [tuple(m) for m in call.initial_metadata()]
        self.assertEqual([m for m in initial if m[0].startswith("x-test")], sent)
        trailing = dict(call.trailing_metadata())
        self.assertEqual((trailing["x-trailing"], trailing["x-trailing-bin"]), ("1", bytes(range(256))))
        arrived = [tuple(m) for m in service.calls[0][1]]
        self.assertEqual([m for m in arrived if m[0].startswith("x-test")], sent)
        self.assertIn("grpc-python", dict(arrived)["user-agent"])

    def test_compressed_messages(self):
        _, client, _ = self.through()
        for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
            self.assertEqual(client.unary(b"x" * 100000, timeout=SOON, compression=compression), b"x" * 100000)

    def test_a_deadline(self):
        _, client, service = self.through()
        error = failure_of(client.slow, b"m", timeout=0.5)
        self.assertEqual(error.code(), Code.DEADLINE_EXCEEDED)
        self.wait_for_cancel(service, "Slow")
        client.unary(b"m", timeout=1000)
        left = service.calls[-1][3]
        self.assertTrue(900 < left < 1020, left)  # the client rounds it up

    def test_a_client_that_cancels(self):
        _, client, service = self.through()
        call = client.slow.future(b"m", timeout=SOON)
        service.waiting.get(timeout=SOON)
        call.cancel()
        self.wait_for_cancel(service, "Slow")
        endless = client.server_stream(b"1000000000 1000", timeout=SOON)
        next(endless)
        endless.cancel()
        self.wait_for_cancel(service, "ServerStream")
        outbox = Outbox()
        sending = client.client_stream.future(iter(outbox), timeout=SOON)
        outbox.send(b"m")
        service.seen.get(timeout=SOON)
        sending.cancel()
        self.wait_for_cancel(service, "ClientStream")
        both, outbox = self.opened(client)
        both.cancel()
        self.wait_for_cancel(service, "Bidi")
        outbox.close()
        self.assertEqual(client.unary(b"m", timeout=SOON), b"m")
        self.assertEqual(len(service.connections()), 1)

    def test_a_client_whose_connection_ends(self):
        gateway, _, service = self.through()
        leaving = GrpcClient(gateway.address, self.tls)
        call = leaving.slow.future(b"m", timeout=SOON)
        service.waiting.get(timeout=SOON)
        leaving.stop()
        self.assertEqual(call.code(), Code.CANCELLED)
        self.wait_for_cancel(service, "Slow")

    def test_statuses_of_the_server(self):
        _, client, _ = self.through()
        for code in Code:
            if code is Code.OK:
                continue
            with self.subTest(code=code):
                error = failure_of(client.fail, f"{code.name} größer % than\n{code.value[1]}".encode())
                self.assertEqual((error.code(), error.details()), (code, f"größer % than\n{code.value[1]}"))
                trailing = dict(error.trailing_metadata())
                self.assertEqual((trailing["grpc-status-details-bin"], trailing["x-why"]), (b"\x08\x05\x12\x00", "because"))

    def test_a_status_behind_messages(self):
        _, client, _ = self.through()
        call = client.fail_late(b"first", timeout=SOON)
        self.assertEqual(next(call), b"first")
        self.assertEqual(failure_of(lambda timeout: call).code(), Code.RESOURCE_EXHAUSTED)

    def test_a_method_that_is_not_there(self):
        _, client, _ = self.through()
        self.assertEqual(failure_of(client.missing, b"m").code(), Code.UNIMPLEMENTED)

    def test_a_server_that_ends_before_its_client(self):
        _, client, _ = self.through()
        for _ in range(20):
            outbox = Outbox()
            call = client.refuse.future(iter(outbox), timeout=SOON)
            outbox.send(b"x" * 1000)
            self.assertEqual((call.code(), call.details()), (Code.PERMISSION_DENIED, "not you"))
            outbox.close()
        self.assertEqual(client.unary(b"m", timeout=SOON), b"m")

    def test_a_hundred_calls_at_once_share_a_connection(self):
        _, client, service = self.through()
        calls = [client.slow.future(b"%d" % i, timeout=2 * SOON) for i in range(100)]
        for _ in calls:
            service.waiting.get(timeout=SOON)
        self.assertEqual(len(service.connections()), 1)
        service.go.set()
        self.assertEqual([c.result() for c in calls], [b"%d" % i for i in range(100)])

    def test_a_slow_reader_stalls_no_other_call(self):
        _, client, service = self.through()
        stuck = client.server_stream(b"1000000 16000", timeout=3 * SOON)
        next(stuck)
        for _ in range(20):
            self.assertEqual(len(client.unary(b"x" * 100000, timeout=SOON)), 100000)
        self.assertEqual(len(list(client.server_stream(b"100 10000", timeout=SOON))), 100)
        stuck.cancel()
        self.wait_for_cancel(service, "ServerStream")
        self.assertEqual(len(service.connections()), 1)


@only_as_shipped
class CallsOverTls(Calls):
    secure_server = secure_client = True


class Mixed(GrpcTest):
    """TLS on one side only."""

    def assert_passes(self):
        _, client, _ = self.through()
        self.assertEqual(client.unary(b"m", timeout=SOON), b"m")
        self.assert_ends_well(*self.opened(client))

    def test_tls_to_clients(self):
        self.secure_client = True
        self.setUp()
        self.assert_passes()

    def test_tls_to_servers(self):
        self.secure_server = True
        self.setUp()
        self.assert_passes()


@only_as_shipped
class Node(GrpcTest):
    """@grpc/grpc-js on either side."""

    def test_a_client(self):
        server = self.server()
        gateway, _ = self.in_front_of(server)
        self.assertEqual(node_client(gateway.address), ALL_WELL)
        self.wait_for_cancel(server.service, "Slow")
        self.wait_for_cancel(server.service, "ServerStream")

    def test_a_client_over_tls(self):
        self.secure_client = self.secure_server = True
        self.setUp()
        gateway, _ = self.in_front_of(self.server())
        self.assertEqual(node_client(gateway.address, self.made.path("ca.pem")), ALL_WELL)

    def test_a_server(self):
        server = self.started(NodeGrpcServer())
        gateway, client = self.in_front_of(server)
        self.assertEqual(node_client(gateway.address), ALL_WELL)
        self.assertEqual(client.unary(b"m", timeout=SOON), b"m")
        self.assert_ends_well(*self.opened(client))


class Servers(GrpcTest):
    """Servers that go, come back and are replaced."""

    def test_a_server_that_is_gone_and_back(self):
        server = self.server()
        _, client = self.in_front_of(server)
        for _ in range(3):
            self.assertEqual(client.unary(b"m", timeout=SOON), b"m")
            server.halt()
            for _ in range(3):
                self.assertEqual(failure_of(client.unary, b"m").code(), Code.UNAVAILABLE)
            server.start()
        self.assertEqual(client.unary(b"m", timeout=SOON), b"m")

    def test_a_server_that_was_never_there(self):
        gateway = self.gateway(over_http2(f"127.0.0.1:{free_port()}"))
        self.assertEqual(failure_of(self.client(gateway).unary, b"m").code(), Code.UNAVAILABLE)

    def test_a_server_that_is_killed_with_calls(self):
        server = self.started(NodeGrpcServer())
        _, client = self.in_front_of(server)
        both, outbox = self.opened(client)
        waiting = client.slow.future(b"m", timeout=SOON)
        server.stop()
        self.assertEqual(waiting.code(), Code.UNAVAILABLE)
        outbox.close()
        self.assertIn(failure_of(lambda timeout: both).code(), (Code.UNAVAILABLE, Code.INTERNAL, Code.CANCELLED))

    def test_calls_of_a_server_that_drains_finish(self):
        server, other = self.server(), self.server()
        _, client = self.in_front_of(server, other, options=", balance: round_robin")
        calls = [client.slow.future(b"%d" % i, timeout=2 * SOON) for i in range(10)]
        both = [self.opened(client) for _ in range(2)]  # one at each server
        wait_until(lambda: server.service.waiting.qsize() + other.service.waiting.qsize() == 10)
        self.assertGreater(server.service.waiting.qsize(), 0)
        drained = server.drain()
        for _ in range(10):
            self.assertEqual(client.unary(b"m", timeout=SOON), b"m")
        for call, outbox in both:
            self.ping_pong(call, outbox, 3)
        server.service.go.set()
        other.service.go.set()
        self.assertEqual([c.result() for c in calls], [b"%d" % i for i in range(10)])
        for call, outbox in both:
            self.assert_ends_well(call, outbox)
        self.assertTrue(drained.wait(SOON))

    def test_servers_that_restart_under_load(self):
        """grpcio's server cancels calls that arrive while it begins to end; no other call may fail."""
        servers = [self.server() for _ in range(2)]
        gateway, _ = self.in_front_of(*servers, options=", ejection: { time: 100ms, max_time: 100ms }", workers=2)
        over = threading.Event()
        moments = [0]  # counts beginnings and ends of drains: odd while a server ends
        answered, failed = [], []

        def load():
            client = GrpcClient(gateway.address)
            while not over.is_set():
                before = moments[0]
                try:
                    answered.append(client.unary(b"m" * 1000, timeout=SOON))
                except grpc.RpcError as error:
                    is_excused = before % 2 == 1 or before != moments[0]
                    failed.append((is_excused, error.code(), error.details()))
            client.stop()

        def wait_for_more():
            enough = len(answered) + 100
            wait_until(lambda: len(answered) > enough, what="a hundred calls")

        threads = [threading.Thread(target=load) for _ in range(LOADS)]
        for thread in threads:
            thread.start()
        for turn in range(RESTARTS):
            server = servers[turn % 2]
            wait_for_more()
            moments[0] += 1
            self.assertTrue(server.drain().wait(SOON))
            moments[0] += 1
            wait_for_more()
            server.start()
        over.set()
        for thread in threads:
            thread.join(SOON)
        self.assertEqual(set(answered), {b"m" * 1000})
        self.assertLessEqual({code for _, code, _ in failed}, {Code.CANCELLED, Code.UNAVAILABLE})
        self.assertEqual([f for f in failed if not f[0]][:3], [])
        self.assertLessEqual(len(failed), LOADS * RESTARTS)


    def test_connections_of_a_bounded_age_lose_no_call(self):
        """The server says goodbye several times a second, and gives each connection a round trip for it."""
        server = self.server(options=[("grpc.max_connection_age_ms", 200), ("grpc.max_connection_age_grace_ms", 60000)])
        gateway, client = self.in_front_of(server)
        wait_until(lambda: client.unary(b"m" * 1000, timeout=SOON) and len(server.service.connections()) >= 5, 60)
        with ThreadPoolExecutor(8) as clients:
            before = len(server.service.connections())
            for _ in range(10):
                calls = [clients.submit(client.unary, b"m" * 1000, timeout=SOON) for _ in range(100)]
                self.assertEqual({c.result() for c in calls}, {b"m" * 1000})
        self.assertGreater(len(server.service.connections()), before)


class Gateways(GrpcTest):
    """The gateway's own reload and end."""

    def test_a_reload_with_a_stream_open(self):
        server, other = self.server(), self.server()
        gateway, client = self.in_front_of(server)
        call, outbox = self.opened(client)
        for options in (", max_idle: 3", ", response_timeout: 5s"):
            self.assertIn("reload", gateway.reload(over_http2(server.address, options=options)))
            self.ping_pong(call, outbox, 3)
        gateway.reload(over_http2(other.address))
        wait_until(lambda: client.unary(b"m", timeout=SOON) == b"m" and len(other.service.calls) > 0)
        self.ping_pong(call, outbox, 3)
        self.assert_ends_well(call, outbox)

    def test_an_upgrade_with_a_stream_open(self):
        server = self.server()
        gateway = self.started(UpgradedGateway(over_http2(server.address, more="drain_timeout: 60s\n")))
        client = self.client(gateway)
        call, outbox = self.opened(client)
        self.assertIn("serves", gateway.upgrade())
        self.ping_pong(call, outbox, 10)
        self.assertEqual(client.unary(b"m", timeout=SOON), b"m")
        self.ping_pong(call, outbox, 10)
        self.assert_ends_well(call, outbox)

    def test_a_drain_with_a_stream_open(self):
        gateway, client, _ = self.through(more="drain_timeout: 60s\n")
        call, outbox = self.opened(client)
        gateway.signal(signal.SIGTERM)
        gateway.wait_for_diagnostic("drain")
        self.ping_pong(call, outbox, 10)
        self.assert_ends_well(call, outbox)
        self.assertEqual(gateway.wait(), 0)

    def test_a_drain_that_a_stream_outlasts(self):
        gateway, client, service = self.through(more="drain_timeout: 300ms\n")
        call, outbox = self.opened(client)
        gateway.signal(signal.SIGTERM)
        self.assertIn(failure_of(lambda timeout: call).code(), (Code.UNAVAILABLE, Code.INTERNAL, Code.CANCELLED))
        outbox.close()
        self.wait_for_cancel(service, "Bidi")
        self.assertEqual(gateway.wait(), 0)


class OwnAnswers(GrpcTest):
    """Answers of the gateway's own to calls are gRPC's."""

    LIMITED = "limits: { l: { key: [], rate: 3/h%s } }\nroutes: [ { upstream: up, limits: [l] } ]\n"
    HEAD = [("te", "trailers"), ("content-type", "application/grpc")]
    MESSAGE = b"\0\0\0\0\x01m"

    def ask(self, gateway, fields=(), path="/test.Service/Slow"):
        """The answer to a call whose client has no clock of its own."""
        with Http2(gateway.address) as c:
            return c.ask(path, [*self.HEAD, *fields], body=self.MESSAGE, method="POST")

    def assert_is_only_trailers(self, answer, code):
        self.assertEqual((answer.status, answer.body, answer.trailers, answer.ended), (200, b"", None, True))
        self.assertEqual(answer.get("content-type"), "application/grpc")
        self.assertEqual(answer.get("grpc-status"), str(code.value[0]))
        self.assertTrue(answer.get("grpc-message"))

    def test_a_limit(self):
        gateway, client, service = self.through(more=self.LIMITED % "")
        for _ in range(3):
            client.unary(b"m", timeout=SOON)
        error = failure_of(client.unary, b"m")
        self.assertEqual(error.code(), Code.RESOURCE_EXHAUSTED)
        trailing = dict(error.trailing_metadata())
        self.assertGreater(int(trailing["grpc-retry-pushback-ms"]), 0)
        self.assertEqual((trailing["x-ratelimit-limit"], trailing["x-ratelimit-remaining"]), ("3", "0"))
        self.assertEqual(len(service.calls), 3)
        answer = self.ask(gateway)
        self.assert_is_only_trailers(answer, Code.RESOURCE_EXHAUSTED)
        self.assertGreater(int(answer.get("grpc-retry-pushback-ms")), 0)
        self.assertEqual(failure_of(client.bidi, iter([b"m"])).code(), Code.RESOURCE_EXHAUSTED)
        line = gateway.log_lines(6)[-1]
        self.assertEqual((line["outcome"], line["grpc_status"]), ("rejected", Code.RESOURCE_EXHAUSTED.value[0]))

    def test_other_requests_keep_their_answers(self):
        gateway, _, _ = self.through(more=self.LIMITED % "")
        with Http2(gateway.address) as c:
            for kind in ("text/plain", "application/grpc-web", "application/json"):
                answers = [c.ask("/", [("content-type", kind)]) for _ in range(4)]
                self.assertEqual((answers[-1].status, answers[-1].get("grpc-status")), (429, None))

    def test_a_server_that_is_gone(self):
        gateway = self.gateway(over_http2(f"127.0.0.1:{free_port()}"))
        self.assert_is_only_trailers(self.ask(gateway), Code.UNAVAILABLE)

    def test_a_timeout_of_the_gateway(self):
        for more, options in (
            ("routes: [ { upstream: up, timeout: 300ms } ]\n", ""),
            ("", ", response_timeout: 300ms"),
        ):
            gateway, _, service = self.through(more=more, options=options)
            self.assert_is_only_trailers(self.ask(gateway), Code.DEADLINE_EXCEEDED)
            self.wait_for_cancel(service, "Slow")

    def test_a_deadline_of_the_call_bounds_it(self):
        origin = self.started(Http2Origin(lambda call: call.wait_for_reset()))
        gateway = self.gateway(over_http2(origin.address))
        for text in ("300m", "300000u", "1S", "99999999n"):
            with self.subTest(text=text):
                self.assert_is_only_trailers(self.ask(gateway, [("grpc-timeout", text)]), Code.DEADLINE_EXCEEDED)
                self.assertEqual(origin.last().wait_for_reset(), CANCEL)

    def test_a_request_that_is_refused(self):
        gateway, _, service = self.through()
        self.assert_is_only_trailers(self.ask(gateway, path="/test.Service/%c0%af"), Code.INVALID_ARGUMENT)
        self.assertEqual(service.calls, [])

    def test_a_route_that_is_not_there(self):
        gateway, _, _ = self.through(more="routes: [ { match: { path: /own/ }, upstream: up } ]\n")
        self.assert_is_only_trailers(self.ask(gateway), Code.UNIMPLEMENTED)

    def test_failed_calls_alone_are_charged(self):
        gateway, client, _ = self.through(more=self.LIMITED % ", charge_on: { grpc: [UNAUTHENTICATED] }")
        for _ in range(5):
            client.unary(b"m", timeout=SOON)
            failure_of(client.fail, b"NOT_FOUND no")
        for _ in range(3):
            self.assertEqual(failure_of(client.fail, b"UNAUTHENTICATED no").code(), Code.UNAUTHENTICATED)
        self.assertEqual(failure_of(client.unary, b"m").code(), Code.RESOURCE_EXHAUSTED)
        statuses = [line.get("grpc_status") for line in gateway.log_lines(14)]
        self.assertEqual(statuses.count(Code.UNAUTHENTICATED.value[0]), 3)

    def test_a_success_makes_the_bucket_full(self):
        _, client, _ = self.through(more=self.LIMITED % ", reset_on: { grpc: [OK] }")
        for _ in range(5):
            self.assertEqual(client.unary(b"m", timeout=SOON), b"m")
        for _ in range(3):
            failure_of(client.fail, b"NOT_FOUND no")
        self.assertEqual(failure_of(client.unary, b"m").code(), Code.RESOURCE_EXHAUSTED)

    def test_metrics_know_the_status(self):
        gateway, client, _ = self.through()
        client.unary(b"m", timeout=SOON)
        failure_of(client.fail, b"NOT_FOUND no")
        gateway.log_lines(2)
        count = lambda status: gateway.metrics().count("gateway_grpc_responses_total", grpc_status=status)  # noqa: E731
        self.assertEqual([count(status) for status in ("0", "5", "14")], [1, 1, 0])
