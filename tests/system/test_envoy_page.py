"""The configurations in docs/envoy.md: the gateway's load, and say what Envoy's beside them asks."""
import os
import re

import yaml

from harness.case import SystemTest
from harness.gateway import ROOT, run_command


def blocks():
    with open(os.path.join(ROOT, "docs", "envoy.md"), encoding="utf-8") as f:
        return re.findall(r"^```yaml\n(.*?)^```\n", f.read(), re.S | re.M)


class EnvoyPage(SystemTest):
    def test_each_file_is_right_without_a_warning(self):
        files = [text for text in blocks() if text.startswith("listeners:\n")]
        self.assertEqual(len(files), 2)
        for text in files:
            with self.subTest(text.splitlines()[4]):
                path = self.directory().file("gateway.yaml", text)
                self.assertEqual(run_command("check", "--config", path), (0, f"{path}: ok\n", ""))

    def test_envoy_asks_what_the_gateway_answers(self):
        ours, envoys, *_ = [yaml.safe_load(text) for text in blocks()]
        listener, = envoys["static_resources"]["listeners"]
        manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
        limiter = manager["http_filters"][0]["typed_config"]
        service = ours["rate_limit_service"]["edge"]
        self.assertEqual(limiter["domain"], service["domain"])
        cluster = {c["name"]: c for c in envoys["static_resources"]["clusters"]}[
            limiter["rate_limit_service"]["grpc_service"]["envoy_grpc"]["cluster_name"]]
        endpoint = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]
        address = endpoint["address"]["socket_address"]
        self.assertEqual(f"{address['address']}:{address['port_value']}", ours["listeners"][0]["address"])
        asked = set()
        for route in manager["route_config"]["virtual_hosts"][0]["routes"]:
            for limit in route["route"]["rate_limits"]:
                # The key of an entry is its action's name, unless the action says another.
                asked.add(tuple(
                    (key, action.get("descriptor_value")) for step in limit["actions"] for key, action in step.items()))
        answered = {
            tuple(next(iter(e.items())) if isinstance(e, dict) else (e, None) for e in rule["match"])
            for rule in service["descriptors"]}
        self.assertEqual(asked, answered)
