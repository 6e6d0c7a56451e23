"""A real pgbouncer in transaction mode, in front of a test's own PostgreSQL server."""
import os
import pwd
import re

from harness.postgres_server import AS_USER, run
from harness.process import Child, Directory, accepts, free_port, run_tool, tool, wait_until


class PgBouncer:
    def __init__(self, server, *settings):
        """`settings`: more lines of its configuration."""
        self._directory = Directory()
        self.port = free_port()
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self._directory.path, owner.pw_uid, owner.pw_gid)
        users = self._directory.file("users", '"gateway" ""\n')
        settings = self._directory.file(
            "pgbouncer.ini",
            f"""[databases]
postgres = host={server.socket_folder} port={server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
default_pool_size = 2
"""
            + "".join(s + "\n" for s in settings),
        )
        self._child = Child([*AS_USER, tool("pgbouncer"), settings])
        wait_until(lambda: accepts(self.port), 10, "pgbouncer listens")

    @property
    def url(self):
        return f"postgresql://gateway@127.0.0.1:{self.port}/postgres"

    @property
    def keeps_statements(self):
        """True if it prepares on each server what its clients prepare, as 1.21 and later do."""
        _, out, _ = run_tool([tool("pgbouncer"), "--version"])
        major, minor = re.search(r"PgBouncer (\d+)\.(\d+)", out).groups()
        return (int(major), int(minor)) >= (1, 21)

    def command(self, sql):
        """By a session of the server that gateways are given, too."""
        run([tool("psql"), "-XAtq", self.url, "-c", sql])

    def stop(self):
        self._child.stop()
        self._directory.stop()
