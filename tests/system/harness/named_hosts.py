"""Names of hosts as one process sees them, for tests in which a name moves or cannot be resolved."""
from harness.process import Directory, tool

# Nobody listens there for questions, which fail at once.
NO_NAME_SERVER = "nameserver 127.0.0.77\noptions timeout:1 attempts:1\n"


class NamedHosts:
    """A place with files of its own for names; `stop` removes them."""

    host = "127.0.0.1"

    def __init__(self, **addresses):
        self._directory = Directory()
        self._hosts = self._directory.file("hosts", "")
        self._more = {
            "/etc/nsswitch.conf": self._directory.file("nsswitch.conf", "hosts: files dns\n"),
            "/etc/resolv.conf": self._directory.file("resolv.conf", NO_NAME_SERVER),
        }
        self.set(**addresses)

    def set(self, **addresses):
        """`app="127.0.0.2 127.0.0.3"`: where app.test is from now on. Others do not resolve."""
        lines = [f"{a} {name}.test\n" for name, all_of_it in addresses.items() for a in all_of_it.split()]
        with open(self._hosts, "w", encoding="ascii") as f:  # not another file: this one is mounted
            f.write("127.0.0.1 localhost\n" + "".join(lines))

    def words(self, words):
        """The command line that runs `words` there."""
        mounts = [f'mount --bind "{ours}" {theirs}' for theirs, ours in {**self._more, "/etc/hosts": self._hosts}.items()]
        return [tool("unshare"), "-m", tool("sh"), "-c", " && ".join([*mounts, 'exec "$@"']), "sh", *words]

    def stop(self):
        self._directory.stop()
