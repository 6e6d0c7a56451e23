"""gateway replay: logs of real traffic go through a policy again."""
import gzip
import json
import os
import pty
import random
import socket
import subprocess
import threading

from harness.apache import Apache
from harness.caddy import Caddy
from harness.case import SystemTest
from harness.gateway import BINARY, run_command
from harness.haproxy import HAProxy
from harness.nginx import Nginx
from harness.process import free_port, wait_until
from harness.tokens import Issuer

# Every kind of limit, with keys that the log tells. Each client has a connection of its own, and
# asks one after the other.
MANY_LIMITS = """
log: { fields: { tenant: 'header:x-tenant' } }
limits:
  bucket: { key: client_ip, rate: 20/s, burst: 5, plan: tiers, plans: { gold: { rate: 100/s, burst: 50 }, none: blocked } }
  tenant: { key: 'header:x-tenant', missing_key: skip, rate: 6/m, burst: 3 }
  window: { key: client_ip, algorithm: fixed_window, rate: 20/s, start: aligned }
  log: { key: client_ip, algorithm: sliding_log, rate: 4/10s }
  sliding: { key: client_ip, algorithm: sliding_window, rate: 5/s, resolution: 4 }
  banned: { key: client_ip, rate: 30/m, burst: 3, penalty: { after: 3, within: 2s, ban: 1s, max_ban: 2s } }
  costly: { key: client_ip, rate: 60/m, burst: 10, cost: { methods: { POST: 4, GET: 1 } } }
  stated: { key: client_ip, rate: 30/s, burst: 20, cost: { header: X-Cost, max: 9 } }
  waits: { key: client_ip, rate: 50/s, burst: 2, max_wait: 50ms }
  failures: { key: client_ip, rate: 30/m, burst: 3, charge_on: { status: [404] } }
  shadow: { key: client_ip, rate: 5/s, burst: 2, mode: shadow }
  flight: { key: client_ip, algorithm: concurrency, max: 1 }
  everyone: { key: [path], rate: 200/s, burst: 500 }
plans: { tiers: { key: client_ip, members: { gold: ['127.0.0.3'], none: ['127.0.0.4'] } } }
routes:
  - { match: { path: /bucket }, limits: [bucket, shadow], upstream: up }
  - { match: { path: /tenant }, limits: [tenant], upstream: up }
  - { match: { path: /window }, limits: [window], upstream: up }
  - { match: { path: /log }, limits: [log], upstream: up }
  - { match: { path: /sliding }, limits: [sliding], upstream: up }
  - { match: { path: /banned }, limits: [banned], upstream: up }
  - { match: { path: /costly }, limits: [costly, stated], upstream: up }
  - { match: { path: /waits }, limits: [waits], upstream: up }
  - { match: { path: /failures }, limits: [failures, everyone], upstream: missing }
  - { match: { path: /flight }, limits: [flight], upstream: up }
upstreams: { up: { servers: [echo] }, missing: { servers: ['%s'] } }
"""
PATHS = "bucket tenant window log sliding banned costly waits failures flight nowhere".split()

ONE_LIMIT = """
listeners: [ { address: 127.0.0.1:0 } ]
limits: { l: { key: client_ip, rate: %s, burst: %d } }
routes: [ { limits: [l], upstream: up } ]
upstreams: { up: { servers: [echo] } }
"""


def combined(second, client="192.0.2.1", path="/", status=200):
    """A line of nginx, so many seconds after the hour."""
    at = f"28/Nov/2026:10:{second // 60:02}:{second % 60:02} +0000"
    return f'{client} - - [{at}] "GET {path} HTTP/1.1" {status} 2 "-" "curl/8"\n'


class ReplayTest(SystemTest):
    def file(self, name, text):
        return self.directory().file(name, text)

    def replayed(self, configuration, *words, status=0, input=None):
        """The result as JSON, or stderr if another status is expected."""
        path = self.file("replay.yaml", configuration)
        got, out, err = run_command(
            "replay", "--config", path, "--format", "json", *words, input=input
        )
        self.assertEqual(got, status, err)
        return json.loads(out) if status == 0 else err


