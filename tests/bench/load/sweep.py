"""Throughput and latency against the number of connections, as a table and as a plot."""
import os

import plot
import slices
from scenarios import SWEEP
from table import show

COLUMNS = ("connections", *slices.COLUMNS[:-1])  # there is no bar


def run(results):
    lines, notes = [], []
    for scenario in SWEEP:
        summary, remarks = slices.measure(f"sweep-{scenario.connections}", scenario, results)
        lines += [(f"{scenario.connections:,}", *slices.row(scenario, each)[:-1])
                  for each in summary]
        notes += [f"{scenario.title}: {remark}" for remark in remarks]
    show("sweep: allowed, 1 client, 1 to 1,024 connections", COLUMNS, lines)
    for note in notes:
        print(f"\n{note}")
    file = results / "sweep.svg"
    file.write_text(plot.of_sweep(results), encoding="utf-8")
    print(f"\nPlot: {os.path.relpath(file)}")
