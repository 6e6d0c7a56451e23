"""A real PostgreSQL server of the test's own."""
import atexit
import contextlib
import functools
import glob
import os
import pwd
import shutil
import signal
import subprocess

from harness.place import HERE
from harness.process import Child, Directory, free_port, tool, wait_until

# Of the one version that is installed, whichever the system has.
BINARIES = next(iter(glob.glob("/usr/lib/postgresql/*/bin/")), "")
# As root PostgreSQL refuses to run.
AS_USER = (
    [tool("setpriv"), "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
    if os.getuid() == 0
    else []
)


class PostgresError(Exception):
    """What psql said."""


class PostgresServer:
    def __init__(self, *settings, hba=None, place=HERE, standby_of=None, room=None):
        """`settings`: "name=value". `hba`: lines of pg_hba.conf instead of trusting everybody.
        `standby_of`: a server that it follows. `room`: of a file system of its own ("80m"), where
        can_have_a_room() says so; it is gone with the server."""
        self.place = place
        self._primary = standby_of
        self._room = room
        self._directory = Directory()
        self.port = free_port()
        self.settings = list(settings)
        self._child = None
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self._directory.path, owner.pw_uid, owner.pw_gid)
        self.data = self._directory.file("data")
        self._make(hba)
        self.start()

    def _make(self, hba):
        if self._primary is not None:
            where = ["-h", self._primary.socket_folder, "-p", str(self._primary.port), "-U", "gateway"]
            follow = ["-R", "-X", "stream", "-c", "fast", "--no-sync"]
            run([*AS_USER, BINARIES + "pg_basebackup", *where, "-D", self.data, *follow])
            return
        run([*AS_USER, tool("cp"), "-r", fresh_data(), self.data])
        if hba is not None:
            with open(os.path.join(self.data, "pg_hba.conf"), "w", encoding="utf-8") as f:
                f.write("local all gateway trust\n" + hba)

    @property
    def url(self):
        return f"postgresql://gateway@{self.place.host}:{self.port}/postgres"

    @property
    def socket_folder(self):
        return self._directory.path

    def start(self):
        more = [w for s in self.settings for w in ("-c", s)]
        words = [
            *(BINARIES + "postgres", "-D", self.data, "-p", str(self.port)),
            *("-k", self._directory.path, "-c", f"listen_addresses={self.place.host}"),
            *("-c", "fsync=off", "-c", "shared_buffers=32MB", "-c", "autovacuum=off", *more),
        ]
        self._child = Child(self.place.words(self._in_its_room([*AS_USER, *words])))
        wait_until(self._answers, 20, "postgres answers")

    def _in_its_room(self, words):
        if self._room is None:
            return words
        script = 'mount -t tmpfs -o "size=$0" tmpfs "$1" && cp -aT "$2" "$1" && shift 2 && exec "$@"'
        return [tool("unshare"), "-m", tool("sh"), "-c", script, self._room, self.data, fresh_data(), *words]

    def fill(self):
        """Leaves no room in its file system."""
        with open(self._filler(), "wb", buffering=0) as f, contextlib.suppress(OSError):
            while f.write(bytes(65536)) > 0:
                pass

    def make_room(self):
        os.remove(self._filler())

    def _filler(self):
        return f"/proc/{self._child.pid}/root{self.data}/filler"

    def _answers(self):
        try:
            return self.command("SELECT 1") == "1"
        except PostgresError:
            return False

    def command(self, sql, database="postgres"):
        """What comes, a row per line."""
        where = ["-h", self._directory.path, "-p", str(self.port), "-U", "gateway", "-d", database]
        done = subprocess.run(
            [tool("psql"), "-XAtq", *where, "-c", sql],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PGOPTIONS": "-c default_transaction_read_only=off"},
        )
        if done.returncode != 0:
            raise PostgresError(done.stderr)
        return done.stdout.strip()

    def session(self):
        """A psql that takes statements on its stdin."""
        where = ["-h", self._directory.path, "-p", str(self.port), "-U", "gateway"]
        return Child(
            [tool("psql"), "-XAtq", *where, "postgres"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def _processes(self):
        """Of the server and all that it has begun."""
        words = [tool("pgrep"), "-P", str(self._child.pid)]
        children = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
        return [self._child.pid, *map(int, children)]

    def kill(self):
        """All at once, as when the machine loses its power."""
        self._signal_all(signal.SIGKILL)
        self._child.kill()

    def end(self):
        """In order, without waiting for its clients."""
        self._child.signal(signal.SIGINT)
        self._child.wait()

    def freeze(self):
        self._signal_all(signal.SIGSTOP)

    def thaw(self):
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number):
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):  # one of a connection that has ended
                os.kill(pid, number)

    def forget_all(self):
        """Also before a gateway has installed its schema."""
        self.command(
            "DO $$ BEGIN IF to_regclass('gateway.buckets') IS NOT NULL THEN "
            "DELETE FROM gateway.buckets; END IF; END $$"
        )

    def time_to_live(self):
        """Milliseconds for which the only bucket's row says something; 0: it is full again."""
        (key,) = self.buckets()
        left = f"SELECT (full_at - gateway.now()) / 1000 FROM gateway.buckets WHERE key = '{key}'"
        return max(int(self.command(left)), 0)

    def buckets(self):
        return self.command(
            "SELECT key FROM gateway.buckets WHERE kind NOT IN ('r', 'm') AND key <> 'gw:probe' ORDER BY key"
        ).split()

    def stop(self):
        if self._child is not None:
            self.thaw()
            self._child.signal(signal.SIGQUIT)
            self._child.stop()
        shutil.rmtree(self.data, ignore_errors=True)
        self._directory.stop()


@functools.cache
def can_have_a_room():
    """Whether a process may have mounts of its own: not as any user, and not in a chroot."""
    return subprocess.run([tool("unshare"), "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


@functools.cache
def fresh_data():
    """The folder of a server's data as it is at first, made once: copying it takes a tenth of the time."""
    directory = Directory()
    atexit.register(directory.stop)
    if os.getuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(directory.path, owner.pw_uid, owner.pw_gid)
    data = directory.file("data")
    run([*AS_USER, BINARIES + "initdb", "-D", data, "-U", "gateway", "-A", "trust", "-N", "--locale=C"])
    return data


def run(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
