"""Reload and drain under load: no request is lost."""
import json
import os
import signal
import time

from harness.case import SystemTest, forwarding_to
from harness.client import Closed, get
from harness.clock import running
from harness.load import Load
from harness.origin import pause
from harness.process import wait_until
from harness.redis_server import RedisServer

REQUEST = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


class Reload(SystemTest):
    def test_under_load_no_request_is_lost_and_buckets_are_kept(self):
        origins = [self.origin(), self.origin()]
        limits = "limits: { l: { key: [], rate: 1/m, burst: 1000000 } }\n"
        texts = [limits + forwarding_to(o.address, "l") for o in origins]
        gateway = self.gateway(texts[0])
        load = Load(gateway.address, [("x", REQUEST)] * 32).start()
        for turn in range(1, 21):
            count = len(load.answers)
            self.assertIn("reloaded", gateway.reload(texts[turn % 2]))
            wait_until(lambda: len(load.answers) > count + 100)
        answers = load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {200})
        left = int(gateway.get()["x-ratelimit-remaining"])
        self.assertAlmostEqual(left, 1000000 - len(answers) - 1, delta=2)
        self.assertTrue(all(o.requests for o in origins))
        m = gateway.metrics()
        self.assertEqual(m.sum("gateway_config_reloads_total", result="success"), 20)
        self.assertAlmostEqual(
            m.sum("gateway_config_last_reload_success_timestamp_seconds"), time.time(), delta=60
        )

    def test_a_bad_file_leaves_the_old_one_serving_and_says_so(self):
        gateway = self.gateway(
            "limits: { l: { key: [], rate: 1/h, burst: 100 } }\n" + forwarding_to("echo", "l")
        )
        before = gateway.metrics()
        load = Load(gateway.address, [("x", REQUEST)] * 4, interval=0.02).start()
        for bad in (
            "limits: { l: { key: [], rate: 1/h, bursst: 1 } }\n" + forwarding_to("echo", "l"),
            "{",
            "\x00",
            "routes: 7",
        ):
            line = gateway.reload(bad)
            self.assertIn("refused", line)
            self.assertEqual(json.loads(line)["level"], "error")
        load.finish()
        self.assertEqual(load.lost, [])
        os.unlink(gateway.config_path)
        start = len(gateway.diagnostics)
        gateway.signal(signal.SIGHUP)
        gateway.wait_for_diagnostic("refused", start)
        m = gateway.metrics()
        self.assertEqual(m.sum("gateway_config_reloads_total", result="failure"), 5)
        self.assertEqual(
            m.sum("gateway_config_last_reload_success_timestamp_seconds"),
            before.sum("gateway_config_last_reload_success_timestamp_seconds"),
        )
        self.assertIn("did you mean", "\n".join(gateway.diagnostics))
        self.assertEqual(gateway.get()["x-ratelimit-limit"], "100")

    def test_included_files_are_read_again(self):
        more = self.directory()
        part = more.file("routes.yaml", "routes: [ { match: { path: /a }, respond: { body: first } } ]\n")
        text = f"include: [ '{more.path}/*.yaml' ]\n" + forwarding_to("echo")
        gateway = self.gateway(text)
        self.assertEqual(gateway.get("/a").body, b"first")
        with open(part, "w", encoding="ascii") as f:
            f.write("routes:\n  - { match: { path: /a }, respnd: { body: second } }\n")
        self.assertIn("refused", gateway.reload(text))
        gateway.wait_for_diagnostic(f"{part}:2:28: routes[1].respnd: unknown key")
        more.file("more.yaml", "routes: [ { match: { path: /b }, respond: { body: third } } ]\n")
        os.unlink(part)
        gateway.reload(text)
        self.assertEqual(gateway.get("/b").body, b"third")
        self.assertNotEqual(gateway.get("/a").body, b"first")

    def test_a_debt_outlives_every_change_of_rate_and_burst(self):
        def text(rate, burst):
            return (
                f"limits: {{ l: {{ key: [], rate: {rate}, burst: {burst} }} }}\n"
                + forwarding_to("echo", "l")
            )

        gateway = self.gateway(text("1/h", 10))
        for _ in range(8):
            self.assertEqual(gateway.get().status, 200)
        gateway.reload(text("2/h", 10))
        self.assertEqual(gateway.get()["x-ratelimit-remaining"], "1")
        gateway.reload(text("1/h", 20))
        self.assertEqual(
            gateway.get()["x-ratelimit-remaining"], "10", "ten are owed, out of twenty"
        )
        gateway.reload(text("1/h", 5))
        self.assertEqual(gateway.get().status, 429)
        gateway.reload(text("1/h", 20))
        self.assertEqual(gateway.get()["x-ratelimit-remaining"], "9")
        gateway.reload(text("1/h", 20).replace("l:", "other:").replace("[l]", "[other]"))
        self.assertEqual(
            gateway.get()["x-ratelimit-remaining"], "19", "another name is another limit"
        )

    def test_a_request_in_flight_ends_as_it_began(self):
        origin = self.origin(lambda peer, request: held(peer, request))
        release = []

        def held(peer, request):
            wait_until(lambda: release, 10)
            peer.reply(body=b"old")

        gateway = self.gateway(forwarding_to(origin.address))
        with gateway.connect() as c:
            c.request()
            wait_until(lambda: origin.requests)
            gateway.reload(forwarding_to("echo"))
            release.append(True)
            self.assertEqual(c.response().body, b"old")
            self.assertIn("method", c.ask().text, "the next one goes the new way")

    def test_routes_limits_and_timeouts_may_all_change(self):
        gateway = self.gateway(forwarding_to("echo"))
        self.assertEqual(gateway.get("/x").status, 200)
        gateway.reload(
            "routes: [ { match: { path: /y }, upstream: up } ]\n"
            "upstreams: { up: { servers: [echo] } }\nhttp: { max_body_bytes: 5 }\n"
        )
        self.assertEqual([gateway.get("/x").status, gateway.get("/y").status], [404, 200])
        self.assertEqual(gateway.get("/y", method="POST", body=b"123456").status, 413)


