"""The rate-limit service that Envoy asks: questions per second of one worker, and how long their answers take."""
import statistics
import subprocess
import tempfile
from pathlib import Path

from cpu import cpu_seconds
from proxies import LOAD_CORE, PROXY_CORE, Proxies, free_port, settle_on, wait_for_listener
from table import show

QUESTIONS, ROUNDS = 100_000, 7
BAR = 20_000  # questions per second and core
METHOD = "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
GATEWAY = """listeners: [ {{ address: 127.0.0.1:{port}, rate_limit_service: edge }} ]
admin: {{ address: 127.0.0.1:{admin} }}
workers: 1
limits: {{ per_address: {{ key: "descriptor:remote_address", rate: 1000000/s }} }}
rate_limit_service:
  edge: {{ domain: edge, descriptors: [ {{ match: [remote_address], limits: [per_address] }} ] }}
routes: [ {{ respond: {{ status: 404 }} }} ]
upstreams: {{}}
log: {{ access: false, level: warning }}
"""


def field(number, text):
    """Of a message of protobuf: a text or a message."""
    return bytes([number << 3 | 2, len(text)]) + text


def question(address):
    """RateLimitRequest: the domain, and a descriptor of one entry."""
    entry = field(1, b"remote_address") + field(2, address)
    message = field(1, b"edge") + field(2, field(1, entry))
    return b"\0" + len(message).to_bytes(4, "big") + message


def ask(port, directory):
    log = directory / "answers"
    log.unlink(missing_ok=True)
    subprocess.run(
        ["h2load", "-n", str(QUESTIONS), "-c", "8", "-m", "10", "-t", "1", "-d", directory / "question", "--log-file", log,
         "-H", "content-type: application/grpc", "-H", "te: trailers", f"http://127.0.0.1:{port}/{METHOD}"],
        preexec_fn=settle_on(LOAD_CORE), stdout=subprocess.DEVNULL, check=True)
    answers = [line.split("\t") for line in log.read_text(encoding="ascii").splitlines()]
    assert len(answers) == QUESTIONS and all(status == "200" for _, status, _ in answers)
    began = [int(at) for at, _, _ in answers]
    took = sorted(int(time) for _, _, time in answers)
    ended = max(at + time for at, time in zip(began, (int(time) for _, _, time in answers)))
    return QUESTIONS / (ended - min(began)) * 1e6, took[len(took) // 2], took[len(took) * 99 // 100]


def run(_results):
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="rate-limit-service-") as name:
        directory = Path(name)
        (directory / "question").write_bytes(question(b"192.0.2.1"))
        file = directory / "gateway.yaml"
        file.write_text(GATEWAY.format(port=port, admin=free_port()), encoding="utf-8")
        log = directory / "gateway.log"
        with log.open("w", encoding="utf-8") as told:
            gateway = subprocess.Popen([Proxies.gateway, "run", "--config", file], preexec_fn=settle_on(PROXY_CORE),
                                       stdout=told, stderr=told)  # fmt: skip
        try:
            wait_for_listener(port, gateway, log)
            ask(port, directory)  # warms up
            rounds = []
            for _ in range(ROUNDS):
                before = cpu_seconds(gateway.pid)
                rounds.append((*ask(port, directory), (cpu_seconds(gateway.pid) - before) / QUESTIONS * 1e6))
        finally:
            gateway.terminate()
            gateway.wait()
    rate, median, p99, cpu = (statistics.median(of) for of in zip(*rounds))
    show("rls: the rate-limit service, 8 connections with 10 questions each",
         ("questions/s", "CPU a question, µs", "p50, µs", "p99, µs", "bar"),
         [(f"{rate:,.0f}", f"{cpu:.1f}", f"{median:,.0f}", f"{p99:,.0f}",
           f">= {BAR:,}/s: {'met' if rate >= BAR else 'not met'}")])
