"""Drives a gateway through what a gateway mostly does. scripts/build --profiled does this to one that counts its
branches, so that the compiler knows which of them to make fast.

    GATEWAY_BIN=build/profiled/bin/gateway python3 tests/bench/train.py

Most requests are small, come on connections that stay, and pass or are rejected by the local store;
beside them there are larger and chunked messages, other keys, and connections that do not stay. The
counts are written when the gateway ends.
"""
import itertools
import pathlib
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))

from harness.gateway import Gateway  # noqa: E402
from harness.origin import Origin  # noqa: E402
from harness.process import wait_until  # noqa: E402

CONFIGURATION = """
workers: 1
client:
  trusted_proxies: [127.0.0.0/8]
  header: X-Forwarded-For
limits:
  plenty: {{ key: client_ip, rate: 1000000/s, burst: 100000 }}
  hardly: {{ key: client_ip, rate: 1/d, burst: 1 }}
  by_key: {{ key: "header:X-API-Key", missing_key: reject, rate: 1000000/s, burst: 100000 }}
routes:
  - {{ match: {{ path: / }}, limits: [plenty], upstream: origin }}
  - {{ match: {{ path: /v1 }}, limits: [hardly], upstream: origin }}
  - {{ match: {{ path: /v2 }}, limits: [plenty, by_key], upstream: origin }}
upstreams:
  origin: {{ servers: ["{origin}"] }}
"""
CLIENTS = 32  # at once, so that a turn of the loop finds several
ROUNDS = 400

ITEM = b'{"id":42,"name":"a thing","price":1299,"tags":["new","sale"]}'
FIELDS = (("User-Agent", "train/1.0"), ("Accept", "application/json"), ("X-Request-Id", "0123456789abcdef"))
OF_THE_ORIGIN = (("Content-Type", "application/json"), ("Server", "origin"), ("Cache-Control", "no-store"))


def origin(peer, request):
    peer.read_body(request)
    if request.target.startswith("/page"):
        peer.reply(body=b"x" * 16384, fields=OF_THE_ORIGIN)
    elif request.target.startswith("/chunked"):
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(ITEM), ITEM) for _ in range(4))
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    else:
        peer.reply(body=b"" if request.method == "HEAD" else ITEM, fields=OF_THE_ORIGIN)


def requests():
    """Without end: method, target, more fields, body."""
    item = ("GET", "/items/42?fields=id,name", (), None)
    rejected = ("GET", "/v1/items/42", (), None)
    keyed = ("GET", "/v2/items/42", (("X-API-Key", "k-0123456789"),), None)
    post = ("POST", "/items", (("Content-Type", "application/json"),), ITEM)
    page = ("GET", "/page", (), None)
    chunked = ("GET", "/chunked", (), None)
    head = ("HEAD", "/items/42", (), None)
    return itertools.cycle([item, item, rejected] * 5 + [keyed, post, page, chunked, head])


def client_address(n):
    return f"203.0.{n // 200 % 200}.{n % 200}"


def train(gateway):
    connections = [gateway.connect() for _ in range(CLIENTS)]
    wanted = requests()
    for turn in range(ROUNDS):
        methods = []
        for n, connection in enumerate(connections):
            method, target, more, body = next(wanted)
            address = client_address(n if target.startswith("/v1") else turn * CLIENTS + n)
            connection.request(target, (*FIELDS, ("X-Forwarded-For", address), *more), method, body)
            methods.append(method)
        for connection, method in zip(connections, methods):
            connection.response(head=method == "HEAD")
        leaving = turn % CLIENTS
        connections[leaving].close()
        connections[leaving] = gateway.connect()
    for connection in connections:
        connection.close()


def end_at(number, _frame):
    """Ends by way of every `with`, once: Ctrl-C may be pressed again meanwhile."""
    signal.signal(number, signal.SIG_IGN)
    print("training interrupted: scripts/build --profiled begins it anew", file=sys.stderr)
    sys.exit(128 + number)


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end_at)
    # Everything that is written lies in one folder. The gateway ends with this process, whatever ends it.
    with tempfile.TemporaryDirectory(prefix="gateway-training-", ignore_cleanup_errors=True) as folder:
        tempfile.tempdir = folder
        upstream = Origin(origin)
        gateway = Gateway(CONFIGURATION.format(origin=upstream.address))
        train(gateway)
        wait_until(
            lambda: gateway.metrics().count("gateway_requests_total") == CLIENTS * ROUNDS,
            what="every request is answered and counted",
        )
        gateway.stop()
        upstream.stop()


if __name__ == "__main__":
    main()
