"""The benchmark's own arithmetic, and its programs for a moment beside the gateway.

    bench_test.py LOAD RELAY GATEWAY
"""
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
import xml.dom.minidom

import callgrind
import figures
import plot
from proxies import Proxies, free_port
from scenarios import ATTACKS, SWEEP, Attack, Bar, Scenario
from slices import generator

HEADER = ("cycle,proxy,requests,allowed,rejected,failed,wall_ns,cpu_ns,user_ticks,system_ticks,"
          "generator_ns,p50_us,p99_us\n")


def slice_of(proxy, cycle, cpu_us, busy=1.0, allowed=1000):
    """One line of the load generator: 1,000 requests in the time that makes the core so busy."""
    cpu = cpu_us * 1_000_000
    return (f"{cycle},{proxy},1000,{allowed},{1000 - allowed},0,{cpu / busy:.0f},{cpu},1,3,0,"
            f"{cpu_us * 10},{cpu_us * 20}\n")


def summary(text, saturated=True):
    found, clean = figures.summarise(figures.read(text, "allowed"), saturated)
    return {each.proxy: each for each in found}, clean


class figures_of_slices(unittest.TestCase):
    def test_divide_a_peer_by_the_gateway_in_the_same_cycle(self):
        text = HEADER + "".join(slice_of("gateway", c, 10 * speed) + slice_of("nginx", c, 15 * speed)
                                for c, speed in enumerate((1, 2, 1, 2, 3)))
        found, clean = summary(text)
        self.assertTrue(clean)
        self.assertEqual(found["nginx"].cpu_ratio, figures.Ratio(1.5, 1.5, 1.5))
        self.assertEqual(found["nginx"].p50_ratio.median, 1.5)
        self.assertEqual(found["gateway"].user_share, 0.25)

    def test_leave_out_slices_without_a_core_to_themselves(self):
        text = HEADER + "".join(slice_of("gateway", c, 10) + slice_of("nginx", c, 20)
                                for c in range(6))
        text += slice_of("gateway", 6, 90, busy=0.5) + slice_of("nginx", 6, 20)
        found, clean = summary(text)
        self.assertTrue(clean)
        self.assertEqual(found["gateway"].kept, 6)
        self.assertEqual(found["nginx"].cpu_ratio.low, 2)
        self.assertEqual(summary(text, saturated=False)[0]["gateway"].kept, 7)

    def test_say_so_when_hardly_a_slice_is_left(self):
        text = HEADER + "".join(slice_of("gateway", c, 10, busy=0.5) for c in range(9))
        self.assertFalse(summary(text)[1])

    def test_tell_answers_that_are_not_expected(self):
        text = HEADER + "".join(slice_of("gateway", c, 10, allowed=990) for c in range(9))
        self.assertAlmostEqual(summary(text)[0]["gateway"].unexpected, 0.01)

    def test_meet_a_bar_or_do_not(self):
        text = HEADER + "".join(slice_of("gateway", c, 10) + slice_of("nginx", c, 12)
                                for c in range(6))
        nginx = summary(text)[0]["nginx"]
        self.assertEqual(Bar(1.2).verdict(nginx), "cpu >= 1.20: met")
        self.assertEqual(Bar(1.3, "p50").verdict(nginx), "p50 >= 1.30: not met")


class callgrind_files(unittest.TestCase):
    def test_count_what_a_function_does_itself(self):
        text = ("positions: line\nevents: Ir\nsummary: 0\n\nfn=(1) gateway::http::parse(char)\n"
                "12 100\n+3 20\ncfn=(2) malloc\ncalls=7 40\n* 9000\n-1 3\n\n"
                "fn=(2)\n0 9000\nfn=(3) gateway::http::parse(int)\n* 7\n")
        self.assertEqual(callgrind.instructions(text),
                         {"gateway::http::parse": 130, "malloc": 9000})

    def test_tell_the_part_of_a_function(self):
        for function, part in (
                ("gateway::http::parse", "http"),
                ("boost::asio::detail::wait_op<gateway::net::poller>::do_complete", "boost"),
                ("std::vector<gateway::http::field>::reserve", "std"),
                ("operator new", "allocation"), ("_int_free", "allocation"),
                ("malloc", "allocation"), ("recv", "libc"), ("__memchr_avx2", "libc")):
            self.assertEqual(callgrind.part(function), part, function)


class plots(unittest.TestCase):
    def test_show_every_proxy_at_every_number_of_connections(self):
        with tempfile.TemporaryDirectory() as directory:
            results = pathlib.Path(directory)
            for each in SWEEP:
                (results / f"sweep-{each.connections}.csv").write_text(HEADER + "".join(
                    slice_of(proxy, c, 10 + i) for c in range(6)
                    for i, proxy in enumerate(each.proxies)))
            drawing = xml.dom.minidom.parseString(plot.of_sweep(results))
        points = drawing.getElementsByTagName("circle")
        self.assertEqual(len(points), 3 * len(SWEEP) * len(plot.COLOURS))  # requests, p50, p99
        for point in points:
            self.assertLess(plot.LEFT - 1, float(point.getAttribute("cx")))
            self.assertLess(float(point.getAttribute("cx")), plot.WIDTH)
            self.assertLess(plot.TOP - 1, float(point.getAttribute("cy")))
            self.assertLess(float(point.getAttribute("cy")), plot.HEIGHT - plot.BOTTOM + 1)


