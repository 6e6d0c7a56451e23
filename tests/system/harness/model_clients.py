"""Clients of models' APIs and of the Model Context Protocol, and a server of that, from npm (scripts/install
installs them)."""
import json
import os

from harness.opentelemetry import ENVIRONMENT
from harness.process import Child, free_port, run_tool, tool

HERE = os.path.dirname(os.path.abspath(__file__))


def run_node(script, *words):
    """What the program prints, as JSON."""
    environment = os.environ | ENVIRONMENT
    status, said, complaint = run_tool(["node", os.path.join(HERE, script), *words], env=environment)
    assert status == 0, complaint
    return json.loads(said)


def url(gateway, path=""):
    return "http://%s:%d%s" % (*gateway.address, path)


def calls_of(kind, base, *calls):
    """What came of each call, by the client of `openai` or `anthropic`."""
    return run_node("model_clients.js", kind, base, json.dumps(calls))


def tool_calls(base, *names):
    """What came of each call of a tool; before them the client lists the tools."""
    found = run_node("mcp_client.js", base, *names)
    assert found["tools"] == ["search", "fetch"], found
    return found["results"]


class McpServer:
    """Has the tools `search`, which costs 7 tokens, and `fetch`, which costs 40."""

    def __init__(self):
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self._child = Child([tool("node"), os.path.join(HERE, "mcp_server.js"), str(port)], environment=ENVIRONMENT)
        self._child.wait_for_line(lambda line: line == "listening")

    def stop(self):
        self._child.stop()
