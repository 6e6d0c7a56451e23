"""The scripts, and what `cmake --install` makes: what a person meets before the gateway runs."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

from harness.case import SystemTest
from harness.gateway import BINARY, ROOT, run_command
from harness.process import run_tool, wait_until

BUILD = os.path.dirname(os.path.dirname(BINARY))
REACHED = 99  # what a stand-in for a slow script ends with


class Scripts(SystemTest):
    def scripts_with(self, **stand_ins):
        """A copy of scripts/ in which some do something else; its folder."""
        root = self.directory().file("copy")
        shutil.copytree(os.path.join(ROOT, "scripts"), os.path.join(root, "scripts"))
        for name, commands in stand_ins.items():
            with open(os.path.join(root, "scripts", name), "w", encoding="ascii") as f:
                f.write("#!/bin/sh\n" + commands + "\n")
        return root

    def run_script(self, root, name, *words):
        done = subprocess.run(
            [os.path.join(root, "scripts", name), *words],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def test_names_are_checked_before_anything_is_installed_or_built(self):
        root = self.scripts_with(install=f"exit {REACHED}", build=f"exit {REACHED}")
        for script, good in (("bench", "rejected"), ("test", "release"), ("package", "bookworm")):
            for wrong in ("nosuch", "", "-x", f"{good} {good}", good[:-1]):
                with self.subTest(script, wrong=wrong):
                    status, out, err = self.run_script(root, script, good, wrong)
                    self.assertEqual((status, out), (2, ""))
                    self.assertTrue(err.startswith("no such "), err)
                    self.assertIn(f"usage: scripts/{script} ", err)
            for asked in ("--help", "-h"):
                status, out, err = self.run_script(root, script, asked)
                self.assertEqual((status, err), (0, ""))
                self.assertIn(good, out)

    def test_good_names_go_on_to_install(self):
        root = self.scripts_with(install=f"exit {REACHED}", build=f"exit {REACHED}")
        self.assertEqual(self.run_script(root, "bench", "rejected", "idle")[0], REACHED)
        self.assertIn("0 passed, 1 failed", self.run_script(root, "test", "release")[1])

    def test_the_names_of_bench_are_those_of_its_measurements(self):
        _, out, _ = self.run_script(ROOT, "bench", "--help")
        told = re.search(r"of: ([^;]*);", out).group(1)
        load = os.path.join(ROOT, "tests", "bench", "load")
        code = "import compare; print(' '.join(compare.MEASUREMENTS))"
        known = subprocess.run([sys.executable, "-B", "-c", code], cwd=load, capture_output=True, text=True, check=True)
        self.assertEqual(set(told.split()), set(known.stdout.split()))

    def test_run_installs_what_the_readme_calls_and_says_what_to_try(self):
        root = self.scripts_with(install='echo "install $*"', build="true")
        gateway = os.path.join(root, "build", "release", "bin", "gateway")
        os.makedirs(os.path.dirname(gateway))
        with open(gateway, "w", encoding="ascii") as f:
            f.write('#!/bin/sh\necho "$@"\n')
        os.chmod(gateway, 0o755)
        status, out, err = self.run_script(root, "run")
        self.assertEqual(
            (status, out), (0, "install build try\nrun --config gateway.yaml.example\n")
        )
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
            called = re.search(r"^ +(curl -i \S+)", readme.read(), re.MULTILINE).group(1)
        self.assertIn(called, err)
        self.assertNotIn("curl", self.run_script(root, "run", "--config", "other.yaml")[2])
        self.assertIn("curl", self.run_script(ROOT, "packages", "try")[1].split())
        self.assertEqual(self.run_script(root, "run", "--help"), (0, "usage: scripts/run [arguments of `gateway run`]\n", ""))

    def test_what_the_readme_tries_is_answered_and_then_rejected(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
            one, many = re.findall(r"(?m)^ +(curl .*)$", readme.read())
        for name in ("gateway.yaml.example", "debian/gateway.yaml"):
            with open(os.path.join(ROOT, name), encoding="utf-8") as f:
                gateway = self.gateway(re.sub(r"(127.0.0.1|0.0.0.0):(8080|9901)", "127.0.0.1:0", f.read()))
            there = "http://{}:{}".format(*gateway.address)
            status, out, _ = run_tool(["sh", "-c", one.replace("http://127.0.0.1:8080", there)])
            self.assertRegex(out, r"(?s)^HTTP/1.1 200 .*\nX-RateLimit-Remaining: \d+\n")
            status, out, _ = run_tool(["sh", "-c", many.replace("http://127.0.0.1:8080", there)])
            self.assertEqual((status, len(out.split()), set(out.split())), (0, 40, {"200", "429"}), name)

    def on_system(self, release, name, *words):
        """Runs a script as on the system that the lines of os-release name."""
        root = self.scripts_with()
        file = os.path.join(root, "os-release")
        with open(file, "w", encoding="ascii") as f:
            f.write(release)
        for script in ("packages", "requirements"):
            path = os.path.join(root, "scripts", script)
            with open(path, encoding="ascii") as f:
                text = f.read()
            self.assertIn("/etc/os-release", text)
            with open(path, "w", encoding="ascii") as f:
                f.write(text.replace("/etc/os-release", file))
        return self.run_script(root, name, *words)

    def test_packages_are_known_on_debian_12_and_13(self):
        for purpose in ("build", "test", "bench", "try", "package", "docs"):
            told = []
            for version in (12, 13):
                status, out, err = self.on_system(f"ID=debian\nVERSION_ID={version}\n", "packages", purpose)
                self.assertEqual((status, err), (0, ""))
                names = set(out.split()) - {"ruby-rackup"}  # a part of ruby-rack before
                told.append(sorted(re.sub(r"[0-9].*|t64", "", name) for name in names))
            self.assertEqual(told[0], told[1], "the same packages but for their versions")

    def test_another_system_is_told_what_a_build_lacks(self):
        release = 'ID=fedora\nVERSION_ID=40\nPRETTY_NAME="Fedora Linux 40"\n'
        status, out, err = self.on_system(release, "packages", "build")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("fedora-40", err)
        status, _, err = self.on_system(release, "install", "build")
        self.assertEqual(status, 0, "nothing is missing here")
        self.assertIn("Fedora Linux 40: packages are installed by themselves on Debian 12 and 13 only", err)
        root = self.scripts_with()
        lacking = os.path.join(root, "scripts", "requirements")
        with open(lacking, encoding="ascii") as f:
            text = f.read()
        with open(lacking, "w", encoding="ascii") as f:
            f.write(text.replace("hiredis/hiredis.h", "hiredis/of_another_name.h"))
        status, _, err = self.run_script(root, "requirements")
        self.assertEqual(status, 1)
        self.assertIn("hiredis 0.14 or newer: no <hiredis/of_another_name.h>", err)
        self.assertNotIn("yaml-cpp", err)

    def test_training_that_is_interrupted_leaves_nothing_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            place = self.directory()
            training = subprocess.Popen(
                [sys.executable, "-B", os.path.join(ROOT, "tests", "bench", "train.py")],
                env=os.environ | {"GATEWAY_BIN": BINARY, "TMPDIR": place.path},
                stderr=subprocess.PIPE, text=True, start_new_session=True,
            )  # fmt: skip
            log = lambda: [  # noqa: E731
                name for _, _, names in os.walk(place.path) for name in names if name == "access.log"
            ]
            wait_until(log, what="the gateway that is trained is started")
            os.killpg(training.pid, number)  # as a terminal does: the gateway gets it, too
            _, err = training.communicate(timeout=60)
            self.assertEqual(training.returncode, 128 + number, err)
            self.assertNotIn("Traceback", err)
            self.assertIn("interrupted", err)
            self.assertEqual(os.listdir(place.path), [])


TESTS_OF_RUN = """
import os, unittest
class Some(unittest.TestCase):
    def test_fails(self):
        self.fail("as ever")
    def test_holds_at_the_second_try(self):
        if not os.path.exists("tried"):
            open("tried", "w").close()
            self.fail("for want of a processor")
    def test_holds(self):
        pass
