"""The command line: what each command prints, and with which status it ends."""
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time

import yaml

from harness.backends import PYTHON
from harness.case import SystemTest, forwarding_to
from harness.gateway import BINARY, ROOT, run_command, whole_configuration
from harness.process import Child, run_tool, wait_until

GOOD = whole_configuration(forwarding_to("echo"))
# Validates several documents by jsonschema: stdin is [schema, [document...]], stdout their complaints.
VALIDATION = """
import json, sys, jsonschema
schema, documents = json.load(sys.stdin)
one = jsonschema.validators.validator_for(schema)(schema)
print(json.dumps(["\\n".join(e.message for e in one.iter_errors(d)) for d in documents]))
"""


class CommandLine(SystemTest):
    def file(self, text):
        return self.directory().file("gateway.yaml", text)

    def test_version_and_help_end_with_0(self):
        for words in (
            ["--version"],
            ["--help"],
            ["run", "--help"],
            ["check", "--help"],
            ["print", "--help"],
        ):
            with self.subTest(words):
                status, out, err = run_command(*words)
                self.assertEqual((status, err), (0, ""))
                self.assertIn("gateway" if len(words) == 1 else "--config", out)

    def test_a_program_found_by_path_starts_whatever_stands_there(self):
        """An empty element is the current folder, and a folder of that name is no program."""
        config = self.file(GOOD)
        folder = os.path.dirname(config)
        os.mkdir(os.path.join(folder, "gateway"))
        for path in ("", ":/usr/bin", "/usr/bin::", f"{folder}:/usr/bin"):
            with self.subTest(path):
                done = subprocess.run(
                    ["gateway", "check", config], executable=BINARY, env=os.environ | {"PATH": path},
                    capture_output=True, text=True, timeout=60,
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_schema_holds_for_what_loads_and_not_for_what_does_not(self):
        status, schema, err = run_command("schema")
        self.assertEqual((status, err), (0, ""))

        def complaints(texts):
            """What the schema says of each text, in one run: an interpreter starts slowly."""
            asked = json.dumps([json.loads(schema), [yaml.safe_load(text) for text in texts]])
            status, said, err = run_tool([PYTHON, "-c", VALIDATION], input=asked)
            self.assertEqual((status, err), (0, ""))
            return dict(zip(texts, json.loads(said), strict=True))

        def merged(text):
            return json.dumps(yaml.safe_load(GOOD) | yaml.safe_load(text))

        with open(os.path.join(ROOT, "gateway.yaml.example"), encoding="utf-8") as f:
            good = [f.read(), GOOD, "include: [conf.d/*.yaml]"]
        upstreams = "include: [x]\nupstreams: { u: { servers: %s } }"
        good += [upstreams % servers for servers in ("{ env: A }", "[{ env: A }, { file: b }]")]
        for document in [f"{ROOT}/README.md", *glob.glob(f"{ROOT}/docs/**/*.md", recursive=True)]:
            with open(document, encoding="utf-8") as f:
                blocks = re.findall(r"^```yaml\n(.*?)^```$", f.read(), re.MULTILINE | re.DOTALL)
            good += [block for block in blocks if re.search("^listeners:", block, re.MULTILINE)]
        self.assertGreater(len(good), 3)
        for text, said in complaints(good).items():
            self.assertEqual(said, "", text)
        self.assertNotEqual(complaints(["workers: 1"])["workers: 1"], "")
        refused = [
            "htttp: {}",
            "listeners: []",
            "listeners: [ { address: 'http://127.0.0.1:8080' } ]",
            "listeners: [ { address: '8080' } ]",
            "limits: { a: { key: client_ip, rate: 100/min } }",
            "limits: { a: { key: client_ip, rate: 0/s } }",
            "limits: { a: { key: client_ip, rate: '100' } }",
            "limits: { a: { key: client_ip } }",
            "limits: { a: { key: client_ip, rate: 1/s, headers: To_kens } }",
            "limits: { a: { key: client_ip, rate: 1/s, soft: 80 } }",
            "routes: [ { upstream: up, rejection: { format: open_ai } } ]",
            "limits: { a: { key: client_ip, algorithm: concurrency } }",
            "limits: { a: { key: clientip, rate: 1/s } }",
            "limits: { a: { key: [client_ip, ip], rate: 1/s } }",
            "limits: { a: { key: client_ip/129, rate: 1/s } }",
            "limits: { a: { key: 'cert:san2', rate: 1/s } }",
            "limits: { a: { key: 'header:', missing_key: skip, rate: 1/s } }",
            "plans: { p: { key: [], members: {} } }",
            "stores: { s: { url: 'http://127.0.0.1:6379' } }",
            "routes: []",
            "routes: [ { match: { path: api }, upstream: up } ]",
            "routes: [ { match: { path_exact: api }, upstream: up } ]",
            "routes: [ { match: { methods: [get] }, upstream: up } ]",
            "routes: [ { match: { path: / } } ]",
            "routes: [ { upstream: up, respond: {} } ]",
            "routes: [ { upstream: up, rewrite_prefix: { from: a, to: /b } } ]",
            "upstreams: { u: { servers: 'http://127.0.0.1:9000' } }",
            "upstreams: { u: { servers: [] } }",
            "upstreams: { u: { servers: echo, health: { path: up } } }",
            upstreams % "[{ env: A, file: b }]",
            "http: { max_headers: 1001 }",
            "http: { idle_timeout: 5 }",
            "http: { max_header_bytes: 16K }",
            "log: { access: 'true' }",
            "log: { level: loud }",
            "workers: all",
            "limits: { a: { rate: 1/s } }",
            "limits: { a: { key: client_ip, rate: 1/s, burst: 0 } }",
            "stores: { s: { timeout: 1s } }",
            "stores: { local: { url: x } }",
            "upstreams: { u: { servers: [ { weight: 2 } ] } }",
            "upstreams: { u: { servers: x, health: { interval: 1s } } }",
            "routes: [ { limit: [], upstream: up } ]",
        ]
        for bad, said in complaints([merged(text) for text in refused]).items():
            self.assertNotEqual(said, "", bad)
            self.assertEqual(run_command("check", "--config", self.file(bad))[0], 2, bad)
        # The message names the mistake, and not that no form fits.
        without = yaml.safe_load(GOOD)
        del without["listeners"]
        (said,) = complaints([json.dumps(without)]).values()
        self.assertIn("'listeners' is a required property", said)
        self.assertNotIn("include", said.partition("\n")[0])
        told = {
            "limits: { a: { key: client_ip, rate: 100/min } }": "'100/min' does not match",
            "limits: { a: { key: clientip, rate: 1/s } }": "'clientip' does not match",
            "limits: { a: { key: [ip], rate: 1/s } }": "'ip' does not match",
            "limits: { a: { key: client_ip } }": "'rate' is a required property",
            "routes: [ { match: { path: api }, upstream: up } ]": "'api' does not match",
            "routes: [ { match: { path: / } } ]": "'upstream' is a required property",
            "upstreams: { u: { servers: [80] } }": "80 is not of type 'string'",
            "upstreams: { u: { servers: [ { weight: 2 } ] } }": "'address' is a required property",
            "workers: all": "'auto' was expected",
        }
        said = complaints([merged(text) for text in told])
        for bad, mistake in told.items():
            self.assertIn(mistake, said[merged(bad)], bad)
        good = [
            "limits: { a: { key: { env: A }, rate: { file: b } } }",
            "limits: { a: { key: [client_ip/24, 'cert:san', 'jwt:a.b', { env: A }], rate: 10/90s } }",
            "limits: { a: { key: [], algorithm: concurrency, max: 3 } }",
            "limits: { a: { key: [], algorithm: fixed_window, rate: 9/mo } }",
            "routes: [ { match: { path: { env: A } }, redirect: { to: { env: B } } } ]",
            "routes: [ { respond: { body: { file: b } }, limits: [ { env: A } ] } ]",
            "stores: { s: { url: { env: A } } }",
            "stores: { s: { url: 'rediss-sentinel://a,b/m' } }",
            "stores: { s: { url: 'postgresql:///d?host=/run' } }",
            "upstreams: { u: { servers: [echo, 'unix:/a b', '[::1]:9', { address: 'h:1' }] } }",
        ]
        for text, said in complaints([merged(text) for text in good]).items():
            self.assertEqual(said, "", text)

    def test_check_and_print_take_the_file_by_itself(self):
        path = self.file(GOOD)
        self.assertEqual(run_command("check", path), (0, f"{path}: ok\n", ""))
        self.assertEqual(run_command("print", path), run_command("print", "--config", path))

    def test_a_configuration_may_come_from_standard_input(self):
        self.assertEqual(run_command("check", "--config", "-", input=GOOD), (0, "stdin: ok\n", ""))
        self.assertEqual(run_command("check", "-", input=GOOD), (0, "stdin: ok\n", ""))
        status, printed, err = run_command("print", "--config", "-", input=GOOD)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(run_command("check", "-", input=printed)[0], 0)
        status, out, err = run_command("check", "-", input=GOOD + "htttp: {}\n")
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, r"^stdin:\d+:1: htttp: unknown key")
        status, out, _ = run_command("explain", "--config", "-", "GET", "/", input=GOOD)
        self.assertEqual(status, 0, out)

    def test_one_from_standard_input_serves_and_cannot_be_read_again(self):
        child = self.started(Child([BINARY, "run", "--config", "-"], stdin=subprocess.PIPE))
        child.stdin.write(GOOD.encode())
        child.stdin.close()
        child.wait_for_line(lambda line: "listening on" in line)
        child.wait_for_line(lambda line: "admin API on" in line)
        why = "the configuration came from the standard input, which cannot be read again"
        child.signal(signal.SIGUSR2)
        child.wait_for_line(lambda line: f"upgrade: {why}; this one goes on" in line)
        self.assertFalse([line for line in child.lines if "reload" in line])
        child.signal(signal.SIGHUP)
        child.wait_for_line(lambda line: "reload refused" in line)
        child.wait_for_line(lambda line: why in line and "upgrade" not in line)
        self.assertEqual(child.stop(), 0)

    def test_wrong_usage_ends_with_2_and_says_so_on_stderr(self):
        for words in (
            [],
            ["serve"],
            ["run"],
            ["check"],
            ["run", "--config"],
            ["--port", "1"],
            ["check", "--config", "x", "y"],
        ):
            with self.subTest(words):
                status, out, err = run_command(*words)
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(err)

    def test_check_accepts_the_example(self):
        path = os.path.join(ROOT, "gateway.yaml.example")
        self.assertEqual(run_command("check", "--config", path), (0, f"{path}: ok\n", ""))

    def test_check_reports_every_problem_with_its_place_and_a_suggestion(self):
        path = self.file(
            "listeners:\n  - address: 127.0.0.1:0\n"
            "limits:\n  per_client: { key: client_ip, rate: 10/s, bursst: 3 }\n"
            "routes:\n  - limits: [per_clent]\n    upstream: up\n"
            "upstreams:\n  up: { servers: [nonsense] }\n"
            "max_connections: -1\nmax_connections: 5\n"
        )
        for command in ("check", "print", "run"):
            with self.subTest(command):
                status, out, err = run_command(command, "--config", path)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(
                    f'{path}:4:45: limits.per_client.bursst: unknown key, did you mean "burst"?\n',
                    err,
                )
                self.assertIn("per_client", err)
                for place in (f"{path}:6:", f"{path}:9:", f"{path}:10:", f"{path}:11:"):
                    self.assertIn(place, err)

    def test_a_file_that_is_missing_or_a_directory_ends_with_2(self):
        for path in ("/nonexistent/gateway.yaml", "/tmp"):
            status, out, err = run_command("check", "--config", path)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(path, err)

    def test_what_is_not_supported_yet_is_refused_clearly(self):
        path = self.file(
            GOOD
            + "stores: { shared: { url: 'memcached://127.0.0.1/0' } }\n"
        )
        status, _, err = run_command("check", "--config", path)
        self.assertEqual(status, 2)
        self.assertIn("stores.shared.url", err)

    def test_print_shows_the_defaults_hides_secrets_and_is_itself_a_configuration(self):
        path = self.file(
            whole_configuration(
                "stores: { shared: { url: 'redis://user:s3cr3t@127.0.0.1:6379/0' } }\n"
                "limits: { l: { key: client_ip, rate: 1/s, store: shared } }\n"
                + forwarding_to("echo", "l")
            )
        )
        status, out, err = run_command("print", "--config", path)
        self.assertEqual((status, err), (0, ""))
        self.assertNotIn("s3cr3t", out)
        self.assertIn("***", out)
        for key in (
            "header_timeout: 10s",
            "max_header_bytes: 16KiB",
            "max_idle: 256",
            "timeout: 25ms",
        ):
            self.assertIn(key, out)
        again = self.file(out)
        self.assertEqual(run_command("check", "--config", again), (0, f"{again}: ok\n", ""))
        self.assertEqual(run_command("print", "--config", again)[1], out)

    def test_check_warns_of_trusted_hops_without_proxies(self):
        path = self.file(GOOD + "client: { trusted_hops: 1 }\n")
        status, out, err = run_command("check", "--config", path)
        self.assertEqual((status, out), (0, f"{path}: ok\n"))
        self.assertIn("trusted_hops", err)

    def test_check_warns_of_a_path_whose_other_spelling_has_no_limit(self):
        def warned_of(match):
            path = self.file(whole_configuration(
                "limits: { l: { key: client_ip, rate: 5/m } }\n"
                "routes:\n"
                f"  - {{ match: {{ {match} }}, limits: [l], upstream: up }}\n"
                "  - { upstream: up }\n"
                "upstreams: { up: { servers: [echo] } }\n"
            ))
            status, out, err = run_command("check", "--config", path)
            self.assertEqual((status, out), (0, f"{path}: ok\n"))
            return err

        self.assertIn('"/LOGIN"', warned_of("path_exact: /login, methods: [POST]"))
        self.assertEqual(warned_of("path_exact: /login, methods: [POST], ignore_case: true"), "")

    def test_an_address_in_use_ends_with_1(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            for key in (
                "listeners: [ { address: '127.0.0.1:%d' } ]\n",
                "admin: { address: '127.0.0.1:%d' }\n",
            ):
                path = self.file(whole_configuration(key % port + forwarding_to("echo")))
                status, _, err = run_command("run", "--config", path)
                self.assertEqual(status, 1, err)
                self.assertIn(str(port), err)

    def test_a_second_gateway_cannot_share_the_port_by_accident(self):
        first = self.gateway(forwarding_to("echo"))
        path = self.file(
            whole_configuration(
                f"listeners: [ {{ address: '127.0.0.1:{first.address[1]}' }} ]\n"
                + forwarding_to("echo")
            )
        )
        self.assertEqual(run_command("run", "--config", path)[0], 1)

    def test_sigterm_sigint_and_sigquit_end_it_with_0(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            gateway = self.gateway(forwarding_to("echo"))
            gateway.signal(number)
            self.assertEqual(gateway.wait(), 0)

    def test_a_second_signal_ends_a_drain_at_once(self):
        origin = self.origin(lambda peer, request: peer.wait_for_end())
        gateway = self.gateway("drain_timeout: 1h\n" + forwarding_to(origin.address))
        with gateway.connect() as c:
            c.request()
            wait_until(lambda: origin.requests)
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("draining")
            gateway.signal(signal.SIGTERM)
            self.assertNotEqual(gateway.wait(5), -signal.SIGKILL)

    def test_signals_while_it_ends_do_not_kill_it(self):
        numbers = range(1000)  # Their destruction takes time.
        routes = "".join(f"  - {{ match: {{ path: /r{i} }}, limits: [l{i}], upstream: up }}\n" for i in numbers)
        limits = "".join(f"  l{i}: {{ key: client_ip, rate: 1/s }}\n" for i in numbers)
        many = f"limits:\n{limits}routes:\n{routes}upstreams: {{ up: {{ servers: [echo] }} }}\n"
        for milliseconds in range(24):
            gateway = self.gateway(many)
            gateway.signal(signal.SIGTERM)
            gateway.wait_for_diagnostic("drained, ending")
            time.sleep(milliseconds / 1000)
            gateway.signal(signal.SIGHUP if milliseconds % 3 == 2 else signal.SIGTERM)
            self.assertIn(gateway.wait(), (0, 1))

    def test_diagnostics_are_json_lines_or_text(self):
        gateway = self.gateway("log: { format: json }\n" + forwarding_to("echo"))
        for line in gateway.diagnostics:
            self.assertLessEqual({"time", "level", "message"}, json.loads(line).keys())
        gateway = self.gateway("log: { format: text }\n" + forwarding_to("echo"))
        for line in gateway.diagnostics:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z (info|warning): ")


class Example(SystemTest):
    def test_the_example_serves_limits_and_explains_itself(self):
        with open(os.path.join(ROOT, "gateway.yaml.example"), encoding="utf-8") as f:
            text = (
                f.read()
                .replace("127.0.0.1:8080\n", "127.0.0.1:0\n")
                .replace("127.0.0.1:9901", "127.0.0.1:0")
            )
        gateway = self.gateway(text)
        for left in (4, 3, 2, 1, 0):
            r = gateway.get("/hello")
            self.assertEqual(r.status, 200)
            self.assertEqual((r["x-ratelimit-limit"], r["x-ratelimit-remaining"]), ("5", str(left)))
            self.assertEqual(json.loads(r.body)["target"], "/hello")
        r = gateway.get("/hello")
        self.assertEqual(r.status, 429)
        self.assertEqual(r["content-type"], "application/problem+json")
        self.assertEqual(r["cache-control"], "no-store")
        self.assertIn(r["retry-after"], ("1", "2"))
        problem = json.loads(r.body)
        self.assertTrue(problem.pop("detail"))
        self.assertEqual(
            problem,
            {
                "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
                "title": "Too Many Requests",
                "status": 429,
                "violated-policies": ["per_client"],
            },
        )