class BuiltHere(Proxies):
    """What these tests were built with, in place of what ships."""

    programs = {}

    def command(self, name, port):
        return [self.programs.get(name, self.programs["gateway"]), *super().command(name, port)[1:]]


ENDED = "gateway_http2_connections_closed_total"


def count(proxies, name, row):
    """The sum of the rows of a gateway's metrics that have this in them."""
    with urllib.request.urlopen(f"http://127.0.0.1:{proxies.admins[name]}/metrics",
                                timeout=30) as page:
        lines = page.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines
               if row in line and line.startswith(("gateway_requests_total", row)))


class the_load_generator(unittest.TestCase):
    @contextlib.contextmanager
    def load(self, scenario):
        """Yields the proxies and the generator at work."""
        with tempfile.TemporaryDirectory() as directory, BuiltHere(
                scenario.proxies, scenario.settings, free_port(), pathlib.Path(directory)) as proxies:
            command = [BuiltHere.programs["load"], *generator(scenario, proxies)[1:]]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as load:
                try:
                    yield proxies, load
                finally:
                    load.kill()

    def expect_all(self, outcome, *proxies, **options):
        scenario = Scenario("", connections=4, cycles=2, proxies=proxies,
                            **{"seconds": 0.05, **options})
        with self.load(scenario) as (_, load):
            self.check_slices(scenario, outcome, load)

    def check_slices(self, scenario, outcome, load):
        text, _ = load.communicate(timeout=60)
        self.assertEqual(load.returncode, 0)
        slices = figures.read(text, outcome)
        self.assertEqual(set(slices), set(scenario.proxies))
        for cycles in slices.values():
            for each in cycles.values():
                self.assertEqual(each.unexpected, 0)

    def test_keeps_connections(self):
        self.expect_all("allowed", "gateway", "relay")

    def test_takes_a_connection_for_each_request(self):
        self.expect_all("allowed", "gateway", once=True)

    def test_sends_and_takes_more_than_a_socket_holds(self):
        self.expect_all("allowed", "gateway", body=8 * 1024 * 1024, seconds=0.2)

    def test_posts_messages_of_more_than_a_socket_takes_at_once(self):
        self.expect_all("allowed", "gateway", "unread", sent=1024 * 1024, read=True, seconds=0.2)

    def test_takes_streams_whose_usage_is_read(self):
        scenario = Scenario("", connections=4, cycles=2, seconds=0.2, sent=512, events=20, read=True,
                            proxies=("gateway", "unread"))
        with self.load(scenario) as (proxies, load):
            self.check_slices(scenario, "allowed", load)
            self.assertGreater(count(proxies, "gateway", "gateway_requests_total"), 0)
            self.assertEqual(count(proxies, "gateway", "gateway_settlements_missing_total"), 0)

    def test_asks_on_a_schedule(self):
        self.expect_all("allowed", "gateway", "relay", rate=500)

    def test_tells_rejections(self):
        self.expect_all("rejected", "gateway", rejected=True)

    def test_attacks(self):
        attacks = {kind: Attack(connections=20, rate=400) for kind in ATTACKS}
        attacks["h2_resets"] = Attack(connections=20, rate=4)  # each has a hundred requests
        scenario = Scenario("", connections=4, cycles=2, seconds=0.05, attacks=attacks,
                            proxies=("gateway", *attacks))
        with self.load(scenario) as (proxies, load):
            for kind in ("idle", "heads", "bodies", "readers", "keys", "h2_windows"):
                while (found := count(proxies, kind, 'gateway_connections{side="client"')) != 24:
                    self.assertIsNone(load.poll(), f"{kind}: {found} connections")
                    time.sleep(0.01)
            self.check_slices(scenario, "allowed", load)
            for kind, row in (("bombs", 'code="400"'), ("bombs", 'code="431"'),
                              ("resets", 'code="499"'), ("keys", "gateway_buckets{"),
                              ("h2_resets", 'code="499"'), ("h2_frames", f'{ENDED}{{reason="idle_frames"}}'),
                              ("h2_bombs", f'{ENDED}{{reason="large_heads"}}')):
                self.assertGreater(count(proxies, kind, row), 10, (kind, row))


if __name__ == "__main__":
    BuiltHere.programs = dict(zip(("load", "relay", "gateway"), sys.argv[1:4]))
    unittest.main(argv=sys.argv[:1])
