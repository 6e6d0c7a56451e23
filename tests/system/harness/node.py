"""Node.js: a reader of what arrives, with its strict parser, and a server."""
import json
import os

from harness.client import get
from harness.process import Child, free_port, tool

HERE = os.path.dirname(os.path.abspath(__file__))
READER = os.path.join(HERE, "node_reader.js")
SERVER = os.path.join(HERE, "node_server.js")


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


class NodeServer:
    """Answers every request. With workers, their primary process holds the listening socket."""

    def __init__(self, workers=0):
        self._words = [tool("node"), SERVER, str(free_port()), str(workers)]
        self.address = f"127.0.0.1:{self._words[2]}"
        self.start()

    def start(self):
        self._child = Child(self._words)
        self._child.wait_for_line(lambda line: line == "listening")

    def halt(self):
        """It may be started again."""
        self._child.stop()

    stop = halt
