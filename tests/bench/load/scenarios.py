"""What is measured, and the bars: how many times the gateway's CPU per request a peer must need."""
from dataclasses import dataclass, field

ALL = ("gateway", "nginx", "haproxy", "relay")

# What the configurations in peers/ ask for: so much that nobody is rejected, or as little as it goes.
GENEROUS = {
    "gateway_rate": "1000000/s", "gateway_burst": "100000",
    "nginx_rate": "1000000r/s", "nginx_burst": "burst=100000",
    "haproxy_allowed": "1000000000",
}
STINGY = {
    "gateway_rate": "1/d", "gateway_burst": "1",
    "nginx_rate": "1r/m", "nginx_burst": "",
    "haproxy_allowed": "0",
}


@dataclass(frozen=True)
class Scenario:
    title: str
    clients: int = 1
    connections: int = 64
    body: int = 0           # bytes of a response; 0: a JSON document of 98
    rate: int = 0           # requests per second; 0: as many as go through
    rejected: bool = False
    cycles: int = 30
    seconds: float = 0.3    # of one slice
    proxies: tuple = ALL
    bars: dict = field(default_factory=dict)

    @property
    def limits(self):
        return STINGY if self.rejected else GENEROUS

    @property
    def expected(self):
        return "rejected" if self.rejected else "allowed"


SCENARIOS = {
    "allowed": Scenario("allowed, 1 client, 64 connections", bars={"nginx": 1.2, "haproxy": 1.35}),
    "clients": Scenario("allowed, 100,000 clients, 64 connections", clients=100_000,
                        bars={"nginx": 1.25}),
    "connections": Scenario("allowed, 100,000 clients, 512 connections", clients=100_000,
                            connections=512),
    # The relay has nothing to reject with.
    "rejected": Scenario("rejected with 429, 1 client, 64 connections", rejected=True,
                         proxies=("gateway", "nginx", "haproxy"), bars={"nginx": 1.2}),
    "bodies": Scenario("allowed, responses of 16 KiB, 1 client, 64 connections", body=16 * 1024,
                       bars={"nginx": 1.2}),
    "latency": Scenario("allowed, 5,000 requests/s on a schedule, 1 client, 32 connections",
                        connections=32, rate=5000, cycles=10, seconds=0.6),
}
