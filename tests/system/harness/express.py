"""Express apps as JavaScript that npm's packages run (scripts/install installs them)."""
import os

from harness.browser import MODULES
from harness.process import Child, Directory, accepts, tool, wait_until


class ExpressApp:
    """Listening on `port` when the constructor returns. Its files are in the folder `path`."""

    def __init__(self, port, text):
        self._directory = Directory()
        self.path = self._directory.path
        script = self._directory.file("app.js", text)
        modules = os.environ.get("NODE_PATH", MODULES)
        self._child = Child([tool("node"), script], environment={"NODE_PATH": modules}, cwd=self.path)
        wait_until(lambda: accepts(port) or not self._child.running(), 10, "the app listens")
        assert self._child.running(), self._child.lines

    def complaints(self):
        """What express-rate-limit has against the app, say."""
        return list(self._child.lines)

    def stop(self):
        self._child.stop()
        self._directory.stop()
