"""Scripts for varnishtest that describe HAProxy, run with the gateway in its place.

A script starts servers, one HAProxy, and clients one after another. Here each client is run alone:
with the part of its server's script that is meant for it, and a gateway that forwards to it. What
they say of HAProxy's own log and statistics is left out.
"""
import os
import re

from harness.gateway import Gateway
from harness.process import Directory, free_port, run_tool

DIRECTORY = os.environ.get("GATEWAY_VTEST_DIR")  # HAProxy's reg-tests

UNMET = re.compile(r"^---- +\w+ +EXPECT (\S+) \((.*)\) \S+ ", re.MULTILINE)


class Script:
    """One .vtc file."""

    def __init__(self, name):
        with open(os.path.join(DIRECTORY, name + ".vtc"), encoding="utf-8") as f:
            self._commands = list(commands(f.read()))

    def clients(self):
        """Of those that are run, those that speak HTTP/1."""
        return [
            c.split()[1]
            for c in self._commands
            if c.startswith("client ") and "stream 0" not in c and c.rstrip().split()[-1] != "}"
        ]

    def client(self, number):
        """The text of one client and the listening section that it connects to."""
        name = self.clients()[number]
        same = [i for i, n in enumerate(self.clients()) if n == name].index(number)
        text = [c for c in self._commands if c.startswith(f"client {name} ")][same]
        instance, section = re.search(r"-connect \$\{(\w+?)_(\w+)_sock\}", text).groups()
        conf = next(c for c in self._commands if c.startswith(f"haproxy {instance} -conf"))
        sections = re.split(r"^\s*(?=(?:defaults|listen|frontend)\b)", conf, flags=re.MULTILINE)
        return text, next(s for s in sections if re.match(rf"(listen|frontend) {section}\n", s))

    def server(self, name, sections):
        """The text of a server, reduced to these of its sections, which `accept` separates."""
        text = next(c for c in self._commands if c.startswith(f"server {name} "))
        body = text[text.index("{") + 1 : text.rindex("}")]
        parts = re.split(r"^\s*accept\s*$", body, flags=re.MULTILINE)
        if sections is not None:
            parts = [parts[i] for i in sections]
        return "\n  accept\n".join(parts)


def commands(text):
    """The commands at the outermost level, each with its blocks."""
    command, depth = "", 0
    for line in text.splitlines(keepends=True):
        if depth == 0 and re.match(r"\s*(#|$)", line) and not command.endswith("\\\n"):
            continue
        command += line
        depth += line.count("{") - line.count("}")
        if depth == 0 and not line.endswith("\\\n"):
            yield command
            command = ""


def run(script, number, sections, field=None):
    """Runs client `number` of the script, with one more `field` in its first request if given.

    None if it and its server got what they expect, else what was first found to be otherwise:
    (field, value). Beside it, what varnishtest said."""
    client, section = script.client(number)
    name = client.split()[1]
    served = re.search(r"server \w+ \$\{(\w+)_addr\}", section)
    port = free_port()
    upstream = f"127.0.0.1:{port}" if served else "echo"
    directory = Directory()
    gateway = Gateway(
        "workers: 1\nroutes: [ { upstream: up } ]\n"
        f"upstreams: {{ up: {{ servers: ['{upstream}'] }} }}\n"
    )
    try:
        lines = [f'varnishtest "{name}"']
        if served and sections != ():
            body = script.server(served.group(1), sections)
            lines.append(f"server s1 -listen 127.0.0.1:{port} {{{body}}} -start")
        address = "%s:%d" % gateway.address
        client = re.sub(r"-connect \S+ \{", f"-connect {address} {{\n  timeout 3", client, count=1)
        if field is not None:
            client = client.replace("-hdr", f'-hdr "{field}" -hdr', 1)
        lines.append(client)
        path = directory.file(name + ".vtc", "\n".join(lines) + "\n")
        status, out, err = run_tool(["varnishtest", "-v", "-t", "20", path])
        unmet = UNMET.search(out)
        return None if status == 0 else unmet.groups() if unmet else ("?", ""), out + err
    finally:
        gateway.stop()
        directory.stop()
