#include "config/load.hpp"

#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::config {
namespace load_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> route_names(const settings& s)
{
    std::vector<std::string> names;
    for (const policy::route& route : s.policy->routes) {
        names.push_back(route.name);
    }
    return names;
}

TEST(load, the_least_configuration_has_the_documented_defaults)
{
    sample least;
    least.limits.clear();
    least.routes = "routes: [{ upstream: u }]\n";
    const settings s = least.load();
    EXPECT_EQ(s.server.workers, 0U);
    EXPECT_EQ(s.server.admin.address, (net::listen_address{"127.0.0.1", 9901, ""}));
    EXPECT_EQ(s.server.drain_timeout, 30s);
    EXPECT_EQ(s.server.max_connections, 10'000U);
    EXPECT_EQ(s.server.max_connections_per_peer, 0U);
    EXPECT_FALSE(s.upstreams.front().health.has_value());
    EXPECT_EQ(s.http.header_timeout, 10s);
    EXPECT_EQ(s.http.max_header_bytes, 16'384U);
    EXPECT_EQ(s.local_store.max_buckets, 1'000'000U);
    EXPECT_TRUE(s.policy->stores.empty());
    EXPECT_TRUE(s.policy->limits.empty());
    EXPECT_TRUE(s.policy->client.trusted_proxies.empty());
    EXPECT_TRUE(s.policy->headers.x_ratelimit);
    EXPECT_FALSE(s.policy->headers.ratelimit);
    EXPECT_THAT(route_names(s), ElementsAre("/"));
    EXPECT_TRUE(s.warnings.empty());
    EXPECT_EQ(s.policy->find_route.find({"GET", "any.host", "/x"}), 0U);
}

TEST(load, every_key_arrives_where_it_belongs)
{
    sample s;
    s.rest =
        "admin: { address: unix:/run/admin.sock, hosts: [Gw.Internal., \"gw\"], max_connections: "
        "8, "
        "timeout: 4s }\nworkers: "
        "3\ndrain_timeout: 0s\nmax_connections: "
        "7\nmax_connections_per_peer: 4\nmax_waiting: 5\n"
        "http: { header_timeout: 1s, idle_timeout: 2s, body_timeout: 3s, max_header_bytes: 300,"
        " tunnel_idle_timeout: 4m,"
        " max_headers: 9, max_body_bytes: 5GiB, max_chunk_line_bytes: 17,"
        " max_chunk_extension_bytes: 0, max_trailer_bytes: 18, max_pipelined_bytes: 2KiB,"
        " max_refused_body_bytes: 19, linger_timeout: 4s, max_linger_bytes: 20 }\n"
        "client: { trusted_proxies: [10.0.0.0/8, \"::1\"], trusted_hops: 2, header: Forwarded,"
        " ipv4_prefix: 24, ipv6_prefix: 56 }\n"
        "response_headers: { x_ratelimit: false, reset: epoch, ratelimit: true }\n"
        "log: { level: debug, access: false, format: text, max_backlog_bytes: 1MiB,"
        " flush_timeout: 0s, max_lines_per_second: 6 }\n";
    s.stores =
        "stores:\n  local: { max_buckets: 5, on_full: reject }\n"
        "  r: { url: redis://:pw@h:1/2, timeout: 7ms, key_prefix: \"\", max_pending: 1024,"
        " breaker: { failures: 1, decisions: 2, window: 3s, pause: 40ms } }\n";
    s.limits =
        "limits:\n  a: { key: [client_ip, \"header:X-Api-Key\", \"cookie:Sid\", \"query:q\"],"
        " missing_key: skip, rate: 10/10s, burst: 3, cost: 2, store: r, on_store_failure: local,"
        " mode: shadow }\n";
    s.routes =
        "routes:\n  - { name: n, match: { host: API.Example.com., path_exact: /v1//x, methods: "
        "[GET] },"
        " limits: [a], upstream: u }\n";
    s.upstreams =
        "upstreams:\n  u:\n    servers:\n      - app:80\n"
        "      - { address: b:81, weight: 3, max_connections: 9 }\n"
        "    connect_timeout: 5ms\n    response_timeout: 1d\n    max_idle: 0\n"
        "    idle_timeout: 6s\n    max_response_header_bytes: 256\n    max_response_headers: 7\n"
        "    max_interim_responses: 0\n"
        "    resolver: { refresh: 8s, retry: 9s, max_addresses: 10 }\n"
        "    balance: hash\n    max_connections: 8\n    max_queue: 7\n"
        "    queue_timeout: 6ms\n    retry_budget: 0\n    slow_start: 0s\n"
        "    ejection: { failures: 2, time: 3s, max_time: 4s, max_share: 33, on_5xx: true }\n"
        "    health: { path: \"/well?deep=1\", interval: 60ms, timeout: 7ms, unhealthy: 8,\n"
        "      healthy: 9, expected: 204 }\n";
    const settings got = s.load();
    EXPECT_EQ(got.server.admin.address.socket_path, "/run/admin.sock");
    EXPECT_THAT(got.server.admin.hosts, ElementsAre("gw.internal", "gw"));
    EXPECT_EQ(got.server.admin.max_connections, 8U);
    EXPECT_EQ(got.server.admin.timeout, 4s);
    EXPECT_EQ(got.server.workers, 3U);
    EXPECT_EQ(got.server.drain_timeout, 0s);
    EXPECT_EQ(got.server.max_connections, 7U);
    EXPECT_EQ(got.server.max_connections_per_peer, 4U);
    EXPECT_EQ(got.server.max_waiting, 5U);
    EXPECT_EQ(got.http.header_timeout, 1s);
    EXPECT_EQ(got.http.idle_timeout, 2s);
    EXPECT_EQ(got.http.body_timeout, 3s);
    EXPECT_EQ(got.http.tunnel_idle_timeout, 4min);
    EXPECT_EQ(got.http.max_header_bytes, 300U);
    EXPECT_EQ(got.http.max_headers, 9U);
    EXPECT_EQ(got.http.max_body_bytes, 5ULL << 30);
    EXPECT_EQ(got.http.chunks.max_line_bytes, 17U);
    EXPECT_EQ(got.http.chunks.max_extension_bytes, 0U);
    EXPECT_EQ(got.http.chunks.max_trailer_bytes, 18U);
    EXPECT_EQ(got.http.max_pipelined_bytes, 2048U);
    EXPECT_EQ(got.http.max_refused_body_bytes, 19U);
    EXPECT_EQ(got.http.linger_timeout, 4s);
    EXPECT_EQ(got.http.max_linger_bytes, 20U);
    EXPECT_EQ(got.log.level, telemetry::log_level::debug);
    EXPECT_FALSE(got.log.access);
    EXPECT_EQ(got.log.format, telemetry::log_format::text);
    EXPECT_EQ(got.log.max_backlog_bytes, 1024U * 1024U);
    EXPECT_EQ(got.log.flush_timeout, 0s);
    EXPECT_EQ(got.log.max_lines_per_second, 6U);
    EXPECT_EQ(got.local_store.max_buckets, 5U);
    EXPECT_EQ(got.local_store.on_full, store::memory_options::when_full::reject);
    ASSERT_EQ(got.shared_stores.size(), 1U);
    EXPECT_EQ(got.shared_stores[0].name, "r");
    const auto& redis = std::get<store::redis_options>(got.shared_stores[0].options);
    EXPECT_EQ(redis.password, "pw");
    EXPECT_EQ(redis.timeout, 7ms);
    EXPECT_EQ(redis.key_prefix, "");
    EXPECT_EQ(redis.max_pending, 1024U);
    EXPECT_EQ(
        redis.breaker,
        (store::breaker_options{.failures = 1, .decisions = 2, .window = 3s, .pause = 40ms})
    );
    const proxy::upstream_options expected_upstream{
        .name = "u",
        .servers =
            {{.address = {.host = "app", .port = "80", .socket_path = {}, .echo = false}},
             {.address = {.host = "b", .port = "81", .socket_path = {}, .echo = false},
              .weight = 3,
              .max_connections = 9}},
        .balance = proxy::balancing::hash,
        .connect_timeout = 5ms,
        .response_timeout = 24h,
        .max_idle = 0,
        .idle_timeout = 6s,
        .response = {.max_header_bytes = 256, .max_headers = 7},
        .max_interim_responses = 0,
        .resolver = {.refresh = 8s, .retry = 9s, .max_addresses = 10},
        .max_connections = 8,
        .max_queue = 7,
        .queue_timeout = 6ms,
        .retry_budget = 0,
        .slow_start = 0s,
        .ejection = {.failures = 2, .time = 3s, .max_time = 4s, .max_share = 33, .on_5xx = true},
        .health =
            proxy::health_options{
                .path = "/well?deep=1",
                .interval = 60ms,
                .timeout = 7ms,
                .unhealthy = 8,
                .healthy = 9,
                .expected_first = 204,
                .expected_last = 204,
            },
    };
    EXPECT_THAT(got.upstreams, ElementsAre(expected_upstream));
}

TEST(load, the_header_host_is_the_part_host)
{
    sample s;
    s.limits = "limits: { a: { key: header:Host, rate: 1/s } }\n";
    const settings loaded = s.load();
    const auto& key = loaded.policy->limits.at(0).key;
    ASSERT_EQ(key.size(), 1U);
    EXPECT_EQ(key[0].from, policy::key_part::source::host);
}

TEST(load, the_policy_is_complete)
{
    sample s;
    s.rest = "client: { trusted_proxies: [10.0.0.0/8], trusted_hops: 2, header: Forwarded }\n";
    s.stores = "stores: { r: { url: redis://h } }\n";
    s.limits =
        "limits:\n  a: { key: [\"header:X-Api-Key\", \"cookie:Sid\"], missing_key: skip, rate: "
        "10/10s,"
        " burst: 3, cost: 2, store: r, on_store_failure: local, mode: shadow }\n";
    s.routes =
        "routes:\n  - { match: { host: API.Example.com., path_exact: /v1//x }, limits: [a], "
        "upstream: u }\n";
    const settings loaded = s.load();
    const policy::policy& p = *loaded.policy;
    EXPECT_EQ(p.client.trusted_hops, 2);
    EXPECT_EQ(p.client.header, "Forwarded");
    EXPECT_TRUE(p.client.trusted_proxies.contains(*base::ip_address::parse("10.1.2.3")));
    EXPECT_THAT(p.stores, ElementsAre("r"));
    ASSERT_EQ(p.limits.size(), 1U);
    const policy::limit_rule& rule = p.limits[0];
    ASSERT_EQ(rule.key.size(), 2U);
    EXPECT_EQ(rule.key[0].from, policy::key_part::source::header);
    EXPECT_EQ(rule.key[0].name, "x-api-key");
    EXPECT_EQ(rule.key[1].name, "Sid");
    EXPECT_EQ(rule.when_missing, policy::missing_key::skip);
    EXPECT_EQ(rule.limit, *limit::limit::make(10, 10s, 3));
    EXPECT_EQ(rule.cost.standard, 2);
    EXPECT_EQ(rule.store, 0U);
    EXPECT_EQ(rule.on_store_failure, policy::failure_policy::local);
    EXPECT_EQ(rule.mode, policy::mode::shadow);
    EXPECT_EQ(p.routes[0].match.host, "api.example.com");
    EXPECT_EQ(p.routes[0].match.path, "/v1/x");
    EXPECT_TRUE(p.routes[0].match.exact);
    EXPECT_EQ(p.find_route.find({"GET", "api.example.com", "/v1/x"}), 0U);
    EXPECT_EQ(p.find_route.find({"GET", "api.example.com", "/v1/x/y"}), std::nullopt);
}

TEST(load, burst_defaults_to_the_count_in_rate)
{
    sample s;
    s.limits = "limits: { a: { key: [], rate: 100/m } }\n";
    EXPECT_EQ(s.load().policy->limits[0].limit.burst(), 100);
    EXPECT_EQ(s.load().written_limits[0].rate, (rate{100, 1min}));
}

TEST(load, a_fixed_window_is_what_was_written)
{
    sample s;
    s.limits =
        "limits: { a: { key: [], algorithm: fixed_window, rate: 100/15m, capacity: 250 } }\n";
    EXPECT_EQ(
        s.load().policy->limits[0].limit,
        *limit::limit::in_windows({.count = 100, .length = 15min, .capacity = 250})
    );
    s.limits = "limits: { a: { key: [], algorithm: fixed_window, rate: 7/w, start: aligned } }\n";
    EXPECT_EQ(
        s.load().policy->limits[0].limit,
        *limit::limit::in_windows({.count = 7, .length = 7 * 24h, .aligned = true, .capacity = 7})
    );
    s.limits =
        "limits: { a: { key: [], algorithm: fixed_window, rate: 9/mo, start: \"2 08:30\", "
        "time_zone: America/New_York } }\n";
    const auto made = s.load().policy->limits[0].limit;
    EXPECT_EQ(made.burst(), 9);
    EXPECT_EQ(made.refill(), 31 * 24h);
}

TEST(load, routes_without_a_name_are_named_by_what_they_match)
{
    sample s;
    s.routes =
        "routes:\n"
        "  - { upstream: u }\n"
        "  - { upstream: u, match: { host: h.example } }\n"
        "  - { upstream: u, match: { host: h.example, path: /v1/ } }\n"
        "  - { upstream: u, match: { path: /a, methods: [GET, HEAD] } }\n"
        "  - { upstream: u, match: { path: /a } }\n"
        "  - { upstream: u, match: { path_exact: /a } }\n"
        "  - { upstream: u, match: { path: /x%20y } }\n";
    EXPECT_THAT(
        route_names(s.load()),
        ElementsAre("/", "h.example", "h.example/v1/", "GET,HEAD /a", "/a", "=/a", "/x%20y")
    );
}

TEST(load, what_is_allowed_but_risky_is_a_warning)
{
    sample s;
    s.rest = "client:\n  trusted_hops: 1\n  trusted_proxies: [0.0.0.0/0]\n";
    s.limits = "limits: { a: { key: [], rate: 1/s }, b: { key: [], rate: 1/s } }\n";
    s.stores = "stores: { r: { url: redis://h } }\n";
    s.upstreams = "upstreams: { u: { servers: [echo] }, v: { servers: [echo] } }\n";
    s.routes =
        "routes: [ { limits: [a], upstream: u }, { match: { path: /api/* }, upstream: u } ]\n";
    EXPECT_THAT(
        s.load().warnings,
        ElementsAre(
            "f:2:17: client.trusted_hops: the port must not be reachable but through that one "
            "proxy",
            "f:3:21: client.trusted_proxies[0]: everybody is trusted to name any client address",
            "f:4:14: stores.r: no limit uses this store",
            HasSubstr("limits.b: no route uses this limit"),
            "f:8:58: routes[1].match.path: \"*\" and \"{\" are ordinary characters; \"path\" is a "
            "prefix anyway",
            HasSubstr("upstreams.v: no route uses this upstream")
        )
    );
}

TEST(load, a_key_that_only_trusted_peers_may_send_is_a_warning)
{
    sample s;
    s.limits = "limits: { a: { missing_key: skip, rate: 1/s, key: header:X-Real-IP } }\n";
    s.routes = "routes: [ { limits: [a], upstream: u } ]\n";
    const auto warnings_with = [&](const std::string& client) {
        s.rest = client;
        return s.load().warnings;
    };
    EXPECT_THAT(
        warnings_with(""),
        ElementsAre(HasSubstr("limits.a.key: x-real-ip is taken from trusted proxies only, and "
                              "client.trusted_proxies names none: it is always absent"))
    );
    const std::string trusting = "client: { trusted_proxies: [10.0.0.1], header: Client-IP }\n";
    EXPECT_THAT(
        warnings_with(trusting),
        ElementsAre(HasSubstr("x-real-ip is taken from trusted proxies only: it is absent from a "
                              "request of any other peer"))
    );
    EXPECT_TRUE(s.load().policy->limits.front().key.front().from_trusted_peers);
    for (const char* header : {"client-ip", "X-Forwarded-User", "forwarded", "X-Original-URL"}) {
        s.limits = std::string("limits: { a: { missing_key: skip, rate: 1/s, key: header:") +
                   header + " } }\n";
        EXPECT_THAT(warnings_with(trusting), ElementsAre(HasSubstr("trusted proxies only")));
    }
    s.limits =
        "limits: { a: { missing_key: skip, rate: 1/s, key: [header:x-api-key, "
        "cookie:forwarded] } }\n";
    EXPECT_THAT(warnings_with(trusting), ElementsAre());
}

TEST(load, yaml_may_be_written_in_any_of_its_styles)
{
    EXPECT_EQ(problems_of("\xEF\xBB\xBF" + sample{}.text()), "");
    EXPECT_EQ(problems_of("%YAML 1.2\n---\n" + sample{}.text() + "...\n"), "");
    EXPECT_EQ(
        problems_of("{listeners: [{address: '127.0.0.1:0'}, {address: \"127.0.0.1:0\"}],\r\n"
                    " routes: [{\"upstream\": 'u'}], upstreams: {u: {servers: echo}}}\r\n"),
        ""
    );
    sample s;
    s.limits = "limits:\n  true: { key: client_ip, rate: '10/s', burst: 0x }\n";
    EXPECT_THAT(problems_of(s.text()), HasSubstr("limits.true.burst: expected a whole number"));
}

TEST(load, health_needs_no_more_than_a_path)
{
    sample s;
    s.upstreams = "upstreams: { u: { servers: [echo], health: { path: / } } }\n";
    proxy::health_options expected;
    expected.path = "/";
    EXPECT_EQ(s.load().upstreams.front().health, expected);
    EXPECT_EQ(expected.interval, 5s);
    EXPECT_EQ(expected.expected_last, 399);
}

TEST(load, the_largest_values_allowed_are_accepted)
{
    sample s;
    s.rest =
        "workers: 256\ndrain_timeout: 1h\nmax_connections: 1000000\n"
        "http: { header_timeout: 1d, max_header_bytes: 1MiB, max_headers: 1000, max_body_bytes: "
        "1024TiB }\n";
    s.limits = "limits: { a: { key: [], rate: 1/d, burst: 36500 } }\n";
    s.listeners = "listeners: [{ address: \"unix:/" + std::string(106, 'x') + "\" }]\n";
    EXPECT_EQ(problems_of(s.text()), "");
}

}  // namespace load_test
}  // namespace gateway::config
