"""CPU that a request needs over HTTP/2: 8 connections with 10 streams each, by h2load. All limit but nghttpx,
which cannot. With `grpc`, requests are calls of gRPC, and the upstream is a server of @grpc/grpc-js."""
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from cpu import user_and_kernel_seconds
from proxies import LOAD_CORE, PROXY_CORE, ROOT, Proxies, free_port, settle_on, wait_for_listener, with_children
from table import show

ROUNDS, REQUESTS = 7, 20_000
BARS = {"small": 1.3, "large": 1.1, "call": 1.3}
BYTES = {"small": 20, "large": 64 * 1024}
UNARY = "test.Service/Unary"
MESSAGE = b"\0" + (20).to_bytes(4, "big") + b"x" * 20
NODE_MODULES = ROOT / "build/npm/node_modules"
GRPC_SERVER = ROOT / "tests/system/harness/grpc_server.js"
COLUMNS = ("proxy", "CPU a request, µs", "the kernel's, µs", "times the gateway's", "bar")
GATEWAY = """listeners: [ {{ address: 127.0.0.1:{port}{gateway_tls} }} ]
admin: {{ address: 127.0.0.1:{admin} }}
workers: 1
limits: {{ l: {{ key: client_ip, rate: 1000000/s }} }}
routes: [ {{ limits: [l], upstream: up }} ]
upstreams: {{ up: {{ servers: ["127.0.0.1:{upstream}"]{gateway_protocol} }} }}
log: {{ access: false, level: warning }}
"""
HAPROXY = """global
    nbthread 1
defaults
    mode http
    timeout client 300s
    timeout server 300s
    timeout connect 5s
    http-reuse always
frontend clients
    bind 127.0.0.1:{port}{haproxy_tls}
    http-request track-sc0 src table rates
    http-request deny deny_status 429 if {{ sc_http_req_rate(0,rates) gt 1000000000 }}
    default_backend upstream
backend upstream
    option forwardfor
    server upstream 127.0.0.1:{upstream}{haproxy_protocol}
backend rates
    stick-table type ipv6 size 1m expire 60s store http_req_rate(10s)
"""
NGINX = """daemon off; worker_processes 1; pid {directory}/{name}.pid; error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off; keepalive_requests 1000000000;
    client_body_temp_path {directory}; proxy_temp_path {directory}; fastcgi_temp_path {directory};
    uwsgi_temp_path {directory}; scgi_temp_path {directory};
    {body}
}}
"""
NGINX_PROXY = """upstream up {{ server 127.0.0.1:{upstream}; keepalive 200; keepalive_requests 1000000000; }}
    server {{ listen 127.0.0.1:{port} http2{nginx_tls}; {nginx_certificate}
        location / {{ limit_req zone=clients burst=100000 nodelay; {nginx_pass} }} }}
    limit_req_zone $binary_remote_addr zone=clients:1m rate=1000000r/s;"""
NGINX_PASS = """proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "";
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"""
NGINX_GRPC_PASS = "grpc_pass grpc://up; grpc_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
NGINX_UPSTREAM = """server {{ listen 127.0.0.1:{port}; location /small {{ return 200 "{small}"; }}
        location /large {{ alias {directory}/large; }} }}"""


