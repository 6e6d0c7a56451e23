"""What the upstream is told of the client, and what it is not told."""
from harness.case import SystemTest, forwarding_to
from harness.client import exchange_raw

TRUST = "client: { trusted_proxies: [127.0.0.0/8] }\n"


class ForwardedFields(SystemTest):
    def told(self, headers, extra="", **options):
        gateway, origin = self.proxy(extra=extra)
        self.assertEqual(gateway.get("/", headers, **options).status, 200)
        return origin.last()

    def test_an_untrusted_peer_cannot_say_who_it_is(self):
        r = self.told(
            [
                ("X-Forwarded-For", "198.51.100.1"),
                ("x-forwarded-for", "198.51.100.2"),
                ("X-Forwarded-Proto", "https"),
                ("X-Forwarded-Host", "evil.test"),
                ("Forwarded", "for=198.51.100.3"),
                ("X-Real-IP", "198.51.100.4"),
            ]
        )
        self.assertEqual(r.all("x-forwarded-for"), ["127.0.0.1"])
        self.assertEqual(r.all("x-forwarded-proto"), ["http"])
        self.assertEqual(r.all("x-forwarded-host"), ["gateway.test"])
        self.assertEqual(r.all("forwarded") + r.all("x-real-ip"), [])

    def test_a_trusted_peer_is_appended_to(self):
        r = self.told(
            [
                ("X-Forwarded-For", "198.51.100.1"),
                ("X-Forwarded-For", "198.51.100.2"),
                ("X-Forwarded-Proto", "https"),
                ("X-Forwarded-Host", "public.test"),
            ],
            extra=TRUST,
        )
        self.assertEqual(r.all("x-forwarded-for"), ["198.51.100.1, 198.51.100.2, 127.0.0.1"])
        self.assertEqual(r.all("x-forwarded-proto"), ["https"])
        self.assertEqual(r.all("x-forwarded-host"), ["public.test"])

    def test_without_any_the_fields_are_made(self):
        r = self.told([], extra=TRUST)
        self.assertEqual(r.all("x-forwarded-for"), ["127.0.0.1"])
        self.assertEqual(r.all("x-forwarded-proto"), ["http"])
        self.assertEqual(r.all("x-forwarded-host"), ["gateway.test"])

    def test_the_spelling_with_underscores_is_not_passed_off_as_ours(self):
        r = self.told([("X_Forwarded_For", "198.51.100.1")])
        self.assertEqual(r.all("x_forwarded_for"), [])

    def test_nominating_the_fields_in_connection_does_not_remove_them(self):
        for extra in ("", TRUST):
            r = self.told(
                [
                    ("X-Forwarded-For", "198.51.100.1"),
                    ("Connection", "X-Forwarded-For, Host, X-Forwarded-Proto, Via"),
                ],
                extra=extra,
            )
            self.assertTrue(r["x-forwarded-for"].endswith("127.0.0.1"))
            self.assertEqual((len(r.all("host")), r["x-forwarded-proto"]), (1, "http"))

    def test_hop_by_hop_fields_end_here(self):
        r = self.told(
            [
                ("Connection", "keep-alive, X-Mine"),
                ("X-Mine", "1"),
                ("Keep-Alive", "300"),
                ("TE", "gzip"),
                ("Upgrade", "websocket"),
                ("Proxy-Connection", "keep-alive"),
                ("Proxy-Authorization", "Basic x"),
                ("Trailer", "x"),
                ("X-Yours", "2"),
            ]
        )
        self.assertEqual(r["x-yours"], "2")
        for gone in ("x-mine", "keep-alive", "upgrade", "proxy-connection", "trailer", "te"):
            self.assertEqual(r.all(gone), [], gone)
        self.assertNotIn("x-mine", (r["connection"] or "").lower())

    def test_end_to_end_fields_pass_unchanged_in_order(self):
        fields = [
            ("Accept", "*/*"),
            ("Cookie", "a=b; c=d"),
            ("Authorization", "Bearer t"),
            ("X-A", "1"),
            ("X-A", ""),
            ("X-A", "2 \t 3"),
            ("x-b", "\xe4"),
        ]
        r = self.told(fields)
        self.assertEqual(
            [
                (n, v)
                for n, v in r.fields
                if n in ("accept", "cookie", "authorization", "x-a", "x-b")
            ],
            [(n.lower(), v) for n, v in fields],
        )

    def test_response_fields_pass_but_for_hop_by_hop_ones(self):
        def script(peer, request):
            peer.reply(
                fields=[
                    ("Set-Cookie", "a=1"),
                    ("Set-Cookie", "b=2"),
                    ("Server", "s"),
                    ("Connection", "X-Secret"),
                    ("X-Secret", "1"),
                    ("Keep-Alive", "timeout=5"),
                    ("X-RateLimit-Limit", "77"),
                ]
            )

        gateway, _ = self.proxy(script)
        r = gateway.get()
        self.assertEqual((r.all("set-cookie"), r["server"]), (["a=1", "b=2"], "s"))
        self.assertEqual((r["x-secret"], r["keep-alive"]), (None, None))
        self.assertEqual(
            r["x-ratelimit-limit"], "77", "a route without limits leaves the upstream's alone"
        )

    def test_host_passes_as_it_came(self):
        self.assertEqual(
            self.told([("Host", "Example.TEST:8080")])["host"].lower(), "example.test:8080"
        )


