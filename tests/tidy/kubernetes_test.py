"""The manifests under docker/kubernetes: valid, without misspelt fields, and in step with the program and the image.

    kubernetes_test.py ROOT GATEWAY_BINARY

Needs PyYAML, Node.js and what scripts/install puts into build/npm.
"""

import copy
import hashlib
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
    print("kubernetes: PyYAML is not installed")
    sys.exit(77)  # what ctest takes for "skipped"

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = None
KINDS = {"ConfigMap", "Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "NetworkPolicy", "ServiceMonitor"}


def objects(name):
    return list(yaml.safe_load_all((ROOT / "docker/kubernetes" / name).read_text()))


def only(kind, among):
    return next(o for o in among if o["kind"] == kind)


def containers(deployment):
    pod = deployment["spec"]["template"]["spec"]
    return [c for c in pod.get("initContainers", []) + pod["containers"] if c["name"] == "gateway"]


class known_fields:
    """The fields of each type of the API, from the declarations for TypeScript: JSON Schema lets others pass."""

    def __init__(self, modules):
        self.types = {}
        for path in (modules / "kubernetes-models").rglob("*.d.ts"):
            text = path.read_text()
            alias = re.search(r"export type \{ I\w+ as (I\w+)", text)
            body = re.search(r"(?ms)^export interface I\w+ (?:extends \w+ )?\{\n(.*?)^\}", text)
            if alias and body:
                self.types[alias[1]] = dict(re.findall(r'(?m)^    "(\w+)"\??: (.*)$', body[1]))

    def unknown(self, value, type_name, where=""):
        if isinstance(value, list):
            return [found for one in value for found in self.unknown(one, type_name, where)]
        fields = next((self.types[t] for t in re.findall(r"I\w+", type_name) if t in self.types), None)
        if not isinstance(value, dict) or not fields or "{" in type_name:
            return []
        found = [f"{where}.{key}" for key in value if key not in fields]
        for key in value.keys() & fields.keys():
            found += self.unknown(value[key], fields[key], f"{where}.{key}")
        return found

    def of(self, obj):
        group, _, version = obj["apiVersion"].rpartition("/")
        group = "".join(part.capitalize() for part in (group or "core").split(".")[:1])
        return self.unknown(obj, f"IIoK8sApi{group}{version.capitalize()}{obj['kind']}", obj["kind"])


@unittest.skipUnless(shutil.which("node"), "Node.js is not installed")
class schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.modules = ROOT / "build/npm/node_modules"
        if not (cls.modules / "kubernetes-models").exists():
            raise unittest.SkipTest("build/npm has no schemas: scripts/install test")
        cls.fields = known_fields(cls.modules)

    def complaints(self, among):
        done = subprocess.run(
            ["node", ROOT / "tests/tidy/kubernetes_valid.mjs", self.modules],
            input=json.dumps(among), capture_output=True, text=True, check=True,
        )  # fmt: skip
        return json.loads(done.stdout) + [field for o in among for field in self.fields.of(o)]

    def test_of_the_api_accept_every_manifest(self):
        for name in ("gateway.yaml", "sidecar.yaml"):
            self.assertEqual(self.complaints(objects(name)), [], name)

    def test_notice_mistakes(self):
        wrong = copy.deepcopy(objects("gateway.yaml"))
        only("Service", wrong)["spec"]["ports"][0]["port"] = "eighty"
        containers(only("Deployment", wrong))[0]["readinesProbe"] = {}
        only("HorizontalPodAutoscaler", wrong)["spec"]["maxReplica"] = 3
        said = "\n".join(self.complaints(wrong))
        self.assertIn("Service gateway: ", said)
        self.assertIn("Deployment.spec.template.spec.containers.readinesProbe", said)
        self.assertIn("HorizontalPodAutoscaler.spec.maxReplica", said)
        self.assertEqual(len(said.splitlines()), 3, said)


class manifests(unittest.TestCase):
    def test_have_one_object_of_each_kind(self):
        self.assertEqual({o["kind"] for o in objects("gateway.yaml")}, KINDS)
        self.assertLessEqual({"ConfigMap", "Deployment", "Service"}, {o["kind"] for o in objects("sidecar.yaml")})

    def test_hold_a_configuration_that_the_gateway_accepts(self):
        for name in ("gateway.yaml", "sidecar.yaml"):
            text = only("ConfigMap", objects(name))["data"]["gateway.yaml"]
            done = subprocess.run([BINARY, "check", "-"], input=text, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_roll_out_another_configuration(self):
        for name in ("gateway.yaml", "sidecar.yaml"):
            text = only("ConfigMap", objects(name))["data"]["gateway.yaml"]
            annotations = only("Deployment", objects(name))["spec"]["template"]["metadata"]["annotations"]
            self.assertEqual(annotations["checksum/config"], hashlib.sha256(text.encode()).hexdigest(), name)

    def test_run_the_image_as_it_is_made(self):
        sys.path.insert(0, str(ROOT / "docker"))
        import oci

        image = oci.described((ROOT / "docker/Dockerfile").read_text())
        version = re.search(r"(?m)^project\(gateway VERSION (\S+) ", (ROOT / "CMakeLists.txt").read_text())[1]
        for name in ("gateway.yaml", "sidecar.yaml"):
            deployment = only("Deployment", objects(name))
            (container,) = containers(deployment)
            self.assertEqual(container["image"], f"gateway:{version}")
            user = container["securityContext"] | deployment["spec"]["template"]["spec"]["securityContext"]
            self.assertEqual(f"{user['runAsUser']}:{user['runAsGroup']}", image["User"])
            self.assertEqual(container["livenessProbe"]["exec"]["command"], image["Healthcheck"]["Test"][1:])
            drain = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
            self.assertGreater(drain, 30 + container["lifecycle"]["preStop"]["sleep"]["seconds"])
            for beside in deployment["spec"]["template"]["spec"]["containers"]:
                self.assertEqual(beside["lifecycle"]["preStop"], container["lifecycle"]["preStop"], name)
            self.assertEqual(container["volumeMounts"][0]["mountPath"] + "/gateway.yaml", image["Cmd"][-1])

    def test_select_the_pods_that_they_make(self):
        for name in ("gateway.yaml", "sidecar.yaml"):
            labels = only("Deployment", objects(name))["spec"]["template"]["metadata"]["labels"]
            ports = {p["name"] for p in containers(only("Deployment", objects(name)))[0]["ports"]}
            for o in objects(name):
                selector = o["spec"].get("selector", o["spec"].get("podSelector", {})) if "spec" in o else {}
                if o["kind"] != "ServiceMonitor" and selector:
                    self.assertEqual(selector.get("matchLabels", selector), labels, o["kind"])
                if o["kind"] == "Service":
                    self.assertLessEqual({p["targetPort"] for p in o["spec"]["ports"]}, ports)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        ROOT, BINARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
