"""Debian's HAProxy: sections in its own words."""
from harness.process import Child, Directory, accepts, tool, wait_until

CONFIGURATION = """
global
    nbthread 1
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
{sections}
"""


class HAProxy:
    """Listening on `port` when the constructor returns."""

    def __init__(self, port, sections):
        self._directory = Directory()
        path = self._directory.file("haproxy.cfg", CONFIGURATION.format(sections=sections))
        self._child = Child([tool("haproxy"), "-db", "-f", path])
        wait_until(lambda: accepts(port) or not self._child.running(), 10, "HAProxy listens")
        assert self._child.running(), self._child.lines

    def stop(self):
        self._child.stop()
        self._directory.stop()
