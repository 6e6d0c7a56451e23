"""A store in a real Redis Cluster: many slots, moving slots, nodes that fail."""
import json
import re

from harness.case import SystemTest
from harness.client import get
from harness.clock import running
from harness.documents import documented
from harness.fault_case import ALLOWANCE, NOISE, RECOVERY
from harness.load import Load, percentile
from harness.process import SLOW, wait_until
from harness.redis_cluster import RedisCluster, slot_of

TEXT = """
stores: {{ r: {{ url: '{url}', timeout: {timeout}ms, remember_rejections: {remember} }} }}
limits:
  each: {{ key: ['header:X-Client'], missing_key: reject, rate: {rate}, burst: {burst}, store: r, on_store_failure: closed }}
  more: {{ key: ['header:X-Client'], missing_key: reject, rate: {rate}, burst: 100, store: r, on_store_failure: closed }}
  all: {{ key: [], rate: {rate}, burst: 10, store: r, on_store_failure: closed }}
routes:
  - {{ match: {{ path: /both }}, limits: [all, each], upstream: up }}
  - {{ match: {{ path: /two }}, limits: [each, more], upstream: up }}
  - {{ limits: [each], upstream: up }}
upstreams: {{ up: {{ servers: [echo] }} }}
"""
# Seconds: the time-out of a store whose good nodes are never late for it, however slow the machine is.
PATIENT = 0.5


def requests_of(client, path="/"):
    return f"GET {path} HTTP/1.1\r\nHost: h\r\nX-Client: {client}\r\n\r\n".encode()


class ClusterTest(SystemTest):
    shape = {"masters": 3}

    def setUp(self):
        self.cluster = self.started(RedisCluster(**self.shape))

    def text(self, burst=3, rate="1/d", timeout=1000, remember="true"):
        return TEXT.format(
            url=self.cluster.url, burst=burst, rate=rate, timeout=timeout, remember=remember
        )

    def up(self, **options):
        gateway = self.gateway(self.text(**options))
        self.wait_until_up(gateway)
        return gateway

    def wait_until_up(self, gateway, seconds=10):
        is_up = lambda: gateway.metrics().sum("gateway_store_up", store="r") >= 1
        wait_until(is_up, seconds, "the store is up")

    def statuses(self, gateway, client, times=1, path="/"):
        return [gateway.get(path, headers=[("X-Client", client)]).status for _ in range(times)]

    def failures(self, gateway):
        return gateway.metrics().sum("gateway_store_failures_total", store="r")

    def slot_of_client(self, client):
        """Of one who has a bucket."""
        self.assertIn(client, self.known)
        return slot_of(self.known[client])

    def learn(self, gateway, clients):
        """Gives each a bucket, and learns its tag."""
        self.known = {}
        for client in clients:
            before = set(self.cluster.keys())
            self.assertEqual(self.statuses(gateway, client), [200])
            (key,) = set(self.cluster.keys()) - before
            self.known[client] = re.fullmatch(rb"gw:\{([0-9a-f]{8})\}each:[0-9a-f]{32}", key)[1].decode()
        return self.known