class RecordedDay(ReplayTest):
    def record(self, gateway, clients, requests):
        def ask_as(number):
            chance = random.Random(number)
            with gateway.connect(source=f"127.0.0.{number}") as c:
                for _ in range(requests):
                    fields = []
                    if chance.random() < 0.5:
                        fields.append(("X-Tenant", chance.choice("abc") + str(number)))
                    if chance.random() < 0.3:
                        fields.append(("X-Cost", str(chance.randrange(9))))
                    c.ask("/" + chance.choice(PATHS), fields, method=chance.choice(["GET", "POST"]))

        threads = [threading.Thread(target=ask_as, args=(n,)) for n in clients]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        lines = gateway.log_lines(len(threads) * requests)
        self.assertEqual(len(lines), len(threads) * requests)
        return lines

    def test_gives_the_verdicts_that_were_live(self):
        def misses_posts(peer, request):
            peer.read_body(request)
            peer.reply(404 if request.method == "POST" else 200)

        origin = self.origin(misses_posts)
        text = MANY_LIMITS % origin.address
        gateway = self.gateway(text)
        lines = self.record(gateway, range(2, 8), 300)
        refused = [l for l in lines if l.get("outcome") in ("rejected", "blocked")]
        self.assertGreater(len(refused), 50)
        by = {l["limit"] for l in refused}
        self.assertLessEqual({"bucket", "tenant", "log", "banned", "costly", "failures"}, by)
        done = self.replayed("listeners: [ { address: 127.0.0.1:0 } ]\n" + text, gateway.log_path)
        self.assertEqual(done["bad_lines"], 0)
        self.assertEqual(done["unjudged"], 0)
        self.assertEqual(done["lines"], len(lines))
        logged = done["logged"]
        self.assertEqual((logged["newly_rejected"], logged["newly_allowed"]), (0, 0))
        self.assertGreater(logged["compared"], len(lines) / 2)
        self.assertEqual(done["rejected"], len(refused))

    def test_gives_back_the_tokens_of_a_sliding_window_when_they_came_back(self):
        """A client without patience meets each moment at which a part of the window ends."""
        text = """
listeners: [ { address: 127.0.0.1:0 } ]
limits: { l: { key: client_ip, algorithm: sliding_window, rate: 4/500ms, resolution: 2 } }
routes: [ { limits: [l], upstream: up } ]
upstreams: { up: { servers: [echo] } }
"""
        gateway = self.gateway(text)
        allowed = asked = 0
        with gateway.connect() as c:
            while allowed < 20:
                asked += 1
                allowed += c.ask("/").status == 200
        self.assertEqual(len(gateway.log_lines(asked)), asked)
        done = self.replayed(text, gateway.log_path)
        self.assertEqual((done["allowed"], done["rejected"]), (allowed, asked - allowed))
        logged = done["logged"]
        self.assertEqual((logged["newly_rejected"], logged["newly_allowed"]), (0, 0))

    def test_knows_users_and_settled_costs(self):
        def reports_its_cost(peer, request):
            peer.read_body(request)
            peer.reply(fields=[("X-Used", str(len(request.target) % 7))])

        origin = self.origin(reports_its_cost)
        issuer = self.started(Issuer())
        keys = self.file("jwks.json", json.dumps({"keys": [issuer.make_key("HS256")]}))
        text = (
            "listeners: [ { address: 127.0.0.1:0 } ]\n"
            "log: { fields: { user: 'jwt:sub' } }\n"
            f"jwt: {{ keys: {keys} }}\n"
            "limits:\n"
            "  user: { key: 'jwt:sub', missing_key: reject, rate: 1/h, burst: 4 }\n"
            "  address: { key: client_ip, rate: 1/h, burst: 9, penalty: { after: 2, within: 1h, ban: 1h, max_ban: 1h } }\n"
            "  settled: { key: client_ip, rate: 1/s, burst: 12, cost: 2, settle: { header: X-Used, max: 100 } }\n"
            "routes:\n"
            "  - { match: { path: /users }, limits: [user, address], upstream: up }\n"
            "  - { match: { path: /settled }, limits: [settled], upstream: up }\n"
            f"upstreams: {{ up: {{ servers: ['{origin.address}'] }} }}\n"
        )
        gateway = self.gateway(text)
        tokens = {name: issuer.token("HS256", sub=name) for name in ("alice", "bob")}
        with gateway.connect() as c:
            for name in ["alice"] * 6 + ["none"] * 3 + ["bob"] * 6 + ["none"]:
                fields = [("Authorization", "Bearer " + tokens[name])] if name in tokens else []
                c.ask("/users", fields)
            for i in range(30):
                c.ask("/settled" + "x" * (i % 9))
                c.ask("/settled/" + "x" * (i % 5))
        lines = gateway.log_lines(76)
        log = self.file("access.log", "".join(json.dumps(l, ensure_ascii=False) + "\n" for l in lines))
        done = self.replayed(text, log)
        self.assertEqual(done["unjudged"], 0)
        self.assertEqual(
            (done["logged"]["newly_rejected"], done["logged"]["newly_allowed"]), (0, 0), done["limits"]
        )
        limits = done["limits"]
        self.assertEqual({c["client"] for c in limits["user"]["clients"]} - {"127.0.0.1"}, {"alice", "bob"})
        self.assertEqual(
            done["rejected"],
            sum(l["status"] in (400, 429) for l in lines),
        )