class Identity(SystemTest):
    LIMIT = "limits: { c: { key: client_ip, rate: 1/h, burst: 2 } }\n"

    def remaining(self, gateway, headers=(), source=None):
        with gateway.connect(source=source) as c:
            r = c.ask("/", headers)
            return int(r["x-ratelimit-remaining"]) if r.status == 200 else r.status

    def test_a_spoofed_header_changes_neither_bucket_nor_what_is_told(self):
        origin = self.origin()
        gateway = self.gateway(
            self.LIMIT
            + "client: { trusted_proxies: [127.0.0.9] }\n"
            + forwarding_to(origin.address, "c")
        )
        answers = [
            self.remaining(gateway, [("X-Forwarded-For", f"203.0.113.{i}")]) for i in range(4)
        ]
        self.assertEqual(answers, [1, 0, 429, 429])
        self.assertEqual({r["x-forwarded-for"] for r in origin.requests}, {"127.0.0.1"})
        answers = [
            self.remaining(gateway, [("X-Forwarded-For", f"203.0.113.{i}")], "127.0.0.9")
            for i in range(4)
        ]
        self.assertEqual(answers, [1, 1, 1, 1])

    def cases(self, settings, rows):
        """rows: (header lines, the client they mean); each group of lines with one meaning shares a bucket."""
        limit = self.LIMIT.replace("burst: 2", "burst: 1000")
        gateway = self.gateway("workers: 1\n" + limit + settings + forwarding_to("echo", "c"))
        used = {}
        for lines, client in rows:
            with self.subTest(lines):
                left = self.remaining(gateway, lines)
                used[client] = used.get(client, 0) + 1
                self.assertEqual(left, 1000 - used[client])
        gateway.signal(15)
        gateway.wait()
        self.assertEqual(
            [line["client"] for line in gateway.log_lines(len(rows))],
            [client for _, client in rows],
        )

    def test_trusted_proxies_walk_from_the_right(self):
        def xff(*values):
            return [("X-Forwarded-For", v) for v in values]

        self.cases(
            "client: { trusted_proxies: [127.0.0.0/8, 10.0.0.0/8, '2001:db8:aaaa::/48'] }\n",
            [
                (xff("203.0.113.7"), "203.0.113.7"),
                (xff("198.51.100.99, 203.0.113.7"), "203.0.113.7"),
                (xff("198.51.100.99", "203.0.113.7", "10.1.2.3"), "203.0.113.7"),
                (xff("203.0.113.7,2001:db8:aaaa::5 ,\t10.1.2.3"), "203.0.113.7"),
                (xff("203.0.113.7:443"), "203.0.113.7"),
                (xff("::ffff:203.0.113.7"), "203.0.113.7"),
                (xff("[::ffff:cb00:7107]:80"), "203.0.113.7"),
                (xff(", ,203.0.113.7,,"), "203.0.113.7"),
                (xff("[2001:db8::1]:443"), "2001:db8::1"),
                (xff("2001:DB8:0:0::1"), "2001:db8::1"),
                (xff("10.0.0.5, 10.0.0.6"), "10.0.0.5"),
                (xff("203.0.113.8, unknown, 10.0.0.6"), "10.0.0.6"),
                (xff("203.0.113.8, 300.1.1.1"), "127.0.0.1"),
                ([], "127.0.0.1"),
            ],
        )

    def test_an_ipv6_client_is_its_64(self):
        gateway = self.gateway(
            self.LIMIT + "client: { trusted_proxies: [127.0.0.1] }\n" + forwarding_to("echo", "c")
        )
        answers = [
            self.remaining(gateway, [("X-Forwarded-For", a)])
            for a in ("2001:db8::1", "2001:db8::ffff:2", "2001:db8::3", "2001:db8:0:1::1")
        ]
        self.assertEqual(answers, [1, 0, 429, 1])

    def test_prefixes_are_settings(self):
        gateway = self.gateway(
            self.LIMIT
            + "client: { trusted_proxies: [127.0.0.1], ipv4_prefix: 24, ipv6_prefix: 128 }\n"
            + forwarding_to("echo", "c")
        )
        answers = [
            self.remaining(gateway, [("X-Forwarded-For", a)])
            for a in (
                "192.0.2.1",
                "192.0.2.77",
                "192.0.2.3",
                "192.0.3.1",
                "2001:db8::1",
                "2001:db8::2",
            )
        ]
        self.assertEqual(answers, [1, 0, 429, 1, 1, 1])

    def test_trusted_hops_count_from_the_right(self):
        self.cases(
            "client: { trusted_hops: 2 }\n",
            [
                ([("X-Forwarded-For", "203.0.113.1, 203.0.113.2, 203.0.113.3")], "203.0.113.2"),
                ([("X-Forwarded-For", "203.0.113.2, 203.0.113.3")], "203.0.113.2"),
                ([("X-Forwarded-For", "203.0.113.3")], "127.0.0.1"),
                ([], "127.0.0.1"),
            ],
        )

    def test_forwarded_of_rfc_7239(self):
        self.cases(
            "client: { trusted_proxies: [127.0.0.1], header: Forwarded }\n",
            [
                ([("Forwarded", "for=203.0.113.5;proto=https")], "203.0.113.5"),
                ([("Forwarded", 'For="[2001:db8::5]:8080"')], "2001:db8::5"),
                (
                    [("Forwarded", "for=198.51.100.1, for=203.0.113.5;by=203.0.113.43")],
                    "203.0.113.5",
                ),
                ([("Forwarded", "for=_hidden")], "127.0.0.1"),
                ([("X-Forwarded-For", "203.0.113.9")], "127.0.0.1"),
            ],
        )

    def test_a_header_with_one_address(self):
        self.cases(
            "client: { trusted_proxies: [127.0.0.1], header: X-Real-IP }\n",
            [
                ([("X-Real-IP", "203.0.113.5")], "203.0.113.5"),
                ([("X-Forwarded-For", "203.0.113.9")], "127.0.0.1"),
            ],
        )

    def test_identity_cannot_be_stripped_by_nomination(self):
        gateway = self.gateway(
            self.LIMIT + "client: { trusted_proxies: [127.0.0.1] }\n" + forwarding_to("echo", "c")
        )
        answers = [
            self.remaining(
                gateway, [("X-Forwarded-For", "203.0.113.5"), ("Connection", "X-Forwarded-For")]
            )
            for _ in range(3)
        ]
        self.assertEqual(answers, [1, 0, 429])

    def test_raw_bytes_in_the_header_are_no_address(self):
        gateway, origin = self.proxy(extra=TRUST)
        r = exchange_raw(
            gateway.address, b"GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: \xff\xfe\r\n\r\n"
        )
        self.assertEqual((r.status, origin.last()["x-forwarded-for"][-9:]), (200, "127.0.0.1"))
