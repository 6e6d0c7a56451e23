"""The faults of a network under load, for each policy, around the stores that are no single Redis."""
from harness.fault_case import FaultTest, NetworkFaults
from harness.fault_proxy import FaultProxy
from harness.postgres_server import PostgresServer
from harness.process import wait_until
from harness.redis_cluster import RedisCluster
from harness.redis_server import RedisServer
from harness.sentinels import MASTER, Sentinel


class AroundPostgres(NetworkFaults, FaultTest):
    server = PostgresServer

    def setUp(self):
        super().setUp()
        self.fault = self.started(FaultProxy(self.store.port))
        self.empty_buckets()
        self.gateway_under_test = self.start(self.fault.in_front(self.store.url))


class WatchedMaster:
    """A master that everybody reaches by a proxy, and the sentinel that names it."""

    def __init__(self):
        self.server = RedisServer()
        self.fault = FaultProxy(self.server.port)
        self.sentinel = Sentinel(self.fault.port, quorum=1)

    @property
    def url(self):
        return f"redis-sentinel://127.0.0.1:{self.sentinel.port}/{MASTER}"

    def stop(self):
        for each in (self.sentinel, self.fault, self.server):
            each.stop()


class AroundTheMasterOfSentinels(NetworkFaults, FaultTest):
    server = WatchedMaster

    def setUp(self):
        super().setUp()
        self.fault = self.store.fault
        self.empty_buckets()
        self.gateway_under_test = self.start(self.store.url)


class ReachedCluster(RedisCluster):
    """Its nodes tell everybody the addresses of proxies in front of them."""

    def __init__(self):
        super().__init__()
        self.faults = [FaultProxy(node.port) for node in self.nodes]
        for node, fault in zip(self.nodes, self.faults):
            node.command("CONFIG", "SET", "cluster-announce-port", fault.port)
        told = lambda node: {port for _, _, (_, port, *_), *_ in node.cluster("SLOTS")}
        wanted = {fault.port for fault in self.faults}
        wait_until(lambda: all(told(n) == wanted for n in self.nodes), 10, "all tell of the proxies")

    def set(self, mode):
        for fault in self.faults:
            fault.set(mode)

    def stop(self):
        for fault in self.faults:
            fault.stop()
        super().stop()


class AroundTheNodesOfACluster(NetworkFaults, FaultTest):
    server = ReachedCluster

    def setUp(self):
        super().setUp()
        self.fault = self.store
        self.empty_buckets()
        self.gateway_under_test = self.start(self.store.url)
