"""A collector of traces (OTLP over HTTP, as JSON), strict about what it takes."""
import http.server
import json
import re
import threading
import time

from harness.process import wait_until

KINDS = {1: "internal", 2: "server", 3: "client"}


class Span:
    def __init__(self, encoded, resource):
        self.resource = resource
        self.trace, self.id = encoded["traceId"], encoded["spanId"]
        self.parent = encoded.get("parentSpanId")
        self.name, self.kind = encoded["name"], KINDS[encoded["kind"]]
        self.begin, self.end = (int(encoded[k]) for k in ("startTimeUnixNano", "endTimeUnixNano"))
        self.failed = encoded.get("status", {}).get("code") == 2
        self.attributes = attributes_of(encoded.get("attributes", []))
        assert re.fullmatch("[0-9a-f]{32}", self.trace) and int(self.trace, 16), self.trace
        assert re.fullmatch("[0-9a-f]{16}", self.id) and int(self.id, 16), self.id
        assert self.parent is None or re.fullmatch("[0-9a-f]{16}", self.parent), self.parent
        assert self.begin <= self.end, (self.name, self.begin, self.end)

    def __getitem__(self, name):
        return self.attributes[name]

    def get(self, name):
        return self.attributes.get(name)


def value_of(encoded):
    (kind, value), = encoded.items()
    return {"stringValue": str, "intValue": int}[kind](value)


def attributes_of(pairs):
    all_of_them = {p["key"]: value_of(p["value"]) for p in pairs}
    assert len(all_of_them) == len(pairs), pairs
    return all_of_them


class Collector:
    """Answers with `answer`, a function from the decoded request to (status, body bytes), or to these and
    further headers. `tls`: a context to serve with. `tries` has when and with what status it answered."""

    def __init__(self, answer=lambda request: (200, b"{}"), port=0, tls=None):
        self.requests, self.fields, self.tries = [], [], []
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.read_body()
                assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
                request = json.loads(body)
                status, text, *more = answer(request)
                collector.tries.append((time.monotonic(), status))
                if 200 <= status < 300:
                    collector.requests.append(request)
                    collector.fields.append(self.headers)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                for name, value in more:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def read_body(self):
                if "Content-Length" in self.headers:
                    return self.rfile.read(int(self.headers["Content-Length"]))
                pieces = []
                while size := int(self.rfile.readline(), 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                return b"".join(pieces)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
            self.url = f"https://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def spans(self):
        found = []
        for request in list(self.requests):
            for of_resource in request["resourceSpans"]:
                resource = attributes_of(of_resource["resource"]["attributes"])
                for scope in of_resource["scopeSpans"]:
                    found += [Span(s, resource) for s in scope["spans"]]
        return found

    def requests_seen(self, count):
        """The spans of requests, as soon as there are so many."""
        servers = lambda: [s for s in self.spans() if s.kind == "server"]
        wait_until(lambda: len(servers()) >= count, 20, f"{count} traced requests")
        return servers()

    def trace(self, trace_id):
        return [s for s in self.spans() if s.trace == trace_id]

    def stop(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
