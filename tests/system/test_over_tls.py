"""What is promised of messages holds over TLS: the tests of it, with clients that speak TLS."""
import unittest

import test_bounds
import test_bypass
import test_messages
import test_refusals
import test_timeouts
import test_tunnels
from harness.case import only_as_shipped
from harness.certificates import Certificates


# Python's ssl can neither end one direction only, nor be used by two threads at once.
BEYOND_PYTHON = (
    "test_a_clients_half_close_is_passed_on_and_the_answer_still_comes",
    "test_a_half_closed_tunnel_does_not_last",
    "test_large_frames_both_ways_at_once_arrive_whole",
)


def over_tls(plain):
    """The test case with gateways that speak TLS."""

    class Secured(plain):
        def setUp(self):
            self.tls = Certificates(self.directory())
            self.tls.issue("gateway.test", "DNS:gateway.test")
            super().setUp()

    for name in BEYOND_PYTHON:
        if hasattr(plain, name):
            setattr(Secured, name, None)
    Secured.__name__ = Secured.__qualname__ = f"{plain.__module__}_{plain.__name__}"
    Secured.__module__ = __name__
    return only_as_shipped(Secured)


for module in (test_bounds, test_bypass, test_messages, test_refusals, test_timeouts, test_tunnels):
    for name, case in list(vars(module).items()):
        if isinstance(case, type) and issubclass(case, unittest.TestCase) and case.__module__ == module.__name__:
            made = over_tls(case)
            globals()[made.__name__] = made
del case, made, module, name
