"""What it costs to read messages: a gateway whose limit reads them beside one whose limit does not."""
from scenarios import Bar, Scenario
from slices import compare

READERS = ("gateway", "unread")
MOST = Bar(1 / 1.05)
# Streams come event by event, as a language model says them, only while nobody is in a hurry.
SCENARIOS = {
    "messages_small": Scenario("requests of 2 KiB, 1 client, 64 connections",
                               sent=2 * 1024, read=True, proxies=READERS),
    "messages_large": Scenario("requests of 64 KiB, 1 client, 64 connections",
                               sent=64 * 1024, read=True, proxies=READERS),
    "messages_streams": Scenario(
        "streams of 200 events of 300 bytes, 100 a second on a schedule, 1 client, 32 connections",
        connections=32, rate=100, sent=512, read=True, events=200, seconds=1.0, proxies=READERS,
        bars={"unread": MOST}),
}


def run(results):
    for name, scenario in SCENARIOS.items():
        compare(name, scenario, results)
