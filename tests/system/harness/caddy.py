"""Debian's Caddy: sites of a Caddyfile in its own words."""
from harness.process import Child, Directory, accepts, tool, wait_until

GLOBAL = "{\n\tadmin off\n\tauto_https off\n}\n"


class Caddy:
    """Listening on `port` when the constructor returns."""

    def __init__(self, port, sites):
        self._directory = Directory()
        path = self._directory.file("Caddyfile", GLOBAL + sites)
        home = {"HOME": self._directory.path, "XDG_DATA_HOME": self._directory.path}
        words = [tool("caddy"), "run", "--config", path, "--adapter", "caddyfile"]
        self._child = Child(words, environment=home)
        wait_until(lambda: accepts(port) or not self._child.running(), 20, "Caddy listens")
        assert self._child.running(), self._child.lines

    def stop(self):
        self._child.stop()
        self._directory.stop()
