"""Runs a scenario: slices of load on all its proxies in turn, and the figures made of them."""
import dataclasses
import json
import subprocess
import tempfile
import time
from pathlib import Path

import figures
from proxies import LOAD_CORE, PROGRAMS, Proxies, free_port, settle_on
from table import show

COLUMNS = ("proxy", "slices", "requests/s", "throughput", "CPU us/request", "user",
           "CPU / gateway's [IQR]", "p50 us", "p50 / gateway's [IQR]", "p99 us", "bar")


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


def generator(scenario, proxies):
    """The command that loads running proxies."""
    options = {"upstream": proxies.upstream, "body": scenario.body, "rate": scenario.rate,
               "sent": scenario.sent, "events": scenario.events,
               "connections": scenario.connections, "once": int(scenario.once),
               "tls": scenario.tls, "keys": scenario.clients, "cycles": scenario.cycles, "seconds": scenario.seconds}
    command = [PROGRAMS / "load", *proxies.arguments(scenario.attacks)]
    if scenario.upstream_tls:
        options["upstream_pem"] = proxies.pem
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    return command


def load(scenario, directory):
    """The load generator's CSV of one scenario."""
    with Proxies(scenario.proxies, scenario.settings, free_port(), directory) as proxies:
        expected = len(scenario.proxies) * scenario.cycles * (scenario.seconds + 0.1)
        return subprocess.run(generator(scenario, proxies), preexec_fn=settle_on(LOAD_CORE),
                              stdout=subprocess.PIPE, text=True, timeout=2 * expected + 30,
                              check=True).stdout


def unlogged(text, directory):
    """Proxies whose log has fewer lines than they answered requests."""
    for name, requests in figures.requests(text).items():
        with open(directory / f"{name}.log", "rb") as log:
            if sum(1 for _ in log) < requests:
                yield name


def measure(name, scenario, results):
    """Figures of every proxy in the scenario's order; leaves NAME.csv and NAME.json in results."""
    wait_for_quiet()
    notes = []
    with tempfile.TemporaryDirectory(dir=results, prefix=f"{name}-") as directory:
        text = load(scenario, Path(directory))
        if scenario.log:
            notes += [f"{proxy} did not log every request: its figures do not count"
                      for proxy in unlogged(text, Path(directory))]
    (results / f"{name}.csv").write_text(text, encoding="utf-8")
    summary, clean = figures.summarise(figures.read(text, scenario.expected), scenario.saturates)
    (results / f"{name}.json").write_text(
        json.dumps([dataclasses.asdict(each) for each in summary], indent=2), encoding="utf-8")
    if not clean:
        notes.append("The machine was shared: hardly a slice had a core to itself, so these are of "
                     "all slices;\nCPU per request is blurred, throughput and latency say nothing.")
    notes += [f"{each.proxy}: up to {each.unexpected:.1%} of the answers of a slice were not "
              f"{scenario.expected}: its figures do not count"
              for each in summary if each.unexpected > 0.001]
    return sorted(summary, key=lambda each: scenario.proxies.index(each.proxy)), notes


def row(scenario, each):
    gateway = each.proxy == "gateway"
    bar = scenario.bars.get(each.proxy)
    return (each.proxy, f"{each.kept}/{scenario.cycles}", f"{each.requests_per_second:,.0f}",
            "1" if gateway else f"{each.throughput_ratio.median:.2f}",
            f"{each.cpu:.2f}", f"{each.user_share:.0%}",
            "1" if gateway else str(each.cpu_ratio), f"{each.p50:.0f}",
            "1" if gateway else str(each.p50_ratio), f"{each.p99:.0f}",
            bar.verdict(each) if bar else "")


def compare(name, scenario, results):
    """Shows them as a table; the figures."""
    summary, notes = measure(name, scenario, results)
    show(f"{name}: {scenario.title}", COLUMNS, [row(scenario, each) for each in summary])
    for note in notes:
        print(f"\n{note}")
    return {each.proxy: each for each in summary}
