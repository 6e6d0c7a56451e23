"""Traces: which requests are recorded, what their spans say, and collectors that misbehave."""
import json
import re
import socket
import ssl
import time

from harness.case import SystemTest, forwarding_to
from harness.certificates import Certificates
from harness.client import get
from harness.collector import Collector
from harness.documents import documented, page
from harness.opentelemetry import TracedExpress, TracedNode, through_protobuf
from harness.process import free_port, wait_until
from harness.prometheus import Prometheus
from harness.redis_server import RedisServer

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED = ("traceparent", f"00-{TRACE}-{PARENT}-01")
UNSAMPLED = ("traceparent", f"00-{TRACE}-{PARENT}-00")


def tracing_to(url, **more):
    keys = "".join(f", {key}: {value}" for key, value in more.items())
    return f"tracing: {{ endpoint: '{url}'{keys} }}\n"


class Traces(SystemTest):
    def setUp(self):
        super().setUp()
        self.collector = self.started(Collector())

    def traced(self, text, **more):
        return self.gateway("workers: 1\n" + tracing_to(self.collector.url, **more) + text)

    def test_a_trace_goes_through_client_gateway_and_server(self):
        origin = self.origin()
        gateway = self.traced(
            "limits: { l: { key: client_ip, rate: 9/h, cost: 2 } }\n"
            "routes: [ { name: main, match: { path: /a }, limits: [l], upstream: up } ]\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n",
            service_name="edge",
            headers="{ authorization: 5ecret }",
        )
        began = time.time_ns()
        gateway.get("/a/b?token=5ecret", [SAMPLED, ("tracestate", "a=b")])
        (request,) = self.collector.requests_seen(1)
        (forwarded,) = origin.requests
        self.assertEqual((request.trace, request.parent), (TRACE, PARENT))
        version, trace, sent_parent, flags = forwarded["traceparent"].split("-")
        self.assertEqual((version, trace, flags), ("00", TRACE, "01"))
        self.assertEqual(forwarded["tracestate"], "a=b")
        spans = {s.name + "/" + s.kind: s for s in self.collector.trace(TRACE)}
        attempt = spans["GET/client"]
        self.assertEqual((attempt.id, attempt.parent), (sent_parent, request.id))
        self.assertEqual(spans["decide/internal"].parent, request.id)
        self.assertEqual(spans["decide/internal"]["gateway.store"], "local")
        self.assertEqual(request.resource["service.name"], "edge")
        self.assertEqual(self.collector.fields[0]["Authorization"], "5ecret")
        self.assertLessEqual(
            {
                "http.request.method": "GET",
                "url.path": "/a/b",
                "url.scheme": "http",
                "server.address": "gateway.test",
                "client.address": "127.0.0.1",
                "http.route": "/a/*",
                "http.response.status_code": 200,
                "gateway.route": "main",
                "gateway.limit": "l",
                "gateway.limits": "l=allowed",
                "gateway.outcome": "allowed",
                "gateway.cost": 2,
                "gateway.attempts": 1,
            }.items(),
            request.attributes.items(),
        )
        self.assertEqual(request.name, "GET /a/*")
        self.assertFalse(request.failed or attempt.failed)
        self.assertEqual(f"{attempt['server.address']}:{attempt['server.port']}", origin.address)
        for span in spans.values():
            self.assertLessEqual(began - 10**9, span.begin)
            self.assertLessEqual(request.begin, span.begin)
            self.assertLessEqual(span.end, request.end)
        self.assertNotIn("5ecret", str([s.attributes for s in self.collector.spans()]))

    def test_a_share_of_the_traces_that_begin_here_is_recorded(self):
        for share, recorded in (("0%", 0), ("100%", 3)):
            origin = self.origin()
            gateway = self.traced(forwarding_to(origin.address), sample=share)
            for _ in range(3):
                gateway.get("/", [("tracestate", "stale=1")])
            gateway.get(headers=[SAMPLED])
            seen = self.collector.requests_seen(recorded + 1)
            self.assertEqual(len(seen), recorded + 1)
            flags = [r["traceparent"][-2:] for r in origin.requests]
            self.assertEqual(flags, (["01"] if recorded else ["00"]) * 3 + ["01"])
            self.assertEqual(origin.requests[0].all("tracestate"), [])
            gateway.stop()
            self.collector.requests.clear()

    def test_refused_and_failed_requests_can_be_kept(self):
        gateway = self.traced(
            "limits: { l: { key: [], rate: 1/h } }\n"
            "routes:\n  - { match: { path: /limited }, limits: [l], upstream: up }\n"
            "  - { match: { path: /away }, upstream: away }\n"
            "upstreams: { up: { servers: [echo] }, away: { servers: ['127.0.0.1:1'] } }\n",
            sample="0%",
            keep="[rejected, errors]",
        )
        paths = ("/limited", "/limited", "/away", "/nowhere")
        statuses = [gateway.get(p, [UNSAMPLED]).status for p in paths]
        self.assertEqual(statuses, [200, 429, 502, 404])
        rejected, failed = self.collector.requests_seen(2)
        self.assertEqual(rejected["http.response.status_code"], 429)
        self.assertEqual(rejected["gateway.outcome"], "rejected")
        self.assertRegex(rejected["gateway.bucket"], "^[0-9a-f]{32}$")
        self.assertFalse(rejected.failed, "the client is to blame")
        self.assertEqual(failed["error.type"], "502")
        self.assertTrue(failed.failed)
        waits = [s for s in self.collector.spans() if s.name == "wait for a server"]
        self.assertEqual([s["error.type"] for s in waits], ["connect"])
        gateway.stop()
        self.assertEqual(len(self.collector.requests_seen(2)), 2)

    def test_a_retry_is_an_attempt_of_its_own(self):
        requests = []

        def ends_once(peer, request):
            requests.append(request)
            return False if len(requests) == 1 else peer.reply()

        servers = [self.origin(ends_once).address, self.origin(ends_once).address]
        gateway = self.traced(
            f"routes: [ {{ upstream: up }} ]\nupstreams: {{ up: {{ servers: {servers} }} }}\n"
        )
        self.assertEqual(gateway.get(headers=[SAMPLED]).status, 200)
        (request,) = self.collector.requests_seen(1)
        first, second = [s for s in self.collector.trace(TRACE) if s.kind == "client"]
        self.assertTrue(first.failed)
        self.assertEqual(first["error.type"], "no_response")
        self.assertEqual(second["http.request.resend_count"], 1)
        self.assertEqual(second["http.response.status_code"], 200)
        self.assertEqual(request["gateway.attempts"], 2)
        self.assertLessEqual(first.end, second.begin)
        carried = [r["traceparent"] for r in requests]
        self.assertEqual(carried, [f"00-{TRACE}-{attempt.id}-01" for attempt in (first, second)])

    def test_waiting_for_tokens_and_for_a_store_are_spans(self):
        redis = self.started(RedisServer())
        gateway = self.traced(
            f"stores: {{ r: {{ url: '{redis.url}', timeout: 5s }} }}\n"
            "limits: { l: { key: [], rate: 10/s, burst: 1, max_wait: 2s, store: r } }\n"
            + forwarding_to("echo", "l")
        )
        with gateway.connect() as c:
            for _ in range(2):
                self.assertEqual(c.ask("/", [SAMPLED]).status, 200)
        self.collector.requests_seen(2)
        decisions = [s for s in self.collector.spans() if s.name == "decide"]
        self.assertEqual([s["gateway.store"] for s in decisions], ["r", "r"])
        (wait,) = [s for s in self.collector.spans() if s.name == "wait for tokens"]
        self.assertGreater(wait.end - wait.begin, 10**6)

    def test_the_last_spans_are_exported_at_the_end(self):
        gateway = self.traced(forwarding_to("echo"))
        gateway.get(headers=[SAMPLED])
        gateway.stop()
        self.assertEqual(len(self.collector.requests_seen(1)), 1)

    def test_a_reload_turns_it_on_and_off(self):
        gateway = self.gateway("workers: 1\n" + forwarding_to("echo"))
        gateway.get(headers=[SAMPLED])
        text = "workers: 1\n" + forwarding_to("echo")
        gateway.reload(tracing_to(self.collector.url) + text)
        gateway.get("/on", [SAMPLED])
        (request,) = self.collector.requests_seen(1)
        self.assertEqual(request["url.path"], "/on")
        gateway.reload(text)
        gateway.get("/off", [SAMPLED])
        gateway.stop()
        self.assertEqual(len(self.collector.requests_seen(1)), 1)

    def test_strange_and_long_values_are_only_text(self):
        gateway = self.traced(forwarding_to("echo"))
        gateway.get("/\"quoted\"", [SAMPLED])
        gateway.get("/" + "x" * 9000, [SAMPLED], method="WEIRD")
        first, second = self.collector.requests_seen(2)
        self.assertEqual(first["url.path"], '/"quoted"')
        self.assertEqual(second["http.request.method"], "_OTHER")
        self.assertEqual(len(second["url.path"]), 512)

    def test_the_page_s_first_example(self):
        asked = re.search(r"-H 'traceparent: ([^']+)'", page("tracing.md")).group(1)
        text = documented("tracing.md", "yaml").replace("http://127.0.0.1:4318", self.collector.url)
        gateway = self.gateway("workers: 1\n" + text + forwarding_to("echo"))
        gateway.get(headers=[("traceparent", asked)])
        (request,) = self.collector.requests_seen(1)
        self.assertIn(f"the trace `{request.trace}`", page("tracing.md"))

    def test_histograms_have_exemplars_in_openmetrics(self):
        gateway = self.traced(forwarding_to("echo"))
        gateway.get(headers=[SAMPLED])
        gateway.get()
        accept = [("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")]
        answer = get(gateway.admin, "/metrics", accept)
        self.assertIn("application/openmetrics-text; version=1.0.0", answer["content-type"])
        self.assertTrue(answer.text.endswith("\n# EOF\n"))
        self.assertRegex(
            answer.text,
            r'gateway_request_duration_seconds_bucket\{route="[^"]*",le="[0-9.e+-]+"\} \d+ '
            rf'# \{{trace_id="{TRACE}"\}} [0-9.e-]+ \d+\.\d+\n',
        )
        self.assertIn("# TYPE gateway_requests counter\n", answer.text)
        self.assertRegex(answer.text, r"\ngateway_requests_total\{")
        self.assertIn("openmetrics", get(gateway.admin, "/metrics", [("Accept", "Application/OpenMetrics-Text; q=0.3")])["content-type"])
        for other in ([], [("Accept", "application/openmetrics-text;q=0, */*")], [("Accept", "x/application/openmetrics-text")]):
            plain = get(gateway.admin, "/metrics", other)
            self.assertIn("text/plain; version=0.0.4", plain["content-type"])
            self.assertNotIn("trace_id", plain.text)

    def test_a_real_prometheus_keeps_exemplars(self):
        gateway = self.traced(forwarding_to("echo"))
        gateway.get(headers=[SAMPLED])
        prometheus = self.started(
            Prometheus(gateway.admin, "--enable-feature=exemplar-storage")
        )
        question = "query_exemplars?query=gateway_request_duration_seconds_bucket&start=%d&end=%d"
        found = wait_until(
            lambda: prometheus.api(question % (time.time() - 600, time.time() + 600)), 20
        )
        (exemplar,) = found[0]["exemplars"]
        self.assertEqual(exemplar["labels"], {"trace_id": TRACE})
        self.assertEqual(prometheus.api("targets")["activeTargets"][0]["lastError"], "")


