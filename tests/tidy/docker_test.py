"""The demo and the image under docker/: valid, pinned, and in step with the program.

    docker_test.py ROOT GATEWAY_BINARY

Needs PyYAML (Debian: python3-yaml); promtool (Debian: prometheus) for the rules.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    print("docker: PyYAML is not installed")
    sys.exit(77)  # what ctest takes for "skipped"

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = None
DOCKER = ROOT / "docker"


def text(name):
    return (ROOT / name).read_text()


def load(name):
    return yaml.safe_load(text(name))


def known_metrics():
    """Name to kind of everything gateway/telemetry can print."""
    found = {}
    for path in (ROOT / "gateway/telemetry").glob("*.cpp"):
        for kind, name in re.findall(r'\b(?:add_)?(counter|gauge|histogram)(?:_family)?\(\s*(?:all,\s*)?"(\w+)"', path.read_text()):
            found[name] = kind
    return found


def series(metrics):
    """What PromQL may name."""
    names = {name for name, kind in metrics.items() if kind != "histogram"}
    for name, kind in metrics.items():
        if kind == "histogram":
            names |= {name + "_bucket", name + "_sum", name + "_count"}
    return names | {"up"}


def unknown_names(expression, metrics):
    """Metric names in a PromQL expression that we never print."""
    return set(re.findall(r"\b(?:gateway|process)_\w+", expression)) - series(metrics)


def dashboard_expressions():
    dashboard = json.loads(text("docker/grafana/dashboards/gateway.json"))
    return [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel["targets"]]


def alert_expressions():
    groups = load("docker/alerts.yml")["groups"]
    return [(rule["alert"], rule["expr"]) for group in groups for rule in group["rules"]]


def stages(dockerfile):
    """The Dockerfile's stages, continued lines joined."""
    joined = dockerfile.replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in joined.splitlines() if not line.startswith("#")]
    return re.split(r"^(?=FROM )", "\n".join(lines), flags=re.MULTILINE)[1:]


