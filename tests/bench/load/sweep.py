"""Throughput and latency against the number of connections, as tables and as a plot."""
import plot
import slices
from scenarios import Scenario
from table import show

CONNECTIONS = (1, 8, 64, 256, 1024)
COLUMNS = ("connections", *slices.COLUMNS[:-1])
TITLE = "sweep: allowed, 1 client, 1 to 1,024 connections"


def scenario(connections):
    return Scenario(f"{connections} connections", connections=connections, cycles=12)


def run(results):
    lines, notes = [], []
    for connections in CONNECTIONS:
        this = scenario(connections)
        summary, remarks = slices.measure(f"sweep-{connections}", this, results)
        lines += [(f"{connections:,}", *slices.row(this, each)[:-1]) for each in summary]
        notes += [f"{connections:,} connections: {remark}" for remark in remarks]
    show(TITLE, COLUMNS, lines)
    for note in notes:
        print(f"\n{note}")
    file = results / "sweep.svg"
    file.write_text(plot.of_sweep(results), encoding="utf-8")
    print(f"\nPlot: {file}")
