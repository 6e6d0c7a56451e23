"""Where the gateway listens and how many it lets in."""
import os
import resource
import signal
import socket
import stat

from harness.case import SystemTest, forwarding_to
from harness.client import Connection, get
from harness.gateway import run_command, whole_configuration
from harness.process import SLOW, wait_until


class Listeners(SystemTest):
    def test_unix_sockets_on_both_sides(self):
        directory = self.directory()
        origin = self.origin(unix_path=directory.file("up.sock"))
        path = directory.file("in.sock")
        self.gateway(
            f"listeners: [ {{ address: 'unix:{path}' }} ]\n" + forwarding_to(origin.address)
        )
        with Connection(path) as c:
            for _ in range(10):
                self.assertEqual(c.ask().status, 200)
        self.assertEqual(origin.connections, 1)
        self.assertEqual(origin.last()["x-forwarded-for"], "127.0.0.1")

    def test_a_left_over_socket_file_is_replaced(self):
        path = self.directory().file("in.sock")
        for _ in range(2):
            gateway = self.gateway(
                f"listeners: [ {{ address: 'unix:{path}' }} ]\n" + forwarding_to("echo")
            )
            self.assertEqual(get(path).status, 200)
            gateway.signal(9)
            gateway.wait()
            self.assertTrue(os.path.exists(path))

    def test_what_is_not_left_over_is_not_replaced(self):
        path = self.directory().file("in.sock")
        config = self.directory().file(
            "gateway.yaml",
            whole_configuration(f"listeners: [ {{ address: 'unix:{path}' }} ]\n" + forwarding_to("echo")),
        )
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with self.subTest(kind), socket.socket(socket.AF_UNIX, kind) as theirs:
                theirs.bind(path)
                if kind == socket.SOCK_STREAM:
                    theirs.listen(0)
                    # Nobody accepts it, and the queue has no room for another.
                    self.addCleanup(Connection(path).close)
                inode = os.stat(path).st_ino
                status, _, err = run_command("run", "--config", config)
                self.assertEqual(status, 1)
                self.assertIn("Address already in use", err)
                self.assertEqual(os.stat(path).st_ino, inode)
            os.unlink(path)

    def test_a_start_that_fails_leaves_no_file(self):
        path = self.directory().file("in.sock")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            listeners = f"{{ address: 'unix:{path}' }}, {{ address: '127.0.0.1:{taken.getsockname()[1]}' }}"
            config = self.directory().file(
                "gateway.yaml", whole_configuration(f"listeners: [ {listeners} ]\n" + forwarding_to("echo"))
            )
            self.assertEqual(run_command("run", "--config", config)[0], 1)
        self.assertFalse(os.path.exists(path))

    def test_a_socket_of_another_process_stays_when_this_one_ends(self):
        path = self.directory().file("in.sock")
        origin = self.origin(lambda peer, request: peer.wait_for_end())
        text = f"listeners: [ {{ address: 'unix:{path}' }} ]\n" + forwarding_to(origin.address)
        first = self.gateway(text)
        with Connection(path) as c:
            c.request()
            wait_until(lambda: origin.requests)
            first.signal(signal.SIGTERM)
            first.wait_for_diagnostic("draining")
            self.gateway(text.replace(origin.address, "echo"))
        self.assertEqual(first.wait(), 0)
        self.assertEqual(get(path).status, 200)

    def test_the_folder_says_who_may_connect(self):
        path = self.directory().file("in.sock")
        before = os.umask(0o077)
        try:
            self.gateway(f"listeners: [ {{ address: 'unix:{path}' }} ]\n" + forwarding_to("echo"))
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o666)

    def test_several_addresses_ipv4_ipv6_and_unix(self):
        path = self.directory().file("in.sock")
        gateway = self.gateway(
            "listeners:\n - address: 127.0.0.1:0\n - address: '[::1]:0'\n"
            f" - address: 'unix:{path}'\n" + forwarding_to("echo")
        )
        v4, v6, unix = gateway.addresses()
        self.assertEqual(unix, "unix:" + path)
        for address in (
            ("127.0.0.1", int(v4.rpartition(":")[2])),
            ("::1", int(v6.rpartition(":")[2])),
            path,
        ):
            self.assertEqual(get(address).status, 200)
        self.assertEqual(v6[:6], "[::1]:")

    def test_ipv6_client_is_told_and_limited(self):
        origin = self.origin()
        gateway = self.gateway(
            "listeners: [ { address: '[::1]:0' } ]\nlimits: { l: { key: client_ip, rate: 1/h } }\n"
            + forwarding_to(origin.address, "l")
        )
        self.assertEqual([gateway.get().status for _ in range(2)], [200, 429])
        self.assertEqual(origin.last()["x-forwarded-for"], "::1")

    def test_several_servers_take_turns_and_a_dead_one_is_stepped_over(self):
        origins = [self.origin(), self.origin()]
        servers = ", ".join(f"'{a}'" for a in [o.address for o in origins] + ["127.0.0.1:1"])
        gateway = self.gateway(
            f"routes: [ {{ upstream: up }} ]\nupstreams: {{ up: {{ servers: [{servers}] }} }}\n"
        )
        clients = [gateway.connect() for _ in range(20)]
        for c in clients:
            c.request()
        self.assertEqual({c.response().status for c in clients}, {200})
        self.assertTrue(all(o.requests for o in origins))
        for c in clients:
            c.close()