class files(unittest.TestCase):
    def test_are_valid_yaml_and_json(self):
        names = [path for path in DOCKER.rglob("*") if path.suffix in (".yaml", ".yml")]
        self.assertGreaterEqual(len(names), 6)
        for path in names:
            for document in yaml.safe_load_all(path.read_text()):
                self.assertIsInstance(document, dict, path)
        for path in DOCKER.rglob("*.json"):
            self.assertIsInstance(json.loads(path.read_text()), dict, path)

    def test_of_the_gateway_are_accepted_by_it(self):
        for name in ("docker/gateway.yaml", "debian/gateway.yaml"):
            done = subprocess.run([BINARY, "check", "--config", ROOT / name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{name}: ok", done.stdout + done.stderr)


class metric_names(unittest.TestCase):
    def test_are_found_in_the_sources(self):
        metrics = known_metrics()
        self.assertEqual(metrics.get("gateway_requests_total"), "counter")
        self.assertEqual(metrics.get("gateway_store_up"), "gauge")
        self.assertEqual(metrics.get("gateway_request_duration_seconds"), "histogram")
        self.assertEqual(metrics.get("process_open_fds"), "gauge")
        self.assertGreaterEqual(len(metrics), 23)

    def test_misspelt_are_noticed(self):
        metrics = known_metrics()
        self.assertEqual(unknown_names("rate(gateway_request_total[5m])", metrics), {"gateway_request_total"})
        self.assertEqual(
            unknown_names("rate(gateway_request_duration_seconds[5m])", metrics),
            {"gateway_request_duration_seconds"},
        )

    def test_in_dashboard_and_alerts_exist(self):
        metrics = known_metrics()
        for owner, expression in dashboard_expressions() + alert_expressions():
            self.assertEqual(unknown_names(expression, metrics), set(), owner)

    def test_of_alerts_have_sections_that_say_what_to_do(self):
        headings = re.findall(r"(?m)^#### (\w+)$", text("docs/operations.md"))
        rules = [r for g in load("docker/alerts.yml")["groups"] for r in g["rules"]]
        self.assertEqual([r["alert"] for r in rules], sorted(headings, key=[r["alert"] for r in rules].index))
        for r in rules:
            self.assertEqual(r["annotations"]["runbook"], f"docs/operations.md#{r['alert'].lower()}")

    def test_are_all_shown_by_the_dashboard_but_the_dull_ones(self):
        shown = " ".join(expression for _, expression in dashboard_expressions())
        for name in known_metrics():
            if name.startswith("gateway_") and not name.endswith("_timestamp_seconds"):
                self.assertIn(name, shown)

    def test_come_with_outcomes_that_exist(self):
        table = re.search(r"outcome_names\{(.*?)\}", text("gateway/telemetry/metrics.hpp"), re.DOTALL)
        outcomes = set(re.findall(r'"(\w+)"', table[1]))
        self.assertEqual(len(outcomes), 7)
        for owner, expression in dashboard_expressions() + alert_expressions():
            self.assertLessEqual(set(re.findall(r'outcome="(\w+)"', expression)), outcomes, owner)


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class prometheus(unittest.TestCase):
    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_accepts_its_configuration_and_rules(self):
        self.promtool("check", "config", DOCKER / "prometheus.yml")
        self.promtool("check", "rules", DOCKER / "alerts.yml")

    def test_fires_the_alerts_when_it_should(self):
        self.promtool("test", "rules", ROOT / "tests/tidy/alerts_test.yml")


class dashboard(unittest.TestCase):
    def test_asks_the_data_source_that_is_provisioned(self):
        provisioned = load("docker/grafana/provisioning/datasources/prometheus.yml")["datasources"]
        uids = {source["uid"] for source in provisioned}
        for panel in json.loads(text("docker/grafana/dashboards/gateway.json"))["panels"]:
            self.assertIn(panel["datasource"]["uid"], uids)

    def test_has_panels_that_do_not_overlap(self):
        taken = set()
        for panel in json.loads(text("docker/grafana/dashboards/gateway.json"))["panels"]:
            at = panel["gridPos"]
            cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
            self.assertFalse(cells & taken, panel["title"])
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            taken |= cells


class compose(unittest.TestCase):
    def setUp(self):
        self.services = load("docker/compose.yaml")["services"]

    def test_pins_every_image(self):
        for name, service in self.services.items():
            tag = service["image"].rpartition(":")[2]
            self.assertNotIn(tag, ("", "latest", service["image"]), name)

    def test_mounts_only_what_exists(self):
        for name, service in self.services.items():
            for volume in service.get("volumes", []):
                self.assertTrue((DOCKER / volume.split(":")[0]).exists(), f"{name}: {volume}")

    def test_publishes_the_proxy_port_alone_beyond_this_machine(self):
        published = {
            port
            for service in self.services.values()
            for port in service.get("ports", [])
            if not port.startswith("127.0.0.1:")
        }
        self.assertEqual(published, {"8080:8080"})

    def test_names_hosts_that_are_services(self):
        settings = load("docker/gateway.yaml")
        hosts = {
            server.split(":")[0]
            for upstream in settings["upstreams"].values()
            for server in upstream["servers"]
            if server != "echo"
        }
        hosts |= {re.match(r"redis://([^:/]+)", settings["stores"]["redis"]["url"])[1]}
        hosts |= {
            target.split(":")[0]
            for job in load("docker/prometheus.yml")["scrape_configs"]
            for target in job["static_configs"][0]["targets"]
        }
        self.assertLessEqual(hosts, set(self.services))

    def test_gives_the_drain_its_time(self):
        self.assertEqual(self.services["gateway"]["stop_grace_period"], "35s")
        self.assertNotIn("drain_timeout", load("docker/gateway.yaml"), "30s is the default")

    def test_asks_the_admin_port_that_is_configured(self):
        port = load("docker/gateway.yaml")["admin"]["address"].rpartition(":")[2]
        self.assertEqual(load("docker/prometheus.yml")["scrape_configs"][0]["static_configs"][0]["targets"], [f"gateway:{port}"])
        self.assertIn("address: 127.0.0.1:" + port, text("gateway.yaml.example"))


class image(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(DOCKER))
        import oci

        self.config = oci.described(text("docker/Dockerfile"))
        self.build, self.files, self.image = stages(text("docker/Dockerfile"))

    def test_runs_as_nobody_special_and_can_be_watched_and_stopped(self):
        self.assertEqual((self.config["User"], self.config["StopSignal"]), ("10001:10001", "SIGTERM"))
        self.assertEqual(set(self.config["ExposedPorts"]), {"8080/tcp", "9901/tcp"})
        check = self.config["Healthcheck"]
        self.assertEqual((check["Interval"], check["Retries"]), (10 * 10**9, 3))
        self.assertEqual(check["Test"][:2], ["CMD", *self.config["Entrypoint"]])
        help_text = subprocess.run([BINARY, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"\n  {check['Test'][2]} ", help_text)

    def test_holds_what_the_package_installs_and_no_shell(self):
        self.assertRegex(self.image, r"^FROM scratch\nCOPY --from=files /image /\n")
        self.assertNotIn("RUN", self.image)
        self.assertIn("dpkg-buildpackage", self.build)
        self.assertIn("/packages/gateway_*.deb", self.files)
        for stage in (self.build, self.files):
            self.assertRegex(stage, r"apt-get install -y --no-install-recommends ")

    def test_is_built_where_nothing_that_is_installed_is_ignored(self):
        installed = re.findall(r"(?m)^install\((?:FILES|DIRECTORY) (.*) DESTINATION ", text("CMakeLists.txt"))
        names = [name for line in installed for name in line.split()]
        self.assertIn("docker/grafana", names)
        for pattern in text("docker/Dockerfile.dockerignore").split():
            for name in names:
                self.assertNotIn(pathlib.PurePath(pattern), [pathlib.PurePath(name), *pathlib.PurePath(name).parents])

    def test_says_how_it_is_built(self):
        self.assertRegex(text("scripts/run"), r"(?m)\bscripts/build( |$)")
        self.assertRegex(text("debian/rules"), r"(?m)\bscripts/build( |$)")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        ROOT, BINARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
        DOCKER = ROOT / "docker"
    unittest.main(argv=sys.argv[:1])
