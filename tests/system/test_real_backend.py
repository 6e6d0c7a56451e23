"""nginx behind the gateway, and curl, wrk, h2load and ab in front of it."""
import hashlib
import os
import re
import threading
import time

from harness.case import SystemTest, forwarding_to
from harness.load import Load
from harness.nginx import Nginx
from harness.process import PATIENCE, SLOW, run_tool, wait_until

LARGE = 10_000_000 if SLOW else 100_000_000
BOUND = 24_000_000 if not SLOW else 400_000_000  # what streaming may add to the process


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


class RealBackend(SystemTest):
    @classmethod
    def make_file(cls, path):
        with open(path, "wb") as f:
            for _ in range(LARGE // 1_000_000):
                f.write(os.urandom(1_000_000))

    def setUp(self):
        self.nginx = self.started(Nginx())
        self.limited = self.gateway(
            "limits: { l: { key: client_ip, rate: 1000000/s, burst: 1000000 } }\n"
            "log: { access: false }\n" + forwarding_to(self.nginx.address, "l")
        )
        self.base = "http://127.0.0.1:%d" % self.limited.address[1]
        self.scratch = self.directory()

    def curl(self, *words):
        status, out, err = run_tool(
            ["curl", "-sS", "--fail-with-body", "--max-time", "120", *words], seconds=130
        )
        self.assertEqual((status, err), (0, ""), out[:300])
        return out


class Bodies(RealBackend):
    def test_a_large_file_comes_down_whole_in_bounded_memory(self):
        self.make_file(self.nginx.path("large"))
        before = self.limited.memory("VmHWM")
        copies = [self.scratch.file(f"copy{i}") for i in range(3)]
        threads = [
            threading.Thread(target=self.curl, args=("-o", copy, self.base + "/large"))
            for copy in copies
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual({sha256(c) for c in copies}, {sha256(self.nginx.path("large"))})
        grown = self.limited.memory("VmHWM") - before
        print(f"     the process grew by {grown / 1e6:.1f} MB")
        self.assertLess(grown, BOUND)

    def test_a_large_file_goes_up_whole_with_a_length_and_in_chunks(self):
        source = self.scratch.file("large")
        self.make_file(source)
        before = self.limited.memory("VmHWM")
        self.curl("-T", source, self.base + "/put/by-length")
        self.curl("-T", source, "-H", "Transfer-Encoding: chunked", self.base + "/put/by-chunks")
        for name in ("by-length", "by-chunks"):
            self.assertEqual(sha256(self.nginx.path("put/" + name)), sha256(source))
        grown = self.limited.memory("VmHWM") - before
        print(f"     the process grew by {grown / 1e6:.1f} MB")
        self.assertLess(grown, BOUND)

    def test_post_streams_up_and_down_at_the_same_time(self):
        """An echoing upstream: each piece is sent back before the next one has come."""

        def script(peer, request):
            peer.send(
                b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"
                % request["content-length"].encode()
            )
            peer.read_body(request, peer.send)

        gateway = self.gateway(forwarding_to(self.origin(script).address))
        before = gateway.memory("VmHWM")
        piece = os.urandom(100_000)
        with gateway.connect() as c:
            c.send(f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {100 * len(piece)}\r\n\r\n")
            c.send(piece)
            self.assertEqual(c.head().status, 200)
            self.assertEqual(c.read_exactly(len(piece)), piece)
            for _ in range(99):
                c.send(piece)
                self.assertEqual(c.read_exactly(len(piece)), piece)
        self.assertLess(gateway.memory("VmHWM") - before, BOUND)

    def test_a_slow_reader_is_waited_for_without_storing_the_file(self):
        self.make_file(self.nginx.path("large"))
        before = self.limited.memory("VmHWM")
        readers = [self.limited.connect(receive_buffer=16384) for _ in range(20)]
        for c in readers:
            c.request("/large")
            self.assertEqual(c.head().status, 200)
        for c in readers:
            c.read_exactly(1_000_000)
        self.assertEqual(self.limited.get("/ok").status, 200)
        self.assertLess(self.limited.memory("VmHWM") - before, BOUND)
        for c in readers:
            c.close()

    def test_a_slow_upstream_holds_the_sender_back(self):
        release = []
        digest = hashlib.sha256()

        def script(peer, request):
            wait_until(lambda: release, 20)
            peer.read_body(request, digest.update)
            peer.reply()

        gateway = self.gateway(forwarding_to(self.origin(script).address))
        source = self.scratch.file("large")
        self.make_file(source)
        before = gateway.memory("VmHWM")
        sender = threading.Thread(
            target=self.curl, args=("-T", source, "http://127.0.0.1:%d/" % gateway.address[1])
        )
        sender.start()
        seen = [-1]

        def stuck():  # the sender cannot go on: the gateway's memory stands still while it wants to send
            last, seen[0] = seen[0], gateway.memory()
            time.sleep(0.1)
            return last == gateway.memory()

        wait_until(stuck)
        release.append(True)
        sender.join(60 * PATIENCE)
        self.assertEqual(digest.hexdigest(), sha256(source))
        self.assertLess(gateway.memory("VmHWM") - before, BOUND)

    def test_json_gzip_ranges_and_conditions_are_nginxs_own(self):
        with open(self.nginx.path("page.json"), "w", encoding="utf-8") as f:
            f.write('{"a": [' + ", ".join(str(i) for i in range(2000)) + "]}")
        for words in (
            ["/json"],
            ["/page.json"],
            ["/page.json", "-H", "Accept-Encoding: gzip", "--compressed"],
            ["/page.json", "-H", "Range: bytes=10-99"],
            ["/page.json", "--head"],
        ):
            path, *more = words
            direct = self.curl(*more, f"http://{self.nginx.address}{path}")
            through = self.curl(*more, self.base + path)
            drop = re.compile(
                r"^(date|via|connection|x-request-id|x-ratelimit-\w+): .*\r?\n", re.MULTILINE | re.IGNORECASE
            )
            self.assertEqual(drop.sub("", through), drop.sub("", direct), words)
        etag = self.limited.get("/page.json")["etag"]
        with self.limited.connect() as c:
            for _ in range(2):
                self.assertEqual(c.ask("/page.json", [("If-None-Match", etag)]).status, 304)


class Drivers(RealBackend):
    SECONDS = 2

    def test_wrk(self):
        status, out, err = run_tool(["wrk", "-t1", "-c64", f"-d{self.SECONDS}s", self.base + "/ok"])
        self.assertEqual((status, err), (0, ""))
        self.assertNotIn("Non-2xx", out)
        self.assertNotIn("Socket errors", out)
        self.assertGreater(int(re.search(r"(\d+) requests in", out).group(1)), 1000)

    def test_wrk_posts_bodies(self):
        script = self.scratch.file(
            "post.lua", 'wrk.method = "PUT"\nwrk.body = string.rep("x", 20000)\n'
        )
        status, out, _ = run_tool(
            ["wrk", "-t1", "-c16", f"-d{self.SECONDS}s", "-s", script, self.base + "/put/same"]
        )
        self.assertEqual(status, 0)
        self.assertNotIn("Non-2xx", out)
        self.assertNotIn("Socket errors", out)

    def test_h2load(self):
        count = 2000 if SLOW else 20000
        status, out, err = run_tool(["h2load", "--h1", "-c32", f"-n{count}", self.base + "/ok"])
        self.assertEqual(status, 0, err)
        self.assertIn(f"{count} succeeded, 0 failed, 0 errored, 0 timeout", out)
        self.assertIn(f"{count} 2xx, 0 3xx, 0 4xx, 0 5xx", out)

    def test_ab_with_and_without_keep_alive(self):
        """ab speaks HTTP/1.0."""
        body = self.scratch.file("body", "y" * 5000)
        for more in (["-k"], [], ["-u", body]):
            target = "/put/ab" if "-u" in more else "/ok"
            status, out, err = run_tool(["ab", "-q", "-c16", "-n2000", *more, self.base + target])
            self.assertEqual(status, 0, err)
            self.assertRegex(out, r"Complete requests:\s+2000\n")
            self.assertRegex(out, r"Failed requests:\s+0\n")
            if "-u" not in more:  # the first PUT is a 201, the others 204
                self.assertNotIn("Non-2xx", out)
        self.assertIn(
            "Keep-Alive requests",
            run_tool(["ab", "-q", "-k", "-c4", "-n100", self.base + "/ok"])[1],
        )

    def test_curl_reuses_its_connection(self):
        out = self.curl(
            "-w",
            "%{num_connects}\\n",
            *[w for i in range(5) for w in ("-o", "/dev/null", self.base + "/ok")],
        )
        self.assertEqual(out.split(), ["1", "0", "0", "0", "0"])

    def test_curl_expects_100_continue(self):
        source = self.scratch.file("body", "z" * 200_000)
        self.curl("-H", "Expect: 100-continue", "-T", source, self.base + "/put/expected")
        self.assertEqual(sha256(self.nginx.path("put/expected")), sha256(source))

    def test_upstream_connections_are_reused(self):
        run_tool(["wrk", "-t1", "-c32", "-d1s", self.base + "/ok"])
        m = self.limited.metrics()
        self.assertLessEqual(m.sum("gateway_connections", side="upstream"), 64)
        self.assertEqual(m.count("gateway_upstream_failures_total"), 0)

    def test_clients_that_leave_do_not_disturb_those_that_stay(self):
        self.make_file(self.nginx.path("large"))
        load = Load(
            self.limited.address,
            [("x", b"GET /ok HTTP/1.1\r\nHost: h\r\n\r\n")] * 8,
            interval=0.005,
        ).start()
        for i in range(60):
            c = self.limited.connect(receive_buffer=16384)
            c.request("/large")
            c.head()
            c.reset() if i % 2 else c.close()
        answers = load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {200})
        wait_until(lambda: self.limited.metrics().sum("gateway_connections", side="client") == 0)
