"""Containers of podman, which share a network and storage that are the test's own."""

import resource
import shutil
import subprocess
import tempfile
import unittest

# A process that may not raise its limits, and crun, which takes cgroup v2 alone, need to be told so.
FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
RUN = ["--network=host", "--cgroups=disabled", f"--ulimit=nofile={FILES}:{FILES}", "--ulimit=nproc=1000:1000"]
MOUNTS = "umount -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; ip link set lo up; echo made; exec sleep 1200"


class Containers(unittest.TestCase):
    def setUp(self):
        self.storage = tempfile.mkdtemp(prefix="gateway-podman-")
        self.addCleanup(shutil.rmtree, self.storage, ignore_errors=True)
        self.space = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-c", MOUNTS], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.space.wait)
        self.addCleanup(self.space.kill)
        self.assertEqual(self.space.stdout.readline(), "made\n")
        self.addCleanup(self.space.stdout.close)
        self.addCleanup(self.podman, "rm", "--all", "--force", "--time=0")

    def within(self, *words):
        """Runs a program of the host on the network of the containers."""
        return subprocess.run(
            ["nsenter", f"--target={self.space.pid}", "--net", "--mount", *words], capture_output=True, text=True
        )

    def podman(self, *words, expected=0):
        done = self.within("podman", f"--root={self.storage}/root", f"--runroot={self.storage}/run", "--storage-driver=vfs",
                           "--cgroup-manager=cgroupfs", *words)  # fmt: skip
        self.assertEqual(done.returncode, expected, f"podman {words}\n{done.stdout}{done.stderr}")
        return done.stdout
