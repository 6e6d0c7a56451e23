"""Servers that speak HTTP/2, as they come from Debian and with Node.js: by prior knowledge, or over TLS with `tls`,
which are Certificates for origin.test."""
import os

from harness.haproxy import HAProxy
from harness.nginx import Nginx
from harness.process import Child, Directory, accepts, free_port, tool, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))

NGINX = """
    log_format connections '$connection $server_protocol $request';
    server {{
        listen 127.0.0.1:{port} {tls} http2;
        {more}
        access_log connections.log connections;
        root files;
        location /put/ {{ dav_methods PUT; create_full_put_path on; }}
        location /ok {{ return 200 "ok"; }}
        location /empty {{ return 204; }}
    }}
"""

HAPROXY = """
frontend edge
    bind 127.0.0.1:{port} {how}
    default_backend origin
backend origin
    server one {origin}
"""


class Nghttpd:
    """Serves the files of a folder, with trailers if they are named; `options` are its own words."""

    def __init__(self, *options, tls=None):
        self._directory = Directory()
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        words = [tool("nghttpd"), "-a", "127.0.0.1", "-d", self._directory.path, *options]
        parts = ["--no-tls"] if tls is None else [tls.path("origin.test.key"), tls.path("origin.test.pem")]
        words += [*parts, str(self.port)] if tls is None else [str(self.port), *parts]
        self._child = Child(words)
        wait_until(lambda: accepts(self.port) or not self._child.running(), 10, "nghttpd listens")
        assert self._child.running(), self._child.lines

    def file(self, name, text):
        self._directory.file(name, text)

    def stop(self):
        self._child.stop()
        self._directory.stop()


class Nginx2(Nginx):
    """An nginx that also speaks HTTP/2 at `http2_address`, and logs each request's connection. `more` are words
    of that server."""

    def __init__(self, more="", tls=None):
        port = free_port()
        if tls is not None:
            parts = tls.path("origin.test.pem"), tls.path("origin.test.key")
            more += " ssl_certificate {}; ssl_certificate_key {};".format(*parts)
        super().__init__(more=NGINX.format(port=port, tls="" if tls is None else "ssl", more=more))
        wait_until(lambda: accepts(port), 10, "nginx listens")
        self.http2_address = f"127.0.0.1:{port}"

    def logged(self):
        """(connection, protocol, method, path) of each request over HTTP/2."""
        with open(os.path.join(os.path.dirname(self.files), "connections.log"), encoding="utf-8") as f:
            return [tuple(line.split()[:4]) for line in f]


class HAProxy2(HAProxy):
    """A HAProxy that speaks HTTP/2, in front of an origin that speaks HTTP/1.1."""

    def __init__(self, origin, tls=None):
        port = free_port()
        how = "proto h2" if tls is None else f"ssl crt {tls.together('origin.test')} alpn h2,http/1.1"
        super().__init__(port, HAPROXY.format(port=port, origin=origin, how=how))
        self.address = f"127.0.0.1:{port}"


class NodeHttp2:
    """Answers as http2_server.js says."""

    def __init__(self):
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self._child = Child([tool("node"), os.path.join(HERE, "http2_server.js"), str(port)])
        self._child.wait_for_line(lambda line: line == "listening")

    def stop(self):
        self._child.stop()
