"""A Redis master, its replicas, and the sentinels that watch them."""
from harness.place import HERE
from harness.process import tool, wait_until
from harness.redis_server import RedisServer

MASTER = "buckets"


def client_port(server):
    """That by which the gateway and other servers reach it."""
    return server.tls_port or server.port


class Sentinel(RedisServer):
    """Watches the server at `master_port`, of the machine `master_host`, by the name MASTER."""

    def __init__(
        self, master_port, quorum=2, password=None, name=MASTER, master_host=HERE.host, place=HERE, tls=()
    ):
        self._tls = tls
        self._master = f"{master_host} {master_port}"
        self._quorum, self._name = quorum, name
        self._secret = password
        super().__init__(place=place, tls=bool(tls))
        self.password = password

    def words(self):
        secret = f"requirepass {self._secret}\nsentinel sentinel-pass {self._secret}\n"
        names, values = self._tls[::2], self._tls[1::2]
        of_tls = "".join(f"{name[2:]} {value}\n" for name, value in zip(names, values))
        of_tls += f"tls-port {self.tls_port}\n" if self._tls else ""
        text = (
            f"{of_tls}port {self.port}\nbind {self.place.host}\ndir {self._directory.path}\n"
            f"sentinel monitor {self._name} {self._master} {self._quorum}\n"
            f"sentinel down-after-milliseconds {self._name} 500\n"
            f"sentinel failover-timeout {self._name} 5000\n" + (secret if self._secret else "")
        )
        path = self._directory.file("sentinel.conf")
        if self._child is None:  # one that was there before has written down what it knows
            self._directory.file("sentinel.conf", text)
        return [tool("redis-server"), path, "--sentinel"]

    def word(self, **options):
        """Where it says that the master is, as (host, port), and of which epoch this is."""
        host, port = self.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._name, **options)
        return int(self._fields(**options)[b"config-epoch"]), (host.decode(), int(port))

    def master_port(self):
        return self.word()[1][1]

    def _fields(self, **options):
        words = self.command("SENTINEL", "MASTER", self._name, **options)
        return dict(zip(words[::2], words[1::2]))

    def knows(self, replicas, sentinels):
        """Whether it has found so many replicas and other sentinels."""
        fields = self._fields()
        found = (int(fields[b"num-slaves"]), int(fields[b"num-other-sentinels"]))
        return found == (replicas, sentinels) and fields[b"flags"] == b"master"


class Replicated:
    """A master and its replicas under sentinels; whoever is the master is `master`."""

    def __init__(self, replicas=2, sentinels=3, password=None, places=(), tls=()):
        """Servers and sentinels are dealt to the places in turn. `tls`: words with which all speak TLS to
        each other, beside their ports without."""
        place = lambda number: places[number % len(places)] if places else HERE
        tls = (*tls, "--tls-replication", "yes") if tls else ()
        words = ("--repl-diskless-sync-delay", "0", "--protected-mode", "no", *tls)
        first = RedisServer(*words, place=place(0), tls=bool(tls))
        self.servers = [first]
        self.sentinels = []
        for number in range(replicas):
            source = f"{first.place.host} {client_port(first)}"
            more = {"place": place(number + 1), "tls": bool(tls)}
            self.servers.append(RedisServer(*words, "--replicaof", source, **more))
        for replica in self.servers[1:]:
            wait_until(lambda r=replica: r.command("ROLE")[3] == b"connected", 20, "it replicates")
        for number in range(sentinels):
            more = {"master_host": first.place.host, "place": place(number), "tls": tls}
            quorum = sentinels // 2 + 1
            self.sentinels.append(Sentinel(client_port(first), quorum, password, **more))
        for sentinel in self.sentinels:
            knows = lambda s=sentinel: s.knows(replicas, sentinels - 1)
            wait_until(knows, 60, "sentinels know each other")

    @property
    def url(self):
        scheme = "rediss-sentinel" if self.servers[0].tls_port else "redis-sentinel"
        named = ",".join(f"{s.place.host}:{client_port(s)}" for s in self.sentinels)
        return f"{scheme}://{named}/{MASTER}"

    @property
    def master(self):
        port = self.sentinels[0].master_port()
        return next(s for s in self.servers if client_port(s) == port)

    def stop(self):
        for server in self.sentinels + self.servers:
            server.stop()
