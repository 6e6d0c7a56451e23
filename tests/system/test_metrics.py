"""Metrics: their names and sums, a real Prometheus, and labels that no request can invent."""
import contextlib
import gzip
import json

from harness.case import SystemTest, forwarding_to
from harness.client import Connection, exchange_raw, get
from harness.load import pipelined
from harness.process import SLOW, free_port, run_tool, wait_until
from harness.prometheus import Prometheus
from harness.redis_server import RedisServer

PROMISED = {
    "gateway_requests_total": {"route", "method", "code"},
    "gateway_refused_requests_total": {"route", "reason"},
    "gateway_soft_limit_exceeded_total": {"limit"},
    "gateway_over_limit_requests_total": {"route"},
    "gateway_server_errors_total": {"route"},
    "gateway_request_duration_seconds_bucket": {"route", "le"},
    "gateway_upstream_duration_seconds_bucket": {"upstream", "le"},
    "gateway_upstream_failures_total": {"upstream", "reason"},
    "gateway_upstream_retries_total": {"upstream", "result"},
    "gateway_upstream_queue_length": {"upstream"},
    "gateway_upstream_server_requests_total": {"upstream", "server"},
    "gateway_upstream_server_failures_total": {"upstream", "server"},
    "gateway_upstream_server_connections": {"upstream", "server", "state"},
    "gateway_upstream_server_up": {"upstream", "server"},
    "gateway_upstream_server_ejections_total": {"upstream", "server"},
    "gateway_decisions_total": {"limit", "outcome"},
    "gateway_store_request_duration_seconds_bucket": {"store", "le"},
    "gateway_store_requests_total": {"store"},
    "gateway_store_leased_decisions_total": {"store"},
    "gateway_store_remembered_decisions_total": {"store"},
    "gateway_store_breaker_open": {"store"},
    "gateway_store_failures_total": {"store", "reason"},
    "gateway_store_up": {"store"},
    "gateway_buckets": {"store"},
    "gateway_connections": {"side", "state"},
    "gateway_tunnels": set(),
    "gateway_tunnels_total": set(),
    "gateway_tunnel_bytes_total": {"side"},
    "gateway_connections_refused_total": {"reason"},
    "gateway_untrusted_forwarded_total": set(),
    "gateway_traces_dropped_total": set(),
    "gateway_upstream_server_healthy": {"upstream", "server"},
    "gateway_upstream_health_checks_total": {"upstream", "server", "result"},
    "gateway_config_reloads_total": {"result"},
    "gateway_config_last_reload_success_timestamp_seconds": set(),
    "gateway_config_last_reload_successful": set(),
    "gateway_plan_members": {"plans"},
    "gateway_plan_file_errors_total": {"plans"},
    "gateway_plan_file_in_force": {"plans"},
    "gateway_build_info": {"version"},
    "process_cpu_seconds_total": set(),
    "process_resident_memory_bytes": set(),
    "process_open_fds": set(),
    "process_max_fds": set(),
    "process_start_time_seconds": set(),
}


def sent_until_it_blocks(socket, data):
    """Whether the other side has stopped reading."""
    try:
        socket.send(data)
        return False
    except BlockingIOError:
        return True


