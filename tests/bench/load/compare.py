"""scripts/bench: compares the gateway with its peers. See docs/benchmarks.md for the method."""
import argparse
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import decision
import figures
from proxies import LOAD_CORE, PROGRAMS, PROXY_CORE, ROOT, Proxies, free_port, settle_on
from scenarios import SCENARIOS

RESULTS = ROOT / "build/bench"
COLUMNS = ("proxy", "slices", "requests/s", "throughput", "CPU us/request", "user",
           "CPU / gateway's [IQR]", "p50 us", "p99 us", "bar")


def busy_share(seconds):
    """How much of all cores has been busy, watching for so long."""
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            times = [int(t) for t in file.readline().split()[1:9]]
        return sum(times) - times[3] - times[4], sum(times)  # 3, 4: idle, waiting for disks
    busy, total = read()
    time.sleep(seconds)
    busy_later, total_later = read()
    return (busy_later - busy) / max(1, total_later - total)


def wait_for_quiet(limit=10):
    """Waits, not for ever, until others leave the machine alone; says so if they do not."""
    deadline = time.monotonic() + limit
    while (share := busy_share(0.5)) > 0.1:
        if time.monotonic() > deadline:
            print(f"(others keep the machine {share:.0%} busy)", flush=True)
            return


def load(scenario, directory):
    """The load generator's CSV of one scenario."""
    upstream = free_port()
    with Proxies(scenario.proxies, scenario.limits, upstream, directory) as proxies:
        options = {"upstream": upstream, "body": scenario.body, "rate": scenario.rate,
                   "connections": scenario.connections, "keys": scenario.clients,
                   "cycles": scenario.cycles, "seconds": scenario.seconds}
        command = [PROGRAMS / "load", *proxies.arguments()]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        expected = len(scenario.proxies) * scenario.cycles * (scenario.seconds + 0.1)
        return subprocess.run(command, preexec_fn=settle_on(LOAD_CORE), stdout=subprocess.PIPE,
                              text=True, timeout=2 * expected + 30, check=True).stdout


def verdict(bar, ratio):
    """Whether a peer needs as many times the gateway's CPU as the bar asks."""
    if bar is None:
        return ""
    return f">= {bar:.2f}: {'met' if ratio.median >= bar else 'not met'}"


def rows(scenario, summary):
    for each in summary:
        gateway = each.proxy == "gateway"
        yield (each.proxy, f"{each.kept}/{scenario.cycles}", f"{each.requests_per_second:,.0f}",
               "1" if gateway else f"{each.throughput_ratio.median:.2f}",
               f"{each.cpu:.2f}", f"{each.user_share:.0%}",
               "1" if gateway else str(each.cpu_ratio), f"{each.p50:.0f}", f"{each.p99:.0f}",
               verdict(scenario.bars.get(each.proxy), each.cpu_ratio))


def show(title, columns, lines):
    """A Markdown table that reads well in a terminal."""
    table = [columns, *lines]
    widths = [max(len(row[i]) for row in table) for i in range(len(columns))]

    def line(cells):
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"

    print(f"\n### {title}\n")
    print(line(columns))
    print(line(["-" * w for w in widths]))
    for cells in lines:
        print(line(cells))
    sys.stdout.flush()


def compare(name):
    scenario = SCENARIOS[name]
    wait_for_quiet()
    with tempfile.TemporaryDirectory(dir=RESULTS, prefix=f"{name}-") as directory:
        text = load(scenario, Path(directory))
    (RESULTS / f"{name}.csv").write_text(text, encoding="utf-8")
    summary, clean = figures.summarise(figures.read(text, scenario.expected), scenario.rate == 0)
    (RESULTS / f"{name}.json").write_text(
        json.dumps([dataclasses.asdict(each) for each in summary], indent=2), encoding="utf-8")
    order = {proxy: i for i, proxy in enumerate(scenario.proxies)}
    summary.sort(key=lambda each: order[each.proxy])
    show(f"{name}: {scenario.title}", COLUMNS, list(rows(scenario, summary)))
    if not clean:
        print("\nThe machine was shared: hardly a slice had a core to itself, so these are of all "
              "slices;\nCPU per request is blurred, throughput and latency say nothing.")
    for each in summary:
        if each.unexpected > 0.001:
            print(f"{each.proxy}: up to {each.unexpected:.1%} of the answers of a slice were not "
                  f"{scenario.expected}: its figures do not count")


def main():
    names = [*SCENARIOS, "decision"]
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; none: all")
    chosen = parser.parse_args().name or names
    unknown = [name for name in chosen if name not in names]
    if unknown:
        parser.error(f"no such measurement: {', '.join(unknown)} (there are {', '.join(names)})")
    if not {PROXY_CORE, LOAD_CORE} <= os.sched_getaffinity(0):
        parser.error(f"needs cores {PROXY_CORE} and {LOAD_CORE}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the proxies are stopped
    for name in chosen:
        if name == "decision":
            show("decision: one local decision", decision.TABLE, decision.run(RESULTS))
        else:
            compare(name)
    print(f"\nRaw results: {RESULTS.relative_to(ROOT)}/*.csv, *.json")


if __name__ == "__main__":
    main()
