"""PROXY headers from load balancers, and to upstreams."""
import json
import signal
import socket
import struct
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Connection
from harness.haproxy import HAProxy
from harness.http2 import Http2
from harness.nginx import Nginx
from harness.place import Watched
from harness.process import free_port, run_tool, wait_until

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
GET = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
LISTENING = (
    "listeners: [ { address: 127.0.0.1:0, proxy_protocol: true } ]\n"
    "client: { trusted_proxies: [127.0.0.1, 198.51.100.0/24] }\n"
)


def seen_by_server(response):
    """The fields that the echo server received."""
    return {name.lower(): value for name, value in json.loads(response.body)["headers"]}


def line(client, server="192.0.2.1"):
    family = "TCP6" if ":" in client else "TCP4"
    return f"PROXY {family} {client} {server} 40000 443\r\n".encode()


def binary(client, command=0x21, more=b""):
    block = socket.inet_aton(client) + socket.inet_aton("192.0.2.1") + struct.pack(">HH", 40000, 443)
    return SIGNATURE + bytes([command, 0x11]) + struct.pack(">H", len(block + more)) + block + more


def begin_of_next(listening, size):
    """What the next connection begins with, so many bytes."""
    listening.settimeout(20)
    asking, _ = listening.accept()
    with asking:
        asking.settimeout(20)
        came = b""
        while len(came) < size:
            came += asking.recv(size - len(came))
        return came


