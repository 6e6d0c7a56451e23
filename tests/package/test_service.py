"""The service, from its installation on a bare Debian to its purge.

    TREE=bare.tar DEB=gateway_VERSION_ARCH.deb python3 -B -m unittest -v test_service
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from machine import Machine, until

HERE = pathlib.Path(__file__).resolve().parent
DEB = os.environ["DEB"]
SECONDS_TO_THE_FIRST_200 = 10
EXPOSURE = 1.7
CONFIGURATION = """
listeners: [ { address: 0.0.0.0:8080 } ]
limits: { few: { key: client_ip, rate: 1/d, burst: 5 } }
routes:
  - { match: { path: /drained }, limits: [few], upstream: echo }
  - { match: { path: / }, upstream: echo }
upstreams: { echo: { servers: [echo] } }
"""


def next_version(deb, folder):
    """The same package as of a later version: with another program file."""
    tree = pathlib.Path(folder) / "tree"
    subprocess.run(["dpkg-deb", "--raw-extract", deb, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^(Version: .*)$", r"\1+next", control.read_text()))
    made = pathlib.Path(folder) / "next.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, made], check=True, stdout=subprocess.DEVNULL)
    return made


class Service(unittest.TestCase):
    """One machine, as each step needs the one before."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.machine = Machine(os.environ["TREE"])
        cls.addClassCleanup(cls.machine.stop)
        cls.machine.copy(DEB, next_version(DEB, cls.folder.name))
        # What a mirror takes to send the libraries is not counted.
        cls.machine.chroot("apt-get", "update", "-q")
        cls.machine.chroot("apt-get", "install", "-qy", "--download-only", f"/root/{os.path.basename(DEB)}")
        cls.machine.boot()

    def status(self, path="/", port=8080):
        words = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"http://127.0.0.1:{port}{path}"]
        client = self.machine.on_its_network(*words, stdout=subprocess.PIPE, text=True)
        return client.communicate()[0]

    def install(self, name):
        self.machine.run("apt-get", "install", "-qy", f"/root/{name}")

    def configure(self, text):
        (self.machine.root / "etc/gateway/gateway.yaml").write_text(text)

    def test_1_serves_when_it_is_installed(self):
        began = time.monotonic()
        self.install(os.path.basename(DEB))
        self.assertEqual(self.status(), "200")
        took = time.monotonic() - began
        print(f"{took:.1f} s from apt-get install to the first 200", file=sys.stderr)
        self.assertLessEqual(took, SECONDS_TO_THE_FIRST_200)
        self.assertIn("429", [self.status() for _ in range(40)])
        self.machine.run("gateway", "health", "--ready")

    def test_2_is_a_closed_service_of_its_own_user(self):
        self.machine.run("systemctl", "is-enabled", "gateway.service")
        self.assertFalse(self.machine.succeeds("systemctl", "is-enabled", "gateway.socket"))
        owner = self.machine.run("stat", "-c", "%U", f"/proc/{self.machine.main_pid()}").strip()
        self.assertEqual(owner, "gateway")
        systemd = int(self.machine.run("systemctl", "--version").split()[1])
        kind = self.machine.run("systemctl", "show", "--property=Type", "--value", "gateway.service").strip()
        self.assertEqual(kind, "notify-reload" if systemd >= 253 else "notify")
        said = self.machine.run("systemd-analyze", "security", "gateway.service", "--no-pager")
        exposure = float(re.search(r"exposure level for gateway\.service: ([\d.]+)", said)[1])
        print(f"exposure level {exposure}", file=sys.stderr)
        self.assertLessEqual(exposure, EXPOSURE)
        for unit in ("gateway.service", "gateway.socket"):
            self.machine.run("systemd-analyze", "verify", "--man=no", unit)
        self.assertIn('"status":200', self.machine.run("journalctl", "-u", "gateway", "-o", "cat"))

    def test_3_reloads(self):
        self.configure(CONFIGURATION)
        self.machine.run("systemctl", "reload", "gateway")
        until(lambda: [self.status("/drained") for _ in range(6)][-1] == "429", "the new limit is in force")

    def test_4_an_upgrade_loses_no_request_and_forgives_no_bucket(self):
        before = self.machine.main_pid()
        load = self.machine.on_its_network(
            sys.executable, HERE / "load.py", "8080", "/plenty", "/drained",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.assertEqual(load.stdout.readline(), "asking\n")
        self.install("next.deb")
        after = self.machine.main_pid()
        answers = json.loads(load.communicate()[0])
        print(answers, file=sys.stderr)
        self.assertNotEqual(before, after)
        self.assertEqual(set(answers), {"/plenty 200", "/drained 429"})
        self.machine.run("systemctl", "is-active", "gateway.service")
        self.machine.run("systemctl", "reload", "gateway")

    def test_5_opens_ports_below_1024_by_a_socket_unit(self):
        self.configure(CONFIGURATION.replace("8080", "80"))
        self.machine.run("systemctl", "stop", "gateway.service")
        self.machine.run("systemctl", "enable", "--now", "gateway.socket")
        self.assertEqual(self.status(port=80), "200")
        self.machine.run("systemctl", "restart", "gateway.service")
        self.assertEqual(self.status(port=80), "200")

    def test_6_removal_stops_it(self):
        self.machine.run("apt-get", "remove", "-qy", "gateway")
        self.assertEqual((self.status(), self.status(port=80)), ("000", "000"))
        self.assertFalse(self.machine.succeeds("sh", "-c", "grep -qsx gateway /proc/[0-9]*/comm"))
        self.assertTrue((self.machine.root / "etc/gateway/gateway.yaml").exists())

    def test_7_a_purge_leaves_nothing_but_the_user(self):
        self.machine.run("apt-get", "purge", "-qy", "gateway")
        for path in ("/etc/gateway", "/var/lib/gateway", "/var/log/gateway", "/run/gateway"):
            self.assertFalse(self.machine.succeeds("test", "-e", path), path)
        self.machine.run("id", "gateway")


if __name__ == "__main__":
    unittest.main(failfast=True)
