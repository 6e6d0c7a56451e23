"""The whole gateway with its buckets in Redis, beside nginx + Lua that keep them there, and one with its own."""
import dataclasses
import json
import subprocess
import tempfile
from pathlib import Path

from proxies import LOAD_CORE, Proxies, free_port, settle_on
from scenarios import Bar, Scenario
from slices import compare, generator
from stores import Redis, measured
from table import show

PROXIES = ("gateway", "local", "nginx_lua")
SCENARIOS = {
    "redis": Scenario("1 client, 64 connections", proxies=PROXIES, bars={"nginx_lua": Bar(2.4)}),
    "redis_clients": Scenario("10,000 clients, 64 connections", clients=10_000, proxies=PROXIES),
}
LATENCY = Scenario("5,000 requests/s on a schedule, 1 client, 32 connections", connections=32, rate=5000,
                   cycles=10, seconds=0.6, proxies=PROXIES)
MARGIN_US = 100
TRIPS = {"callers": 1, "rate": 500, "lasts_ms": 5000}


def at(redis, scenario):
    return dataclasses.replace(scenario, redis=redis.port)


def round_trip(redis, results):
    """A script called 500 times a second, beside the same load on a gateway with its own buckets: what Redis
    itself takes, while its core has as much to do."""
    scenario = at(redis, dataclasses.replace(LATENCY, proxies=("local",)))
    with tempfile.TemporaryDirectory(dir=results, prefix="redis-") as directory, \
            Proxies(scenario.proxies, scenario.settings, free_port(), Path(directory)) as proxies, \
            subprocess.Popen(generator(scenario, proxies), preexec_fn=settle_on(LOAD_CORE),
                             stdout=subprocess.DEVNULL) as load:
        try:
            return measured(redis, "script", **TRIPS)
        finally:
            load.wait(60)


def run(results):
    with Redis() as redis:
        for name, scenario in SCENARIOS.items():
            compare(name, at(redis, scenario), results)
        figures = compare("redis_latency", at(redis, LATENCY), results)
        trip = round_trip(redis, results)
    (results / "redis_trip.json").write_text(json.dumps(trip, indent=2), encoding="utf-8")
    gateway, local = figures["gateway"], figures["local"]
    most = local.p99 + trip["p99_us"] + MARGIN_US
    show("redis: what it adds to latency", ("", "p50 us", "p99 us", "bar"), [
        ("gateway with Redis", f"{gateway.p50:.0f}", f"{gateway.p99:.0f}",
         f"p99 <= {most:.0f}: {'met' if gateway.p99 <= most else 'not met'}"),
        ("gateway with its own buckets", f"{local.p50:.0f}", f"{local.p99:.0f}", ""),
        ("one script in Redis", f"{trip['p50_us']:.0f}", f"{trip['p99_us']:.0f}", "")])
