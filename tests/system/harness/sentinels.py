"""A Redis master, its replicas, and the sentinels that watch them."""
from harness.process import tool, wait_until
from harness.redis_server import RedisServer

MASTER = "buckets"


class Sentinel(RedisServer):
    """Watches the server at `master_port` by the name MASTER."""

    def __init__(self, master_port, quorum=2, password=None, name=MASTER):
        self._master_port, self._quorum, self._name = master_port, quorum, name
        self._secret = password
        super().__init__()
        self.password = password

    def words(self):
        secret = f"requirepass {self._secret}\nsentinel sentinel-pass {self._secret}\n"
        text = (
            f"port {self.port}\nbind 127.0.0.1\ndir {self._directory.path}\n"
            f"sentinel monitor {self._name} 127.0.0.1 {self._master_port} {self._quorum}\n"
            f"sentinel down-after-milliseconds {self._name} 500\n"
            f"sentinel failover-timeout {self._name} 5000\n" + (secret if self._secret else "")
        )
        path = self._directory.file("sentinel.conf")
        if self._child is None:  # one that was there before has written down what it knows
            self._directory.file("sentinel.conf", text)
        return [tool("redis-server"), path, "--sentinel"]

    def master_port(self):
        return int(self.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self._name)[1])

    def knows(self, replicas, sentinels):
        """Whether it has found so many replicas and other sentinels."""
        words = self.command("SENTINEL", "MASTER", self._name)
        fields = dict(zip(words[::2], words[1::2]))
        found = (int(fields[b"num-slaves"]), int(fields[b"num-other-sentinels"]))
        return found == (replicas, sentinels) and fields[b"flags"] == b"master"


class Replicated:
    """A master and its replicas under sentinels; whoever is the master is `master`."""

    def __init__(self, replicas=2, sentinels=3, password=None):
        first = RedisServer("--repl-diskless-sync-delay", "0")
        self.servers = [first]
        self.sentinels = []
        for _ in range(replicas):
            self.servers.append(
                RedisServer(
                    "--replicaof", f"127.0.0.1 {first.port}", "--repl-diskless-sync-delay", "0"
                )
            )
        for replica in self.servers[1:]:
            wait_until(lambda r=replica: r.command("ROLE")[3] == b"connected", 20, "it replicates")
        for _ in range(sentinels):
            self.sentinels.append(Sentinel(first.port, sentinels // 2 + 1, password))
        for sentinel in self.sentinels:
            knows = lambda s=sentinel: s.knows(replicas, sentinels - 1)
            wait_until(knows, 20, "sentinels know each other")

    @property
    def url(self):
        return f"redis-sentinel://{','.join(f'127.0.0.1:{s.port}' for s in self.sentinels)}/{MASTER}"

    @property
    def master(self):
        port = self.sentinels[0].master_port()
        return next(s for s in self.servers if s.port == port)

    def stop(self):
        for server in self.sentinels + self.servers:
            server.stop()