class MetricsTest(SystemTest):
    def setUp(self):
        self.redis = self.started(RedisServer())
        self.gateway_under_test = self.gateway(
            f"stores: {{ r: {{ url: '{self.redis.url}', timeout: 5s,"
            " remember_rejections: false } }\n"  # so that all three questions are asked
            "client: { trusted_proxies: [127.0.0.1] }\n"
            f"plans: {{ keys: {{ key: 'header:x-key', file: '{self.directory().file('plans', '# nobody')}' }} }}\n"
            "limits:\n  near: { key: client_ip, rate: 1/h, burst: 3 }\n"
            "  far: { key: [], rate: 1/h, burst: 2, store: r }\n"
            "routes:\n - { name: near, match: { path: /near }, limits: [near], upstream: up }\n"
            " - { name: far, match: { path: /far }, limits: [far], upstream: up }\n"
            " - { name: dead, match: { path: /dead }, upstream: dead }\n"
            "upstreams: { up: { servers: [echo], health: { path: /well } }, dead: { servers: ['127.0.0.1:1'] } }\n"
            "log: { access: false }\n"
        )
        wait_until(lambda: self.gateway_under_test.metrics().sum("gateway_store_up", store="r"))

    def traffic(self):
        g = self.gateway_under_test
        self.assertEqual([g.get("/near").status for _ in range(5)], [200] * 3 + [429] * 2)
        self.assertEqual([g.get("/far", method="POST").status for _ in range(3)], [200] * 2 + [429])
        self.assertEqual([g.get("/dead").status, g.get("/nowhere").status], [502, 404])
        self.assertEqual(g.get("/near", method="BREW").status, 429)
        exchange_raw(g.address, "nonsense\r\n\r\n")
        g.reload(open(g.config_path, encoding="utf-8").read())