class In(SystemTest):
    def listening(self, more="", limits="", **options):
        return self.gateway(LISTENING + more + forwarding_to("echo", limits), **options)

    def asked(self, gateway, begin, rest=GET, **options):
        """The response to what is sent on a connection of its own."""
        with gateway.connect(**options) as c:
            c.send(begin + rest)
            return c.response()

    def refused(self, gateway, reason):
        return gateway.metrics().sum("gateway_connections_refused_total", reason=reason)

    def test_the_peer_is_whom_the_header_names(self):
        gateway = self.listening("limits: { l: { key: client_ip, rate: 2/h } }\n", "l")
        for client, make in (
            ("203.0.113.7", line), ("203.0.113.8", binary), ("2001:db8::7", lambda c: line(c, "::1")),
        ):  # fmt: skip
            statuses = []
            for _ in range(3):
                r = self.asked(gateway, make(client))
                statuses.append(r.status)
                if r.status == 200:
                    self.assertEqual(seen_by_server(r)["x-forwarded-for"], client)
            self.assertEqual(statuses, [200, 200, 429], f"{client} has a bucket of its own")
        logged = gateway.log_lines(9)
        self.assertEqual({(each["client"], each["peer"]) for each in logged},
                         {(c, c) for c in ("203.0.113.7", "203.0.113.8", "2001:db8::7")})  # fmt: skip

    def test_wherever_it_is_cut_and_the_request_with_it(self):
        gateway = self.listening("log: { access: false }\n")
        for whole in (line("203.0.113.7") + GET, binary("203.0.113.7", more=b"\x04\0\x02xx") + GET):
            open_ones = []
            for cut in range(1, len(whole)):
                c = self.started_connection(gateway)
                c.send(whole[:cut])
                open_ones.append((c, whole[cut:]))
            for c, rest in open_ones:
                c.send(rest)
            for c, _ in open_ones:
                r = c.response()
                self.assertEqual(seen_by_server(r)["x-forwarded-for"], "203.0.113.7")

    def started_connection(self, gateway):
        c = gateway.connect()
        self.addCleanup(c.close)
        return c

    def test_what_a_client_says_of_itself_counts_as_if_it_had_connected_itself(self):
        gateway = self.listening()
        logged = 1
        forged = b"GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 203.0.113.99\r\n\r\n"
        for peer, client, sent_on in (
            ("203.0.113.7", "203.0.113.7", "203.0.113.7"),
            ("198.51.100.7", "203.0.113.99", "203.0.113.99, 198.51.100.7"),
        ):
            r = self.asked(gateway, binary(peer), forged)
            self.assertEqual(seen_by_server(r)["x-forwarded-for"], sent_on)
            seen = [one for one in gateway.log_lines(logged) if one["peer"] == peer]
            logged += 1
            self.assertEqual(seen[0]["client"], client)

    def test_the_cap_of_connections_is_that_of_the_header_s_address(self):
        gateway = self.listening("max_connections_per_peer: 2\n")
        for client in ("203.0.113.7", "203.0.113.8"):
            for _ in range(2):
                c = self.started_connection(gateway)
                c.send(line(client) + GET)
                self.assertEqual(c.response().status, 200)
        with gateway.connect() as c:
            c.send(line("203.0.113.8") + GET)
            self.assertTrue(c.ends())
        self.assertEqual(self.refused(gateway, "per_peer"), 1)

    def test_connections_of_the_proxy_itself_are_its_own(self):
        gateway = self.listening()
        for begin in (b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN 203.0.113.7 x 1 2\r\n",
                      binary("203.0.113.7", command=0x20), SIGNATURE + b"\x21\0\0\0"):  # fmt: skip
            r = self.asked(gateway, begin)
            self.assertEqual(seen_by_server(r)["x-forwarded-for"], "127.0.0.1")

    def test_nothing_else_is_served(self):
        gateway = self.listening("http: { header_timeout: 300ms }\n")
        spoilt = bytearray(binary("203.0.113.7", more=b"\x03\0\x04abcd"))
        for begin in (b"", b"\x16\x03\x01", b"PROXY TCP4 x y 1 2\r\n", b"PROXY " + b"x" * 200,
                      SIGNATURE + b"\x11\x11\0\0", bytes(spoilt)):  # fmt: skip
            with self.subTest(begin=begin), gateway.connect() as c:
                c.send(begin + GET)
                self.assertTrue(c.ends())
        wait_until(lambda: self.refused(gateway, "proxy_header") == 6)
        began = time.monotonic()
        with gateway.connect() as silent, gateway.connect() as slow:
            slow.send(line("203.0.113.7")[:-1])
            self.assertTrue(silent.ends() and slow.ends())
        self.assertGreaterEqual(time.monotonic() - began, 0.25)
        wait_until(lambda: self.refused(gateway, "proxy_header") == 8)
        with gateway.connect() as gone:
            gone.send(b"PROXY TCP4")
        wait_until(lambda: self.refused(gateway, "proxy_header") == 9)
        with gateway.connect(source="127.0.0.9") as c:
            self.assertTrue(c.ends(), "it is not trusted, whatever it would say")
        self.assertEqual(self.refused(gateway, "not_trusted"), 1)
        self.assertEqual(self.asked(gateway, line("203.0.113.7") + line("203.0.113.8")).status, 400)
        self.assertEqual(self.asked(gateway, binary("203.0.113.7") + binary("203.0.113.8")).status, 400)
        told = lambda: [d for d in gateway.diagnostics if "PROXY header" in d]
        wait_until(lambda: len(told()) >= 2)
        self.assertEqual(len(told()), 2, "one line each")

    def test_a_reload_does_not_leave_it_without_proxies(self):
        gateway = self.listening(place=Watched())
        plain = LISTENING.replace(", proxy_protocol: true", "").replace("[127.0.0.1, 198.51.100.0/24]", "[]")
        self.assertIn("refused", gateway.reload(plain + forwarding_to("echo")))
        gateway.wait_for_diagnostic("client.trusted_proxies: must not become empty before a restart")
        self.assertEqual(self.asked(gateway, line("203.0.113.7")).status, 200)

    def test_a_drain_waits_for_headers_on_their_way(self):
        gateway = self.listening()
        with gateway.connect() as late, gateway.connect() as silent:
            late.send(line("203.0.113.7")[:9])
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("draining")
            late.send(line("203.0.113.7")[9:] + GET)
            r = late.response()
            self.assertEqual((r.status, r["connection"]), (200, "close"))
            self.assertTrue(silent.ends())
        self.assertEqual(gateway.wait(), 0)

    def test_haproxy_nginx_and_curl_speak_it(self):
        gateway = self.listening()
        at = f"127.0.0.1:{gateway.address[1]}"
        ports = [free_port() for _ in range(3)]
        self.started(HAProxy(ports[1], "".join(
            f"listen l{i}\n    mode tcp\n    bind 127.0.0.1:{port}\n    server s {at} {how}\n"
            for i, (port, how) in enumerate((
                (ports[0], "send-proxy"),
                (ports[1], "send-proxy-v2 proxy-v2-options crc32c,unique-id check check-send-proxy"),
            ))
        )))  # fmt: skip
        self.started(Nginx(stream=f"server {{ listen 127.0.0.1:{ports[2]}; proxy_protocol on; proxy_pass {at}; }}"))
        for port in ports:
            with Connection(("127.0.0.1", port), source="127.0.0.33") as c:
                self.assertEqual(seen_by_server(c.ask())["x-forwarded-for"], "127.0.0.33")
            with Http2(("127.0.0.1", port)) as c:
                self.assertEqual(c.ask().status, 200)
        status, out, err = run_tool(
            ["curl", "-sS", "--haproxy-protocol", f"http://{at}/"], seconds=10
        )
        self.assertEqual(status, 0, err)
        self.assertIn(["X-Forwarded-For", "127.0.0.1"], json.loads(out)["headers"])


