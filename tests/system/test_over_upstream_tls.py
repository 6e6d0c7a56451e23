"""What is promised of messages holds over TLS to upstreams: the tests of it, with origins that speak
TLS."""
import unittest

import test_bounds
import test_forwarding
import test_intermediary
import test_messages
import test_timeouts
import test_tunnels
import test_upstreams
from harness.case import only_as_shipped
from harness.certificates import Certificates

MODULES = (
    test_bounds, test_forwarding, test_intermediary, test_messages, test_timeouts,
    test_tunnels, test_upstreams,
)  # fmt: skip


# An origin in Python's ssl does not say that it ends when it ends, nor can it end one direction only.
BEYOND_PYTHON = (
    "test_a_clients_half_close_is_passed_on_and_the_answer_still_comes",
    "test_a_large_last_word_arrives_before_the_end",
    "test_a_reset_of_an_upstream_that_had_ended_takes_nothing_from_the_client",
    "test_a_response_until_close_becomes_chunks_or_a_close",
    "test_an_idle_tunnel_ends_and_one_that_moves_does_not",
    "test_an_upstreams_half_close_is_passed_on_and_the_client_may_go_on",
)
# Of servers that speak no TLS, or are reached by another name.
OF_PLAIN_SERVERS = (
    "test_an_upstream_may_have_a_name_and_the_gateway_still_ends",
)


def to_tls_origins(plain):
    """The test case with origins that speak TLS."""

    class Secured(plain):
        def setUp(self):
            self.origin_tls = Certificates(self.directory())
            self.origin_tls.issue("origin.test", "DNS:origin.test")
            super().setUp()

    for name in BEYOND_PYTHON + OF_PLAIN_SERVERS:
        if hasattr(plain, name):
            setattr(Secured, name, None)
    Secured.__name__ = Secured.__qualname__ = f"{plain.__module__}_{plain.__name__}"
    Secured.__module__ = __name__
    return only_as_shipped(Secured)


for module in MODULES:
    for name, case in list(vars(module).items()):
        if isinstance(case, type) and issubclass(case, unittest.TestCase) and case.__module__ == module.__name__:
            made = to_tls_origins(case)
            globals()[made.__name__] = made
del case, made, module, name
