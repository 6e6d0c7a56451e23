"""Debian's Chromium, driven by npm's puppeteer-core (scripts/install installs both)."""
import json
import os
import subprocess

from harness.gateway import ROOT
from harness.process import Child, Directory, tool

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(ROOT, "build", "npm", "node_modules")


class Browser:
    """One page. What it says on its console, and its uncaught errors, are in `heard()`."""

    def __init__(self, *arguments):
        self._profile = Directory()
        words = [tool("node"), os.path.join(HERE, "page_browser.js"), tool("chromium"), self._profile.path, *arguments]
        self._child = Child(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            environment={"NODE_PATH": os.environ.get("NODE_PATH", MODULES), "HOME": self._profile.path})
        self._answer()

    def _answer(self):
        line = self._child.stdout.readline()
        assert line, f"the browser has ended: {self._child.lines}"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def run(self, script, given=None):
        """What the body of an async function returns; it sees `page` and `given`."""
        self._child.stdin.write(json.dumps({"script": script, "given": given}).encode() + b"\n")
        self._child.stdin.flush()
        return self._answer()

    def evaluate(self, script, given=None):
        """The same, in the page itself."""
        return self.run(f"return page.evaluate(async (given) => {{ {script} }}, given)", given)

    def until(self, condition, seconds=10, given=None):
        """Waits until an expression is true in the page."""
        return self.run(
            f"return (await page.waitForFunction((given) => {condition}, "
            f"{{timeout: {int(seconds * 1000)}, polling: 50}}, given)).jsonValue()", given)

    def heard(self):
        return self.run("return [...heard]")

    def complaints(self):
        """What axe-core finds, in short."""
        return self.run(
            "await page.evaluate(axe); return page.evaluate(async () => "
            "(await axe.run()).violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 200))]))")

    def stop(self):
        self._child.stdin.close()
        self._child.stop()
        self._child.stdout.close()
        self._profile.stop()
