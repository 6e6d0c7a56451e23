"""`gateway health`, the health check of containers."""
import signal
import socket

from harness.case import SystemTest, forwarding_to
from harness.gateway import run_command
from harness.origin import Origin
from harness.process import free_port, wait_until


def health(port, *words):
    return run_command("health", "--admin", f"127.0.0.1:{port}", *words)


class Health(SystemTest):
    def test_of_a_gateway_that_serves_is_good(self):
        gateway = self.gateway(forwarding_to("echo"))
        for words in ((), ("--ready",), ("--config", gateway.config_path)):
            self.assertEqual(health(gateway.admin[1], *words), (0, "", ""))

    def test_of_one_that_drains_is_good_and_it_is_not_ready(self):
        origin = self.started(Origin(lambda peer, request: peer.wait_for_end()))
        gateway = self.gateway(forwarding_to(origin.address))
        with gateway.connect() as c:
            c.request()
            wait_until(lambda: gateway.metrics().sum("gateway_connections", side="client", state="active") == 1)
            gateway.signal(signal.SIGTERM)
            wait_until(lambda: health(gateway.admin[1], "--ready")[0] == 1)
            self.assertIn("/readyz answered 503", health(gateway.admin[1], "--ready")[2])
            self.assertEqual(health(gateway.admin[1])[0], 0)
        self.assertEqual(gateway.wait(), 0)

    def test_of_nobody_and_of_who_says_nothing_is_bad(self):
        status, out, err = health(free_port())
        self.assertEqual((status, out), (1, ""))
        self.assertIn("Connection refused", err)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            status, out, err = health(silent.getsockname()[1])
            self.assertEqual((status, out), (1, ""))
            self.assertIn("closed due to a timeout", err)
