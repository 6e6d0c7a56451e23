"""The alerts of docker/alerts.yml, on outages of a real gateway that are recorded here.

Everything fails at once, each thing under a name of its own, while a thread asks for all of it. A
scrape a second is written down as one of every 15 s, so the time in which the gateway itself notices
and recovers counts 15 times; then promtool says when which alert fires."""
import os
import re
import signal
import threading

from harness.case import SystemTest, only_as_shipped
from harness.clock import running
from harness.gateway import ROOT
from harness.load import Load
from harness.metrics import Metrics
from harness.client import get
from harness.process import run_tool, wait_until
from harness.redis_server import RedisServer

RULES = os.path.join(ROOT, "docker/alerts.yml")
BETWEEN = 1.0  # scrapes, in seconds; an outage begins and ends just after one
INTERVAL = 15  # of what promtool is told
BEGIN, DRAINED, END, LAST = 3, 6, 9, 15  # numbers of scrapes
IN_TIME = 60
KILLED = ("alone", "several", "all1", "all2")  # servers

TEXT = """
drain_timeout: 60s
stores: {{ away: {{ url: '{away}', timeout: 1s }}, well: {{ url: '{well}', timeout: 1s }} }}
limits:
  open: {{ key: [], rate: 1000/s, store: away, on_store_failure: open }}
  closed: {{ key: [], rate: 1000/s, store: away, on_store_failure: closed }}
  local: {{ key: [], rate: 1000/s, store: away, on_store_failure: local }}
  fine: {{ key: [], rate: 1000/s, store: well, on_store_failure: closed }}
  few: {{ key: [], rate: 2/s }}
routes:
  - {{ name: open, match: {{ path: /open }}, limits: [open], upstream: echo }}
  - {{ name: closed, match: {{ path: /closed }}, limits: [closed], upstream: echo }}
  - {{ name: local, match: {{ path: /local }}, limits: [local], upstream: echo }}
  - {{ name: fine, match: {{ path: /fine }}, limits: [fine, few], upstream: echo }}
  - {{ name: alone, match: {{ path: /alone }}, upstream: alone }}
  - {{ name: several, match: {{ path: /several }}, upstream: several }}
  - {{ name: all, match: {{ path: /all }}, upstream: all }}
  - {{ name: sick, match: {{ path: /sick }}, upstream: sick }}
  - {{ name: held, match: {{ path: /held }}, limits: [fine], upstream: held }}
upstreams:
  echo: {{ servers: [echo] }}
  alone: {{ servers: ['{alone}'] }}
  several: {{ servers: ['{several}', '{other}'], {passing_over} }}
  all: {{ servers: ['{all1}', '{all2}'], {passing_over} }}
  sick: {{ servers: ['{sick}'] }}
  held: {{ servers: ['{held}'] }}
"""
# As long as the scrapes are apart, and again with the first failure, as ever longer times are long
# for real scrapes.
PASSING_OVER = "slow_start: 0s, ejection: { failures: 1, time: 1s, max_time: 1s }"
# All but one, which is for a request that is under way while its gateway drains.
ROUTES = ("open", "closed", "local", "fine", "alone", "several", "all", "sick")

# What must fire, as a PromQL selector; with "server" the address of the one that is killed.
EXPECTED = [
    'alertname="GatewayStoreDown",severity="page",store="away",instance="a"',
    'alertname="GatewayFailsOpen",severity="page",limit="open"',
    'alertname="GatewayFailsClosed",severity="page",limit="closed"',
    'alertname="GatewayDecidesLocally",limit="local"',
    'alertname="GatewayServerErrors",severity="page",route="alone"',
    'alertname="GatewayServerErrors",severity="page",route="all"',
    'alertname="GatewayServerErrors",severity="page",route="sick"',
    'alertname="GatewayUpstreamFailing",severity="page",upstream="alone"',
    'alertname="GatewayUpstreamFailing",severity="page",upstream="all"',
    'alertname="GatewayServerOut",upstream="several",server="{several}"',
    'alertname="GatewayReloadFailed",instance="a"',
    'alertname="GatewayDown",severity="page",instance="killed"',
]
# What goes on as ever, or is drained and started anew: nothing may fire about it.
QUIET = [
    'store="well"',
    'limit=~"fine|few"',
    'route=~"fine|several|open|local|closed"',
    'upstream="echo"',
    'upstream="several",server="{other}"',
    'instance="restarted",store="well"',
    'instance="restarted",alertname="GatewayDown"',
]


