"""A real Redis Cluster of the test's own."""
import re

from harness.place import HERE
from harness.process import accepts, free_port, wait_until
from harness.redis_server import RedisError, RedisServer

SLOTS = 16384


def slot_of(tag):
    """CRC-16/XMODEM of it."""
    crc = 0
    for byte in tag.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc % SLOTS


def free_pair():
    """A port that nobody has, nor the one 10,000 above it, where nodes speak to each other."""
    while True:
        port = free_port()
        if port + 10_000 < 32_768 and not accepts(port + 10_000):
            return port


class Node(RedisServer):
    """`tls`: words with which it speaks TLS also to other nodes, beside its port without."""

    def __init__(self, place=HERE, tls=()):
        of_tls = (*tls, "--tls-cluster", "yes") if tls else ()
        super().__init__(
            *of_tls,
            "--protected-mode", "no",
            "--cluster-enabled", "yes", "--cluster-node-timeout", "1000",
            "--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0",
            "--cluster-require-full-coverage", "no", port=free_pair(), place=place,
            tls=bool(tls), tls_port=free_pair() if tls else None,
        )  # fmt: skip

    @property
    def client_port(self):
        """That by which the gateway and other nodes reach it."""
        return self.tls_port or self.port

    def cluster(self, *words):
        return self.command("CLUSTER", *words)

    @property
    def id(self):
        return self.cluster("MYID").decode()

    def is_well(self):
        try:
            return b"cluster_state:ok" in self.cluster("INFO")
        except (OSError, RedisError):
            return False


class RedisCluster:
    """`masters` nodes with slots, then as many replicas of each; `spare` ones without slots. Node by
    node they are dealt to the places, if there are as many as nodes."""

    def __init__(self, masters=3, replicas=0, spare=0, places=None, tls=()):
        count = masters * (1 + replicas) + spare
        self.nodes = [Node(place, tls) for place in places or [HERE] * count]
        self.masters = self.nodes[:masters]
        self.replicas = self.nodes[masters : masters * (1 + replicas)]
        self.spare = self.nodes[masters * (1 + replicas) :]
        first = self.nodes[0]
        for number, node in enumerate(self.nodes):
            node.cluster("SET-CONFIG-EPOCH", number + 1)
            if node is not first:
                node.cluster("MEET", first.place.host, first.client_port)
        for number, master in enumerate(self.masters):
            low, high = number * SLOTS // masters, (number + 1) * SLOTS // masters - 1
            master.cluster("ADDSLOTSRANGE", low, high)
        count = lambda n: len(re.findall(rb" connected\b", n.cluster("NODES")))
        met = lambda: all(count(n) == len(self.nodes) for n in self.nodes)
        wait_until(met, 20, "all nodes know each other")
        for number, replica in enumerate(self.replicas):
            replica.cluster("REPLICATE", self.masters[number % masters].id)
        wait_until(lambda: all(n.is_well() for n in self.nodes), 30, "the cluster is well")
        for replica in self.replicas:
            wait_until(lambda r=replica: r.command("ROLE")[3] == b"connected", 20, "it replicates")

    @property
    def url(self):
        """Two of the masters, by which the others are found."""
        scheme = "rediss-cluster" if self.nodes[0].tls_port else "redis-cluster"
        named = ",".join(f"{n.place.host}:{n.client_port}" for n in self.masters[:2])
        return f"{scheme}://{named}"

    def owner(self, slot):
        for low, high, node, *_ in self.nodes[0].cluster("SLOTS"):
            if low <= slot <= high:
                return next(n for n in self.nodes if n.port == node[1])
        raise AssertionError(f"slot {slot} has no owner")

    def keys(self):
        return sorted(key for node in self.masters + self.spare for key in node.keys())

    def move(self, slot, to, key_by_key=lambda: None):
        """As redis-cli --cluster reshard does; `key_by_key` is called before each key."""
        source = self.owner(slot)
        to.cluster("SETSLOT", slot, "IMPORTING", source.id)
        source.cluster("SETSLOT", slot, "MIGRATING", to.id)
        key_by_key()
        while keys := source.cluster("GETKEYSINSLOT", slot, 1):
            source.command("MIGRATE", to.place.host, to.port, keys[0], 0, 5000)
            key_by_key()
        for node in (to, source):
            node.cluster("SETSLOT", slot, "NODE", to.id)

    def stop(self):
        for node in self.nodes:
            node.stop()
