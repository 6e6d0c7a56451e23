"""The base of every test: what it starts is stopped at its end, in reverse order."""
import unittest

from harness.gateway import Gateway, secured_servers
from harness.origin import Origin, answer_ok
from harness.process import SLOW, Directory
from harness.postgres_server import PostgresServer
from harness.redis_server import RedisServer


class SystemTest(unittest.TestCase):
    maxDiff = 4000
    # Certificates that its gateways speak TLS with; None: they are plain.
    tls = None
    # Certificates that its origins speak TLS with; None: they are plain.
    origin_tls = None

    def started(self, server):
        self.addCleanup(server.stop)
        return server

    def gateway(self, text, **options):
        return self.started(Gateway(text, tls=self.tls, **options))

    def origin(self, script=answer_ok, kind=Origin, **options):
        if self.origin_tls is None:
            return self.started(kind(script, **options))
        made = self.started(kind(script, tls=self.origin_tls.served("origin.test"), **options))
        secured_servers[made.address] = self.origin_tls
        self.addCleanup(secured_servers.pop, made.address, None)
        return made

    def directory(self):
        return self.started(Directory())

    def every_store(self):
        """The local store, as None, then a server of each kind of shared one; under a sanitizer not
        PostgreSQL's, which the tests of it alone show more of in less time."""
        yield None
        yield self.started(RedisServer())
        if not SLOW:
            yield self.started(PostgresServer())

    def proxy(self, script=answer_ok, extra=""):
        """A gateway without limits in front of a scripted origin: (gateway, origin)."""
        origin = self.origin(script)
        return self.gateway(forwarding_to(origin.address) + extra), origin


# For tests of what others make of the gateway: a sanitizer would say nothing more, and take minutes.
only_as_shipped = unittest.skipIf(SLOW, "only of what ships")


def forwarding_to(address, limits=""):
    """A configuration with one route for everything and one server."""
    return f"routes: [ {{ upstream: up, limits: [{limits}] }} ]\nupstreams: {{ up: {{ servers: ['{address}'] }} }}\n"
