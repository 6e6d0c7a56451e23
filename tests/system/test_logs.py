"""The access log: one line of JSON per request, whatever the request contains."""
import datetime
import os
import time

from harness.case import SystemTest, forwarding_to
from harness.client import exchange_raw
from harness.listener import FullListener
from harness.process import wait_until
from harness.redis_server import RedisServer


class AccessLog(SystemTest):
    def test_a_line_says_what_happened(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h } }\n"
            "routes: [ { name: main, match: { path: /a }, limits: [l], upstream: up } ]\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        with gateway.connect() as c:
            size = len(c.ask("/a/b?secret=1", method="POST", body=b"12345").body)
            refusal = c.ask("/a")
            self.assertEqual(refusal.status, 429)
            self.assertEqual(c.ask("/nowhere", method="HEAD").status, 404)
        allowed, rejected, lost = gateway.log_lines(3)
        moment = datetime.datetime.fromisoformat(allowed["time"].replace("Z", "+00:00"))
        self.assertAlmostEqual(moment.timestamp(), time.time(), delta=10)
        for line in (allowed, rejected, lost):
            self.assertEqual(
                (line["client"], line["peer"], line["host"]),
                ("127.0.0.1", "127.0.0.1", "gateway.test"),
            )
            self.assertLess(line["duration_seconds"], 5)
        self.assertLessEqual(
            {
                "method": "POST",
                "target": "/a/b",
                "route": "main",
                "upstream": "up",
                "limit": "l",
                "outcome": "allowed",
                "status": 200,
                "request_bytes": 5,
                "response_bytes": size,
            }.items(),
            allowed.items(),
        )
        self.assertLessEqual(
            {
                "method": "GET",
                "target": "/a",
                "limit": "l",
                "outcome": "rejected",
                "status": 429,
                "response_bytes": len(refusal.body),
            }.items(),
            rejected.items(),
        )
        self.assertLessEqual(
            {"target": "/nowhere", "status": 404, "response_bytes": 0}.items(), lost.items()
        )
        self.assertNotIn("route", lost)

    def test_every_line_is_json_whatever_was_sent(self):
        gateway = self.gateway(
            "client: { trusted_proxies: [127.0.0.1] }\nworkers: 1\n" + forwarding_to("echo")
        )
        targets = ['/"quoted"', "/back\\slash", "/\xff\xfe", "/%00", "/'{}[],:", "/" + "x" * 9000]
        for target in targets:
            exchange_raw(
                gateway.address, f'GET {target} HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: "\\\r\n\r\n'
            )
        exchange_raw(gateway.address, b'\x00\xff"nonsense\r\n\r\n')
        exchange_raw(gateway.address, 'GET / HTTP/1.1\r\nHost: "h\\\r\n\r\n')
        lines = gateway.log_lines(len(targets) + 2)  # each must parse
        self.assertEqual(len(lines), len(targets) + 2)
        self.assertEqual(lines[0]["target"], '/"quoted"')
        self.assertEqual(lines[0]["status"], 200)

    def test_failures_say_why(self):
        origin = self.origin(lambda peer, request: False)
        gateway = self.gateway(forwarding_to(origin.address))
        self.assertEqual(gateway.get(method="POST", body=b"x").status, 502)
        (line,) = gateway.log_lines(1)
        self.assertEqual(line["status"], 502)
        self.assertIn("upstream closed the connection", line["error"])

    def test_diagnostics_tell_once_that_an_upstream_fails(self):
        gateway = self.gateway("workers: 1\n" + forwarding_to("127.0.0.1:1"))
        for _ in range(5):
            self.assertEqual(gateway.get().status, 502)
        gateway.wait_for_diagnostic("upstream up: the upstream cannot be reached (logged once")
        gateway.stop()
        self.assertEqual(str(gateway.diagnostics).count("cannot be reached"), 1)

    def test_an_unreachable_upstream_is_told_with_server_address_and_reason(self):
        full = self.started(FullListener())
        path = os.path.join(self.directory().path, "none.sock")
        for server, reason, error in (
            ("127.0.0.1:1", "Connection refused", "the upstream cannot be reached"),
            ("localhost:1", "127.0.0.1:1: Connection refused", "the upstream cannot be reached"),
            (f"unix:{path}", "No such file or directory", "the upstream cannot be reached"),
            (full.address, "no connection within connect_timeout",
             "the upstream did not accept a connection in time"),
            ("nowhere.invalid:80", "Host not found", "the upstream's name does not resolve"),
        ):
            with self.subTest(server):
                gateway = self.gateway(
                    "routes: [ { upstream: up } ]\n"
                    f"upstreams: {{ up: {{ servers: ['{server}'], connect_timeout: 200ms }} }}\n"
                )
                self.assertIn(gateway.get().status, (502, 504))
                told = gateway.wait_for_diagnostic(f"upstream up: {server}: ")
                self.assertIn(reason, told)
                (line,) = gateway.log_lines(1)
                self.assertTrue(line["error"].startswith(f"{error}: {server}: "), line["error"])
                self.assertIn(reason, line["error"])

    def test_a_client_is_not_told_where_upstreams_are(self):
        gateway = self.gateway(forwarding_to("127.0.0.1:1"))
        self.assertNotIn("127.0.0.1", gateway.get().text)

    def test_each_server_that_is_down_is_told_once_in_a_while(self):
        servers = [f"127.0.0.{n}:1" for n in range(1, 6)]
        gateway = self.gateway(
            "workers: 1\nroutes: [ { upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: {servers}, ejection: {{ failures: 0 }} }} }}\n"
        )
        for _ in range(50):
            self.assertEqual(gateway.get().status, 502)
        for server in servers:
            gateway.wait_for_diagnostic(f"upstream up: {server}: Connection refused")
        gateway.stop()
        told = [d for d in gateway.diagnostics if "Connection refused" in d]
        self.assertEqual(len(told), len(servers), told)

    def test_many_servers_that_are_down_do_not_flood_the_log(self):
        names = [f"u{n}" for n in range(40)]
        gateway = self.gateway(
            "workers: 1\nroutes:\n"
            + "".join(f"  - {{ match: {{ path: /{n} }}, upstream: {n} }}\n" for n in names)
            + "upstreams:\n" + "".join(f"  {n}: {{ servers: ['127.0.0.1:1'] }}\n" for n in names)
        )
        began = time.monotonic()
        for name in names:
            self.assertEqual(gateway.get(f"/{name}").status, 502)
        lines = gateway.log_lines(len(names))
        gateway.stop()
        seconds = time.monotonic() - began
        told = [d for d in gateway.diagnostics if "Connection refused" in d]
        self.assertLessEqual(len(told), 10 * (int(seconds) + 2))
        self.assertTrue(all("Connection refused" in line["error"] for line in lines))

    def test_a_missing_key_names_its_limit(self):
        gateway = self.gateway(
            "limits: { first: { key: [], rate: 9/h },\n"
            "          keyed: { key: header:X-Key, missing_key: reject, rate: 9/h } }\n"
            "routes: [ { limits: [first, keyed], upstream: up } ]\n"
            "upstreams: { up: { servers: [echo] } }\n"
        )
        self.assertEqual(gateway.get().status, 400)
        (line,) = gateway.log_lines(1)
        self.assertEqual(line["limit"], "keyed")
        self.assertNotIn("outcome", line)

    def test_a_rejected_line_leads_to_the_bucket_in_the_store(self):
        redis = self.started(RedisServer())
        gateway = self.gateway(
            f"workers: 1\nstores: {{ r: {{ url: '{redis.url}', timeout: 5s, key_prefix: 'gw:', "
            "remember_rejections: false }}\n"
            "limits: { by_key: { key: header:X-Key, missing_key: reject, rate: 1/h, store: r } }\n"
            + forwarding_to("echo", "by_key")
        )
        for key, status in (("5ecret", 200), ("other", 200), ("5ecret", 429), ("5ecret", 429)):
            self.assertEqual(gateway.get(headers=[("X-Key", key)]).status, status)
        allowed, _, rejected, again = gateway.log_lines(4)
        self.assertNotIn("bucket", allowed)
        self.assertEqual(rejected["bucket"], again["bucket"])
        key = f"gw:by_key:{rejected['bucket']}"
        self.assertEqual(len(redis.keys()), 2)
        self.assertIn(key.encode(), redis.keys())
        self.assertEqual(redis.command("DEL", key), 1)
        self.assertEqual(gateway.get(headers=[("X-Key", "5ecret")]).status, 200, "it was the one")

    def test_a_rejection_in_shadow_mode_is_told_whatever_the_other_limits_said(self):
        gateway = self.gateway(
            "workers: 1\nlimits:\n  one: { key: [], rate: 1/h, burst: 3 }\n"
            "  two: { key: [], rate: 1/h, burst: 2, mode: shadow }\n"
            "  three: { key: [], rate: 1/h, burst: 1, mode: shadow }\n"
            + forwarding_to("echo", "one, two, three")
        )
        self.assertEqual([gateway.get().status for _ in range(4)], [200] * 3 + [429])
        lines = gateway.log_lines(4)
        self.assertEqual(
            [(li["limit"], li["outcome"], li.get("shadow_rejected")) for li in lines],
            [
                ("three", "allowed", None),
                ("three", "shadow_rejected", ["three"]),
                ("two", "shadow_rejected", ["two", "three"]),
                ("one", "rejected", None),
            ],
        )
        counted = gateway.metrics().sum("gateway_decisions_total", outcome="shadow_rejected")
        self.assertEqual(counted, sum(len(li.get("shadow_rejected", [])) for li in lines))

    def test_the_server_its_time_and_the_attempts(self):
        failed = []

        def ends_once(peer, request):
            if not failed:
                failed.append("%s:%d" % peer.socket.getsockname())
                return False
            return peer.reply()

        servers = [self.origin(ends_once).address, self.origin(ends_once).address]
        gateway = self.gateway(
            "workers: 1\nroutes: [ { upstream: up } ]\n"
            f"upstreams: {{ up: {{ balance: round_robin, servers: {servers} }} }}\n"
        )
        self.assertEqual([gateway.get().status for _ in range(5)], [200] * 5)
        again, *others = gateway.log_lines(5)
        self.assertEqual(again["attempts"], 2)
        self.assertNotEqual(again["server"], failed[0])
        self.assertEqual({line["server"] for line in others}, set(servers))
        for line in (again, *others):
            self.assertGreaterEqual(line["upstream_seconds"], 0)
            self.assertLessEqual(line["upstream_seconds"], line["duration_seconds"])
        for line in others:
            self.assertNotIn("attempts", line)

    def test_what_no_server_answered_names_the_one_that_was_sent_it(self):
        origin = self.origin(lambda peer, request: False)
        gateway = self.gateway(
            "workers: 1\nroutes:\n - { match: { path: /away }, upstream: away }\n"
            " - { upstream: fails }\n"
            f"upstreams: {{ away: {{ servers: ['127.0.0.1:1'] }}, fails: {{ servers: ['{origin.address}'] }} }}\n"
        )
        self.assertEqual([gateway.get("/away").status, gateway.get(method="POST").status], [502] * 2)
        away, fails = gateway.log_lines(2)
        self.assertNotIn("server", away)
        self.assertEqual(fails["server"], origin.address)
        for line in (away, fails):
            self.assertNotIn("upstream_seconds", line)
            self.assertNotIn("attempts", line)

    def test_a_forwarding_header_of_an_untrusted_peer_is_told_once_and_counted(self):
        gateway = self.gateway("client: { trusted_proxies: [192.0.2.1] }\n" + forwarding_to("echo"))
        fields = (("X-Forwarded-For", "198.51.100.7"), ("Forwarded", "for=198.51.100.7"))
        for field in (*fields, ("X-Real-IP", "198.51.100.7"), ("X-Forwarded-Proto", "https")):
            for _ in range(3):
                self.assertEqual(gateway.get(headers=[field]).status, 200)
        self.assertEqual(gateway.metrics().sum("gateway_untrusted_forwarded_total"), 9)
        gateway.stop()
        told = [line for line in gateway.diagnostics if "client.trusted_proxies" in line]
        self.assertEqual(len(told), 1, told)
        self.assertIn("peer 127.0.0.1 sends X-Forwarded-For,", told[0])

    def test_a_trusted_proxy_is_no_news(self):
        gateway = self.gateway("client: { trusted_proxies: [127.0.0.1] }\n" + forwarding_to("echo"))
        gateway.get(headers=[("X-Forwarded-For", "198.51.100.7")])
        self.assertEqual(gateway.metrics().sum("gateway_untrusted_forwarded_total"), 0)
        gateway.stop()
        self.assertNotIn("trusted_proxies", str(gateway.diagnostics))

    def test_a_client_that_left_is_499(self):
        origin = self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.gateway(forwarding_to(origin.address))
        with gateway.connect() as c:
            c.request()
            wait_until(lambda: origin.requests)
        (line,) = gateway.log_lines(1)
        self.assertEqual(line["status"], 499)
        self.assertTrue(line["error"])

    def test_secrets_are_not_in_it(self):
        gateway = self.gateway(forwarding_to("echo"))
        gateway.get(
            "/p?api_key=5ecret",
            [("Authorization", "Bearer 5ecret"), ("Cookie", "s=5ecret"), ("X-Api-Key", "5ecret")],
        )
        (line,) = gateway.log_lines(1)
        self.assertNotIn("5ecret", str(line))

    def test_it_can_be_off_or_text(self):
        gateway = self.gateway("log: { access: false }\n" + forwarding_to("echo"))
        gateway.get()
        gateway.signal(15)
        gateway.wait()
        self.assertEqual(os.path.getsize(gateway.log_path), 0)
        gateway = self.gateway(
            "log: { format: text }\nclient: { trusted_proxies: [127.0.0.1] }\n" + forwarding_to("echo")
        )
        gateway.get("/x?y", [("X-Request-Id", "i1")])
        gateway.signal(15)
        gateway.wait()
        with open(gateway.log_path, encoding="utf-8") as f:
            self.assertRegex(
                f.read(),
                r'^127\.0\.0\.1 - - \[[^]]+\] "GET /x" 200 \d+ .* '
                r'request_id="i1" server="echo" upstream_seconds=\d\.\d{6}\n$',
            )

    def test_all_lines_are_written_before_the_end(self):
        gateway = self.gateway(forwarding_to("echo"))
        with gateway.connect() as c:
            for i in range(1000):
                c.ask(f"/{i}")
        gateway.signal(15)
        self.assertEqual(gateway.wait(), 0)
        self.assertEqual(
            [line["target"] for line in gateway.log_lines(1000)], [f"/{i}" for i in range(1000)]
        )


