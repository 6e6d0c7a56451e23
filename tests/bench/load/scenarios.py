"""What is measured in slices, and the bars: how much more than the gateway a peer must need."""
from dataclasses import dataclass, field

ALL = ("gateway", "nginx", "haproxy", "relay")
WITHOUT_RELAY = ("gateway", "nginx", "haproxy")

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
# Besides the one that takes the load; as many as a configuration may have.
MANY_ROUTES = "".join(
    f"  - {{ match: {{ path: /service-{i}/v1 }}, limits: [per_client], upstream: upstream }}\n"
    for i in range(9_999))
# Both gather lines, up to 32 KiB; nginx's own default is a write per line.
LOG = {"gateway_log": "true", "nginx_log": "nginx.log combined buffer=32k flush=1s"}
# Nothing, or a listener and an upstream that speak TLS with the certificate in these files.
PLAIN = {
    "gateway_tls": "", "gateway_upstream_tls": "", "haproxy_tls": "", "haproxy_upstream_tls": "",
    "nginx_tls": "", "nginx_scheme": "http", "nginx_settings": "",
}
TLS_OF_CLIENTS = {
    "gateway_tls": "\n    tls: { certificates: [ { cert: @{pem}, key: @{pem} } ] }",
    "haproxy_tls": " ssl crt @{pem} alpn http/1.1",
    "nginx_tls": " ssl",
    "nginx_settings": "    ssl_certificate @{pem};\n    ssl_certificate_key @{pem};\n"
                      "    ssl_protocols TLSv1.2 TLSv1.3;\n",
}
TLS_OF_UPSTREAMS = {
    "gateway_upstream_tls": "\n    tls: { ca: @{pem}, server_name: api.example.test }",
    "haproxy_upstream_tls": " ssl verify required ca-file @{pem} sni str(api.example.test)"
                            " verifyhost api.example.test",
    "nginx_scheme": "https",
    "nginx_settings": "    proxy_ssl_verify on;\n    proxy_ssl_trusted_certificate @{pem};\n"
                      "    proxy_ssl_name api.example.test;\n    proxy_ssl_server_name on;\n"
                      "    proxy_ssl_protocols TLSv1.2 TLSv1.3;\n",
}
# Where buckets are: in the gateway, or in a Redis on the generator's core.
OWN_BUCKETS = {"gateway_store": "local", "gateway_stores": ""}


def buckets_in_redis(port):
    return {"redis": port, "gateway_store": "shared",
            "gateway_stores": f'stores: {{ shared: {{ url: "redis://127.0.0.1:{port}", timeout: 500ms }} }}\n'}


# A limit that reads neither requests nor responses, and one that reads the model, the most tokens of
# its answer, and what that says it took.
UNREAD = {"gateway_key": "client_ip", "gateway_costs": ""}
READ = {
    "gateway_rate": "1000000000/s", "gateway_burst": "1000000000",
    "gateway_key": '[client_ip, "json:model"]\n    missing_key: reject',
    "gateway_costs": "\n    cost: { json: max_tokens, max: 100000 }\n    settle: { json: "
                     "{ usage.prompt_tokens: 1, usage.completion_tokens: 4 }, max: 100000 }",
}
NO_LOG = {"gateway_log": "false", "nginx_log": "off"}


@dataclass(frozen=True)
class Bar:
    """The least that a peer's figure, divided by the gateway's, must be."""
    least: float
    figure: str = "cpu"     # or p50, throughput

    def verdict(self, figures):
        met = getattr(figures, f"{self.figure}_ratio").median >= self.least
        return f"{self.figure} >= {self.least:.2f}: {'met' if met else 'not met'}"


@dataclass(frozen=True)
class Attack:
    """Of a kind that attack.cpp knows, on a gateway of its own."""
    connections: int
    rate: int               # per second, over all connections: bytes sent, KiB taken, new ones...


@dataclass(frozen=True)
class Scenario:
    title: str
    clients: int = 1
    connections: int = 64
    once: bool = False      # a connection for each request
    body: int = 0           # bytes of a response; 0: a JSON document of 98
    sent: int = 0           # bytes of a message that is posted; 0: none is
    read: bool = False      # by the gateway's limit, but for the proxy `unread`
    events: int = 0         # of a response that is a stream
    rate: int = 0           # requests per second; 0: as many as go through
    rejected: bool = False
    log: bool = False
    tls: int = 0            # of clients: 1: they shake hands anew, 2: they come back with a session
    upstream_tls: bool = False
    redis: int = 0          # the port of one that buckets are in, but for the proxy `local`
    many_routes: bool = False   # but for the proxy `one_route`, which is a gateway, too
    cycles: int = 30
    seconds: float = 0.3    # of one slice
    proxies: tuple = ALL
    attacks: dict = field(default_factory=dict)  # of proxies that are gateways under attack
    bars: dict = field(default_factory=dict)

    @property
    def settings(self):
        tls = PLAIN | (TLS_OF_CLIENTS if self.tls else {}) | (
            TLS_OF_UPSTREAMS if self.upstream_tls else {})
        store = buckets_in_redis(self.redis) if self.redis else OWN_BUCKETS
        limit = UNREAD | (STINGY if self.rejected else GENEROUS) | (READ if self.read else {})
        return tls | store | limit | (LOG if self.log else NO_LOG) | {
            "gateway_routes": MANY_ROUTES if self.many_routes else ""}

    @property
    def saturates(self):
        """Whether proxy or generator is always at work: one connection makes them take turns, and a Redis takes
        of the generator's core."""
        return self.rate == 0 and self.connections > 1 and self.redis == 0

    @property
    def expected(self):
        return "rejected" if self.rejected else "allowed"


