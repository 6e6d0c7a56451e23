"""Where the access log goes: a file that is opened again, syslog, stdout."""
import json
import os
import signal
import socket
import stat

from harness.case import SystemTest, forwarding_to
from harness.gateway import run_command, whole_configuration
from harness.process import wait_until


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f.read().splitlines()]


class Files(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = self.directory()
        self.path = os.path.join(self.files.path, "access.log")
        self.text = f"log: {{ output: {self.path} }}\n" + forwarding_to("echo")

    def targets(self, path, count):
        wait_until(lambda: len(lines_of(path)) >= count, 10, f"{count} lines in {path}")
        return [line["target"] for line in lines_of(path)]

    def reopen(self, gateway):
        """Returns when SIGHUP has had its effect."""
        start = len(gateway.diagnostics)
        gateway.signal(signal.SIGHUP)
        gateway.wait_for_diagnostic("reload", start)

    def test_a_file_is_opened_again_by_sighup(self):
        gateway = self.gateway(self.text)
        gateway.get("/one")
        self.assertEqual(self.targets(self.path, 1), ["/one"])
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode) & ~0o640, 0)
        os.rename(self.path, self.path + ".1")
        gateway.get("/two")
        self.assertEqual(self.targets(self.path + ".1", 2), ["/one", "/two"])
        self.reopen(gateway)
        gateway.get("/three")
        self.assertEqual(self.targets(self.path, 1), ["/three"])
        self.assertEqual(os.path.getsize(gateway.log_path), 0, "nothing on stdout")

    def test_a_file_is_opened_again_even_if_the_new_configuration_is_bad(self):
        gateway = self.gateway(self.text)
        gateway.get("/one")
        self.targets(self.path, 1)
        os.rename(self.path, self.path + ".1")
        self.assertIn("refused", gateway.reload(self.text + "nonsense: 1\n"))
        gateway.get("/two")
        self.assertEqual(self.targets(self.path, 1), ["/two"])

    def test_a_file_that_cannot_be_opened_is_an_error_at_the_start(self):
        bad = self.files.file(
            "bad.yaml",
            whole_configuration("log: { output: /nowhere/a.log }\n" + forwarding_to("echo")),
        )
        self.assertEqual(run_command("check", "--config", bad)[0], 0)
        status, _, stderr = run_command("run", "--config", bad)
        self.assertEqual(status, 1)
        self.assertIn("log.output: cannot open /nowhere/a.log: No such file or directory", stderr)

    def test_a_file_that_cannot_be_opened_at_a_reload_leaves_the_old_one(self):
        gateway = self.gateway(self.text)
        gateway.write("log: { output: /nowhere/a.log }\n" + forwarding_to("echo"))
        gateway.signal(signal.SIGHUP)
        gateway.wait_for_diagnostic("log.output: the old one stays: cannot open /nowhere/a.log")
        gateway.get("/one")
        self.assertEqual(self.targets(self.path, 1), ["/one"])

    def test_a_reload_moves_the_log_from_stdout_to_a_file_and_back(self):
        gateway = self.gateway(forwarding_to("echo"))
        gateway.get("/one")
        self.assertEqual([li["target"] for li in gateway.log_lines(1)], ["/one"])
        gateway.reload(self.text)
        gateway.get("/two")
        self.assertEqual(self.targets(self.path, 1), ["/two"])
        gateway.reload(forwarding_to("echo"))
        gateway.get("/three")
        self.assertEqual([li["target"] for li in gateway.log_lines(2)], ["/one", "/three"])


class SyslogServer:
    def __init__(self, family, address):
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.settimeout(20)

    @property
    def address(self):
        return self._socket.getsockname()

    def message(self):
        return self._socket.recv(65536).decode()

    def stop(self):
        self._socket.close()


class Syslog(SystemTest):
    def gateway_at(self, output):
        return self.gateway(f"log: {{ output: '{output}' }}\n" + forwarding_to("echo"))

    def test_lines_are_messages_on_a_unix_socket(self):
        path = os.path.join(self.directory().path, "log")
        server = SyslogServer(socket.AF_UNIX, path)
        gateway = self.gateway_at(f"syslog:{path}")
        gateway.get("/one")
        head, _, line = server.message().partition(": ")
        self.assertRegex(head, rf"^<30>[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d gateway\[{gateway.pid}\]$")
        self.assertEqual(json.loads(line)["target"], "/one")
        server.stop()
        os.remove(path)
        gateway.get("/lost")
        wait_until(lambda: gateway.metrics().sum("gateway_access_log_dropped_lines_total") == 1)
        server = self.started(SyslogServer(socket.AF_UNIX, path))
        gateway.get("/two")
        self.assertIn('"/two"', server.message())

    def test_lines_are_messages_over_udp(self):
        server = self.started(SyslogServer(socket.AF_INET, ("127.0.0.1", 0)))
        gateway = self.gateway_at("syslog:127.0.0.1:%d" % server.address[1])
        gateway.get("/one")
        head, _, line = server.message().partition("]: ")
        self.assertTrue(head.endswith(f" {socket.gethostname()} gateway[{gateway.pid}"), head)
        self.assertEqual(json.loads(line)["target"], "/one")

    def test_a_server_that_reads_nothing_costs_no_request_anything(self):
        path = os.path.join(self.directory().path, "log")
        self.started(SyslogServer(socket.AF_UNIX, path))
        gateway = self.gateway(
            f"workers: 1\nlog: {{ output: 'syslog:{path}', max_backlog_bytes: 64KiB, flush_timeout: 0s }}\n"
            + forwarding_to("echo")
        )
        with gateway.connect() as c:
            for _ in range(1000):
                self.assertEqual(c.ask("/" + "x" * 200).status, 200)
        self.assertGreater(gateway.metrics().sum("gateway_access_log_dropped_lines_total"), 0)
