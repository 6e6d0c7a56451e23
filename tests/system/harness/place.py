"""Where a process of a test runs."""


class Place:
    """The network that the test itself is in."""

    host = "127.0.0.1"

    def words(self, words):
        """The command line that runs `words` there."""
        return list(words)


HERE = Place()


class Watched(Place):
    """A process whose supervisor would take its end for that of the service."""

    def words(self, words):
        return ["sh", "-c", 'SYSTEMD_EXEC_PID=$$ exec "$@"', "sh", *words]


class Redirected(Place):
    """A process whose descriptors are what bash makes of `redirections`: dash knows no descriptor above 9."""

    def __init__(self, redirections):
        self._redirections = redirections

    def words(self, words):
        return ["bash", "-c", f'exec "$@" {self._redirections}', "bash", *words]