WHOM = (
    "server { listen 127.0.0.1:%d proxy_protocol; location / { return 200 '$proxy_protocol_addr "
    "$proxy_protocol_port $proxy_protocol_server_addr $proxy_protocol_server_port $connection'; } }"
)


class Out(SystemTest):
    def told_nginx(self, more="", listening=""):
        """A gateway before a server that says what it was told: (gateway, the server's port)."""
        port = free_port()
        self.started(Nginx(more=WHOM % port))
        return self.gateway(
            listening + "log: { access: false }\nroutes: [ { upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['127.0.0.1:{port}'], proxy_protocol: v2{more} }} }}\n"
        )

    def test_servers_learn_both_ends_and_clients_share_no_connection(self):
        gateway = self.told_nginx()
        host, port = gateway.address
        seen = {}
        with Connection((host, port), source="127.0.0.33") as a:
            with Connection((host, port), source="127.0.0.34") as b:
                for c in (a, b, a, b):
                    told = c.ask().text.split(" ")
                    client = c.socket.getsockname()
                    self.assertEqual(told[:4], [client[0], str(client[1]), host, str(port)])
                    self.assertEqual(seen.setdefault(c, told[4]), told[4], "its connection is kept")
        self.assertEqual(len(set(seen.values())), 2)

    def test_what_a_load_balancer_told_is_told_on(self):
        gateway = self.told_nginx(listening=LISTENING)
        for client in ("203.0.113.7", "203.0.113.8"):
            with gateway.connect() as c:
                c.send(binary(client) + GET)
                self.assertEqual(c.response().text.split(" ")[:4], [client, "40000", "192.0.2.1", "443"])

    def test_many_clients_get_answers_about_themselves(self):
        gateway = self.told_nginx(", max_idle: 2, max_connections: 4")
        for turn in range(40):
            with Connection(gateway.address, source=f"127.0.0.{turn + 1}") as c:
                self.assertEqual(c.ask().text.split(" ")[0], f"127.0.0.{turn + 1}")

    def test_a_client_that_has_gone_is_told_by_its_address(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            gateway = self.gateway(
                f"routes: [ {{ upstream: up }} ]\n"
                f"upstreams: {{ up: {{ servers: ['127.0.0.1:{port}'], proxy_protocol: v2 }} }}\n"
            )
            # What was sent before a reset is still delivered, and the connection's end has no address.
            gateway.signal(signal.SIGSTOP)
            with Connection(gateway.address, source="127.0.0.33") as c:
                c.send(b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
                c.reset()
            gateway.signal(signal.SIGCONT)
            came = begin_of_next(server, 28)
            self.assertEqual(came[:20], SIGNATURE + b"\x21\x11\0\x0c" + socket.inet_aton("127.0.0.33"))

    def test_health_checks_are_nobody_s_connections(self):
        gateway = self.told_nginx(", health: { path: /, interval: 50ms }")
        wait_until(lambda: gateway.metrics().sum("gateway_upstream_health_checks_total", result="success") >= 2)
        self.assertEqual(gateway.metrics().sum("gateway_upstream_health_checks_total", result="failure"), 0)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.gateway(
                "routes: [ { upstream: up } ]\nupstreams: { up: { servers: "
                f"['127.0.0.1:{listening.getsockname()[1]}'], proxy_protocol: v2, "
                "health: { path: /, interval: 50ms } } }\n"
            )
            self.assertEqual(begin_of_next(listening, 20), SIGNATURE + b"\x20\0\0\0GET ")