class Recording:
    """Scrapes as series for promtool: those that docker/alerts.yml asks for."""

    def __init__(self):
        with open(RULES, encoding="utf-8") as f:
            self._names = set(re.findall(r"\b(?:gateway|process)_\w+", f.read()))
        self._series = {}
        self.count = 0

    def add(self, gateways):
        """One scrape of each: {instance: its gateway, or None if it is gone}."""
        for instance, gateway in gateways.items():
            rows = self._rows(gateway)
            for name, labels, value in rows:
                labels = {"job": "gateway", "instance": instance} | labels
                text = ",".join(f'{k}="{v}"' for k, v in sorted(labels.items()))
                values = self._series.setdefault(f"{name}{{{text}}}", [])
                values += ["_"] * (self.count - len(values)) + [f"{value:.10g}"]
        self.count += 1

    def _rows(self, gateway):
        if gateway is None:
            return [("up", {}, 0)]
        rows = Metrics(get(gateway.admin, "/metrics").text).rows
        return [("up", {}, 1)] + [row for row in rows if row[0] in self._names]

    def lines(self):
        for series, values in self._series.items():
            # A series that ends has left the scrape, so it is stale at once.
            ended = ["stale"] if len(values) < self.count else []
            yield f"- series: '{series}'\n  values: '{' '.join(values + ended)}'"


def firing(selector=""):
    return f'ALERTS{{alertstate="firing",{selector}}}'


def expectation(expression, at, fires):
    """That of an evaluation at scrape number `at`."""
    text = f"- expr: '{expression}'\n  eval_time: {at * INTERVAL}s\n"
    return text + ("  exp_samples: [ { labels: '{}', value: 1 } ]" if fires else "  exp_samples: []")


def indented(lines, by):
    return "".join(" " * by + line + "\n" for text in lines for line in text.split("\n"))


@only_as_shipped
class Alerts(SystemTest):
    alone = True

    def test_fire_within_a_minute_and_are_silent_a_minute_after(self):
        recording, names = self.record()
        expected = [selector.format(**names) for selector in EXPECTED]
        wanted = [
            expectation(firing(), at, False)
            for at in (*range(0, BEGIN + 1), *range(END + IN_TIME // INTERVAL, LAST + 1))
        ]
        for at in range(BEGIN + IN_TIME // INTERVAL, END + 1):
            wanted += [expectation(f"count({firing(s)})", at, True) for s in expected]
        for at in range(LAST + 1):
            wanted += [expectation(firing(s.format(**names)), at, False) for s in QUIET]
        text = (
            f"rule_files: ['{RULES}']\nevaluation_interval: {INTERVAL}s\ntests:\n"
            f"  - interval: {INTERVAL}s\n    input_series:\n{indented(recording.lines(), 6)}"
            f"    promql_expr_test:\n{indented(wanted, 6)}"
        )
        path = self.directory().file("alerts_test.yml", text)
        status, out, err = run_tool(["promtool", "test", "rules", path])
        self.assertEqual(status, 0, out + err)

    def record(self):
        """(the recording, addresses of servers by name)"""
        self.away, self.well = self.started(RedisServer()), self.started(RedisServer())
        self.failing = threading.Event()
        self.released = threading.Event()
        origins = {name: self.origin() for name in (*KILLED, "other")}
        origins["sick"] = self.origin(
            lambda peer, request: peer.reply(status=500 if self.failing.is_set() else 200)
        )
        origins["held"] = self.origin(
            lambda peer, request: self.released.wait(60) and peer.reply()
        )
        names = {name: origin.address for name, origin in origins.items()}
        self.text = TEXT.format(
            away=self.away.url, well=self.well.url, passing_over=PASSING_OVER, **names
        )
        gateways = {name: self.gateway(self.text) for name in ("a", "killed", "restarted")}
        for gateway in gateways.values():
            for store in ("away", "well"):
                wait_until(lambda g=gateway, s=store: g.metrics().sum("gateway_store_up", store=s))
        flows = [(r, f"GET /{r} HTTP/1.1\r\nHost: h\r\n\r\n".encode()) for r in ROUTES * 2]
        load = Load(gateways["a"].address, flows, interval=0.1).start()
        recording = Recording()
        due = running()
        with gateways["restarted"].connect() as last_request:
            last_request.request("/held")
            for number in range(LAST + 1):
                wait_until(lambda: running() >= due, BETWEEN + 1, "the next scrape is due")
                due = running() + BETWEEN
                recording.add(gateways)
                if number == BEGIN:
                    self.break_everything(gateways, origins)
                if number == DRAINED:
                    self.restart(gateways, last_request)
                if number == END:
                    self.mend_everything(gateways, names)
        load.finish()
        self.assertEqual(load.lost, [])
        return recording, names

    def break_everything(self, gateways, origins):
        self.away.kill()
        for name in KILLED:
            origins[name].stop()
        self.failing.set()
        self.assertIn("refused", gateways["a"].reload("routes: 7"))
        gateways["killed"].signal(signal.SIGKILL)
        gateways["killed"].wait()
        gateways["killed"] = None
        gateways["restarted"].signal(signal.SIGTERM)

    def restart(self, gateways, last_request):
        self.released.set()
        self.assertEqual(last_request.response().status, 200)
        self.assertEqual(gateways["restarted"].wait(), 0)
        gateways["restarted"] = self.gateway(self.text)

    def mend_everything(self, gateways, names):
        self.away.start()
        for name in KILLED:
            self.origin(port=int(names[name].rpartition(":")[2]))
        self.failing.clear()
        self.assertIn("reloaded", gateways["a"].reload(self.text))
        gateways["killed"] = self.gateway(self.text)
