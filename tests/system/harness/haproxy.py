"""Debian's HAProxy: sections in its own words."""
from harness.process import Child, Directory, accepts, run_tool, tool, wait_until

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


def complaint(sections):
    """What `haproxy -c` has against them; empty if nothing."""
    directory = Directory()
    try:
        path = directory.file("haproxy.cfg", CONFIGURATION.format(sections=sections))
        status, _, said = run_tool([tool("haproxy"), "-c", "-q", "-f", path])
        return said or ("" if status == 0 else f"status {status}")
    finally:
        directory.stop()


class HAProxy:
    """Listening on `port` when the constructor returns. What it logs to stdout is the file `log_path`."""

    def __init__(self, port, sections):
        self._directory = Directory()
        path = self._directory.file("haproxy.cfg", CONFIGURATION.format(sections=sections))
        self.log_path = self._directory.file("haproxy.log")
        with open(self.log_path, "wb") as log:
            self._child = Child([tool("haproxy"), "-db", "-f", path], stdout=log)
        wait_until(lambda: accepts(port) or not self._child.running(), 10, "HAProxy listens")
        assert self._child.running(), self._child.lines

    def stop(self):
        self._child.stop()
        self._directory.stop()
