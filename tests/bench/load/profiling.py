"""Where the gateway's time goes: its own instructions by part and function, and its system calls."""
import contextlib
import json
import re
import signal
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import callgrind
from proxies import LOAD_CORE, PROGRAMS, Proxies, free_port, settle_on
from scenarios import Scenario
from slices import generator
from table import show

SCENARIOS = {f"{'rejected' if rejected else 'allowed'}, connections: {connections}":
             Scenario("", connections=connections, rejected=rejected, cycles=1,
                      seconds=600)  # ended long before
             for rejected in (False, True) for connections in (64, 1)}
SECONDS = 4      # of load that are counted
WARM_UP = 3
FUNCTIONS = 25   # shown
SETTLED = 0.3    # ample for what is under way to come to rest


class UnderCallgrind(Proxies):
    """The gateway that ships. Its functions are inlined across files, and tell little of parts."""

    def command(self, name, port):
        return ["valgrind", "--tool=callgrind", "--instr-atstart=no",
                f"--callgrind-out-file={self.directory / 'callgrind'}",
                *super().command(name, port)]


class PlainUnderCallgrind(UnderCallgrind):
    """The same source, built file by file."""

    gateway = PROGRAMS / "gateway"


def answered(admin):
    with urllib.request.urlopen(f"http://127.0.0.1:{admin}/metrics", timeout=30) as page:
        rows = page.read().decode()
    return sum(float(n) for n in re.findall(r"^gateway_requests_total\{.*\} (\S+)$", rows, re.M))


@contextlib.contextmanager
def under_load(scenario, proxies):
    """Yields the load generator, warmed up and stopped."""
    command = generator(scenario, proxies)
    load = subprocess.Popen(command, preexec_fn=settle_on(LOAD_CORE), stdout=subprocess.DEVNULL)
    try:
        run_for(WARM_UP, load)
        yield load
    finally:
        load.kill()
        load.wait()


def run_for(seconds, load):
    """Lets the load run, and stops it: the gateway is at rest then, and its counters stand."""
    load.send_signal(signal.SIGCONT)
    time.sleep(seconds)
    if load.poll() is not None:
        raise RuntimeError("the load generator ended")
    load.send_signal(signal.SIGSTOP)
    time.sleep(SETTLED)


def start(proxies_type, scenario, directory):
    return proxies_type(("gateway",), scenario.settings, free_port(), directory)


def count_instructions(scenario, directory, proxies_type=PlainUnderCallgrind):
    """({function: instructions}, requests)"""
    def switch(state):
        subprocess.run(["callgrind_control", "-i", state, str(gateway.pid)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, timeout=30,
                       check=True)

    with start(proxies_type, scenario, directory) as proxies, \
            under_load(scenario, proxies) as load:
        gateway = proxies.processes["gateway"]
        before = answered(proxies.admins["gateway"])
        switch("on")
        run_for(SECONDS, load)
        switch("off")
        requests = answered(proxies.admins["gateway"]) - before
    text = (directory / "callgrind").read_text(encoding="utf-8")  # written at the end
    return callgrind.instructions(text), requests


def count_as_shipped(scenario, directory):
    return count_instructions(scenario, directory, UnderCallgrind)


def count_calls(scenario, directory):
    """({system call: calls}, requests)"""
    file = directory / "strace"
    with start(Proxies, scenario, directory) as proxies, under_load(scenario, proxies) as load:
        before = answered(proxies.admins["gateway"])
        strace = subprocess.Popen(["strace", "-c", "-f", "-o", file, "-p",
                                   str(proxies.processes["gateway"].pid)],
                                  stderr=subprocess.DEVNULL)
        time.sleep(1)  # to attach
        run_for(SECONDS, load)
        strace.send_signal(signal.SIGINT)
        strace.wait(10)
        requests = answered(proxies.admins["gateway"]) - before
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", file.read_text(), re.M)
    return {name: int(calls) for calls, name in rows if name != "total"}, requests


def descending(costs):
    return sorted(costs.items(), key=lambda each: -each[1])


def show_instructions(name, costs, requests):
    total = sum(costs.values())
    parts = {}
    for function, cost in costs.items():
        parts[callgrind.part(function)] = parts.get(callgrind.part(function), 0) + cost

    def rows(each):
        return [(words[:80], f"{cost / requests:,.0f}", f"{cost / total:.1%}")
                for words, cost in each]

    columns = ("instructions per request", "share")
    title = f"profile: user instructions, {name}"
    show(f"{title}, by part ({requests:,.0f} requests)", ("part", *columns),
         rows([("all", total), *descending(parts)]))
    show(f"{title}, by function", ("function", *columns), rows(descending(costs)[:FUNCTIONS]))


def show_total(name, costs, requests):
    print(f"\n{name}, as it ships: {sum(costs.values()) / requests:,.0f} instructions per request")


def show_calls(name, calls, requests):
    lines = [("all", sum(calls.values())), *descending(calls)]
    show(f"profile: system calls, {name} ({requests:,.0f} requests)",
         ("system call", "per request"),
         [(call, f"{count / requests:.3f}") for call, count in lines])


def run(results):
    raw = {}
    for name, scenario in SCENARIOS.items():
        for count, present in ((count_instructions, show_instructions),
                               (count_as_shipped, show_total), (count_calls, show_calls)):
            with tempfile.TemporaryDirectory(dir=results, prefix="profile-") as directory:
                costs, requests = count(scenario, Path(directory))
            raw[f"{count.__name__} {name}"] = {"requests": requests, "costs": costs}
            present(name, costs, requests)
    (results / "profile.json").write_text(json.dumps(raw, indent=2), encoding="utf-8")
