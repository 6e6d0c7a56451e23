"""The access log: one line of JSON per request, whatever the request contains."""
import datetime
import os
import time

from harness.case import SystemTest, forwarding_to
from harness.client import exchange_raw
from harness.process import wait_until


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
        gateway.wait_for_diagnostic("upstream up: the upstream cannot be reached (told once")
        gateway.stop()
        self.assertEqual(str(gateway.diagnostics).count("cannot be reached"), 1)

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
        gateway = self.gateway("log: { format: text }\n" + forwarding_to("echo"))
        gateway.get("/x?y")
        gateway.signal(15)
        gateway.wait()
        with open(gateway.log_path, encoding="utf-8") as f:
            self.assertRegex(f.read(), r'^127\.0\.0\.1 - - \[[^]]+\] "GET /x" 200 \d+ ')

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
