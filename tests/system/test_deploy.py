"""What docs/deploy.md shows."""
import os
import re
import unittest

from harness.case import SystemTest, forwarding_to
from harness.client import Connection, get
from harness.gateway import BINARY, ROOT, whole_configuration
from harness.process import Child, accepts, run_tool, tool

DOCS = os.path.join(ROOT, "docs")
UNITS = os.path.join(ROOT, "debian")


def block_of(language):
    with open(os.path.join(DOCS, "deploy.md"), encoding="utf-8") as f:
        return re.search(rf"```{language}\n(.*?)```", f.read(), re.DOTALL).group(1)


class Deployment(SystemTest):
    def test_the_unit_is_as_closed_as_it_says(self):
        path = os.path.join(UNITS, "gateway.service")
        status, out, err = run_tool(["systemd-analyze", "security", "--offline=true", path])
        self.assertEqual(status, 0, err)
        exposure = float(re.search(r"exposure level for gateway\.service: ([\d.]+)", out).group(1))
        self.assertLessEqual(exposure, 1.7)
        with open(os.path.join(DOCS, "deploy.md"), encoding="utf-8") as f:
            self.assertRegex(f.read(), rf"says {exposure}\b|\({exposure} ")

    def test_behind_a_balancer(self):
        text = block_of("yaml").replace("0.0.0.0:8080", "127.0.0.1:0").replace("10.0.0.0/8", "127.0.0.1")
        text = text.replace("10.0.0.7:8080", "echo")
        gateway = self.gateway(text)
        with gateway.connect() as c:
            c.send("PROXY TCP4 203.0.113.7 10.0.0.5 1 8080\r\n")
            self.assertIn("203.0.113.7", c.ask().text)

    @unittest.skipIf(os.getuid() != 0, "becoming another user takes root")
    def test_an_unprivileged_user_on_ports_80_and_443(self):
        if accepts(80) or accepts(443):
            self.skipTest("somebody else has these ports")
        config = self.directory().file("gateway.yaml", whole_configuration(
            "listeners: [ { address: 127.0.0.1:80 }, { address: 127.0.0.1:443 } ]\n" + forwarding_to("echo")
        ))  # fmt: skip
        nobody = [tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"]
        activate = [tool("systemd-socket-activate"), "-l", "127.0.0.1:80", "-l", "127.0.0.1:443"]
        for words in (
            nobody + ["--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service"],
            activate + nobody,
        ):
            child = Child(words + [BINARY, "run", "--config", config])
            self.addCleanup(child.stop)
            waits_for = "Listening on" if words[0] == activate[0] else "admin API on"
            child.wait_for_line(lambda line, what=waits_for: what in line)
            for port in (80, 443):
                self.assertEqual(get(("127.0.0.1", port)).status, 200)
            with open(f"/proc/{child.pid}/status", encoding="ascii") as f:
                self.assertRegex(f.read(), r"Uid:\s+65534\s+65534")
            self.assertEqual(child.stop(), 0)

    def test_systemd_understands_the_units(self):
        directory = self.directory()
        with open(os.path.join(UNITS, "gateway.service"), encoding="utf-8") as f:
            directory.file("gateway.service", f.read().replace("/usr/bin/gateway", BINARY))
        path = directory.file("gateway.socket", block_of("ini"))
        with open(os.path.join(UNITS, "gateway.socket"), encoding="utf-8") as f:
            of_package = [line for line in f.read().splitlines() if not line.startswith("#")]
        self.assertEqual(of_package, block_of("ini").splitlines()[1:])
        status, out, err = run_tool(["systemd-analyze", "verify", "--man=no", path])
        self.assertEqual((status, out + err), (0, ""))
