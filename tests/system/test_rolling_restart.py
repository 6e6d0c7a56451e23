"""Two servers, restarted one after the other under a load of GETs: none of them may fail.

What makes that hard: connections that end without an answer, in order and by reset; ports where
nobody listens; and listening sockets that outlive who accepts from them, so that a new connection
is made and then reset.
"""
import threading

from harness.case import SystemTest, only_as_shipped
from harness.load import Load
from harness.nginx import Nginx
from harness.node import NodeServer
from harness.process import wait_until

GET = b"GET /ok HTTP/1.1\r\nHost: h\r\n\r\n"
FLOWS = 64
TURNS = 4
QUICK_RETURN = ", ejection: { time: 100ms, max_time: 100ms }, slow_start: 0s"


def to_servers(addresses, options="", workers=2):
    listed = ", ".join(f"'{a}'" for a in addresses)
    return (
        f"workers: {workers}\nlog: {{ access: false }}\nroutes: [ {{ upstream: up }} ]\n"
        f"upstreams: {{ up: {{ servers: [{listed}]{options} }} }}\n"
    )


@only_as_shipped
class RollingRestart(SystemTest):
    def restart_in_turn(self, servers, options):
        gateway = self.gateway(to_servers([s.address for s in servers], options))
        load = Load(gateway.address, [(i, GET) for i in range(FLOWS)]).start()

        def more_answers():
            enough = len(load.answers) + 10 * FLOWS
            wait_until(lambda: len(load.answers) > enough, 20, "more answers")

        for turn in range(TURNS):
            more_answers()
            servers[turn % 2].halt()
            more_answers()
            servers[turn % 2].start()
        more_answers()
        load.finish()
        failed = [a for a in load.answers if a.status != 200]
        retries = gateway.metrics().sum("gateway_upstream_retries_total", result="sent")
        print(f"     {len(load.answers)} GETs, {retries:.0f} sent twice, {len(failed)} failed")
        self.assertEqual(load.lost, [])
        self.assertEqual([a.text[:300] for a in failed[:3]], [], f"{len(failed)} failed")
        return retries

    def restart_pairs_of(self, make_server):
        servers = [self.started(make_server()) for _ in range(2)]
        retries = sum(self.restart_in_turn(servers, o) for o in ("", QUICK_RETURN))
        self.assertGreater(retries, 0, "the restarts were felt")

    def test_of_node(self):
        self.restart_pairs_of(NodeServer)

    def test_of_node_whose_primary_accepts_for_its_workers(self):
        self.restart_pairs_of(lambda: NodeServer(workers=2))

    def test_of_nginx(self):
        self.restart_pairs_of(Nginx)

    def test_of_nginx_whose_master_outlives_its_worker(self):
        self.restart_pairs_of(lambda: Nginx(master=True))