class Formats(ReplayTest):
    """Logs of real servers. Seven requests with another query each, and 429 after the fifth."""

    by_address = ONE_LIMIT % ("1/h", 5)
    by_query = by_address.replace("client_ip", "'query:n', missing_key: reject")
    by_agent = by_address.replace("client_ip", "'header:user-agent', missing_key: reject")

    def ask(self, port):
        for i in range(7):
            words = ["curl", "-s", "-A", f"agent{i % 2}", f"http://127.0.0.1:{port}/a?n={i}"]
            subprocess.run(words, check=True, capture_output=True)

    def lines_of(self, path, count):
        def enough():
            with open(path, encoding="utf-8") as f:
                return f.read().count("\n") >= count

        wait_until(enough, 10, f"{count} lines in {path}")

    def check(self, log, form, rejected_by_agent):
        done = self.replayed(self.by_address, log)
        self.assertEqual((done["formats"], done["bad_lines"]), ([form], 0))
        self.assertEqual((done["allowed"], done["rejected"]), (5, 2))
        self.assertEqual(done["limits"]["l"]["clients"][0]["client"], "127.0.0.1")
        self.assertEqual(self.replayed(self.by_query, log)["allowed"], 7)
        by_agent = self.replayed(self.by_agent.replace("burst: 5", "burst: 3"), log)
        if rejected_by_agent is None:
            self.assertEqual(by_agent["unjudged"], 7)
        else:
            self.assertEqual(by_agent["rejected"], rejected_by_agent)

    def test_of_nginx(self):
        port = free_port()
        log = self.file("access.log", "")
        server = f"server {{ listen 127.0.0.1:{port}; access_log {log} combined; return 200 ok; }}"
        self.started(Nginx(more=server))
        self.ask(port)
        self.lines_of(log, 7)
        self.check(log, "the combined log format", 1)

    def test_of_apache(self):
        port = free_port()
        log = self.file("access.log", "")
        words = (
            'LogFormat "%v:%p %h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"" vhost\n'
            f"CustomLog {log} vhost\n"
        )
        self.started(Apache(port, words))
        self.ask(port)
        self.lines_of(log, 7)
        self.check(log, "the combined log format", 1)

    def test_of_haproxy(self):
        port = free_port()
        directory = self.directory()
        log = directory.file("access.log", "")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as syslog:
            syslog.bind(os.path.join(directory.path, "log"))
            syslog.settimeout(10)
            sections = (
                f"frontend f\n bind 127.0.0.1:{port}\n option httplog\n"
                f" log {directory.path}/log format rfc3164 local0\n"
                ' http-request return status 200 content-type text/plain string "ok"\n'
            )
            self.started(HAProxy(port, sections))
            self.ask(port)
            with open(log, "w", encoding="utf-8") as f:
                while open(log, encoding="utf-8").read().count(" HTTP/1.1") < 7:
                    line = syslog.recv(65536).decode()
                    if '"GET /' in line:
                        f.write(line.rstrip("\n") + "\n")
                        f.flush()
        self.check(log, "HAProxy's HTTP log format", None)

    def test_of_caddy(self):
        port = free_port()
        directory = self.directory()
        log = os.path.join(directory.path, "access.log")
        site = f"http://127.0.0.1:{port} {{\n\tlog {{\n\t\toutput file {log}\n\t}}\n\trespond ok\n}}\n"
        self.started(Caddy(port, site))
        self.ask(port)
        self.lines_of(log, 7)
        self.check(log, "Caddy's JSON", 1)

    def test_of_the_shape_of_traefik(self):
        lines = "".join(
            json.dumps(
                {
                    "ClientAddr": "127.0.0.1:4711", "ClientHost": "127.0.0.1", "Duration": 1000 + i,
                    "DownstreamStatus": 200, "RequestHost": "localhost", "RequestMethod": "GET",
                    "RequestPath": f"/a?n={i}", "RequestProtocol": "HTTP/1.1", "level": "info", "msg": "",
                    "StartUTC": f"2026-11-28T10:00:0{i}.123456789Z", "time": f"2026-11-28T11:00:0{i}+01:00",
                    "request_User-Agent": f"agent{i % 2}",
                }
            )
            + "\n"
            for i in range(7)
        )
        self.check(self.file("access.log", lines), "Traefik's JSON", 1)