class Peers:
    """All proxies on one core, with an upstream on the other."""

    def __init__(self, directory, tls, grpc=False):
        self.directory, self.tls, self.grpc = Path(directory), tls, grpc
        self.upstream = free_port()
        self.ports, self.processes = {}, {}

    def __enter__(self):
        (self.directory / "large").write_bytes(b"x" * BYTES["large"])
        proxies = Proxies((), {"pem": ""}, 0, self.directory)
        proxies.certify()
        pem = proxies.pem
        self.values = {
            "directory": self.directory, "upstream": self.upstream, "small": "x" * BYTES["small"], "admin": free_port(),
            "gateway_tls": f", tls: {{ certificates: [ {{ cert: {pem}, key: {pem} }} ] }}" if self.tls else "",
            "haproxy_tls": f" ssl crt {pem} alpn h2" if self.tls else " proto h2",
            "nginx_tls": " ssl" if self.tls else "",
            "nginx_certificate": f"ssl_certificate {pem}; ssl_certificate_key {pem};" if self.tls else "",
            "gateway_protocol": ", protocol: h2" if self.grpc else "",
            "haproxy_protocol": " proto h2" if self.grpc else "",
            "nginx_pass": NGINX_GRPC_PASS if self.grpc else NGINX_PASS,
        }
        (self.directory / "message").write_bytes(MESSAGE)
        if self.grpc:
            self.ports["upstream"] = self.upstream
            self.run("upstream", [program("node"), GRPC_SERVER, str(self.upstream)], LOAD_CORE)
        else:
            self.start_nginx("upstream", NGINX_UPSTREAM, self.upstream, LOAD_CORE)
        self.start("gateway", GATEWAY, lambda file: [Proxies.gateway, "run", "--config", file])
        self.start("haproxy", HAPROXY, lambda file: [program("haproxy"), "-f", file])
        self.start_nginx("nginx", NGINX_PROXY, self.port_of("nginx"), PROXY_CORE)
        port = self.port_of("nghttpx")
        frontend = f"--frontend=127.0.0.1,{port}" + ("" if self.tls else ";no-tls")
        backend = f"--backend=127.0.0.1,{self.upstream}" + (";;proto=h2" if self.grpc else "")
        words = [program("nghttpx"), "--workers=1", "--log-level=FATAL", frontend, backend,
                 "--backend-keep-alive-timeout=300", "--accesslog-file=/dev/null"]
        self.run("nghttpx", words + ([pem, pem] if self.tls else []), PROXY_CORE)
        for name, port in self.ports.items():
            wait_for_listener(port, self.processes[name], self.directory / f"{name}.log")
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.terminate()
            process.wait()

    def port_of(self, name):
        self.ports[name] = free_port()
        return self.ports[name]

    def start(self, name, text, command):
        file = self.directory / f"{name}.conf"
        file.write_text(text.format(port=self.port_of(name), name=name, **self.values), encoding="utf-8")
        self.run(name, command(file), PROXY_CORE)

    def start_nginx(self, name, body, port, core):
        self.ports[name] = port
        values = self.values | {"port": port, "name": name}
        file = self.directory / f"{name}.conf"
        file.write_text(NGINX.format(body=body.format(**values), **values), encoding="utf-8")
        self.run(name, [program("nginx"), "-p", self.directory, "-c", file], core)

    def run(self, name, words, core):
        with open(self.directory / f"{name}.log", "w", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(
                words, preexec_fn=settle_on(core), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=os.environ | {"NODE_PATH": os.environ.get("NODE_PATH", str(NODE_MODULES))})

    def cost(self, name, path, requests):
        """Seconds of CPU that a request needs of this proxy, and those of them in the kernel."""
        pids = with_children(self.processes[name].pid)
        user, kernel = used(pids)
        url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.ports[name]}/{path}"
        said = subprocess.run(
            ["h2load", "-n", str(requests), "-c", "8", "-m", "10", "-t", "1", *self.of_grpc(), url],
            preexec_fn=settle_on(LOAD_CORE), capture_output=True, text=True, check=True).stdout
        assert re.search(rf"status codes: {requests} 2xx", said), said
        user, kernel = (now - before for now, before in zip(used(pids), (user, kernel)))
        return (user + kernel) / requests, kernel / requests

    def of_grpc(self):
        """What makes a request a call."""
        fields = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
        return ["-d", self.directory / "message", *fields] if self.grpc else []


def used(pids):
    return [sum(of) for of in zip(*map(user_and_kernel_seconds, pids))]


def program(name):
    return shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") or name


def compare(peers, kind, what, path, requests, results):
    names = ("gateway", "haproxy", "nginx", "nghttpx")
    costs = {name: [] for name in names}
    for turn in range(ROUNDS + 1):
        for name in names:
            cost = peers.cost(name, path, requests)
            if turn > 0:  # the first one warms up
                costs[name].append(cost)
    (results / f"{kind}_{what}.json").write_text(json.dumps(costs, indent=2), encoding="utf-8")
    each, kernel = ({name: 1e6 * statistics.median(cost[i] for cost in of) for name, of in costs.items()} for i in (0, 1))
    best = min(each["haproxy"], each["nghttpx"]) / each["gateway"]
    verdict = f">= {BARS[what]} by the better: {'met' if best >= BARS[what] else 'not met'}"
    show(f"{kind}: {what}s over HTTP/2" if what == "call" else f"{kind}: {what} responses over HTTP/2", COLUMNS,
         [(name, f"{each[name]:.1f}", f"{kernel[name]:.1f}", f"{each[name] / each['gateway']:.2f}",
           verdict if name == "gateway" else "") for name in names])


def run_grpc(results):
    with tempfile.TemporaryDirectory(prefix="http2-") as directory, Peers(directory, False, grpc=True) as peers:
        compare(peers, "grpc", "call", UNARY, REQUESTS // 4, results)


def run(tls, results):
    with tempfile.TemporaryDirectory(prefix="http2-") as directory, Peers(directory, tls) as peers:
        for path, requests in (("small", REQUESTS), ("large", REQUESTS // 4)):
            compare(peers, "h2_tls" if tls else "h2", path, path, requests, results)
