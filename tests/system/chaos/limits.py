"""The limits under test, one per route, and the configuration of a gateway."""
from collections import namedtuple
from fractions import Fraction

TIMEOUT = 0.100  # of the store
LEASE_TIME = 2.0

# `share`: of what each gateway gives while the store fails. `rhythm`: its clients are busy for so many
# seconds and idle for so many, in which a bucket fills up.
Limit = namedtuple("Limit", "burst rate policy share keys flows rhythm more", defaults=("",))

LIMITS = {
    "closed": Limit(12, 10, "closed", 0, 3, 1, (1, 0)),
    "open": Limit(12, 10, "open", 0, 3, 1, (2.5, 1.7)),
    "local": Limit(12, 10, "local", 1, 3, 1, (2.6, 1.9)),
    "part": Limit(12, 10, "local", Fraction(1, 3), 3, 1, (2.7, 1.6), ", local_share: 1/3"),
    "leased": Limit(400, 200, "closed", 0, 1, 4, (3, 2.5)),
}
INTERVAL = 0.050  # of a flow
LEASED_INTERVAL = 0.020

PORT, ADMIN_PORT = 8080, 9901


def configuration(url, host, reloads=0, more=""):
    """`reloads`: how often this gateway has read another one before."""
    # A cluster has none of these.
    lease = f", lease: {{ share: 10%, time: {LEASE_TIME:.0f}s }}"
    added = {"leased": "" if url.startswith("redis-cluster:") else lease}
    limits = "".join(
        f'  {name}: {{ key: "header:X-Client", missing_key: reject, rate: {it.rate}/s, '
        f"burst: {it.burst}, store: shared, on_store_failure: {it.policy}{it.more}{added.get(name, '')} }}\n"
        for name, it in LIMITS.items()
    )
    routes = "".join(
        f"  - {{ match: {{ path: /{name} }}, limits: [{name}], upstream: up }}\n" for name in LIMITS
    )
    return (
        f"listeners: [ {{ address: '{host}:{PORT}' }} ]\n"
        f"admin: {{ address: '{host}:{ADMIN_PORT}' }}\n"
        "log: { access: false }\n"
        f"stores: {{ shared: {{ url: '{url}', timeout: {TIMEOUT * 1000:.0f}ms{more} }} }}\n"
        f"limits:\n{limits}routes:\n{routes}"
        f"upstreams: {{ up: {{ servers: [echo], max_idle: {64 - reloads % 2} }} }}\n"
    )
