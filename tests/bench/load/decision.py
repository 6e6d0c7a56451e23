"""The cost of one local decision, from the micro benchmark `decision_bench`."""
import json
import os
import subprocess

from proxies import PROGRAMS, PROXY_CORE
from table import show

PROGRAM = PROGRAMS / "decision_bench"
CLIENTS = (1, 100_000, 1_000_000, 10_000_000)
TABLE = ("clients", "one decision, ns", "three at once, ns", "one random cache miss, ns")


def run(results):
    """Runs it on the quiet core."""
    file = results / "decision.json"
    subprocess.run(
        [PROGRAM, "--benchmark_min_time=0.3", f"--benchmark_out={file}",
         "--benchmark_out_format=json"],
        preexec_fn=lambda: os.sched_setaffinity(0, {PROXY_CORE}),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=180, check=True)
    times = {each["name"]: each["cpu_time"] for each in
             json.loads(file.read_text(encoding="utf-8"))["benchmarks"]}

    def ns(name, clients):
        time = times.get(f"{name}/{clients}")
        return "" if time is None else f"{time:.0f}"

    show("decision: one local decision", TABLE,
         [(f"{clients:,}", ns("decide", clients), ns("decide_three", clients),
           ns("floor_of_memory", clients)) for clients in CLIENTS])
