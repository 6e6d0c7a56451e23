"""HTTP/2 with the clients that people have."""
import json
import os
import re

from harness import websocket
from harness.browser import Browser
from harness.case import SystemTest, only_as_shipped
from harness.certificates import Certificates
from harness.process import run_tool

HARNESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "harness")
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"


@only_as_shipped
class Plain(SystemTest):
    def large(self):
        def script(peer, request):
            peer.read_body(request)
            return peer.reply(body=b"x" * 20000)

        gateway, origin = self.proxy(script)
        return "http://%s:%d" % gateway.address, origin

    def test_curl(self):
        url, origin = self.large()
        content = os.path.join(HARNESS, "http2.py")
        for more in ([], ["-d", "@" + content]):
            status, said, _ = run_tool(["curl", "-sS", "--http2-prior-knowledge", *more, url])
            self.assertEqual((status, len(said)), (0, 20000))
        self.assertEqual([r.method for r in origin.requests], ["GET", "POST"])

    def test_nghttp(self):
        url, _ = self.large()
        status, said, _ = run_tool(["nghttp", "-ns", "-m", "20", url + "/a"])
        self.assertEqual(status, 0)
        self.assertEqual(len(re.findall(r" 200 +19K /a$", said, re.M)), 20)

    def test_h2load(self):
        url, _ = self.large()
        for more in ([], ["-d", os.path.join(HARNESS, "http2.py")]):
            status, said, _ = run_tool(["h2load", "-n", "1000", "-c", "5", "-m", "50", *more, url])
            self.assertEqual(status, 0)
            self.assertIn("1000 succeeded, 0 failed, 0 errored, 0 timeout", said)
            self.assertIn("status codes: 1000 2xx", said)

    def test_node(self):
        url, _ = self.large()
        status, said, complaint = run_tool(["node", os.path.join(HARNESS, "http2_sessions.js"), url])
        self.assertEqual((status, complaint), (0, ""))
        found = json.loads(said)
        self.assertEqual(found["200"], 300)
        self.assertGreaterEqual(found["whole"], 300 - 43)


@only_as_shipped
class OverTls(SystemTest):
    def setUp(self):
        self.tls = Certificates(self.directory())
        self.tls.issue("gateway.test", "DNS:gateway.test,IP:127.0.0.1")

    def test_curl_and_h2load(self):
        gateway, _ = self.proxy()
        url = "https://127.0.0.1:%d/" % gateway.address[1]
        for protocol, version in (("--http2", "2"), ("--http1.1", "1.1")):
            status, said, _ = run_tool(
                ["curl", "-sS", protocol, "--cacert", self.tls.path("ca.pem"), "-o", "/dev/null",
                 "-w", "%{http_version} %{http_code}\n", url + "[1-20]"])  # fmt: skip
            self.assertEqual((status, said), (0, (version + " 200\n") * 20))
        status, said, _ = run_tool(["h2load", "-n", "500", "-c", "5", "-m", "10", url])
        self.assertIn("Application protocol: h2", said)
        self.assertIn("500 succeeded, 0 failed", said)

    def test_chromium_loads_a_page_and_a_websocket(self):
        def script(peer, request):
            if request.target == "/ws":
                peer.send(websocket.grant_of(request["sec-websocket-key"]))
                peer.send(websocket.frame(websocket.TEXT, b"hello", masked=False))
                peer.wait_for_end()
                return False
            if request.target.startswith("/image"):
                return peer.reply(body=GIF, fields=[("Content-Type", "image/gif")])
            images = "".join(f"<img src='/image{i}'>" for i in range(100))
            page = f"""<!doctype html><link rel=icon href=data:,><body>{images}<script>
                const ws = new WebSocket('wss://' + location.host + '/ws');
                ws.onmessage = (m) => (window.heard = m.data);</script>"""
            return peer.reply(body=page.encode(), fields=[("Content-Type", "text/html")])

        gateway, origin = self.proxy(script)
        browser = self.started(Browser("--ignore-certificate-errors"))
        browser.run("await page.goto(given)", "https://127.0.0.1:%d/" % gateway.address[1])
        browser.until("window.heard === 'hello'")
        browser.until("[...document.images].every((i) => i.complete && i.naturalWidth === 1)")
        versions = browser.evaluate(
            "return [...new Set(performance.getEntriesByType('resource').map((e) => e.nextHopProtocol))]")
        self.assertEqual(versions, ["h2"])
        self.assertEqual(len({line["target"] for line in gateway.log_lines(101)}), 101)
        came_by = {r.target: r.all("via")[0].split()[0] for r in origin.requests}
        self.assertEqual((came_by["/ws"], set(came_by.values())), ("2", {"2"}))
