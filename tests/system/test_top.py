"""`gateway top`, in a terminal of tmux and for scripts."""
import fcntl
import os
import pty
import re
import shlex
import subprocess
import termios

from harness.gateway import BINARY, run_command
from harness.process import free_port
from harness.redis_server import RedisServer
from harness.tmux import Terminal
from test_stream import StreamTest


class TopTest(StreamTest):
    def words(self, gateway, *more):
        return [BINARY, "top", "--config", gateway.config_path,
                "--admin", f"127.0.0.1:{gateway.admin[1]}", *more]

    def terminal(self, gateway, *more, **options):
        return self.started(Terminal(self.words(gateway, *more), **options))


class Once(TopTest):
    def test_prints_one_picture_without_colours_and_ends(self):
        g = self.serving()
        self.rejected(g, 30)
        self.viewer(g).until(lambda v: v.rejections)
        status, out, err = run_command(*self.words(g, "--once")[1:])
        self.assertEqual((status, err), (0, ""))
        self.assertNotIn("\x1b", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 120)
        self.assertRegex(out, r"(?m)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} *$", "request ids can be copied")
        for text in ("per_client", "local", "127.0.0.1", "REJECTED", "up"):
            self.assertIn(text, out)

    def test_without_a_configuration_shows_hashes(self):
        g = self.serving()
        self.rejected(g, 30)
        self.viewer(g).until(lambda v: v.rejections)
        status, out, _ = run_command("top", "--admin", f"127.0.0.1:{g.admin[1]}", "--once")
        self.assertEqual(status, 0)
        self.assertIn("per_client", out)
        self.assertNotIn("127.0.0.1", re.sub(r"127\.0\.0\.1:\d+", "", out))

    def test_fails_where_nobody_answers(self):
        status, out, err = run_command("top", "--admin", f"127.0.0.1:{free_port()}", "--once")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("no answer: Connection refused", err)

    def test_tells_why_it_was_refused(self):
        g = self.serving()
        with open(self.directory().file("other", "wrong\n"), encoding="ascii") as other:
            path = other.name
        text = self.configuration()
        config = self.directory().file("c.yaml", re.sub(r"token_file: '[^']+'", f"token_file: '{path}'", text)
                                       + "listeners: [ { address: 127.0.0.1:0 } ]\n")
        status, _, err = run_command(
            "top", "--config", config, "--admin", f"127.0.0.1:{g.admin[1]}", "--once")
        self.assertEqual(status, 1)
        self.assertIn("Authorization", err)


class Live(TopTest):
    def test_fits_a_terminal_of_80_by_24_and_follows_its_size(self):
        g = self.serving()
        t = self.terminal(g)
        t.shows("live", "per_client", "Nothing is wrong.", "local")
        self.rejected(g, 100)
        t.shows("! client 127.0.0.1 has 95 requests rejected by limit per_client", "REJECTED")
        t.resize(60, 16)
        t.shows("live", "REJECTED")
        lines = t.screen().splitlines()
        self.assertLessEqual(len(lines), 16)
        self.assertLessEqual(max(map(len, lines)), 60)
        t.resize(120, 40)
        t.shows("request id")
        t.keys("q")
        t.shows("ended with 0")

    def test_shows_no_colour_if_told_so(self):
        g = self.serving()
        for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            t = self.terminal(g, environment=environment)
            t.shows("live", "Nothing is wrong.")
            self.assertEqual("\x1b[32m" in t.screen(colours=True), coloured)

    def test_leaves_the_standard_streams_blocking(self):
        """Other programs share them. A slow terminal would fail a write that must not wait."""
        g = self.serving()
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        child = subprocess.Popen(
            self.words(g), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), env={**os.environ, "TERM": "xterm"})
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        shown = b""
        while b"per_client" not in shown:
            shown += os.read(ours, 65536)
        self.assertTrue(os.get_blocking(theirs))
        os.write(ours, b"q")
        while b"\x1b[?1049l" not in shown:
            shown += os.read(ours, 65536)
        self.assertEqual(child.wait(20), 0)

    def test_gives_the_terminal_back_while_it_is_stopped(self):
        g = self.serving()
        program = shlex.join(self.words(g))
        # A shell with jobs, which leaves the terminal to them as it is.
        t = self.started(Terminal(["sh", "-i"], environment={"PS1": "ready> "}))
        t.shows("ready>")
        t.keys(program, "Enter")
        t.shows("live", "per_client")
        t.keys("C-z")
        t.shows("Stopped", "ready>")
        t.keys("echo raw: $(stty -a | grep -c -e -icanon -e -echo$)", "Enter")
        t.shows("raw: 0")
        t.keys("fg", "Enter")
        t.shows("live", "per_client")
        t.keys("q")
        t.shows("raw: 0")

    def test_waits_for_a_dead_gateway_and_goes_on(self):
        redis = self.started(RedisServer())
        g = self.serving(
            extra=f"stores: {{ shared: {{ url: '{redis.url}', timeout: 100ms }} }}\n",
            limits="limits: { l: { key: client_ip, rate: 900/s, store: shared } }\n", names="l")
        t = self.terminal(g)
        t.shows("live", "shared", "up")
        redis.kill()
        g.get()
        t.shows("! store shared is down: unreachable")
        g.freeze()
        t.shows("no answer", seconds=20)
        g.thaw()
        t.shows("live", seconds=20)

    def test_begins_before_the_gateway(self):
        port = free_port()
        t = self.started(Terminal([BINARY, "top", "--admin", f"127.0.0.1:{port}"]))
        t.shows("no answer: Connection refused")
        self.gateway(f"admin: {{ address: '127.0.0.1:{port}' }}\n" + self.limits
                     + "routes: [ { upstream: up, limits: [per_client] } ]\nupstreams: { up: { servers: [echo] } }\n")
        t.shows("live", "per_client")
        t.keys("C-c")
        t.shows("ended with")
