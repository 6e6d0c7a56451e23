"""The demo of docker/compose.yaml with the image, run by podman. The other services are Debian's, under the names that
compose.yaml has; they share one network of the test, in which each name is this machine. Grafana is in no Debian.

    TREE=bare.tar IMAGE=gateway-image_VERSION_ARCH.oci.tar VERSION=… python3 -B -m unittest -v test_compose
"""

import json
import os
import pathlib
import re
import unittest
import urllib.parse

import yaml
from containers import RUN, Containers
from machine import Machine, until

DOCKER = pathlib.Path(__file__).resolve().parents[2] / "docker"
# What the services of the demo do if compose.yaml gives them no command.
STAND_INS = {
    "redis": "redis-server",
    "backend": "nginx -g 'daemon off;'",
    "prometheus": "prometheus --config.file=/etc/prometheus/prometheus.yml",
}
# Panels of what the demo has not: TLS, plans, and health checks.
ABSENT = re.compile(r"tls|plan|health")


def queries():
    """[(title, query)] of the dashboard. What is shown only above 0 is asked for without that."""
    board = json.loads((DOCKER / "grafana/dashboards/gateway.json").read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            query = re.sub(r" > 0$", "", target["expr"]).replace("$__rate_interval", "1m")
            if not ABSENT.search(query):
                yield panel["title"], query


class Demo(Containers):
    def setUp(self):
        super().setUp()
        self.services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
        self.podman("load", "--input", os.environ["IMAGE"])
        self.podman("tag", "gateway:" + os.environ["VERSION"].replace("+", "-"), self.services["gateway"]["image"])
        machine = Machine(os.environ["TREE"])
        self.addCleanup(machine.stop)
        machine.chroot("apt-get", "update", "-q")
        machine.chroot("apt-get", "install", "-qy", "--no-install-recommends", "redis-server", "nginx-light", "prometheus")
        self.tree = machine.root

    def start(self, name):
        service = self.services[name]
        words = ["run", "--detach", f"--name={name}", *RUN]
        words += [f"--add-host={other}:127.0.0.1" for other in self.services]
        words += [f"--volume={DOCKER / volume}" for volume in service.get("volumes", [])]
        words += [f"--cap-drop={capability}" for capability in service.get("cap_drop", [])]
        words += [f"--security-opt={option.replace(':true', '')}" for option in service.get("security_opt", [])]
        words += ["--read-only"] * service.get("read_only", False)
        if name in STAND_INS:
            command = service.get("command") or ["sh", "-c", STAND_INS[name]]
            self.podman(*words, "--rootfs", f"{self.tree}:O", *command)
        else:
            self.podman(*words, service["image"])

    def ask(self, url):
        done = self.within("curl", "-s", "-w", "\n%{http_code}", url)
        body, _, status = done.stdout.rpartition("\n")
        return status, body

    def metric(self, pattern):
        """The value of the one series that matches."""
        found = re.findall(rf"(?m)^{pattern} (\S+)$", self.ask("http://127.0.0.1:9901/metrics")[1])
        self.assertEqual(len(found), 1, pattern)
        return float(found[0])

    def rows(self, query):
        asked = "http://127.0.0.1:9090/api/v1/query?query=" + urllib.parse.quote(query)
        return json.loads(self.ask(asked)[1] or "{}").get("data", {}).get("result")

    def test_serves_limits_in_redis_and_is_watched(self):
        for name in ("redis", "backend", "gateway", "prometheus"):
            self.start(name)
        until(lambda: self.ask("http://127.0.0.1:8080/")[0] == "200", "nginx answers through the gateway")
        until(lambda: "429" in [self.ask("http://127.0.0.1:8080/echo")[0] for _ in range(60)], "Redis holds the limit")
        self.assertEqual(self.metric(r'gateway_store_up\{store="redis"\}'), 1)
        self.assertEqual(self.metric(r'gateway_decisions_total\{.*limit="per_client".*outcome="failed_local".*\}'), 0)

        def scraped():
            found = json.loads(self.ask("http://127.0.0.1:9090/api/v1/query?query=gateway_store_up")[1] or "{}")
            return found.get("data", {}).get("result")

        until(scraped, "Prometheus has scraped the gateway")
        self.podman("stop", "--time=5", "redis")
        until(
            lambda: self.ask("http://127.0.0.1:8080/echo")
            and self.metric(r'gateway_decisions_total\{.*limit="per_client".*outcome="failed_local".*\}') > 0,
            "limits are kept locally without Redis",
        )
        self.podman("start", "redis")
        until(lambda: self.metric(r'gateway_store_up\{store="redis"\}') == 1, "the gateway asks Redis again")
        until(lambda: "429" in [self.ask("http://127.0.0.1:8080/echo")[0] for _ in range(60)], "Redis holds the limit again")
        self.assertEqual(self.ask("http://127.0.0.1:9090/api/v1/rules")[0], "200")
        for title, query in queries():
            until(lambda q=query: self.rows(q), f"rows of {title}: {query}")
        self.podman("stop", "--time=40", "gateway")
        self.assertEqual(self.podman("inspect", "gateway", "--format={{.State.ExitCode}}").strip(), "0")


if __name__ == "__main__":
    unittest.main()
