"""Names of servers that move, and that cannot be resolved for a while."""
import contextlib
import threading
import unittest

from harness.case import SystemTest
from harness.named_hosts import NamedHosts
from harness.origin import Origin
from harness.postgres_server import can_have_a_room
from harness.process import free_port, wait_until
from harness.redis_server import RedisServer

HERE, THERE, MOVED = "127.0.0.2", "127.0.0.3", "127.0.0.4"
OFTEN = "resolver: { refresh: 1s, retry: 100ms }"


@unittest.skipUnless(can_have_a_room(), "needs mounts of its own")
class Names(SystemTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.names = self.started(NamedHosts(app=HERE))
        self.old, self.new = (self.server(address) for address in (HERE, THERE))

    def server(self, address):
        """One that says who it is."""
        return self.started(
            Origin(lambda peer, request: peer.reply(200, body=address.encode()), host=address, port=self.port)
        )

    def text(self, more=OFTEN, stores="", routes="", workers=2):
        return (
            f"workers: {workers}\n{stores}"
            f"routes:\n{routes}  - {{ upstream: up }}\n"
            f"upstreams:\n  other: {{ servers: ['other.test:{self.port}'], {OFTEN} }}\n"
            f"  up: {{ servers: ['app.test:{self.port}'], {more} }}\n"
        )

    def gateway_there(self, text):
        return self.gateway(text, place=self.names)

    def who_answers(self, gateway, count=20, path="/"):
        """Asks on new connections, so that all workers are asked."""
        return {gateway.get(path).body.decode() for _ in range(count)}

    def settles(self, gateway, address, path="/"):
        wait_until(lambda: self.who_answers(gateway, path=path) == {address}, 10, f"{address} answers")


class Moves(Names):
    def test_kept_connections_do_not_lead_to_where_the_name_was(self):
        gateway = self.gateway_there(self.text())
        self.assertEqual(self.who_answers(gateway), {HERE})
        self.assertGreater(self.old.open_connections(), 0, "kept")
        self.names.set(app=THERE)
        self.settles(gateway, THERE)
        wait_until(lambda: self.old.open_connections() == 0, what="none is kept")
        asked = len(self.old.requests)
        self.assertEqual(self.who_answers(gateway, 50), {THERE})
        self.assertEqual(len(self.old.requests), asked)

    def test_a_request_under_way_finishes_where_it_is(self):
        gateway = self.gateway_there(self.text())
        release = []

        def held(peer, request):
            if request.target == "/held":
                wait_until(lambda: release, 60)
            peer.reply(200, body=HERE.encode())

        self.old.script = held
        with gateway.connect() as c:
            c.request("/held")
            wait_until(lambda: self.old.requests)
            self.names.set(app=THERE)
            self.settles(gateway, THERE)
            wait_until(lambda: self.old.open_connections() == 1, what="that of the request alone is left")
            release.append(True)
            self.assertEqual(c.response().body.decode(), HERE)
            wait_until(lambda: self.old.open_connections() == 0, what="it is not kept")
            self.assertEqual(c.ask().body.decode(), THERE)

    def test_one_of_two_addresses_leaves_and_comes_back(self):
        self.names.set(app=f"{HERE} {THERE}")
        gateway = self.gateway_there(self.text(OFTEN + ", max_idle: 1"))

        def asked_at_once():
            """Requests that wait for each other upstream, so that each has a connection there."""
            arrived = threading.Barrier(4)

            def at(address):
                def script(peer, request):
                    if request.target == "/together":
                        arrived.wait(60)
                    peer.reply(200, body=address.encode())

                return script

            self.old.script, self.new.script = at(HERE), at(THERE)
            with contextlib.ExitStack() as stack:
                clients = [stack.enter_context(gateway.connect()) for _ in range(4)]
                for c in clients:
                    c.request("/together")
                return {c.response().body.decode() for c in clients}

        wait_until(lambda: asked_at_once() == {HERE, THERE}, 10, "both answer")
        self.names.set(app=THERE)
        self.settles(gateway, THERE)
        wait_until(lambda: self.old.open_connections() == 0, what="none is kept")
        self.names.set(app=f"{HERE} {THERE}")
        wait_until(lambda: HERE in asked_at_once(), 10, "the first one is back")

    def test_a_name_that_stays_keeps_its_connections(self):
        self.names.set(app=HERE, other=THERE)
        gateway = self.gateway_there(
            self.text(routes="  - { match: { path: /other }, upstream: other }\n", workers=1)
        )
        self.assertEqual(self.who_answers(gateway), {HERE})
        made = self.old.connections
        other = self.started(Origin(lambda peer, request: peer.reply(200, body=b"moved"), host=MOVED, port=self.port))
        for where, who in ((MOVED, "moved"), (THERE, THERE)):  # until all names were asked for again
            self.names.set(app=HERE, other=where)
            self.settles(gateway, who, path="/other")
        self.assertEqual(self.who_answers(gateway), {HERE})
        self.assertEqual(self.old.connections, made)
        self.assertGreater(other.connections, 0)


class Outages(Names):
    """The name server fails, and a reload changes what the names are of."""

    def test_a_reload_keeps_the_last_good_addresses(self):
        gateway = self.gateway_there(self.text())
        self.assertEqual(self.who_answers(gateway), {HERE})
        self.names.set()
        for change in (
            f"{OFTEN}, response_timeout: 7s",
            f"{OFTEN}, response_timeout: 8s",
            f"{OFTEN}, response_timeout: 8s, health: {{ path: /, interval: 50ms, unhealthy: 1 }}",
            f"{OFTEN}, response_timeout: 8s, health: {{ path: /well, interval: 50ms, unhealthy: 1 }}",
        ):
            self.assertIn("reloaded", gateway.reload(self.text(change)))
            self.assertEqual(self.who_answers(gateway), {HERE}, change)
        wait_until(
            lambda: gateway.metrics().count("gateway_upstream_health_checks_total", result="success") > 3
        )
        self.assertEqual(gateway.metrics().sum("gateway_upstream_server_healthy"), 1)
        self.names.set(app=THERE)
        self.settles(gateway, THERE)

    def test_another_port_of_the_same_host_is_reached(self):
        gateway = self.gateway_there(self.text())
        self.assertEqual(self.who_answers(gateway), {HERE})
        self.names.set()
        other = self.started(Origin(lambda peer, request: peer.reply(200, body=b"other"), host=HERE))
        port = other.address.rpartition(":")[2]
        self.assertIn("reloaded", gateway.reload(self.text().replace(f"app.test:{self.port}", f"app.test:{port}")))
        self.assertEqual(self.who_answers(gateway), {"other"})

    def test_a_store_is_reached_as_before(self):
        store = self.started(RedisServer())
        self.names.set(app=HERE, store="127.0.0.1")

        def text(timeout):
            stores = (
                f"stores: {{ r: {{ url: 'redis://store.test:{store.port}/0', timeout: {timeout} }} }}\n"
                "limits: { l: { key: [], rate: 1000/h, store: r, on_store_failure: closed } }\n"
            )
            return self.text(stores=stores).replace("- { upstream: up }", "- { upstream: up, limits: [l] }")

        gateway = self.gateway_there(text("1s"))
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"))
        self.names.set()
        self.assertIn("reloaded", gateway.reload(text("2s")))
        wait_until(lambda: gateway.metrics().sum("gateway_store_up", store="r"), 20, "the store is reached")
        self.assertEqual(gateway.get().status, 200)
