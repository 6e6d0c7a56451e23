"""The cost of one local decision, from the micro benchmark `decision_bench`."""
import json
import os
import subprocess

from proxies import PROGRAMS, PROXY_CORE
from stores import run_kinds
from table import show

PROGRAM = PROGRAMS / "decision_bench"
CLIENTS = (1, 100_000, 1_000_000, 4_000_000, 10_000_000)
DECISION = ("clients", "one decision, ns", "three at once, ns", "one random cache miss, ns")
# The bar is a multiple of the token bucket's time; of a log there is none.
KINDS = {
    "token_bucket": ("decide", None),
    "fixed_window": ("decide_window", 1.2),
    "concurrency": ("decide_concurrency", 1.2),
    "sliding_window": ("decide_sliding_window", 2.0),
    "sliding_log": ("decide_sliding_log", None),
    "four token buckets": ("decide_four", 2.0),
}
LIMITS = ("limit", "clients", "one decision, ns", "beside token_bucket", "bar", "bytes per client")


def measured(results, names):
    """What of the program's benchmarks has such a name, by name: medians of runs in random order, one
    number of clients after the other; on the quiet core."""
    file = results / "decision.json"
    found = {}
    for clients in CLIENTS:
        subprocess.run(
            [PROGRAM, "--benchmark_min_time=0.1", f"--benchmark_filter=^({names})/{clients}$",
             "--benchmark_repetitions=5", "--benchmark_enable_random_interleaving=true",
             f"--benchmark_out={file}", "--benchmark_out_format=json"],
            preexec_fn=lambda: os.sched_setaffinity(0, {PROXY_CORE}),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=True)
        found |= {each["run_name"]: each for each in
                  json.loads(file.read_text(encoding="utf-8"))["benchmarks"]
                  if each.get("aggregate_name") == "median"}
    return found


def run(results):
    """One decision, beside the floor."""
    benchmarks = measured(results, "decide|decide_three|floor_of_memory")

    def ns(name, clients):
        found = benchmarks.get(f"{name}/{clients}")
        return "" if found is None else f"{found['cpu_time']:.0f}"

    show("decision: one local decision", DECISION,
         [(f"{clients:,}", ns("decide", clients), ns("decide_three", clients),
           ns("floor_of_memory", clients)) for clients in CLIENTS])


def run_limits(results):
    """Every kind of limit, beside the token bucket."""
    benchmarks = measured(results, "decide.*")
    rows = []
    for kind, (name, bar) in KINDS.items():
        for clients in CLIENTS:
            found, plain = benchmarks.get(f"{name}/{clients}"), benchmarks[f"decide/{clients}"]
            if found is not None:
                size = found.get("bytes")
                rows.append((kind, f"{clients:,}", f"{found['cpu_time']:.0f}",
                             f"{found['cpu_time'] / plain['cpu_time']:.2f}",
                             "" if bar is None else f"{bar:.1f}",
                             "" if size is None or clients == 1 else f"{size:.0f}"))
    show("limits: one local decision by kind of limit", LIMITS, rows)
    run_kinds()
