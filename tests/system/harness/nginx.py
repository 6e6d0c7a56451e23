"""Debian's nginx as an upstream: files, JSON, and PUT into files."""
import os

from harness.process import Child, Directory, accepts, free_port, run_tool, tool, wait_until

CONFIGURATION = """
{modules}
daemon off;
master_process {master};
worker_processes 1;
pid {prefix}/nginx.pid;
error_log stderr warn;
{user}
events {{ worker_connections 4096; }}
http {{
    access_log off;
    default_type application/octet-stream;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    client_max_body_size 0;
    keepalive_requests 1000000000;
    sendfile on;
    gzip on;
    gzip_types application/json;
    gzip_min_length 100;
    proxy_http_version 1.1;
    server {{
        listen 127.0.0.1:{port};
        root {prefix}/files;
        location /ok {{ return 200 "ok"; }}
        location /json {{ default_type application/json; return 200 '{{"answer": 42}}'; }}
        location /put/ {{ dav_methods PUT; create_full_put_path on; }}
        location /stored/ {{ alias {prefix}/files/put/; }}
    }}
    {more}
}}
{stream}
"""
STREAM_MODULE = "load_module /usr/lib/nginx/modules/ngx_stream_module.so;"


def written(directory, port, master=False, more="", stream=""):
    """The path of a configuration in that directory."""
    text = CONFIGURATION.format(
        prefix=directory.path,
        port=port,
        user="user root;" if os.getuid() == 0 else "",
        master="on" if master else "off",
        more=more,
        modules=STREAM_MODULE if stream else "",
        stream=f"stream {{ {stream} }}" if stream else "",
    )
    return directory.file("nginx.conf", text)


def complaint(more):
    """What `nginx -t` has against further servers; empty if nothing."""
    directory = Directory()
    try:
        path = written(directory, free_port(), more=more)
        status, _, said = run_tool([tool("nginx"), "-t", "-q", "-p", directory.path, "-c", path, "-e", "stderr"])
        return said or ("" if status == 0 else f"status {status}")
    finally:
        directory.stop()


class Nginx:
    """With a master, that process holds the listening socket and another one serves. `more` are
    further servers, in its own words; `stream` those of its stream module."""

    def __init__(self, master=False, more="", stream=""):
        self._directory = Directory()
        self.files = self._directory.file("files")
        os.makedirs(os.path.join(self.files, "put"))
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._path = written(self._directory, self.port, master, more, stream)
        self.start()

    def start(self):
        self._child = Child([tool("nginx"), "-p", self._directory.path, "-c", self._path, "-e", "stderr"])
        wait_until(lambda: accepts(self.port) or not self._child.running(), 10, "nginx listens")
        assert self._child.running(), self._child.lines

    def path(self, name):
        return os.path.join(self.files, name)

    def kill(self):
        self._child.kill()

    def halt(self):
        """It may be started again."""
        self._child.stop()

    def stop(self):
        self.halt()
        self._directory.stop()
