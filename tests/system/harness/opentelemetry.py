"""OpenTelemetry's own libraries for Node.js, from npm (scripts/install installs them)."""
import json
import os
import subprocess

from harness.browser import MODULES
from harness.process import Child, free_port, tool

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {"NODE_PATH": os.environ.get("NODE_PATH", MODULES)}


class TracedNode:
    """A traced program, whose spans go to the collector: see traced_node.js."""

    def __init__(self, collector, *words):
        script = os.path.join(HERE, "traced_node.js")
        self._child = Child([tool("node"), script, collector.url, *words], environment=ENVIRONMENT)
        self._child.wait_for_line(lambda line: line == "ready")

    def statuses(self):
        return [int(line.split()[1]) for line in self._child.lines if line.startswith("status ")]

    def stop(self):
        self._child.stop()


class TracedExpress(TracedNode):
    def __init__(self, collector):
        port = str(free_port())
        super().__init__(collector, "serve", port)
        self.address = f"127.0.0.1:{port}"


def through_protobuf(request):
    """What protobuf's definitions of OTLP keep of a request in JSON."""
    done = subprocess.run(
        [tool("node"), os.path.join(HERE, "otlp_decoder.js")], input=json.dumps(request).encode(),
        capture_output=True, timeout=60, env=os.environ | ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)