class Inputs(ReplayTest):
    lines = "".join(combined(s) for s in range(10))

    def judged(self, *words, **options):
        done = self.replayed(ONE_LIMIT % ("1/m", 4), *words, **options)
        return done["lines"], done["allowed"], done["rejected"]

    def test_compressed(self):
        directory = self.directory()
        plain = directory.file("a.log", self.lines)
        packed = os.path.join(directory.path, "a.log.gz")
        with open(packed, "wb") as f:
            f.write(gzip.compress(self.lines[:200].encode()) + gzip.compress(self.lines[200:].encode()))
        subprocess.run(["zstd", "-q", plain, "-o", plain + ".zst"], check=True)
        padded = os.path.join(directory.path, "padded.log.gz")  # as tapes and copies by block leave it
        with open(padded, "wb") as f:
            f.write(gzip.compress(self.lines.encode()) + bytes(4096))
        # pzstd begins with a frame that is to be skipped.
        for name, frame in (("first", b"\x50"), ("last", b"\x5f")):
            with open(plain + ".zst", "rb") as f, open(os.path.join(directory.path, name), "wb") as out:
                out.write(frame + b"\x2a\x4d\x18\x04\x00\x00\x00size" + f.read())
        skipping = [os.path.join(directory.path, name) for name in ("first", "last")]
        for path in (plain, packed, padded, plain + ".zst", *skipping):
            self.assertEqual(self.judged(path), (10, 4, 6), path)
            with open(path, "rb") as f:
                out = subprocess.run(
                    [BINARY, "replay", "--config", self.file("c.yaml", ONE_LIMIT % ("1/m", 4)), "-"],
                    stdin=f, capture_output=True, check=True,
                ).stdout
            self.assertIn(b"10 lines", out)

    def test_bad_lines_are_counted(self):
        log = self.file("a.log", combined(0) + "garbage <script>\n\n" + combined(1) + "half a li")
        done = self.replayed(ONE_LIMIT % ("1/m", 4), log)
        self.assertEqual((done["lines"], done["bad_lines"], done["allowed"]), (3, 1, 2))
        bad = done["first_bad_line"]
        self.assertEqual((bad["file"], bad["line"], bad["text"]), (log, 2, "garbage <script>"))

    def test_malformed_requests_have_no_verdict(self):
        at = "192.0.2.1:1 [28/Nov/2026:10:00:0%d.655] f f/s -1/-1/-1/-1/0 %d 0 - - PR-- 1/1/0/0/0 0/0 %s\n"
        lines = at % (0, 400, '"<BADREQ>"') + at % (1, 200, '"GET / HTTP/1.1"') + at % (2, 400, '"<BADREQ>"')
        done = self.replayed(ONE_LIMIT % ("1/m", 4), self.file("a.log", lines))
        counts = [done[name] for name in ("lines", "allowed", "unlimited", "malformed")]
        self.assertEqual(counts, [3, 1, 0, 2])

    def test_paths_that_the_gateway_refuses(self):
        paths = ("/%zz", "/a%00", "/..%2f..", "/a/../../b")
        log = self.file("a.log", "".join(combined(s, path=p) for s, p in enumerate((*paths, "/"))))
        done = self.replayed(ONE_LIMIT % ("1/h", 2), log)
        self.assertEqual((done["allowed"], done["malformed"]), (1, 4))

    def test_escapes_of_nginx_are_bytes(self):
        by_path = (ONE_LIMIT % ("1/h", 2)).replace("client_ip", "path")
        paths = ("/a\\x22b?c=\\x22", "/a%22b", "/a\\x22b", "/ax22b")
        log = self.file("a.log", "".join(combined(s, path=p) for s, p in enumerate(paths)))
        done = self.replayed(by_path, log)
        self.assertEqual((done["allowed"], done["rejected"], done["malformed"]), (3, 1, 0))

    def test_no_value_adds_a_field(self):
        """A target that ends its line is malformed, as no client can send it."""
        by_key = (ONE_LIMIT % ("1/h", 9)).replace("client_ip", "'header:x-key', missing_key: client_ip")
        sent = {"ip": "192.0.2.9", "ts": 1795860000, "path": "/", "method": "GET", "host": "h.example"}
        hostile = [
            {"path": "/ HTTP/1.1\r\nX-Key: evil\r\nX-Rest: "},
            {"path": "/?a=1 HTTP/1.1\r\nX-Key: evil\r\nX-Rest: "},
            {"path": "/\nX-Key: evil"},
            {"path": "/a\u0000b"},
            {"path": "/a\u007fb"},
            {"method": "GET / HTTP/1.1\r\nX-Key: evil\r\nX-Rest: "},
            {"host": "h.example\r\nX-Key: evil"},
        ]
        lines = "".join(json.dumps({**sent, **change}) + "\n" for change in [{}, *hostile])
        fields = "client=ip,time=ts,path=path,method=method,host=host,header:x-key=key"
        done = self.replayed(by_key, self.file("a.log", lines), "--fields", fields)
        self.assertEqual((done["malformed"], done["allowed"] + done["unjudged"]), (len(hostile), 1))
        self.assertNotIn("evil", json.dumps(done["limits"]))
        escaped = combined(0, path="/\\x0D\\x0AX-Key:evil") + combined(1)
        done = self.replayed(by_key, self.file("b.log", escaped))
        self.assertEqual((done["malformed"], done["unjudged"]), (1, 1))

    def test_addresses_of_haproxy(self):
        line = "%s:%d [28/Nov/2026:10:00:00.655] f f/s 0/0/0/0/0 200 0 - - ---- 1/1/0/0/0 0/0 \"GET /a HTTP/1.1\"\n"
        clients = ("192.0.2.1", "::1", "2001:db8::1")
        log = self.file("a.log", "".join(line % (c, port) for c in clients for port in (1000, 35416)))
        done = self.replayed(ONE_LIMIT % ("1/h", 2), log)
        self.assertEqual((done["bad_lines"], done["allowed"], done["rejected"]), (0, 6, 0))
        self.assertEqual(len(done["limits"]["l"]["clients"]), 3)

    def test_virtual_hosts_that_are_addresses(self):
        for host in ("127.0.1.1:80", "127.0.1.1", "[2001:db8::1]:80", "www.example"):
            lines = (f"{host} {combined(s, f'192.0.2.{s}')}" for s in range(1, 7))
            done = self.replayed(ONE_LIMIT % ("1/h", 2), self.file("a.log", "".join(lines)))
            clients = {c["client"] for c in done["limits"]["l"]["clients"]}
            self.assertEqual(clients, {f"192.0.2.{s}" for s in range(1, 7)}, host)

    def test_lines_out_of_order(self):
        log = self.file("a.log", "".join(combined(s) for s in (59, 0, 30, 58, 1)))
        done = self.replayed(ONE_LIMIT % ("1/h", 2), log)
        self.assertEqual(done["limits"]["l"]["clients"][0]["first_rejected"] % 60, 30)

    def test_logs_are_merged(self):
        one = self.file("a.log", combined(0, "192.0.2.1") + combined(20, "192.0.2.1"))
        two = self.file("b.log", combined(10, "192.0.2.1"))
        done = self.replayed(ONE_LIMIT % ("1/h", 2), two, one)
        self.assertEqual(done["limits"]["l"]["clients"][0]["last_rejected"] % 60, 20)

    def test_errors(self):
        config = ONE_LIMIT % ("1/m", 4)
        directory = self.directory()
        self.assertIn("is a directory", self.replayed(config, directory.path, status=1))
        self.assertIn("No such file", self.replayed(config, "/nowhere.log", status=1))
        strange = self.file("s.log", "what is this\nand this\n")
        self.assertIn("no access log", self.replayed(config, strange, status=1))
        hostile = self.file("h.log", "\x1b]0;title\x07\x9b31m\n")
        self.assertIn(r"\x1b]0;title\x07\xc2\x9b31m", self.replayed(config, hostile, status=1))
        cut = os.path.join(directory.path, "cut.gz")
        with open(cut, "wb") as f:
            f.write(gzip.compress(self.lines.encode())[:-20])
        self.assertIn("cut.gz", self.replayed(config, cut, status=1))
        log = self.file("a.log", self.lines)
        self.assertEqual(
            self.replayed(config, log, "--report", "/nowhere/r.html", status=1),
            "/nowhere/r.html: the report cannot be written\n",
        )
        self.assertIn("standard input", self.replayed(config, "-", "-", status=2, input=self.lines))
        linked = os.path.join(directory.path, "linked.log")
        os.link(log, linked)
        for report in (log, linked):
            refused = self.replayed(config, strange, log, "--report", report, status=2)
            self.assertIn("would overwrite a log", refused)
            with open(log, encoding="utf-8") as f:
                self.assertEqual(f.read(), self.lines)
        self.assertIn("--fields", self.replayed(config, log, "--fields", "clint=ip", status=2))
        self.assertIn("percentage", self.replayed(config, log, "--suggest", "1", status=2))
        self.assertIn("nowhere.yaml", self.replayed(config, log, "--against", "nowhere.yaml", status=2))
        empty = self.replayed(config, self.file("empty.log", ""))
        self.assertEqual((empty["lines"], empty["allowed"]), (0, 0))

    def test_other_json(self):
        lines = "".join(
            json.dumps({"ts": 1795860000 + i, "req": {"ip": "192.0.2.9", "uri": "/", "key": f"k{i % 2}"}}) + "\n"
            for i in range(6)
        )
        fields = "client=req.ip,time=ts,path=req.uri,header:x-key=req.key"
        by_key = (ONE_LIMIT % ("1/h", 2)).replace("client_ip", "'header:X-Key', missing_key: reject")
        done = self.replayed(by_key, self.file("a.log", lines), "--fields", fields)
        self.assertEqual(done["rejected"], 2)
        names = {c["client"] for c in done["limits"]["l"]["clients"]}
        self.assertEqual(names, {"k0", "k1"})


    def test_members_of_contents_by_description(self):
        asked = [("a", 1), ("a", 2), ("b", 3), ("a", 9)]
        lines = "".join(
            json.dumps({"t": 1795860000 + i, "ip": "192.0.2.9", "u": "/", "body": {"model": m, "n": n}}) + "\n"
            for i, (m, n) in enumerate(asked)
        )
        fields = "client=ip,time=t,path=u,json:model=body.model,json:limits.tokens=body.n"
        config = (ONE_LIMIT % ("1/h", 3)).replace(
            "client_ip", "'json:model', missing_key: skip, cost: { json: limits.tokens, default: 1, max: 9 }"
        )
        done = self.replayed(config, self.file("a.log", lines), "--fields", fields)
        self.assertEqual((done["allowed"], done["rejected"]), (3, 1))
        allowed = {c["client"]: c["allowed"] for c in done["limits"]["l"]["clients"]}
        self.assertEqual(allowed, {"a": 2, "b": 1})