class Drain(SystemTest):
    def test_under_load_every_request_that_was_accepted_is_answered(self):
        origin = self.origin(lambda peer, request: (pause(0.02), peer.reply()) and None)
        gateway = self.gateway(forwarding_to(origin.address))
        load = Load(gateway.address, [("x", REQUEST)] * 32).start()
        wait_until(lambda: len(load.answers) > 300)
        gateway.signal(signal.SIGTERM)
        self.assertEqual(gateway.wait(), 0)
        gone = running()
        wait_until(lambda: load.lost)
        answers = load.finish()
        self.assertEqual({a.status for a in answers}, {200})
        self.assertLess(max(a.at for a in answers), gone + 1)
        self.assertEqual(
            [why for _, why in load.lost if "refused" not in why],
            [],
            "only new connections are refused",
        )
        self.assertEqual(len(answers), len(origin.requests))

    def test_clients_are_told_to_leave(self):
        release = []

        def script(peer, request):
            wait_until(lambda: release, 10)
            peer.reply()

        gateway = self.gateway(forwarding_to(self.origin(script).address))
        with gateway.connect() as busy, gateway.connect() as idle:
            busy.request()
            wait_until(
                lambda: gateway.metrics().sum("gateway_connections", side="client", state="active")
                == 1
            )
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("draining")
            self.assertTrue(idle.ends(), "an idle connection is closed soon")
            release.append(True)
            r = busy.response()
            self.assertEqual((r.status, r["connection"]), (200, "close"))
            self.assertTrue(busy.ends())
        self.assertEqual(gateway.wait(), 0)

    def test_readiness_goes_first_and_new_connections_are_refused(self):
        gateway = self.gateway(
            forwarding_to(self.origin(lambda peer, request: peer.wait_for_end()).address)
        )
        self.assertEqual(get(gateway.admin, "/readyz").status, 200)
        with gateway.connect() as c:
            c.request()
            wait_until(
                lambda: gateway.metrics().sum("gateway_connections", side="client", state="active")
                == 1
            )
            gateway.signal(signal.SIGTERM)
            wait_until(lambda: get(gateway.admin, "/readyz").status == 503)
            self.assertIn("draining", get(gateway.admin, "/readyz").text)
            self.assertEqual(get(gateway.admin, "/healthz").status, 200)

            def refused():
                try:
                    gateway.connect().close()
                    return False
                except ConnectionRefusedError:
                    return True

            wait_until(refused)
        self.assertEqual(gateway.wait(), 0, "the client left, nothing is in flight")

    def test_of_one_worker_says_nothing_of_stores(self):
        redis = self.started(RedisServer())
        origin = self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.gateway(
            f"stores: {{ r: {{ url: '{redis.url}', timeout: 5s }} }}\n"
            "limits: { l: { key: [], rate: 9/h, store: r, on_store_failure: closed } }\n"
            + forwarding_to(origin.address, "l")
        )

        def links():
            return len(redis.command("CLIENT", "LIST").splitlines()) - 1  # one is ours

        def store_up():
            return gateway.metrics().sum("gateway_store_up", store="r")

        wait_until(lambda: links() == 2 and store_up() == 1, what="both workers have a link")
        with gateway.connect() as c:
            c.request()
            wait_until(lambda: origin.requests)
            gateway.signal(signal.SIGTERM)
            wait_until(lambda: links() == 1, what="one of them has drained")
            self.assertEqual(store_up(), 1, "the store is well")
            r = get(gateway.admin, "/readyz")
            self.assertEqual(r.status, 503)
            self.assertEqual(
                json.loads(r.body),
                {"ready": False, "reasons": ["draining"], "stores_down": [], "servers_down": []},
            )
        self.assertEqual(gateway.wait(), 0)

    def test_drain_timeout_bounds_it(self):
        gateway = self.gateway(
            "drain_timeout: 300ms\n"
            + forwarding_to(self.origin(lambda peer, request: peer.wait_for_end()).address)
        )
        with gateway.connect() as c:
            c.request()
            wait_until(
                lambda: gateway.metrics().sum("gateway_connections", side="client", state="active")
                == 1
            )
            began = time.monotonic()
            gateway.signal(signal.SIGTERM)
            self.assertEqual(gateway.wait(), 0)
            self.assertGreaterEqual(time.monotonic() - began, 0.25)
            with self.assertRaises((Closed, ConnectionError)):
                c.response()

    def test_a_request_that_is_just_arriving_is_still_answered(self):
        gateway = self.gateway(forwarding_to("echo"))
        with gateway.connect() as c:
            c.send("GET / HTTP/1.1\r\nHost")
            wait_until(lambda: gateway.metrics().sum("gateway_connections", side="client") == 1)
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("draining")
            c.send(": h\r\n\r\n")
            r = c.response()
            self.assertEqual((r.status, r["connection"]), (200, "close"))
        self.assertEqual(gateway.wait(), 0)
