"""What an editor shows of a YAML file: npm's yaml-language-server, spoken to as editors do."""
import json
import os
import subprocess

from harness.browser import MODULES
from harness.process import Child, tool


class Editor:
    """Has files open. Positions are (line, column), both from 0."""

    def __init__(self):
        server = os.path.join(os.environ.get("NODE_PATH", MODULES), "yaml-language-server", "bin", "yaml-language-server")
        self._child = Child([tool("node"), server, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._asked = 0
        self._problems = {}
        self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": {"textDocument": {
            "completion": {"completionItem": {"documentationFormat": ["markdown"], "snippetSupport": True}},
            "hover": {"contentFormat": ["markdown"]}}}})
        self._tell("initialized", {})
        self._tell("workspace/didChangeConfiguration", {"settings": {"yaml": {
            "validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}}})

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._child.stdin.flush()

    def _tell(self, method, values):
        self._send({"method": method, "params": values})

    def _ask(self, method, values):
        self._asked += 1
        number = self._asked
        self._send({"id": number, "method": method, "params": values})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def _receive(self):
        length = 0
        while (line := self._child.stdout.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, f"the language server has ended: {self._child.lines}"
        message = json.loads(self._child.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self._problems[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:  # it asks for settings, which it has been told
            items = message.get("params", {}).get("items", [])
            self._send({"id": message["id"], "result": [None] * len(items)})
        return message

    def open(self, path):
        """The problems that the file has."""
        uri = "file://" + path
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self._problems.pop(uri, None)
        self._tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
        while uri not in self._problems:
            self._receive()
        return [(p["range"]["start"]["line"], p["message"]) for p in self._problems[uri]]

    def _at(self, path, position):
        return {"textDocument": {"uri": "file://" + path}, "position": dict(zip(("line", "character"), position))}

    def hover(self, path, position):
        shown = self._ask("textDocument/hover", self._at(path, position))
        return shown["contents"]["value"] if shown else ""

    def completions(self, path, position):
        """{what is offered: what is told of it}"""
        offered = self._ask("textDocument/completion", self._at(path, position))
        items = offered["items"] if isinstance(offered, dict) else offered
        return {item["label"]: _text(item.get("documentation", "")) for item in items}

    def stop(self):
        self._child.stdin.close()
        self._child.stop()
        self._child.stdout.close()


def _text(documentation):
    return documentation["value"] if isinstance(documentation, dict) else documentation
