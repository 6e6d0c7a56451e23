"""The image: its files, and what podman makes of it with a read-only root and no capability.

    IMAGE=gateway-image_VERSION_ARCH.oci.tar VERSION=… python3 -B -m unittest -v test_image
"""

import concurrent.futures
import json
import os
import pathlib
import tarfile
import unittest

from containers import RUN, Containers
from machine import until

IMAGE = pathlib.Path(os.environ["IMAGE"])
NAME = "gateway:" + os.environ["VERSION"].replace("+", "-")
LARGEST = 60_000_000
CLOSED = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"]


class Files(unittest.TestCase):
    def setUp(self):
        with tarfile.open(IMAGE) as archive:
            def blob(digest):
                return archive.extractfile("blobs/sha256/" + digest.removeprefix("sha256:"))

            self.manifest = json.load(blob(json.load(archive.extractfile("index.json"))["manifests"][0]["digest"]))
            self.image = json.load(blob(self.manifest["config"]["digest"]))
            with tarfile.open(fileobj=blob(self.manifest["layers"][0]["digest"])) as layer:
                self.entries = {entry.name: entry for entry in layer}

    def test_are_few_and_hold_no_shell(self):
        size = sum(entry.size for entry in self.entries.values())
        print(f"image: {IMAGE.stat().st_size / 1e6:.1f} MB packed, {size / 1e6:.1f} MB on disk")
        self.assertLessEqual(size, LARGEST)
        programs = [n for n, e in self.entries.items() if e.isreg() and e.mode & 0o111 and "/lib/" not in n]
        self.assertEqual(programs, ["usr/bin/gateway"])
        self.assertFalse([n for n, e in self.entries.items() if e.mode & 0o6000])

    def test_are_described(self):
        config = self.image["config"]
        self.assertEqual((config["User"], config["StopSignal"]), ("10001:10001", "SIGTERM"))
        self.assertEqual(config["Healthcheck"]["Test"], ["CMD", "/usr/bin/gateway", "health"])
        self.assertEqual(config["Labels"]["org.opencontainers.image.version"], os.environ["VERSION"])

    def test_are_listed_in_the_bill_and_the_provenance(self):
        base = str(IMAGE).removesuffix(".oci.tar")
        bill = json.loads(pathlib.Path(base + ".spdx.json").read_text())
        listed = {package["name"] for package in bill["packages"]}
        inside = {pathlib.Path(n).name for n in self.entries if n.startswith("var/lib/dpkg/status.d/")}
        self.assertEqual(listed, inside)
        self.assertLessEqual({"libc6", "libssl3", "libstdc++6", "tzdata"}, {n.removesuffix("t64") for n in inside})
        made = json.loads(pathlib.Path(base + ".provenance.json").read_text())
        self.assertGreaterEqual(len(made["predicate"]["buildDefinition"]["resolvedDependencies"]), 100)


class Running(Containers):
    def status(self, _=None):
        return self.within("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:8080/").stdout

    def test_serves_limits_is_healthy_and_stops(self):
        self.podman("load", "--input", IMAGE)
        self.podman("run", "--detach", "--name=g", *RUN, *CLOSED, '--health-cmd=["/usr/bin/gateway","health"]', NAME)
        until(lambda: self.status() == "200", "it serves")
        self.podman("healthcheck", "run", "g")
        self.podman("exec", "g", "/usr/bin/gateway", "health", "--admin=127.0.0.1:1", expected=1)
        flood = ["wrk", "-t1", "-c8", "-d1s", "http://127.0.0.1:8080/"]
        self.within(*flood)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertIn("429", list(pool.map(self.status, range(40))))
        self.podman("stop", "--time=40", "g")
        self.assertEqual(self.podman("inspect", "g", "--format={{.State.ExitCode}}").strip(), "0")


if __name__ == "__main__":
    unittest.main()