class WithOpenTelemetry(SystemTest):
    """Client and server trace by OpenTelemetry's own libraries."""

    def setUp(self):
        super().setUp()
        self.collector = self.started(Collector())
        self.backend = self.started(TracedExpress(self.collector))

    def traced(self, limits="", its_limits=""):
        text = tracing_to(self.collector.url, sample="0%") + limits
        return self.gateway("workers: 1\n" + text + forwarding_to(self.backend.address, its_limits))

    def of(self, service, kind=None):
        """Spans of a service in the collector."""
        spans = [s for s in self.collector.spans() if s.resource["service.name"] == service]
        return [s for s in spans if kind in (None, s.kind)]

    def visit(self, gateway, *paths, served=None):
        """Asks in one trace, of which the backend sees so many requests; returns its spans by service as
        (client's, gateway's, backend's)."""
        urls = ["http://%s:%d%s" % (*gateway.address, path) for path in paths]
        client = self.started(TracedNode(self.collector, "ask", *urls))
        self.assertEqual(client.statuses(), [200] * len(paths))
        wait_until(lambda: len(self.of("gateway", "server")) == len(paths), 20)
        wait_until(lambda: len(self.of("backend")) == (served or len(paths)), 20)
        self.assertEqual(len({s.trace for s in self.collector.spans()}), 1)
        return self.of("client"), self.of("gateway"), self.of("backend")

    def test_one_trace_from_the_client_to_the_server(self):
        of_client, ours, of_backend = self.visit(self.traced(), "/items/7")
        visit = next(s for s in of_client if s.name == "visit")
        call = next(s for s in of_client if s.kind == "client")
        request = next(s for s in ours if s.kind == "server")
        attempt = next(s for s in ours if s.kind == "client")
        (served,) = of_backend
        self.assertIsNone(visit.parent)
        self.assertEqual(
            [call.parent, request.parent, attempt.parent, served.parent],
            [visit.id, call.id, request.id, attempt.id],
        )

    def test_a_retry_has_two_spans_at_the_server(self):
        _, ours, of_backend = self.visit(self.traced(), "/items/1", "/flaky", served=3)
        attempts = sorted((s for s in ours if s.kind == "client"), key=lambda s: s.begin)
        self.assertEqual([s.get("http.request.resend_count") for s in attempts], [None, None, 1])
        self.assertEqual([s.failed for s in attempts], [False, True, False])
        served = sorted(of_backend, key=lambda s: s.begin)
        self.assertEqual([s.parent for s in served], [s.id for s in attempts])

    def test_waiting_is_a_span_before_the_attempt(self):
        limits = "limits: { l: { key: [], rate: 30/m, burst: 1, max_wait: 9s } }\n"
        _, ours, _ = self.visit(self.traced(limits, "l"), "/items/1", "/items/2")
        (wait,) = [s for s in ours if s.name == "wait for tokens"]
        request = next(s for s in ours if s.id == wait.parent)
        attempt = next(s for s in ours if s.kind == "client" and s.parent == request.id)
        self.assertLess(wait.begin, wait.end)
        self.assertLessEqual(wait.end, attempt.begin)

    def test_protobuf_s_definitions_know_every_member(self):
        self.visit(self.traced(), "/items/1", "/flaky", served=3)
        ours = [r for r in self.collector.requests if '"gateway.attempts"' in json.dumps(r)]
        self.assertTrue(ours)
        for request in ours:
            self.assertEqual(through_protobuf(request), request)
        ours[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["misspelt"] = 1
        self.assertNotEqual(through_protobuf(ours[0]), ours[0])


class SilentCollector:
    """Accepts, and never answers."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._socket.getsockname()[1]

    def stop(self):
        self._socket.close()


class Collectors(SystemTest):
    """None of them costs a request anything."""

    def dropped(self, gateway):
        return gateway.metrics().sum("gateway_traces_dropped_total")

    def gateway_to(self, url):
        return self.gateway(
            "workers: 1\n" + tracing_to(url, sample="100%") + forwarding_to("echo")
        )

    def ask(self, gateway, count=20):
        with gateway.connect() as c:
            self.assertEqual([c.ask("/").status for _ in range(count)], [200] * count)

    def test_one_that_is_gone_and_comes_back(self):
        port = free_port()
        gateway = self.gateway_to(f"http://127.0.0.1:{port}")
        self.ask(gateway)
        gateway.wait_for_diagnostic("does not take spans: ")
        collector = self.started(Collector(port=port))
        self.assertEqual(len(collector.requests_seen(20)), 20)
        self.assertEqual(self.dropped(gateway), 0)
        gateway.wait_for_diagnostic("takes spans again")

    def test_one_that_takes_a_batch_later(self):
        def later(status):
            answers = [(status, b""), (status, b"", ("Retry-After", "3"))]
            collector = self.started(
                Collector(lambda request: answers.pop(0) if answers else (200, b"{}"))
            )
            gateway = self.gateway_to(collector.url)
            self.ask(gateway, 1)
            return status, collector, gateway

        for status, collector, gateway in [later(s) for s in (429, 502, 503, 504)]:
            with self.subTest(status=status):
                self.assertEqual(len(collector.requests_seen(1)), 1)
                times, statuses = zip(*collector.tries)
                self.assertEqual(statuses, (status, status, 200))
                self.assertGreaterEqual(times[1] - times[0], 0.5, "half of the first pause")
                self.assertGreaterEqual(times[2] - times[1], 3, "as it asks for")
                self.assertEqual(self.dropped(gateway), 0)

    def test_one_whose_connections_die(self):
        for sent in (b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"):
            with self.subTest(sent=sent):
                self.check_cut_after(sent)

    def check_cut_after(self, sent):
        cut = []

        def cuts_one(peer, request):
            peer.read_body(request)
            if cut:
                return peer.reply(200, b"{}")
            cut.append(request)
            peer.send(sent)
            return False

        origin = self.origin(cuts_one)
        gateway = self.gateway_to(f"http://{origin.address}")
        self.ask(gateway, 1)
        wait_until(lambda: len(origin.requests) == 2, 20)
        self.assertEqual(origin.requests[0].body, origin.requests[1].body)
        gateway.wait_for_diagnostic("takes spans again")
        self.assertEqual(self.dropped(gateway), 0)

    def test_a_batch_that_cannot_come_in_time_is_dropped(self):
        late = (503, b"", ("Retry-After", "3600"))
        collector = self.started(Collector(lambda request: late))
        gateway = self.gateway_to(collector.url)
        self.ask(gateway, 1)
        wait_until(lambda: self.dropped(gateway) >= 2, 20)

    def test_an_end_while_a_batch_waits(self):
        late = [(503, b"", ("Retry-After", "50"))]
        collector = self.started(
            Collector(lambda request: late.pop() if late else (200, b"{}"))
        )
        gateway = self.gateway_to(collector.url)
        self.ask(gateway, 1)
        gateway.wait_for_diagnostic("does not take spans: status 503")
        self.ask(gateway, 1)
        gateway.stop()
        self.assertEqual(len(collector.requests_seen(2)), 2, "it is tried once more, at once")

    def test_one_that_never_answers(self):
        gateway = self.gateway_to(self.started(SilentCollector()).url)
        self.ask(gateway)
        gateway.signal(15)
        began = time.monotonic()
        self.assertEqual(gateway.wait(), 0)
        self.assertLess(time.monotonic() - began, 10, "its last spans have a bound")

    def test_one_that_takes_nothing_while_the_queue_fills(self):
        gateway = self.gateway_to(self.started(SilentCollector()).url)
        self.ask(gateway, 6000)  # two spans each, more than the queue has room for
        self.assertGreater(self.dropped(gateway), 0)

    def test_one_that_refuses_or_lies(self):
        for status, body, reason in (
            (500, b"", "status 500"),
            (400, b"{}", "status 400"),
            (302, b"", "status 302"),
            (200, b"x" * 200_000, "its answer is too long"),
        ):
            with self.subTest(status=status, size=len(body)):
                collector = self.started(Collector(lambda request: (status, body)))
                gateway = self.gateway_to(collector.url)
                self.ask(gateway, 1)
                self.assertIn(reason, gateway.wait_for_diagnostic("does not take spans"))
                wait_until(lambda: self.dropped(gateway) >= 2, 20)
                self.assertEqual(len(collector.tries), 1)

    def test_one_that_takes_a_part(self):
        partial = b'{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}'
        collector = self.started(Collector(lambda request: (200, partial)))
        gateway = self.gateway_to(collector.url)
        self.ask(gateway, 1)
        collector.requests_seen(1)
        wait_until(lambda: self.dropped(gateway) == 1, 20)


class SecureCollectors(SystemTest):
    def setUp(self):
        super().setUp()
        self.made = Certificates(self.directory())

    def collector(self, name, alternative, days=1):
        self.made.issue(name, alternative, days=days)
        return self.started(Collector(tls=self.made.served(name)))

    def traced(self, collector, tls):
        tls = f"{{ {tls} }}"
        text = tracing_to(collector.url, sample="100%", tls=tls) + forwarding_to("echo")
        return self.gateway("workers: 1\n" + text)

    def trusting(self, more=""):
        return f"ca: '{self.made.path('ca.pem')}'{more}"

    def test_one_that_the_authority_vouches_for(self):
        collector = self.collector("good", "IP:127.0.0.1")
        gateway = self.traced(collector, self.trusting())
        gateway.get()
        self.assertEqual(len(collector.requests_seen(1)), 1)

    def test_one_that_wants_a_certificate_of_the_gateway(self):
        self.made.issue("gateway", "DNS:gateway.test")
        collector_tls = self.made
        self.made.issue("asking", "DNS:otel.test")
        context = collector_tls.served("asking")
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(self.made.path("ca.pem"))
        collector = self.started(Collector(tls=context))
        own = "".join(
            f", {key}: '{self.made.path('gateway' + end)}'"
            for key, end in (("cert", ".pem"), ("key", ".key"))
        )
        gateway = self.traced(collector, self.trusting(own + ", server_name: otel.test"))
        gateway.get()
        self.assertEqual(len(collector.requests_seen(1)), 1)

    def test_one_that_is_not_to_be_trusted_gets_nothing(self):
        for name, alternative, days, tls, reason in (
            ("other", "DNS:other.test", 1, self.trusting(), "IP address mismatch"),
            ("old", "IP:127.0.0.1", -1, self.trusting(), "certificate has expired"),
            ("stranger", "IP:127.0.0.1", 1, "", "unable to get local issuer certificate"),
        ):
            with self.subTest(name):
                collector = self.collector(name, alternative, days)
                gateway = self.traced(collector, tls)
                self.assertEqual(gateway.get().status, 200)
                complaint = gateway.wait_for_diagnostic("does not take spans")
                self.assertIn("its certificate: " + reason, complaint)
                self.assertEqual(collector.tries, [])
                gateway.stop()

    def test_the_page_s_example_of_all_keys(self):
        collector = self.collector("good", "IP:127.0.0.1")
        text = documented("tracing.md", "yaml", "https://").replace("sample: 1%", "sample: 100%")
        text = text.replace("https://otel.example.com", collector.url)
        text = text.replace("otel-ca.pem", f"'{self.made.path('ca.pem')}'")
        gateway = self.gateway(
            "workers: 1\n" + text + forwarding_to("echo"), environment={"OTLP_TOKEN": "t0ken"}
        )
        gateway.get()
        self.assertEqual(len(collector.requests_seen(1)), 1)
        self.assertEqual(collector.fields[0]["Authorization"], "t0ken")

    def test_a_reload_brings_another_authority(self):
        collector = self.collector("good", "IP:127.0.0.1")
        gateway = self.traced(collector, "")
        gateway.get()
        gateway.wait_for_diagnostic("does not take spans")
        text = tracing_to(collector.url, sample="100%", tls=f"{{ {self.trusting()} }}")
        gateway.reload("workers: 1\n" + text + forwarding_to("echo"))
        self.assertEqual(len(collector.requests_seen(1)), 1, "the batch that waited")