class Counting(ClusterTest):
    def test_gateways_share_buckets_in_all_nodes(self):
        first, second = self.up(), self.up()
        for number in range(40):
            client = f"client {number}"
            got = [self.statuses(g, client)[0] for g in (first, second, first, second)]
            self.assertEqual(got, [200, 200, 200, 429], client)
        self.assertEqual(len(self.cluster.keys()), 40)
        self.assertTrue(all(len(node.keys()) > 3 for node in self.cluster.masters))

    def test_many_clients_at_once_are_counted_exactly(self):
        gateway = self.up(burst=20)
        flows = [(c, requests_of(f"client {c}")) for c in range(64)]
        load = Load(gateway.address, flows)
        answers = load.run(2 if SLOW else 1)
        self.assertEqual(load.lost, [])
        for client in range(64):
            passed = sum(a.status == 200 for a in answers if a.tag == client)
            asked = sum(1 for a in answers if a.tag == client)
            self.assertEqual(passed, min(asked, 20))
        self.assertEqual(self.failures(gateway), 0)

    def test_a_request_that_one_slot_refuses_is_charged_to_none(self):
        # A worker that remembered rejections would take no tokens that are to be given back.
        gateway = self.up(burst=1, remember="false")
        self.assertEqual(self.statuses(gateway, "a", 6, "/both"), [200] + [429] * 5)
        given_back = lambda: sum(b"correction" in key for key in self.cluster.keys())
        wait_until(lambda: given_back() == 5, 5, "tokens are given back")

        def others_pass():
            fresh = (f"b {n}" for n in range(20))
            got = [self.statuses(gateway, client, 1, "/both")[0] for client in fresh]
            return got == [200] * 9 + [429] * 11

        self.assertTrue(others_pass(), "ten in all")

    def test_a_user_needs_no_more_than_documented(self):
        user = documented("stores.md").strip().replace("PASSWORD", "secret").split()
        for node in self.cluster.masters:
            node.command(*user, "+cluster|slots", "+asking")
        url = self.cluster.url.replace("//", "//gateway:secret@")
        gateway = self.gateway(self.text().replace(self.cluster.url, url))
        self.wait_until_up(gateway)
        for path in ("/", "/two", "/both"):
            self.assertEqual(self.statuses(gateway, path, 1, path), [200])
        target = self.cluster.masters[0]
        for key in self.cluster.masters[1].keys():
            self.cluster.move(slot_of(key.partition(b"{")[2].partition(b"}")[0].decode()), target)
        for path in ("/", "/two", "/both"):
            self.assertEqual(self.statuses(gateway, path, 1, path), [200])

    def test_a_changed_rate_is_carried_to_all_nodes(self):
        gateway = self.up(burst=1)
        for number in range(20):
            self.assertEqual(self.statuses(gateway, f"c {number}"), [200])
        times = lambda: [n.command("PTTL", key) for n in self.cluster.masters for key in n.keys()]
        before = times()
        self.assertIn("reloaded", gateway.reload(self.text(burst=1, rate="100/d")))
        gateway.wait_for_diagnostic("all buckets follow the changed rates")
        self.assertEqual(len(times()), len(before))
        self.assertLess(max(times()), min(before) / 30)

    def test_an_error_answers_the_last_user_of_a_store_that_a_reload_has_replaced(self):
        gateway = self.up(timeout=5000)
        self.learn(gateway, ["a"])
        master = self.cluster.owner(self.slot_of_client("a"))
        master.command("CONFIG", "SET", "maxmemory", "1")
        master.freeze()
        calls = lambda: gateway.metrics().sum("gateway_store_requests_total", store="r")
        before = calls()
        client = gateway.connect()
        client.send(requests_of("a") * 2)
        wait_until(lambda: calls() > before, 2, "the store is asked")
        self.assertIn("reloaded", gateway.reload(self.text(timeout=4000)))
        master.thaw()
        self.assertEqual([client.response().status for _ in range(2)], [503, 503])
        self.assertEqual(gateway.get("/", headers=[("X-Client", "a")]).status, 503)

    def test_what_one_slot_refuses_is_given_back_though_a_reload_replaces_the_store(self):
        options = {"burst": 1, "remember": "false"}
        text = lambda timeout: "workers: 1\n" + self.text(timeout=timeout, **options)
        gateway = self.gateway(text(5000))
        self.wait_until_up(gateway)
        self.assertEqual(self.statuses(gateway, "first", 1, "/both"), [200])
        (bucket,) = [key for key in self.cluster.keys() if b"}all:" in key]
        of_all = self.cluster.owner(slot_of(bucket.partition(b"{")[2].partition(b"}")[0].decode()))
        clients = self.learn(gateway, [f"c {n}" for n in range(8)])  # who have no token left
        owner = lambda client: self.cluster.owner(self.slot_of_client(client))
        client = next(c for c in clients if owner(c) is not of_all)
        refusing, before = owner(client), of_all.command("GET", bucket)
        refusing.freeze()
        with gateway.connect() as c:
            c.send(requests_of(client, "/both"))
            wait_until(lambda: of_all.command("GET", bucket) != before, 2, "a token is taken")
            of_all.freeze()
            refusing.thaw()
            self.assertEqual(c.response().status, 429)
        self.assertIn("reloaded", gateway.reload(text(4000)))
        # A connection that nobody uses keeps the configuration of its last request.
        wait_until(lambda: self.statuses(gateway, client) == [429], 5, "the new store decides")
        of_all.thaw()
        given_back = lambda: any(b"correction" in key for key in of_all.keys())
        wait_until(given_back, 10, "the token is given back")
        lost = gateway.metrics().sum("gateway_store_give_backs_lost_total", store="r")
        self.assertEqual(lost, 0)

    def test_a_look_is_one_call(self):
        token = self.directory().file("token")
        with open(token, "w", encoding="ascii") as f:
            f.write("secret\n")
        admin = f"admin: {{ address: '127.0.0.1:0', token_file: '{token}' }}\n"
        gateway = self.gateway(self.text() + admin)
        self.wait_until_up(gateway)
        calls = lambda: gateway.metrics().sum("gateway_store_requests_total", store="r")
        headers = [("Authorization", "Bearer secret"), ("Content-Type", "application/json")]
        for client in ("a", "b", "c", "d"):
            before = calls()
            body = json.dumps({"limit": "each", "key": [client]}).encode()
            r = get(gateway.admin, "/v1/look", headers, method="POST", body=body)
            self.assertEqual((r.status, json.loads(r.text)["remaining"]), (200, 3), r.text)
            self.assertEqual(calls(), before + 1)
        self.assertEqual(self.cluster.keys(), [])

    def test_flushed_scripts_are_loaded_again(self):
        gateway = self.up()
        for node in self.cluster.masters:
            node.command("SCRIPT", "FLUSH")
        for number in range(10):
            self.assertEqual(self.statuses(gateway, f"d {number}"), [200])
        self.assertEqual(self.failures(gateway), 0)