# Those that only hold connections, one byte or KiB a second on each; those that make new ones, and
# those that ask: loads in their own right, so modest.
ATTACKS = {
    "idle": Attack(8_000, 0),
    "heads": Attack(5_000, 5_000),
    "bodies": Attack(500, 500),
    "readers": Attack(500, 500),
    "bombs": Attack(50, 500),
    "resets": Attack(50, 500),
    "keys": Attack(50, 2_000),
    "h2_resets": Attack(10, 5),
    "h2_frames": Attack(50, 50),
    "h2_bombs": Attack(50, 50),
    "h2_windows": Attack(50, 50),
}

SCENARIOS = {
    "allowed": Scenario("allowed, 1 client, 64 connections",
                        bars={"nginx": Bar(1.3), "haproxy": Bar(1.35), "relay": Bar(1 / 1.15)}),
    "clients": Scenario("allowed, 100,000 clients, 64 connections", clients=100_000,
                        bars={"nginx": Bar(1.25)}),
    "connections": Scenario("allowed, 100,000 clients, 512 connections", clients=100_000,
                            connections=512, bars={"nginx": Bar(1.8)}),
    # The relay has nothing to reject with.
    "rejected": Scenario("rejected with 429, 1 client, 64 connections", rejected=True,
                         proxies=WITHOUT_RELAY, bars={"nginx": Bar(1.2)}),
    "bodies": Scenario("allowed, responses of 16 KiB, 1 client, 64 connections", body=16 * 1024,
                       bars={"nginx": Bar(1.5)}),
    # The relay passes on what one send takes, and no more.
    "large": Scenario("allowed, responses of 1 MiB, 1 client, 16 connections", body=1024 * 1024,
                      connections=16, proxies=WITHOUT_RELAY,
                      bars={"nginx": Bar(1.0), "haproxy": Bar(1.0)}),
    # The relay closes when the upstream does, which keeps its connections.
    "close": Scenario("allowed, a connection per request, 1 client, 64 at once", once=True,
                      proxies=WITHOUT_RELAY, bars={"nginx": Bar(1.0), "haproxy": Bar(1.0)}),
    "tls": Scenario("allowed over TLS, 1 client, 64 connections", tls=1, proxies=WITHOUT_RELAY,
                    bars={"nginx": Bar(1.35), "haproxy": Bar(1.35)}),
    "tls_bodies": Scenario("allowed over TLS, responses of 64 KiB, 1 client, 64 connections", tls=1,
                           body=64 * 1024, proxies=WITHOUT_RELAY,
                           bars={"nginx": Bar(1.2), "haproxy": Bar(1.2)}),
    "tls_close": Scenario("allowed, a connection with a whole handshake per request, 64 at once",
                          tls=1, once=True, proxies=WITHOUT_RELAY,
                          bars={"nginx": Bar(1.15), "haproxy": Bar(1.15)}),
    "tls_return": Scenario("allowed, a connection with a session per request, 64 at once", tls=2,
                           once=True, proxies=WITHOUT_RELAY),
    "tls_upstream": Scenario("allowed, the upstream speaks TLS, 1 client, 64 connections",
                             upstream_tls=True, proxies=WITHOUT_RELAY,
                             bars={"nginx": Bar(1.2), "haproxy": Bar(1.2)}),
    "log": Scenario("allowed, access log on, 1 client, 64 connections", log=True, cycles=15,
                    proxies=("gateway", "nginx"), bars={"nginx": Bar(1.2)}),
    "routes": Scenario("allowed, 10,000 routes beside one, 1 client, 64 connections",
                       many_routes=True, proxies=("gateway", "one_route"),
                       bars={"one_route": Bar(1 / 1.1)}),
    "profiled": Scenario("allowed, the profiled build beside the plain one, 1 client, "
                         "64 connections", proxies=("gateway", "profiled")),
    "latency": Scenario("allowed, 5,000 requests/s on a schedule, 1 client, 32 connections",
                        connections=32, rate=5000, cycles=10, seconds=0.6,
                        bars={"relay": Bar(1 / 1.1, "p50")}),
    "attack": Scenario("allowed, 1 client, 64 connections, beside an attack", attacks=ATTACKS,
                       proxies=("gateway", *ATTACKS),
                       bars=dict.fromkeys(ATTACKS, Bar(0.9, "throughput"))),
}

SWEEP = [Scenario(f"{connections:,} connections", connections=connections, cycles=12)
         for connections in (1, 8, 64, 256, 1024)]
