"""Node.js reading what arrives, with its strict parser."""
import json
import os

from harness.client import get
from harness.process import Child, tool

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_reader.js")


class NodeReader:
    def __init__(self):
        self._child = Child([tool("node"), READER])
        line = self._child.wait_for_line(lambda line: line if line.startswith("ports") else None)
        reader, reporter = (int(word) for word in line.split()[1:])
        self.address = f"127.0.0.1:{reader}"
        self._reporter = ("127.0.0.1", reporter)

    def report(self):
        """What it read since the last report: ([requests], [errors])."""
        seen = json.loads(get(self._reporter).text)
        return [s for s in seen if "error" not in s], [s for s in seen if "error" in s]

    def stop(self):
        self._child.stop()