class InShadow(ClusterTest):
    def test_a_limit_in_shadow_mode_whose_node_is_away_changes_no_verdict(self):
        text = self.text(timeout=200 if SLOW else 50, remember="false")
        gateway = self.gateway(text.replace("all: { key", "all: { mode: shadow, key"))
        self.wait_until_up(gateway)
        self.assertEqual(self.statuses(gateway, "first", 1, "/both"), [200])
        (tag,) = re.findall(rb"\{([0-9a-f]{8})\}all:", b" ".join(self.cluster.keys()))
        away = self.cluster.owner(slot_of(tag.decode()))
        self.learn(gateway, [f"s {n}" for n in range(12)])
        owner = lambda client: self.cluster.owner(self.slot_of_client(client))
        clients = [c for c in self.known if owner(c) is not away][:4]
        for client, fault in zip(clients, (away.freeze, lambda: None, away.thaw, away.kill)):
            fault()
            got = self.statuses(gateway, client, 3, "/both")
            self.assertEqual(got, [200, 200, 429], "its own limit decides")
        undecided = gateway.metrics().sum("gateway_decisions_total", limit="all", outcome="failed_open")
        self.assertGreaterEqual(undecided, 6)


class Moving(ClusterTest):
    alone = True  # nodes that get no processor are given up by the others
    shape = {"masters": 2, "spare": 1}

    def errors(self, word):
        """How often nodes said so."""
        total = 0
        for node in self.cluster.nodes:
            for line in node.command("INFO", "errorstats").decode().splitlines():
                found = re.fullmatch(rf"errorstat_{word}:count=(\d+)", line)
                total += int(found[1]) if found else 0
        return total

    def test_slots_move_under_load_and_nobody_notices(self):
        gateway = self.up(burst=5, timeout=2000, remember="false")
        clients = [f"m {n}" for n in range(12)]
        tags = self.learn(gateway, clients)
        flows = [(c, requests_of(c)) for c in clients]
        flows += [(f"new {n}", requests_of(f"new {n}")) for n in range(4)]
        load = Load(gateway.address, flows, interval=0.02).start()
        wait_until(lambda: len(load.answers) > 200)
        target = self.cluster.spare[0]
        for client in clients:

            def some_pass():
                count = len(load.answers)
                wait_until(lambda: len(load.answers) > count + 20)

            self.cluster.move(slot_of(tags[client]), target, some_pass)
        count = len(load.answers)
        wait_until(lambda: len(load.answers) > count + 100)
        answers = load.finish()
        self.assertEqual(load.lost, [])
        self.assertEqual({a.status for a in answers}, {200, 429})
        self.assertEqual(self.failures(gateway), 0)
        for client in clients:  # one token was taken before the load
            self.assertEqual(sum(a.status == 200 for a in answers if a.tag == client), 4, client)
        self.assertGreater(self.errors("MOVED"), 0)
        self.assertGreater(self.errors("ASK"), 0)
        self.assertGreaterEqual(len(target.keys()), len(clients))

    def test_a_node_that_has_no_slots_yet_is_kept_while_it_is_asked(self):
        gateway = self.up(burst=50, timeout=5000, remember="false")
        tag = self.learn(gateway, ["w"])["w"]
        target = self.cluster.spare[0]
        told = lambda: sum(self.times_asked_for_slots(node) for node in self.cluster.masters)
        half_moved = []

        def ask_it_while_it_stands():
            half_moved.append(True)
            if len(half_moved) < 2:
                return
            with gateway.connect() as client:
                self.assertEqual(client.ask(headers=[("X-Client", "w")]).status, 200)
                target.freeze()
                before = told()
                client.request(headers=[("X-Client", "w")])
                wait_until(lambda: told() >= before + 2, 4, "the slots are told without it")
                target.thaw()
                self.assertEqual(client.response().status, 200)

        self.cluster.move(slot_of(tag), target, ask_it_while_it_stands)
        self.assertEqual(len(half_moved), 2)
        self.assertEqual(self.failures(gateway), 0)

    def times_asked_for_slots(self, node):
        stats = node.command("INFO", "commandstats").decode()
        found = re.search(r"cmdstat_cluster\|slots:calls=(\d+)", stats)
        return int(found[1]) if found else 0

    def test_several_keys_of_a_slot_that_is_half_moved_wait_or_fail_by_policy(self):
        gateway = self.up(burst=50, timeout=100, remember="false")
        self.assertEqual(self.statuses(gateway, "t", 1, "/two"), [200])
        keys = self.cluster.keys()
        self.assertEqual(len(keys), 2)
        tag = keys[0].decode().partition("{")[2].partition("}")[0]
        halfway = []
        while_moving = lambda: halfway.append(self.statuses(gateway, "t", 3, "/two"))
        self.cluster.move(slot_of(tag), self.cluster.spare[0], while_moving)
        before, between, after = halfway
        self.assertEqual((before, after), ([200] * 3, [200] * 3))
        self.assertEqual(between, [503] * 3)
        self.assertGreater(self.errors("TRYAGAIN"), 0)
        self.assertEqual(self.statuses(gateway, "t", 1, "/two"), [200])
        answer = gateway.get("/two", headers=[("X-Client", "t")])
        self.assertEqual(answer.status, 200)
        self.assertEqual(len(self.cluster.keys()), 2)
        remaining = [self.statuses(gateway, "t")[0] for _ in range(50)].count(200)
        self.assertEqual(remaining, 50 - 9, "what failed was charged to nobody")


