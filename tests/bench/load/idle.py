"""Memory that a connection costs while it waits for its next request."""
import json
import resource
import selectors
import socket
import tempfile
import threading
from pathlib import Path

from proxies import Proxies, with_children
from scenarios import ALL, Scenario
from table import show

CONNECTIONS = 5000
WARM_UP = 200     # connections that the proxy has before: what comes once is not counted
COLUMNS = ("proxy", "before, KiB", "with all idle, KiB", "bytes per connection", "bar")
REQUEST = (b"GET /api/v1/items/42 HTTP/1.1\r\nHost: api.example.test\r\nUser-Agent: bench/1.0\r\n"
           b"Accept: application/json\r\nX-Forwarded-For: 101.102.103.104\r\n\r\n")
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n"


def answer(connection):
    """Whether the connection goes on."""
    try:
        if connection.recv(65536):
            connection.sendall(RESPONSE)
            return True
    except ConnectionError:
        pass  # HAProxy resets what it no longer needs
    return False


def serve(listener):
    """The upstream: answers whatever arrives, on as many connections as it is given."""
    watched = selectors.DefaultSelector()
    watched.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in watched.select():
            if key.fileobj is listener:
                watched.register(listener.accept()[0], selectors.EVENT_READ)
            elif not answer(key.fileobj):
                watched.unregister(key.fileobj)
                key.fileobj.close()


def resident(pid):
    """Bytes that a process and its children have in memory."""
    pages = sum(int(Path(f"/proc/{each}/statm").read_text().split()[1])
                for each in with_children(pid))
    return pages * resource.getpagesize()


def used(port):
    """A connection that has made one request."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(REQUEST)
    answer = b""
    while not answer.endswith(b"ok\n"):
        got = connection.recv(65536)
        if not got:
            raise RuntimeError(f"closed after {answer!r}")
        answer += got
    return connection


def growth(port, pid):
    """Resident bytes before and after CONNECTIONS more idle connections."""
    kept = [used(port) for _ in range(WARM_UP)]
    before = resident(pid)
    kept += [used(port) for _ in range(CONNECTIONS)]
    after = resident(pid)
    for connection in kept:
        connection.close()
    return before, after


def measure():
    """{proxy: (before, after)}"""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener, \
            tempfile.TemporaryDirectory(prefix="idle-") as directory:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        settings, port = Scenario("").settings, listener.getsockname()[1]
        with Proxies(ALL, settings, port, Path(directory)) as proxies:
            return {name: growth(proxies.ports[name], process.pid)
                    for name, process in proxies.processes.items()}


def run(results):
    sizes = measure()
    (results / "idle.json").write_text(json.dumps(sizes, indent=2), encoding="utf-8")
    each = {name: (after - before) / CONNECTIONS for name, (before, after) in sizes.items()}
    best = min(each["nginx"], each["haproxy"])

    def verdict(name):
        if name != "gateway":
            return ""
        return f"<= {best:,.0f}: {'met' if each[name] <= best else 'not met'}"

    show(f"idle: memory of {CONNECTIONS:,} idle connections, one request made on each", COLUMNS,
         [(name, f"{before / 1024:,.0f}", f"{after / 1024:,.0f}", f"{each[name]:,.0f}",
           verdict(name)) for name, (before, after) in sizes.items()])
