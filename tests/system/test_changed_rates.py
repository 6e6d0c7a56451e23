"""A rate that one gateway changes, and what others believe of buckets in a shared store."""
import time

from harness.case import SystemTest, only_as_shipped
from harness.postgres_server import PostgresServer
from harness.process import wait_until
from harness.redis_server import RedisServer


class ChangedRates(SystemTest):
    server = RedisServer

    def test_who_is_remembered_as_limited_is_let_in_by_all_gateways(self):
        store = self.started(self.server())
        text = (
            f"stores: {{ r: {{ url: '{store.url}', timeout: 1s }} }}\n"
            "limits:\n  l: { key: [], rate: %s, burst: 1, store: r, on_store_failure: closed }\n"
            "  other: { key: [], rate: 1000/s, store: r, on_store_failure: closed }\n"
            "routes:\n  - { match: { path: /other }, limits: [other], upstream: up }\n"
            "  - { limits: [l], upstream: up }\nupstreams: { up: { servers: [echo] } }\n"
        )
        one, other = (self.gateway(text % "1/h") for _ in range(2))
        for g in (one, other):
            wait_until(lambda g=g: g.metrics().sum("gateway_store_up", store="r") == 1, 15, "it is up")

        def passes():
            # What the store said counts while it is heard, so somebody else asks it, too.
            self.assertEqual(one.get("/other").status, 200)
            return one.get().status == 200

        self.assertEqual([passes(), passes(), passes()], [True, False, False])
        remembered = time.monotonic()
        other.reload(text % "100000/s")
        wait_until(passes, 8, "nobody is limited any more")
        # By itself it would have asked again ten seconds after it was told.
        self.assertLess(time.monotonic() - remembered, 9)


@only_as_shipped
class InPostgres(ChangedRates):
    server = PostgresServer