class Answers(ReplayTest):
    def test_what_differs_between_policies(self):
        log = self.file("a.log", "".join(combined(s) for s in range(10)))
        old = self.file("old.yaml", ONE_LIMIT % ("1/h", 6))
        done = self.replayed(ONE_LIMIT % ("1/h", 4), log, "--against", old)
        self.assertEqual((done["against"]["newly_rejected"], done["against"]["newly_allowed"]), (2, 0))

    def test_what_the_log_does_not_tell(self):
        by_key = (ONE_LIMIT % ("1/h", 2)).replace("client_ip", "'header:X-Key', missing_key: reject")
        done = self.replayed(by_key, self.file("a.log", combined(0) + combined(1)))
        self.assertEqual((done["unjudged"], done["limits"]["l"]["unjudged"]), (2, 2))
        self.assertEqual(done["limits"]["l"]["unjudged_because"][0]["missing"], "header:x-key")

    def test_which_route_the_log_does_not_tell(self):
        some = ONE_LIMIT.replace(
            "routes: [", "routes: [ { match: { host: a.example, headers: { x-tier: gold } }, upstream: up },"
        )
        log = self.file("a.log", combined(0) + combined(1))
        done = self.replayed(some % ("1/h", 1), log)
        self.assertEqual((done["unjudged"], done["limits"]["l"]["unjudged"]), (2, 0))
        missing = {"missing": "host, header:x-tier, by which routes match", "requests": 2}
        self.assertEqual(done["unjudged_because"], [missing])

    def test_routes_by_content_need_a_log_that_tells_it(self):
        some = ONE_LIMIT.replace(
            "routes: [", "routes: [ { match: { json: { model: big } }, upstream: up },"
        ) % ("1/h", 1)
        log = self.file("a.log", combined(0) + combined(1))
        done = self.replayed(some, log)
        self.assertEqual((done["unjudged"], done["limits"]["l"]["allowed"]), (2, 0))
        missing = {"missing": "json:model, by which routes match", "requests": 2}
        self.assertEqual(done["unjudged_because"], [missing])
        lines = "".join(
            json.dumps({"t": 1795860000 + i, "ip": "192.0.2.9", "u": "/", "m": m}) + "\n"
            for i, m in enumerate(("big", "small", "small"))
        )
        fields = "client=ip,time=t,path=u,json:model=m"
        done = self.replayed(some, self.file("b.log", lines), "--fields", fields)
        self.assertEqual((done["allowed"], done["unlimited"], done["rejected"]), (2, 1, 1))

    def test_says_what_a_suggestion_leaves_out(self):
        log = self.file("a.log", "".join(combined(s) * 5 for s in range(0, 300, 10)))
        keys = {
            "penalty": "penalty: { after: 2, within: 1m, ban: 10m, max_ban: 1d }",
            "reserve: cap": "reserve: cap",
            "shards": "shards: 2",
            "max_wait": "max_wait: 5s",
            "charge_on": "charge_on: { status: [401] }",
            "reset_on": "reset_on: { status: [401] }",
        }
        for name, key in keys.items():
            config = (ONE_LIMIT % ("1/s", 9)).replace("burst: 9", "burst: 9, " + key)
            with self.subTest(name):
                made = self.replayed(config, log, "--suggest", "5%")["limits"]["l"]["suggestion"]
                self.assertEqual(made["without"], [name])
        plain = self.replayed(ONE_LIMIT % ("1/s", 9), log, "--suggest", "5%")
        self.assertEqual(plain["limits"]["l"]["suggestion"]["without"], [])
        path, page = self.file("c.yaml", config), os.path.join(self.directory().path, "r.html")
        out = run_command("replay", "--config", path, "--suggest", "5%", "--report", page, log)[1]
        self.assertIn("without what these keys change:\n   reset_on)", out)
        with open(page, encoding="utf-8") as f:
            self.assertIn("without what these keys change: reset_on.", f.read())

    def test_suggests_the_smallest_numbers(self):
        # Five at once every ten seconds: 5 tokens, 30 a minute.
        lines = "".join(combined(s) * 5 for s in range(0, 3000, 10))
        log = self.file("a.log", lines)
        made = self.replayed(ONE_LIMIT % ("1/s", 9), log, "--suggest", "0%")["limits"]["l"]["suggestion"]
        self.assertEqual((made["rate"], made["burst"]), ("30/m", 5))
        again = self.replayed(ONE_LIMIT % (made["rate"], made["burst"]), log)
        self.assertEqual(again["rejected"], 0)
        self.assertGreater(self.replayed(ONE_LIMIT % ("29/m", 4), log)["rejected"], 0)

    def test_a_page_that_hostile_values_do_not_change(self):
        lines = combined(0).replace("curl/8", "<script>alert(1)</script>\u202e")
        directory = self.directory()
        report = os.path.join(directory.path, "r.html")
        config = (ONE_LIMIT % ("1/h", 2)).replace("client_ip", "'header:User-Agent', missing_key: skip")
        self.replayed(config, self.file("a.log", lines), "--report", report, "--suggest", "1%")
        with open(report, encoding="utf-8") as f:
            page = f.read()
        self.assertIn("&lt;script&gt;alert(1)", page)
        self.assertNotIn("<script", page)
        self.assertNotIn("\u202e", page)
        self.assertNotRegex(page, r'(src|href)=')

    def test_progress_is_shown_on_a_terminal_only(self):
        path = self.file("c.yaml", ONE_LIMIT % ("1/m", 4))
        log = self.file("a.log", "".join(combined(s % 3000) for s in range(20_000)))
        words = [BINARY, "replay", "--config", path, log]
        ours, theirs = pty.openpty()
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=theirs, check=True)
        os.close(theirs)
        shown = os.read(ours, 65536).decode()
        os.close(ours)
        self.assertRegex(shown, r"\[[#.]{40}\] \d+ %, \d+:\d\d left, \d+k lines")
        self.assertIn(b"20,000 lines", done.stdout)
        self.assertEqual(subprocess.run(words, capture_output=True, check=True).stderr, b"")

    def test_text_fits_a_terminal(self):
        path = self.file("c.yaml", ONE_LIMIT % ("1/m", 4))
        log = self.file("a.log", "".join(combined(s) for s in range(30)))
        status, out, err = run_command("replay", "--config", path, "--suggest", "1%", log)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("rejected", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
