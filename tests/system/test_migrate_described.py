"""The pages of docs/migrate about programs that cannot be had here: the gateway's side of each case, and nginx
in place of ingress-nginx."""
from harness.migration import MigrationTest, case
from harness.nginx import Nginx
from harness.process import wait_until

# Windows of the calendar whose edge no test meets, but at midnight; and buckets that stay as they are.
BY_DAY = {r"(\d+)/[smh]\b": r"\1/d"}


class OursAlone(MigrationTest):
    def gives(self, count, status=429, **options):
        """A client gets so many requests, and then that status."""
        ask = self.asking(self.gateway_, *options.pop("headers", ()), **options)
        self.assertEqual([ask().status for _ in range(count + 2)], [200] * count + [status] * 2)

    def passes(self, **options):
        ask = self.asking(self.gateway_, *options.pop("headers", ()), **options)
        self.assertEqual([ask().status for _ in range(30)], [200] * 30)


class FromEnvoy(OursAlone):
    @case("envoy", "One bucket for a route, in each Envoy")
    def test_bucket_of_a_route(self):
        self.ours(BY_DAY)
        asks = [self.asking(self.gateway_, target="/reports", source=f"127.0.0.{n}") for n in (2, 3)]
        self.assertEqual([ask().status for ask in asks * 101], [200] * 200 + [429] * 2)
        self.assertEqual(self.asking(self.gateway_)().status, 404, "another route")

    @case("envoy", "Each address, in each Envoy")
    def test_addresses(self):
        self.ours()
        for source in ("127.0.0.2", "127.0.0.3"):
            self.gives(20, source=source)

    @case("envoy", "The service: addresses, and keys with plans")
    def test_service(self):
        self.ours({r"203\.0\.113\.9": "127.0.0.9", "1000/h": "50/d", "5000/h": "70/d"} | BY_DAY)
        self.gives(100, source="127.0.0.2")
        self.gives(0, status=403, source="127.0.0.9")
        self.gives(50, source="127.0.0.3", headers=[("X-Api-Key", "a")])
        gold = [("X-Api-Key", "2f7c9e41b8")]
        self.gives(70, source="127.0.0.4", headers=gold)
        # What the address rejects takes nothing from the key.
        key = [("X-Api-Key", "b")]
        refused = self.asking(self.gateway_, *key, source="127.0.0.2")
        self.assertEqual([refused().status for _ in range(60)], [429] * 60)
        self.gives(50, source="127.0.0.5", headers=key)
        self.store.kill()
        self.passes(source="127.0.0.8", headers=key)

    @case("envoy", "Nested descriptors: logins of an address")
    def test_nested(self):
        self.ours(BY_DAY)
        self.gives(5, target="/login?x", source="127.0.0.2")
        self.gives(0, target="//login", source="127.0.0.2")
        self.passes(source="127.0.0.2")


class FromKong(OursAlone):
    @case("kong", "Each address, by the minute and the hour")
    def test_periods(self):
        self.ours(BY_DAY)
        self.gives(100, target="/shop/cart", source="127.0.0.2")
        self.assertEqual(self.origin_.last().target, "/cart")
        left = self.gateway_.get("/shop", [("X-Api-Key", "a")])
        self.assertEqual((left["X-RateLimit-Limit"], left["X-RateLimit-Remaining"]), ("100", "99"))

    @case("kong", "Each address, by the minute and the hour")
    def test_windows_of_the_calendar(self):
        self.ours()
        reset = int(self.gateway_.get("/shop")["X-RateLimit-Reset"])
        self.assertIn(reset, range(0, 61), "the end of this minute")

    @case("kong", "Each consumer, some with more, in Redis")
    def test_consumers(self):
        self.ours({"1000/h": "50/d", "5000/h": "70/d"})
        self.gives(50, headers=[("apikey", "a")])
        self.gives(70, headers=[("apikey", "2f7c9e41b8")])
        self.gives(50, source="127.0.0.2")
        self.store.kill()
        self.passes(headers=[("apikey", "c")])

    @case("kong", "One count for a service")
    def test_service(self):
        self.ours(BY_DAY)
        asks = [self.asking(self.gateway_, source=f"127.0.0.{n}") for n in (2, 3)]
        self.assertEqual([ask().status for ask in asks * 11], [200] * 20 + [429] * 2)


class FromTraefik(OursAlone):
    @case("traefik", "Each address, behind a load balancer")
    def test_addresses(self):
        self.ours(BY_DAY, trusting=True)
        for n in range(200):
            self.assertEqual(self.gateway_.get("/", [("X-Forwarded-For", f"203.0.113.{n}, 198.51.100.1")]).status, 200)
        self.gives(0, headers=[("X-Forwarded-For", "198.51.100.1")])
        self.gives(200, headers=[("X-Forwarded-For", "198.51.100.2")])

    @case("traefik", "Each API key, at a low rate")
    def test_keys(self):
        self.ours()
        for key in ("a", "b"):
            self.gives(5, headers=[("X-Api-Key", key)])
        self.gives(0, status=400)

    @case("traefik", "Requests in flight")
    def test_in_flight(self):
        def hold(peer, request):
            peer.read_body(request)
            peer.wait_for_end()

        self.ours(script=hold)
        for _ in range(10):
            self.connected(self.gateway_, "127.0.0.2").request("/")
        wait_until(lambda: len(self.origin_.requests) == 10, what="they run")
        self.gives(0, source="127.0.0.2")

    @case("traefik", "Addresses without a limit")
    def test_exempt(self):
        self.ours({r"192\.0\.2\.0/24": "127.0.2.0/24"})
        self.passes(source="127.0.2.1")
        self.gives(10, source="127.0.3.1")


class FromIngressNginx(OursAlone):
    language = "nginx"
    # 127.0.0.1 is the controller, and the client is in the header.
    behind = {r"10\.0\.0\.0/8": "127.0.0.9/32", r"shop\.example\.com": "gateway.test"}

    def start_peer(self, port, text):
        return Nginx(more=text)

    @case("ingress-nginx", "Requests a second, with an office that is not limited")
    def test_requests_a_second(self):
        office = {r"192\.0\.2\.0/24": "127.0.2.0/24"}
        self.both({"10r/s": "1r/m"} | office, {"10/s": "1/m"} | office | self.behind)
        self.assert_same([200] * 40, source="127.0.2.1")
        self.assert_same([200] * 21 + [503] * 3, source="127.0.3.1")

    @case("ingress-nginx", "Requests a minute, and connections")
    def test_requests_a_minute(self):
        self.both({"60r/m": "1r/m"}, {"60/m": "1/m"} | self.behind)
        self.assert_same([200] * 301 + [503] * 3, source="127.0.0.2")

    @case("ingress-nginx", "One limit, whatever the number of replicas")
    def test_replicas(self):
        self.ours({"60/m": "1/m"} | self.behind)
        with open(self.gateway_.config_path, encoding="utf-8") as f:
            second = self.another(f.read())
        one, two = (self.asking(g, source="127.0.0.2") for g in (self.gateway_, second))
        self.assertEqual([ask().status for ask in (one, two) * 12], [200] * 21 + [429] * 3)