class Failing(ClusterTest):
    alone = True  # nodes that get no processor are given up by the others
    shape = {"masters": 3, "replicas": 1}

    def loaded(self, gateway, clients):
        """A load of clients with empty buckets, by whose shard they are in."""
        tags = self.learn(gateway, clients)
        shard = {c: self.cluster.owner(slot_of(tags[c])) for c in clients}
        load = Load(gateway.address, [(c, requests_of(c)) for c in clients], interval=0.02).start()
        calm = lambda: len(load.answers) > 50 and all(a.status == 429 for a in load.answers[-30:])
        wait_until(calm, 10, "all buckets are empty")
        return load, shard

    def test_one_frozen_shard_does_not_slow_the_others(self):
        gateway = self.up(burst=1, timeout=int(PATIENT * 1000), remember="false")
        load, shard = self.loaded(gateway, [f"f {n}" for n in range(12)])
        frozen = shard["f 0"]
        frozen.freeze()
        broken_at = running()
        wait_until(lambda: running() > broken_at + 4 * PATIENT, 10)
        thawed_at = running()
        frozen.thaw()
        calm = lambda: all(a.status == 429 and a.sent > thawed_at for a in load.answers[-24:])
        wait_until(calm, 10, "the shard decides again")
        answers = load.finish()
        # Requests that were sent later may have waited for the thaw.
        during = [a for a in answers if broken_at < a.sent < thawed_at - PATIENT]
        others = [a for a in during if shard[a.tag] is not frozen]
        its_own = [a for a in during if shard[a.tag] is frozen]
        p99 = lambda some: percentile([a.at - a.sent for a in some], 0.99)
        print(f"     frozen: p99 {p99(its_own) * 1000:.1f} ms, of others {p99(others) * 1000:.1f} ms")
        self.assertEqual({a.status for a in others}, {429})
        self.assertEqual({a.status for a in its_own[10:]}, {503})
        self.assertLess(p99(its_own) - p99(others), PATIENT + ALLOWANCE + NOISE, "others tell how slow the machine is")
        self.assertLess(p99(others), PATIENT / 2)

    def test_one_master_is_killed(self):
        gateway = self.up(burst=1, timeout=int(PATIENT * 1000), remember="false")
        load, shard = self.loaded(gateway, [f"k {n}" for n in range(12)])
        dead = shard["k 0"]
        number = self.cluster.masters.index(dead)
        heir = self.cluster.replicas[number]
        dead.command("WAIT", 1, 1000)
        broken_at = running()
        dead.kill()
        wait_until(lambda: heir.role() == "master", 30, "its replica is promoted")
        promoted_at = running()
        calm = lambda: all(a.status == 429 and a.sent > promoted_at for a in load.answers[-24:])
        wait_until(calm, 10, "the heir decides")
        answers = load.finish()
        bad = [a for a in answers if a.sent > broken_at and a.status != 429]
        self.assertEqual(load.lost, [])
        self.assertGreater(len(bad), 5, "the fault was felt")
        self.assertEqual({shard[a.tag] for a in bad}, {dead})
        recovery = max(a.at for a in bad) - promoted_at
        p99 = percentile([a.at - a.sent for a in answers if a.sent > broken_at], 0.99)
        print(f"     killed: p99 {p99 * 1000:.1f} ms, decided {recovery * 1000:.0f} ms after promotion")
        self.assertLess(recovery, RECOVERY * (3 if SLOW else 1) + 0.1)
        self.assertLess(p99, PATIENT + ALLOWANCE + NOISE)
        gateway.wait_for_diagnostic("store r: ready at cluster of 3 masters")

    def test_no_node_answers(self):
        for node in self.cluster.nodes:
            node.kill()
        gateway = self.gateway(self.text())
        gateway.wait_for_diagnostic("unreachable (no node tells the slots: 127.0.0.1:")
        self.assertEqual(self.statuses(gateway, "x"), [503])
