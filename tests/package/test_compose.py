"""The demo of docker/compose.yaml with the image, run by podman. The other services are Debian's, under the names that
compose.yaml has; they share one network of the test, in which each name is this machine. Grafana is in no Debian.

    TREE=bare.tar IMAGE=gateway-image_VERSION_ARCH.oci.tar VERSION=… python3 -B -m unittest -v test_compose
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
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
# Queries about what the demo does without: TLS, plans, health checks, keys from a URL, and gRPC.
ABSENT = re.compile(r"tls|plan|health|jwks|grpc")


def queries(absent):
    """[(title, query)] of the dashboard. What is shown only above 0 is asked for without that."""
    board = json.loads((DOCKER / "grafana/dashboards/gateway.json").read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            query = re.sub(r" > 0$", "", target["expr"]).replace("$__rate_interval", "1m")
            if bool(ABSENT.search(query)) == absent:
                yield panel["title"], query


def write_configuration_with_the_rest(folder):
    """Writes the demo's configuration with what it does without, and the files that it names."""
    demo = yaml.safe_load((DOCKER / "gateway.yaml").read_text())
    demo["listeners"].append({"address": "0.0.0.0:8443", "tls": {"certificates": [{"cert": "site.pem", "key": "site.key"}]}})
    demo["plans"] = {"networks": {"key": "client_ip", "file": "plans.csv"}}
    demo["limits"]["per_client"] |= {"plan": "networks", "plans": {"office": "unlimited"}}
    demo["upstreams"]["backend"]["health"] = {"path": "/"}
    demo["jwt"] = {"keys": "https://127.0.0.1:9/keys.json"}
    demo["log"] = demo.get("log", {}) | {"fields": {"user": "jwt:sub"}}
    (folder / "gateway.yaml").write_text(yaml.safe_dump(demo))
    (folder / "plans.csv").write_text("192.0.2.0/24,office\n")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost",
                    "-keyout", folder / "site.key", "-out", folder / "site.pem"], check=True, capture_output=True)  # fmt: skip
    for file in folder.iterdir():
        file.chmod(0o644)  # for the image's user


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

    def start(self, name, volumes=None):
        service = self.services[name]
        volumes = volumes or [f"{DOCKER / volume}" for volume in service.get("volumes", [])]
        words = ["run", "--detach", f"--name={name}", *RUN]
        words += [f"--add-host={other}:127.0.0.1" for other in self.services]
        words += [f"--volume={volume}" for volume in volumes]
        words += [f"--cap-drop={capability}" for capability in service.get("cap_drop", [])]
        words += [f"--security-opt={option.replace(':true', '')}" for option in service.get("security_opt", [])]
        words += ["--read-only"] * service.get("read_only", False)
        if name in STAND_INS:
            command = service.get("command") or ["sh", "-c", STAND_INS[name]]
            self.podman(*words, "--rootfs", f"{self.tree}:O", *command)
        else:
            self.podman(*words, service["image"])

    def ask(self, url, *more):
        done = self.within("curl", "-s", "-w", "\n%{http_code}", *more, url)
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
        self.have_rows(queries(absent=False))
        self.podman("stop", "--time=40", "gateway")
        self.assertEqual(self.podman("inspect", "gateway", "--format={{.State.ExitCode}}").strip(), "0")
        self.podman("rm", "gateway")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            write_configuration_with_the_rest(pathlib.Path(folder))
            self.start("gateway", [f"{folder}:/etc/gateway:ro"])
            until(lambda: self.ask("http://127.0.0.1:8080/", "-d", "", "-H", "Content-Type: application/grpc")[0] != "000",
                  "a call of gRPC")  # fmt: skip
            self.have_rows(queries(absent=True))

    def have_rows(self, asked):
        for title, query in asked:
            until(lambda q=query: self.rows(q), f"rows of {title}: {query}")


if __name__ == "__main__":
    unittest.main()