class Diagnostics(SystemTest):
    """No number of lines hides what became of a reload, and the missing ones are counted in time."""

    ECHO = "routes: [ { upstream: up } ]\nupstreams: { up: { servers: [echo] } }\n"

    def limits(self, count, rate):
        """Limits that no route has: each is a warning, and a problem if the rate is one."""
        return "limits:\n" + "".join(f"  l{i}: {{ key: client_ip, rate: {rate} }}\n" for i in range(count))

    def said_of(self, text):
        gateway = self.gateway("log: { max_lines_per_second: 20 }\n" + self.ECHO)
        time.sleep(1)  # The second of the start is over.
        before = len(gateway.diagnostics)
        said = gateway.reload("log: { max_lines_per_second: 20 }\n" + self.ECHO + text)
        gateway.wait_for_diagnostic("lines suppressed", before)
        return said, gateway.diagnostics[before:]

    def test_a_reload_with_many_warnings_says_that_it_was_made(self):
        said, lines = self.said_of(self.limits(50, "1/s"))
        self.assertIn("reloaded", said)
        self.assertEqual(len([line for line in lines if "limits.l" in line]), 20)
        self.assertIn("30 log lines suppressed", "\n".join(lines))

    def test_a_refused_reload_with_many_problems_says_how_many_are_missing(self):
        said, lines = self.said_of(self.limits(50, "bad"))
        self.assertIn("reload refused", said)
        self.assertEqual(len([line for line in lines if "limits.l" in line]), 20)
        self.assertIn("30 log lines suppressed", "\n".join(lines))
