"""From the slices of one run to the figures of its table.

The machine's speed wanders from second to second, so a figure by itself says little: each slice of
a peer is divided by the gateway's slice of the same cycle, and the median of these ratios counts.
"""
import csv
import io
import statistics
from dataclasses import dataclass

BUSY = 0.93  # a slice counts when the proxies' core or the generator's was theirs for this share
ENOUGH = 5


@dataclass(frozen=True)
class Slice:
    requests_per_second: float
    cpu: float            # us per request
    user: float           # ticks
    system: float         # ticks
    busy: float           # the larger share of a core, of proxy and generator
    p50: float
    p99: float
    unexpected: float     # share of answers that the scenario does not expect


@dataclass(frozen=True)
class Ratio:
    """Of a peer to the gateway: the median over the cycles, and its quartiles."""
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values):
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)

    def __str__(self):
        return f"{self.median:.2f} [{self.low:.2f}-{self.high:.2f}]"


@dataclass(frozen=True)
class Figures:
    proxy: str
    kept: int             # slices that count
    requests_per_second: float
    cpu: float
    user_share: float
    p50: float
    p99: float
    cpu_ratio: Ratio
    throughput_ratio: Ratio
    p50_ratio: Ratio
    unexpected: float


def requests(text):
    """{proxy: requests} of all slices of the load generator's CSV."""
    sums = {}
    for row in csv.DictReader(io.StringIO(text)):
        sums[row["proxy"]] = sums.get(row["proxy"], 0) + int(row["requests"])
    return sums


def read(text, expected):
    """{proxy: {cycle: Slice}} of the load generator's CSV."""
    slices = {}
    for row in csv.DictReader(io.StringIO(text)):
        name, cycle = row.pop("proxy"), int(row.pop("cycle"))
        value = {key: float(text) for key, text in row.items()}
        wall, requests = value["wall_ns"], value["requests"]
        slices.setdefault(name, {})[cycle] = Slice(
            requests_per_second=requests / wall * 1e9,
            cpu=value["cpu_ns"] / requests / 1e3,
            user=value["user_ticks"], system=value["system_ticks"],
            busy=max(value["cpu_ns"], value["generator_ns"]) / wall,
            p50=value["p50_us"], p99=value["p99_us"],
            unexpected=1 - value[expected] / requests)
    return slices


def summarise(slices, saturated):
    """Figures of every proxy, and whether they are of slices that count: all, if too few do."""
    kept = {name: {cycle: s for cycle, s in cycles.items() if not saturated or s.busy >= BUSY}
            for name, cycles in slices.items()}
    clean = all(len(kept[name].keys() & kept["gateway"].keys()) >= ENOUGH for name in slices)
    used = kept if clean else slices
    return [figures_of(name, len(kept[name]), used[name], used["gateway"])
            for name in slices], clean


def figures_of(name, count, used, reference):
    common = sorted(used.keys() & reference.keys())
    median = {key: statistics.median(getattr(s, key) for s in used.values())
              for key in ("requests_per_second", "cpu", "p50", "p99")}
    user, system = (sum(getattr(s, key) for s in used.values()) for key in ("user", "system"))

    def ratio(key):
        return Ratio.of([getattr(used[c], key) / getattr(reference[c], key) for c in common])

    return Figures(
        proxy=name, kept=count, **median,
        user_share=user / max(1, user + system),
        cpu_ratio=ratio("cpu"), throughput_ratio=ratio("requests_per_second"),
        p50_ratio=ratio("p50"),
        unexpected=max(s.unexpected for s in used.values()))