class Exposition(MetricsTest):
    def test_all_promised_names_are_there_and_the_sums_are_right(self):
        self.traffic()
        m = self.gateway_under_test.metrics()
        for name, labels in PROMISED.items():
            with self.subTest(name):
                rows = [row for n, row, _ in m.rows if n == name]
                self.assertTrue(rows)
                for row in rows:
                    self.assertLessEqual(labels, row.keys())
        for wanted, name, labels in (
            (3, "gateway_requests_total", {"route": "near", "method": "GET", "code": "200"}),
            (2, "gateway_requests_total", {"route": "near", "method": "GET", "code": "429"}),
            (1, "gateway_requests_total", {"route": "near", "method": "other", "code": "429"}),
            (2, "gateway_requests_total", {"route": "far", "method": "POST", "code": "200"}),
            (1, "gateway_requests_total", {"route": "dead", "code": "502"}),
            (1, "gateway_requests_total", {"code": "404"}),
            (12, "gateway_requests_total", {}),
            (3, "gateway_decisions_total", {"limit": "near", "outcome": "allowed"}),
            (3, "gateway_decisions_total", {"limit": "near", "outcome": "rejected"}),
            (2, "gateway_decisions_total", {"limit": "far", "outcome": "allowed"}),
            (1, "gateway_decisions_total", {"limit": "far", "outcome": "rejected"}),
            (3, "gateway_refused_requests_total", {"route": "near", "reason": "rejected"}),
            (1, "gateway_refused_requests_total", {"route": "far", "reason": "rejected"}),
            (4, "gateway_refused_requests_total", {}),
            (1, "gateway_server_errors_total", {"route": "dead"}),
            (1, "gateway_server_errors_total", {}),
            (6, "gateway_request_duration_seconds_count", {"route": "near"}),
            (5, "gateway_upstream_duration_seconds_count", {"upstream": "up"}),
            (1, "gateway_upstream_failures_total", {"upstream": "dead", "reason": "connect"}),
            (3, "gateway_store_request_duration_seconds_count", {"store": "r"}),
            (1, "gateway_buckets", {"store": "local"}),
            (1, "gateway_config_reloads_total", {"result": "success"}),
            (0, "gateway_store_failures_total", {"store": "r"}),
            (1, "gateway_build_info", {}),
        ):
            with self.subTest(name, **labels):
                self.assertEqual(m.count(name, **labels), wanted)

    def test_promtool_has_no_objection(self):
        self.traffic()
        text = self.gateway_under_test.metrics().text
        status, out, err = run_tool(["promtool", "check", "metrics"], input=text)
        self.assertEqual((status, out, err), (0, "", ""))

    def test_a_real_prometheus_scrapes_it(self):
        self.traffic()
        prometheus = self.started(Prometheus(self.gateway_under_test.admin))
        wait_until(
            lambda: prometheus.query("up") and prometheus.query("up")[0][1] == 1,
            20,
            "prometheus scrapes",
        )
        self.assertEqual(
            prometheus.query('sum(gateway_requests_total{route="near",code="200"})')[0][1], 3
        )
        self.assertEqual(prometheus.query("sum(gateway_requests_total)")[0][1], 12)
        self.assertTrue(
            prometheus.query(
                'histogram_quantile(0.99, sum by (le) (gateway_request_duration_seconds_bucket{route="near"}))'
            )
        )
        target = prometheus.api("targets")["activeTargets"][0]
        self.assertEqual((target["health"], target["lastError"]), ("up", ""))
        kinds = {name: rows[0]["type"] for name, rows in prometheus.api("metadata").items()}
        self.assertEqual(
            (
                kinds["gateway_requests"],
                kinds["gateway_request_duration_seconds"],
                kinds["gateway_buckets"],
            ),
            ("counter", "histogram", "gauge"),
        )

    def test_labels_come_from_the_configuration_only(self):
        g = self.gateway_under_test
        self.traffic()
        before = g.metrics()
        clients = 5_000 if SLOW else 100_000
        methods = ("GET", "POST", "BREW", "X-%d")
        requests = []
        for i in range(clients):
            method = methods[i % 4].replace("%d", str(i))
            path = ("/near/%d", "/none/%d", "/near?q=%d", "/%d")[i // 4 % 4] % i
            requests.append(
                f"{method} {path} HTTP/1.1\r\nHost: host{i}.test\r\nX-Forwarded-For: 10.{i >> 16}.{i >> 8 & 255}.{i & 255}\r\n\r\n".encode()
            )
        statuses = pipelined(g.address, requests)
        self.assertEqual(len(statuses), clients)
        expected = before.sum("gateway_requests_total") + clients
        # The last answers may be read before they are counted.
        wait_until(lambda: g.metrics().sum("gateway_requests_total") == expected, what="all counted")
        after = g.metrics()
        values = {
            v for _, row, _ in after.rows for k, v in row.items() if k not in ("le", "version")
        }
        for value in values:
            self.assertNotRegex(value, r"host\d|^/|X-\d|BREW|10\.\d", value)
        known = {(n, tuple(sorted(row.items()))) for n, row, _ in before.rows}
        fresh = [
            (n, row) for n, row, _ in after.rows if (n, tuple(sorted(row.items()))) not in known
        ]
        self.assertLess(len(fresh), 40, fresh)
        self.assertLess(len(after.text), 200_000)


class Verdicts(SystemTest):
    """A verdict of limits, and whatever else the configuration asks for, is no server error."""

    def test_count_by_their_reason_whatever_their_status(self):
        origin = self.origin(lambda peer, request: peer.reply(503 if request.target == "/sick" else 200))
        port = free_port()
        unavailable = "rejection: { status: 503 }"
        gateway = self.gateway(
            f"listeners: [ {{ address: '127.0.0.1:0' }},"
            f" {{ address: '127.0.0.1:{port}', decide: {{ rejected_status: 503 }} }} ]\n"
            "client: { trusted_proxies: [127.0.0.1] }\nmax_waiting: 1\n"
            "stores: { away: { url: 'redis://127.0.0.1:1' } }\n"
            "plans: { keys: { key: 'header:x-key', members: { banned: [bad] } } }\n"
            "limits:\n"
            "  few: { key: [], rate: 1/h, burst: 1 }\n"
            "  shadow: { key: [], rate: 1/h, burst: 1, mode: shadow }\n"
            "  far: { key: [], rate: 1/h, store: away, on_store_failure: closed }\n"
            "  open: { key: [], rate: 1/h, store: away, on_store_failure: open }\n"
            "  keyed: { key: 'header:x-key', missing_key: reject, rate: 9/h, plan: keys, plans: { banned: blocked } }\n"
            "  costly: { key: [], rate: 9/h, cost: { header: x-cost, max: 9 } }\n"
            "  slow: { key: [], rate: 1/m, burst: 1, max_wait: 9m }\n"
            "routes:\n"
            f"  - {{ name: few, match: {{ path: /few }}, limits: [few], upstream: up, {unavailable} }}\n"
            "  - { name: shadow, match: { path: /shadow }, limits: [shadow], upstream: up }\n"
            "  - { name: far, match: { path: /far }, limits: [far], upstream: up }\n"
            "  - { name: open, match: { path: /open }, limits: [open], upstream: up }\n"
            "  - { name: keyed, match: { path: /keyed }, limits: [keyed], upstream: up }\n"
            "  - { name: costly, match: { path: /costly }, limits: [costly], upstream: up }\n"
            f"  - {{ name: slow, match: {{ path: /slow }}, limits: [slow], upstream: up, {unavailable} }}\n"
            "  - { name: closed, match: { path: /closed }, respond: { status: 503 } }\n"
            "  - { name: sick, match: { path: /sick }, upstream: up }\n"
            "  - { name: dead, match: { path: /dead }, upstream: dead }\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }}, dead: {{ servers: ['127.0.0.1:1'] }} }}\n"
        )

        def ask(path, *fields, times=1):
            return [gateway.get(path, headers=list(fields)).status for _ in range(times)]

        self.assertEqual(ask("/few", times=3), [200, 503, 503])
        self.assertEqual(ask("/shadow", times=2), [200, 200])
        self.assertEqual(ask("/far") + ask("/open"), [503, 200])
        self.assertEqual(ask("/keyed") + ask("/keyed", ("X-Key", "bad")), [400, 403])
        self.assertEqual(ask("/costly", ("X-Cost", "many")), [400])
        self.assertEqual(ask("/closed") + ask("/sick") + ask("/dead"), [503, 503, 502])
        self.assertEqual(ask("/slow"), [200])
        with gateway.connect() as first:
            first.request("/slow")
            wait_until(lambda: gateway.metrics().sum("gateway_requests_waiting") == 1)
            self.assertEqual(ask("/slow"), [503], "there is no room to wait")
        with Connection(("127.0.0.1", port)) as proxy:
            asked = [("X-Forwarded-Host", "h"), ("X-Forwarded-Uri", "/few")]
            self.assertEqual(proxy.ask("/", asked).status, 503)
        with Connection(("127.0.0.1", port)) as proxy:
            asked = [("X-Forwarded-Host", "h"), ("X-Forwarded-Uri", "/%zz")]
            self.assertEqual(proxy.ask("/", asked).status, 503)
        metrics = gateway.metrics()
        refused = {
            (row["route"], row["reason"]): value
            for name, row, value in metrics.rows
            if name == "gateway_refused_requests_total"
        }
        self.assertEqual(
            refused,
            {
                ("few", "rejected"): 3,
                ("far", "failed_closed"): 1,
                ("keyed", "missing_key"): 1,
                ("keyed", "blocked"): 1,
                ("costly", "bad_cost"): 1,
                ("slow", "rejected"): 1,
            },
        )
        errors = {
            row["route"]: value
            for name, row, value in metrics.rows
            if name == "gateway_server_errors_total" and value > 0
        }
        self.assertEqual(errors, {"sick": 1, "dead": 1})


class Admin(MetricsTest):
    def test_its_pages(self):
        admin = self.gateway_under_test.admin
        r = get(admin, "/metrics")
        self.assertEqual((r.status, r["content-type"].split(";")[0]), (200, "text/plain"))
        self.assertEqual(get(admin, "/healthz").status, 200)
        self.assertEqual(json.loads(get(admin, "/readyz").body)["ready"], True)
        self.assertEqual(get(admin, "/nonsense").status, 404)
        self.assertEqual(get(admin, "/metrics", method="POST").status, 405)
        self.assertEqual(get(admin, "/metrics", method="HEAD").body, b"")

    def test_metrics_are_compressed_for_who_wants_it(self):
        admin = self.gateway_under_test.admin
        self.traffic()
        for accepted, coding in (
            (None, None), ("gzip", "gzip"), ("deflate, GZIP;q=0.5", "gzip"), ("*", "gzip"),
            ("gzip;q=0", None), ("gzip;q=0.000, br", None), ("br", None), ("identity", None),
        ):  # fmt: skip
            with self.subTest(accepted):
                r = get(admin, "/metrics", [("Accept-Encoding", accepted)] if accepted else [])
                self.assertEqual((r.status, r["content-encoding"], r["vary"]), (200, coding, "Accept-Encoding"))
                text = gzip.decompress(r.body) if coding else r.body
                self.assertIn(b'gateway_requests_total{route="near"', text)
                self.assertTrue(text.endswith(b"\n"))
                self.assertLess(len(r.body), len(text) / 4 if coding else len(text) + 1)

    def test_half_sent_requests_shut_nobody_out(self):
        text = "admin: { address: 127.0.0.1:0, max_connections: 16, timeout: 1h }\n"
        gateway = self.gateway(text + forwarding_to("echo"))
        for half, rest in (
            ("", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            ("GET /healthz HT", "TP/1.1\r\nHost: localhost\r\n\r\n"),
            ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", "\r\n\r\n"),
        ):
            with contextlib.ExitStack() as stack, self.subTest(half):
                slow = [stack.enter_context(Connection(gateway.admin)) for _ in range(64)]
                for c in slow:
                    c.send(half)
                for path in ("/healthz", "/readyz", "/metrics"):
                    self.assertEqual(get(gateway.admin, path).status, 200)
                self.assertTrue(slow[0].ends(), "the oldest makes room")
                slow[-1].send(rest)
                self.assertEqual(slow[-1].response().status, 200, "the newest has its place")

    def test_clients_that_do_not_read_shut_nobody_out(self):
        text = "admin: { address: 127.0.0.1:0, max_connections: 4, timeout: 1h }\n"
        gateway = self.gateway(text + forwarding_to("echo"))
        ask = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2000
        with contextlib.ExitStack() as stack:
            for _ in range(8):
                c = stack.enter_context(Connection(gateway.admin, receive_buffer=2048))
                c.socket.setblocking(False)
                wait_until(lambda c=c: sent_until_it_blocks(c.socket, ask.encode()))
                self.assertEqual(get(gateway.admin, "/healthz").status, 200)

    def test_the_proxy_port_does_not_have_them(self):
        origin = self.origin()
        gateway = self.gateway(forwarding_to(origin.address))
        for path in ("/metrics", "/healthz", "/readyz"):
            self.assertEqual(gateway.get(path).body, b"ok")
        self.assertEqual([r.target for r in origin.requests], ["/metrics", "/healthz", "/readyz"])

    def test_connections_are_counted_on_both_sides(self):
        release = []
        origin = self.origin(
            lambda peer, request: (wait_until(lambda: release, 10), peer.reply()) and None
        )
        gateway = self.gateway(forwarding_to(origin.address))

        def counted(client_active, client_idle, upstream_active):
            m = gateway.metrics()
            return (
                m.sum("gateway_connections", side="client", state="active"),
                m.sum("gateway_connections", side="client", state="idle"),
                m.sum("gateway_connections", side="upstream", state="active"),
            ) == (client_active, client_idle, upstream_active)

        clients = [gateway.connect() for _ in range(5)]
        wait_until(lambda: counted(0, 5, 0))
        for c in clients[:3]:
            c.request()
        wait_until(lambda: counted(3, 2, 3))
        release.append(True)
        for c in clients[:3]:
            c.response()
        wait_until(lambda: counted(0, 5, 0))
        wait_until(
            lambda: gateway.metrics().sum("gateway_connections", side="upstream", state="idle") == 3
        )
        for c in clients:
            c.close()
        wait_until(lambda: counted(0, 0, 0))