class MaxConnections(SystemTest):
    def test_more_wait_in_the_kernel_and_get_their_turn(self):
        gateway = self.gateway("max_connections: 10\n" + forwarding_to("echo"))
        first = [gateway.connect() for _ in range(10)]
        for c in first:
            self.assertEqual(c.ask().status, 200)
        waiting = [gateway.connect() for _ in range(5)]
        for c in waiting:
            c.request()
        for c in waiting:
            self.assertTrue(c.silent_for(0.05))
        m = gateway.metrics()
        self.assertEqual(m.sum("gateway_connections", side="client"), 10)
        for c in first:
            c.close()
        for c in waiting:
            self.assertEqual(c.response().status, 200)
            c.close()

    def test_out_of_descriptors_it_pauses_and_resumes(self):
        # Not to its own echo server: the sanitizer of undefined behaviour wants a descriptor, too, when
        # it meets a new type, and calls its objects invalid where there is none.
        gateway, _ = self.proxy()
        self.assertEqual(gateway.get().status, 200)
        # It was told at its start of more, so it takes more connections than it has room for.
        resource.prlimit(gateway.pid, resource.RLIMIT_NOFILE, (80, 80))
        crowd = [gateway.connect() for _ in range(150)]
        wait_until(lambda: gateway.descriptors() >= 78, what="descriptors run out")
        for c in crowd:
            c.close()
        wait_until(lambda: gateway.get().status == 200, 10)
        wait_until(lambda: gateway.descriptors() < 60, 10)

    def test_a_storm_of_connects_and_resets(self):
        gateway = self.gateway(forwarding_to("echo"))
        for _ in range(200 if SLOW else 2000):
            gateway.connect().reset()
        self.assertEqual(gateway.get().status, 200)
        wait_until(lambda: gateway.metrics().sum("gateway_connections", side="client") == 0)

    def test_a_connection_that_is_reset_in_the_queue_is_no_trouble(self):
        gateway = self.gateway("max_connections: 1\n" + forwarding_to("echo"))
        with gateway.connect() as c:
            self.assertEqual(c.ask().status, 200)
            for _ in range(20):
                queued = socket.create_connection(gateway.address)
                queued.sendall(b"GET / HTTP/1.1\r\n")
                queued.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                queued.close()
            self.assertEqual(c.ask().status, 200)
        self.assertEqual(gateway.get().status, 200)