"""


class Run(SystemTest):
    def test_what_fails_beside_others_is_tried_once_more_alone(self):
        folder = self.directory()
        shutil.copy(os.path.join(ROOT, "tests", "system", "run.py"), folder.file("run.py"))
        with open(folder.file("test_some.py"), "w", encoding="ascii") as f:
            f.write(TESTS_OF_RUN)
        done = subprocess.run(
            [sys.executable, "run.py", "--jobs", "2"],
            cwd=folder.path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        held = "HELD ALONE: test_some.Some.test_holds_at_the_second_try: AssertionError: for want of a processor"
        failed = "FAIL: test_some.Some.test_fails: AssertionError: as ever"
        self.assertEqual(done.stdout.splitlines()[-4:], [held, failed, "0 skipped", "2 passed, 1 failed"])


class Install(SystemTest):
    def test_what_is_installed_runs_and_is_documented(self):
        prefix = self.directory().file("prefix")
        status, out, err = run_tool(["cmake", "--install", BUILD, "--prefix", prefix])
        self.assertEqual(status, 0, out + err)
        installed = os.path.join(prefix, "bin", "gateway")
        self.assertEqual(
            run_tool([installed, "--version"]), run_command("--version"), "the same program"
        )
        docs = os.path.join(prefix, "share", "doc", "gateway")
        for name in ("README.md", "CHANGELOG.md", "LICENSE", "docs/configuration.md"):
            self.assertTrue(os.path.isfile(os.path.join(docs, name)), name)
        for name in (
            "man/man1/gateway.1", "man/man5/gateway.yaml.5", "gateway/gateway.schema.json",
            "bash-completion/completions/gateway", "zsh/site-functions/_gateway",
            "fish/vendor_completions.d/gateway.fish",
        ):  # fmt: skip
            self.assertTrue(os.path.isfile(os.path.join(prefix, "share", name)), name)
        example = os.path.join(docs, "gateway.yaml.example")
        self.assertEqual(run_tool([installed, "check", "--config", example])[1], f"{example}: ok\n")

    def test_the_links_of_the_installed_documents_lead_somewhere(self):
        prefix = self.directory().file("prefix")
        run_tool(["cmake", "--install", BUILD, "--prefix", prefix])
        count = 0
        for path in glob.glob(f"{prefix}/share/doc/gateway/**/*.md", recursive=True):
            with open(path, encoding="utf-8") as page:
                text = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", page.read())
            for link in re.findall(r"\]\(([^)#:\s]+)[^):]*\)", text):
                count += 1
                self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), link)), (path, link))
        self.assertGreater(count, 100)
