"""Draws throughput and latency against connections from the raw results of `scripts/bench sweep`.

    plot.py RESULTS FILE.svg
"""
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import figures
from scenarios import SWEEP

COLOURS = {"gateway": "#c0392b", "nginx": "#27864a", "haproxy": "#2467b0", "relay": "#888888"}
WIDTH, HEIGHT = 460, 320                     # of one panel
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 34, 46    # its margins


@dataclass(frozen=True)
class Panel:
    """One plot; both axes are logarithmic if `steep`, else only the one of connections."""
    title: str
    lines: dict       # {(proxy, dashed): [(connections, value)]}
    steep: bool = False

    def values(self, axis):
        return [point[axis] for line in self.lines.values() for point in line]

    def x(self, connections):
        low, high = (math.log2(f(self.values(0))) for f in (min, max))
        share = (math.log2(connections) - low) / max(1, high - low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def marks(self):
        """Values written beside the vertical axis; the first and last are its ends."""
        low, high = min(self.values(1)), max(self.values(1))
        if self.steep:
            return [10.0 ** i for i in range(math.floor(math.log10(low)),
                                             math.ceil(math.log10(high)) + 1)]
        step = 10.0 ** math.floor(math.log10(high))
        step = next(s for s in (step / 5, step / 2, step, 2 * step) if high / s <= 6)
        return [step * i for i in range(math.ceil(high / step) + 1)]

    def y(self, value):
        low, high = self.marks()[0], self.marks()[-1]
        if self.steep:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def svg(self):
        yield text(LEFT, TOP - 14, self.title, "start", bold=True)
        for value in self.marks():
            yield stroke([(LEFT, self.y(value)), (WIDTH - RIGHT, self.y(value))], "#dddddd", 1)
            yield text(LEFT - 6, self.y(value) + 4, f"{value:,.0f}", "end")
        for connections in sorted(set(self.values(0))):
            yield text(self.x(connections), HEIGHT - BOTTOM + 18, f"{connections:,}", "middle")
        yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "connections", "middle")
        for (proxy, dashed), line in self.lines.items():
            points = [(self.x(c), self.y(v)) for c, v in line]
            yield stroke(points, COLOURS[proxy], 2, dashed)
            for x, y in points:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{COLOURS[proxy]}"/>'


def text(x, y, words, anchor, bold=False):
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{words}</text>'


def stroke(points, colour, width, dashed=False):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>')


def legend():
    for i, (proxy, colour) in enumerate(COLOURS.items()):
        x = LEFT + i * 110
        yield stroke([(x, HEIGHT + 12), (x + 22, HEIGHT + 12)], colour, 2)
        yield text(x + 28, HEIGHT + 16, proxy, "start")


def drawing(panels):
    size = f"{WIDTH * len(panels)} {HEIGHT + 28}"
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
           'font-family="sans-serif" font-size="12" fill="#222222">')
    yield '<rect width="100%" height="100%" fill="#ffffff"/>'
    for i, panel in enumerate(panels):
        yield f'<g transform="translate({i * WIDTH} 0)">'
        yield from panel.svg()
        yield "</g>"
    yield from legend()
    yield "</svg>\n"


def of_sweep(results):
    """The drawing, from the sweep-N.csv in a folder."""
    throughput, latency = {}, {}
    for scenario in SWEEP:
        connections = scenario.connections
        csv = (results / f"sweep-{connections}.csv").read_text(encoding="utf-8")
        slices = figures.read(csv, scenario.expected)
        for each in figures.summarise(slices, scenario.saturates)[0]:
            throughput.setdefault((each.proxy, False), []).append(
                (connections, each.requests_per_second))
            latency.setdefault((each.proxy, False), []).append((connections, each.p50))
            latency.setdefault((each.proxy, True), []).append((connections, each.p99))
    panels = (Panel("requests per second", throughput),
              Panel("latency, us: p50 and (dashed) p99", latency, steep=True))
    return "\n".join(drawing(panels))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Path(sys.argv[2]).write_text(of_sweep(Path(sys.argv[1])), encoding="utf-8")
