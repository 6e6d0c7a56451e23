"""The proxies under test: started together on one core, stopped by their own pids."""
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import socket
import string
import subprocess
import time

from scenarios import UNREAD

PROXY_CORE, LOAD_CORE = 0, 1
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = ROOT / "build/bench/bin"
CONFIGURATIONS = {"gateway": "gateway.yaml", "nginx": "nginx.conf", "haproxy": "haproxy.cfg",
                  "nginx_lua": "nginx_lua.conf"}
# What a gateway of that name has for itself.
OWN_SETTINGS = {"one_route": {"gateway_routes": ""}, "local": {"gateway_store": "local", "gateway_stores": ""},
                "unread": UNREAD}

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class Template(string.Template):
    delimiter = "@"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def take_precedence():
    """Ahead of what else runs here: a session is a group to the scheduler, and it weighs groups."""
    os.setsid()
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-10", encoding="ascii")
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    except OSError:
        pass  # not root, or a kernel without groups: more slices are thrown away


def settle_on(core):
    """For preexec_fn: one core, many descriptors, and gone when the parent is gone."""
    def settle():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        take_precedence()
        os.sched_setaffinity(0, {core})
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(20000, most), most))
    return settle


def listens(port):
    """Asks the kernel, because a connection would make the relay connect as well."""
    wanted = f":{port:04X}"
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = (row.split() for row in list(table)[1:])
        return any(row[1].endswith(wanted) and row[3] == "0A" for row in rows)


def wait_for_listener(port, process, log):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        if listens(port):
            return
        time.sleep(0.02)
    said = log.read_text(encoding="utf-8", errors="replace")
    raise RuntimeError(f"{log.stem} does not listen:\n{said[-2000:]}")


def with_children(pid):
    """The pid and all its descendants: nginx and HAProxy do their work in children."""
    pids = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            pids += with_children(int(child))
    return pids


class Proxies:
    """Context manager: `names` run with the settings of a scenario, forwarding to `upstream`."""

    gateway = ROOT / "build/release/bin/gateway"
    profiled = ROOT / "build/profiled/bin/gateway"

    def __init__(self, names, settings, upstream, directory):
        self.names = names
        self.upstream = upstream
        self.admins = {name: free_port() for name in names}  # of gateways
        self.directory = directory
        self.pem = directory / "both.pem"  # of whoever speaks TLS: certificate and key
        self.values = {name: Template(str(value)).safe_substitute(pem=self.pem)
                       for name, value in dict(settings, upstream=upstream).items()}
        self.ports = {}
        self.processes = {}

    def __enter__(self):
        try:
            if any(str(self.pem) in value for value in self.values.values()):
                self.certify()
            # Nobody accepts on the upstream's port yet: the load generator will.
            for name in self.names:
                self.start(name)
            for name in self.names:
                self.wait_for(name)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def certify(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=api.example.test",
             "-addext", "subjectAltName=DNS:api.example.test", "-keyout", self.pem,
             "-out", self.directory / "certificate.pem"], check=True, capture_output=True)
        with open(self.pem, "ab") as both:
            both.write((self.directory / "certificate.pem").read_bytes())

    def start(self, name):
        port = self.ports[name] = free_port()
        with open(self.directory / f"{name}.log", "w", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(
                self.command(name, port), preexec_fn=settle_on(PROXY_CORE),
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def command(self, name, port):
        if name == "relay":
            return [PROGRAMS / "relay", str(port), str(self.upstream)]
        kind = name if name in CONFIGURATIONS else "gateway"  # attacked, or built another way
        template = Template((HERE / "peers" / CONFIGURATIONS[kind]).read_text(encoding="utf-8"))
        own = OWN_SETTINGS.get(name, {})
        text = template.substitute(self.values | own, port=port, admin=self.admins[name])
        file = self.directory / f"{name}.conf"
        file.write_text(text, encoding="utf-8")
        if kind == "gateway":
            program = self.profiled if name == "profiled" else self.gateway
            return [program, "run", "--config", file]
        # Where Debian puts them is not on everybody's path.
        binary = name.partition("_")[0]
        program = shutil.which(binary, path=os.environ.get("PATH", "") + ":/usr/sbin") or binary
        if binary == "nginx":
            return [program, "-p", self.directory, "-c", file]
        return [program, "-f", file]

    def wait_for(self, name):
        wait_for_listener(self.ports[name], self.processes[name], self.directory / f"{name}.log")

    def arguments(self, attacks):
        """NAME:PORT:PID+PID of each, and what attacks it, for the load generator."""
        for name, process in self.processes.items():
            pids = "+".join(map(str, with_children(process.pid)))
            attack = attacks.get(name)
            yield f"{name}:{self.ports[name]}:{pids}" + (
                f":{name}:{attack.connections}:{attack.rate}" if attack else "")

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
