"""The Debian package: in step with CMakeLists.txt and scripts/packages, and with scripts that a shell can read.

    debian_test.py ROOT
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Every Debian that builds packages has a compiler; a build of a package keeps no objects of others.
NOT_NEEDED = {"g++", "ccache"}
OF_PACKAGING = {"debhelper-compat", "dh-sequence-installsysusers", "systemd-dev", "systemd"}


def text(name):
    return (ROOT / name).read_text()


def build_dependencies():
    """A set of names for each dependency: its alternatives."""
    field = re.search(r"(?ms)^Build-Depends: (.*?)\n\n", text("debian/control"))[1]
    return [set(re.findall(r"(?:^|\| )([\w.+-]+)", one.strip())) for one in field.split(",")]


class package(unittest.TestCase):
    def test_has_the_version_of_the_program(self):
        of_cmake = re.search(r"(?m)^project\(gateway VERSION (\S+) ", text("CMakeLists.txt"))[1]
        self.assertEqual(re.match(r"gateway \((\S+)\) ", text("debian/changelog"))[1], of_cmake)
        self.assertRegex(text("CHANGELOG.md"), rf"(?m)^## {re.escape(of_cmake)} ")

    def test_is_built_from_what_the_scripts_install(self):
        listed = subprocess.run([ROOT / "scripts/packages", "build"], capture_output=True, text=True, check=True)
        wanted = set(listed.stdout.split()) - NOT_NEEDED
        alternatives = build_dependencies()
        named = set().union(*alternatives)
        self.assertEqual(wanted - named, set())
        for names in alternatives:
            self.assertTrue(names & (wanted | OF_PACKAGING), names)

    def test_is_named_by_the_documents(self):
        version = re.match(r"gateway \((\S+)\) ", text("debian/changelog"))[1]
        for name in (f"build/packages/gateway_{version}_*.deb", f"build/packages/gateway-image_{version}_*.oci.tar"):
            self.assertIn(name, text("README.md"))
        self.assertIn(f"gateway-image_{version}_", text("docs/deploy.md"))
        for document in ("README.md", "docs/deploy.md"):
            self.assertIn(f"gateway_{version}_*.deb", text(document))
            self.assertIn(f"gateway_{version}+deb13_*.deb", text(document))

    def test_has_scripts_that_a_shell_can_read(self):
        scripts = sorted((ROOT / "debian").glob("gateway.p*"))
        self.assertEqual(len(scripts), 3)
        for script in scripts:
            self.assertIn("\n#DEBHELPER#\n", script.read_text())
            subprocess.run(["sh", "-n", script], check=True)

    def test_purges_each_folder_that_the_service_is_given(self):
        given = re.findall(r"(?m)^(State|Logs)Directory=(\S+)$", text("debian/gateway.service"))
        where = {"State": "/var/lib/", "Logs": "/var/log/"}
        purged = re.search(r"rm -rf (.*)", text("debian/gateway.postrm"))[1].split()
        self.assertEqual(set(purged), {"/etc/gateway"} | {where[kind] + name for kind, name in given})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        ROOT = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
