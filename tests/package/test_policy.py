"""The packages before Debian's own checkers, and built twice.

    TREE=bare.tar RELEASE=… DEB=gateway_VERSION_ARCH.deb SECOND=folder python3 -B -m unittest -v test_policy
"""

import os
import pathlib
import shutil
import subprocess
import unittest

from machine import Machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEB = pathlib.Path(os.environ["DEB"])
# Debian 13's debconf leaves the folder there.
PIUPARTS = ["--no-eatmydata", "--mirror=http://deb.debian.org/debian", "--ignore-regex=/var/cache/debconf/tmp.ci/?"]
# The tree is a container, which a testbed without a name for it does not know.
AUTOPKGTEST = ["autopkgtest", "--no-built-binaries", "--ignore-restrictions=isolation-container"]


def built():
    """The files of this build, without those that have a date (.buildinfo, .changes) and the counts."""
    version = DEB.name.split("_")[1]
    return sorted(path for path in DEB.parent.glob(f"gateway*_{version}_*") if path.suffix in (".deb", ".tar", ".json")
                  and ".profile." not in path.name)  # fmt: skip


class Packages(unittest.TestCase):
    def said(self, *words, **options):
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        return done.stdout

    def test_are_the_same_bytes_when_they_are_built_again(self):
        names = [path.name for path in built()]
        self.assertIn(DEB.name, names)
        for path in built():
            again = pathlib.Path(os.environ["SECOND"], path.name)
            self.assertTrue(path.read_bytes() == again.read_bytes(), f"{path.name} differs")

    def test_please_lintian(self):
        changes = DEB.with_suffix(".changes")
        said = self.said("lintian", "--allow-root", "--fail-on=error,warning", changes)
        self.assertNotRegex(said, r"(?m)^[EW]:")

    def test_please_piuparts(self):
        machine = Machine(os.environ["TREE"])
        self.addCleanup(machine.stop)
        self.said("piuparts", f"--distribution={os.environ['RELEASE']}", f"--existing-chroot={machine.root}", *PIUPARTS, DEB)

    def test_pass_their_own_tests(self):
        machine = Machine(os.environ["TREE"])
        self.addCleanup(machine.stop)
        machine.copy(DEB)
        shutil.copytree(ROOT / "debian", machine.root / "root/gateway/debian")
        machine.chroot("apt-get", "update", "-q")
        machine.chroot("apt-get", "install", "-qy", "--no-install-recommends", "autopkgtest", "dpkg-dev", "curl", f"/root/{DEB.name}")
        machine.boot()
        machine.run(*AUTOPKGTEST, f"/root/{DEB.name}", "/root/gateway", "--", "null")


if __name__ == "__main__":
    unittest.main()
