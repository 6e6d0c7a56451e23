"""The local store in a file: a restart forgives nobody."""
import os
import signal
import socket
import stat

from harness.case import SystemTest, forwarding_to
from harness.gateway import BINARY
from harness.process import run_tool, wait_until


class Snapshot(SystemTest):
    def setUp(self):
        self.path = self.directory().file("buckets")

    def started_again(self, interval="1h", limit="rate: 1/h, burst: 3"):
        return self.gateway(
            f"stores: {{ local: {{ snapshot: {{ file: '{self.path}', interval: {interval} }} }} }}\n"
            f"limits: {{ l: {{ key: client_ip, {limit} }} }}\n" + forwarding_to("echo", "l")
        )

    def test_a_restart_forgives_nobody(self):
        for limit in ("rate: 1/h, burst: 3", "algorithm: sliding_log, rate: 3/h",
                      "algorithm: fixed_window, rate: 3/365d, start: aligned"):  # fmt: skip
            with self.subTest(limit=limit):
                if os.path.exists(self.path):
                    os.remove(self.path)
                first = self.started_again(limit=limit)
                first.wait_for_diagnostic("is not there yet")
                self.assertEqual([first.get().status for _ in range(2)], [200, 200])
                first.stop()
                second = self.started_again(limit=limit)
                second.wait_for_diagnostic("1 buckets, written ")
                self.assertEqual([second.get().status for _ in range(2)], [200, 429])
                second.stop()

    def test_after_a_crash_the_last_file_counts(self):
        first = self.started_again(interval="1s")
        self.assertEqual([first.get().status for _ in range(2)], [200, 200])
        wait_until(lambda: os.path.exists(self.path), 10, "it is written")
        written = os.stat(self.path).st_mtime_ns
        wait_until(lambda: os.stat(self.path).st_mtime_ns > written, 10, "and again")
        first.signal(signal.SIGKILL)
        first.wait()
        self.assertEqual([self.started_again().get().status for _ in "12"], [200, 200])

    def test_one_that_is_of_no_use_is_told_and_ignored(self):
        with open(self.path, "wb") as f:
            f.write(b"x" * 1000)
        gateway = self.started_again(interval="1s")
        gateway.wait_for_diagnostic("is damaged: its checksum is another: what is missing begins full")
        self.assertEqual(gateway.get().status, 200)
        wait_until(lambda: os.stat(self.path).st_size != 1000, 10, "a good one takes its place")
        gateway.stop()

    def test_a_place_that_cannot_be_written_is_told_once(self):
        folder = self.directory()
        os.mkdir(folder.file("here"))
        self.path = folder.file("here/buckets")
        gateway = self.started_again(interval="1s")
        os.rename(folder.file("here"), folder.file("elsewhere"))
        gateway.wait_for_diagnostic("cannot be written: No such file or directory")
        self.assertEqual(gateway.get().status, 200)
        gateway.stop()  # it tries once more
        told = [line for line in gateway.diagnostics if "cannot be written" in line]
        self.assertEqual(len(told), 1)

    def test_a_place_that_cannot_be_one_is_refused(self):
        """At the start and by `check`, with the line and what to do."""
        folder = self.directory()
        for path, why in (("/dev/full", "is no regular file: name one, which need not be there yet"),
                          (folder.path, "is a folder: name a file in it"),
                          (folder.file("none/buckets"), "is in a folder that does not exist: make that")):  # fmt: skip
            config = folder.file(
                "gateway.yaml",
                f"stores:\n  local:\n    snapshot: {{ file: {path} }}\n"
                "listeners: [ { address: 127.0.0.1:0 } ]\n" + forwarding_to("echo"),
            )
            for command in ("check", "run"):
                with self.subTest(path=path, command=command):
                    status, _, said = run_tool([BINARY, command, "--config", config])
                    self.assertEqual(status, 2)
                    self.assertIn(f'{config}:3:23: stores.local.snapshot.file: "{path}" {why}', said)

    def test_what_comes_into_its_place_is_not_replaced(self):
        gateway = self.started_again(interval="1s")
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(self.path)
            gateway.wait_for_diagnostic("cannot be written: it is no regular file")
            self.assertTrue(stat.S_ISSOCK(os.stat(self.path).st_mode))
            gateway.stop()
