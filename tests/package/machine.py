"""A bare Debian of a release, with its own systemd, network and processes, in a container of systemd-nspawn."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

# A systemd from 256 on wants cgroup v2, which nspawn then mounts beside the host's v1.
NSPAWN_ENVIRONMENT = {"UNIFIED_CGROUP_HIERARCHY": "1"}
BOOT_SECONDS = 60


class Machine:
    def __init__(self, tree):
        """`tree` is a tar file of a root file system."""
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="gateway-machine-"))
        self.nspawn = None
        self.leader = None
        subprocess.run(["tar", "-xf", tree, "-C", self.root], check=True)

    def copy(self, *files):
        for file in files:
            shutil.copy(file, self.root / "root")

    def chroot(self, *words):
        """Runs a command in the tree before it boots, with the host's network."""
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc", "chroot", self.root, *words],
            check=True, capture_output=True, text=True, env=environment(),
        ).stdout  # fmt: skip

    def boot(self):
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--boot", f"--directory={self.root}", "--private-network",
             "--keep-unit", "--register=no", "--console=pipe"],
            env=os.environ | NSPAWN_ENVIRONMENT, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(lambda: self.find_leader() and self.succeeds("systemctl", "is-active", "multi-user.target"), "it boots")

    def find_leader(self):
        children = pathlib.Path(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children").read_text().split()
        self.leader = children[0] if children else None
        return self.leader

    def entered(self, words):
        return ["nsenter", "--target", self.leader, "--all", *words]

    def run(self, *words):
        """Runs a command within, and returns its standard output."""
        done = subprocess.run(self.entered(words), capture_output=True, text=True, env=environment())
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def succeeds(self, *words):
        return subprocess.run(self.entered(words), capture_output=True, env=environment()).returncode == 0

    def on_its_network(self, *words, **options):
        """Starts a program of the host that sees the machine's network, and its loopback interface alone."""
        return subprocess.Popen(["nsenter", "--target", self.leader, "--net", *words], **options)

    def main_pid(self):
        return self.run("systemctl", "show", "--property=MainPID", "--value", "gateway.service").strip()

    def stop(self):
        if self.nspawn:
            self.nspawn.terminate()
            try:
                self.nspawn.wait(60)
            except subprocess.TimeoutExpired:
                self.nspawn.kill()
                self.nspawn.wait()
        shutil.rmtree(self.root, ignore_errors=True)


def environment():
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C", "HOME": "/root"}


def until(condition, what, seconds=BOOT_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"in {seconds} s not seen that {what}")
        time.sleep(0.05)
