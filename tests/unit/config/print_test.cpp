#include "config/print.hpp"

#include "tests/unit/config/sample.hpp"
#include "tests/unit/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::config {
namespace print_test {

using testing::HasSubstr;
using testing::Not;

sample full()
{
    sample s;
    s.rest =
        "workers: 3\nclient: { trusted_proxies: [10.0.0.0/8, \"2001:db8::/32\", 127.0.0.1] }\n"
        "log: { level: error, access: false, format: text }\n"
        "jwt: { cookie: \"__Host-id\", issuer: \"https://id.example.com\", audience: api, keys: "
        "\"" SOURCE_DIR
        "/tests/unit/config/jwks.json\" }\n"
        "response_headers: { reset: epoch, ratelimit: true }\n"
        "plans: { p: { key: path, members: { \"null\": [\"/a, b\", /c], x: [] }, default: y } }\n";
    s.listeners =
        "listeners: [{address: \"[::]:80\", decide: true}, {address: \"[::]:81\", decide: "
        "{rejected_status: 403}}, {address: \"unix:/run/a b \\\"c\\\".sock\", proxy_protocol: "
        "true}]\n";
    s.stores =
        "stores:\n  \"null\": { url: \"redis://us%20er:hunter2@[::1]:7/3\", key_prefix: 'a\"\\:' "
        "}\n"
        "  \"-\": { url: \"unix:///run/redis.sock?db=1\" }\n";
    s.limits =
        "limits:\n"
        "  a: { key: [client_ip, client_ip/48, \"header:X-Key\", \"query:a,b\", method, host, "
        "path, route], "
        "missing_key: client_ip, rate: 10/90s }\n"
        "  tenant: { key: [\"jwt:realm.tenant\", \"jwt:https://example.com/plan\"], missing_key: "
        "reject, rate: 9/h }\n"
        "  \"null\": { key: [], rate: 1/h, burst: 9, store: \"null\", on_store_failure: closed, "
        "mode: shadow }\n"
        "  \"true\": { key: \"cookie:c\", missing_key: skip, rate: 2/500ms, store: \"-\" }\n"
        "  quota: { key: [], algorithm: fixed_window, rate: 9/mo, capacity: 20, start: \"3 "
        "08:30\", time_zone: Asia/Kolkata, store: \"-\" }\n"
        "  by_method: { key: [], rate: 9/h, cost: { methods: { POST: 5, \"N-O\": 0 }, default: 2 } "
        "}\n"
        "  by_header: { key: [], rate: 9/h, cost: { header: X-Cost, default: 0, max: 100 } }\n"
        "  by_query: { key: [], rate: 9/h, cost: { query: \"a%,b\", max: 7 } }\n"
        "  login: { key: [], rate: 9/h, charge_on: { status: [401, 5xx] }, reset_on: { status: "
        "[201] } }\n"
        "  calls: { key: [], rate: 9/h, charge_on: { grpc: [UNAUTHENTICATED, 2] }, reset_on: { "
        "status: [205], grpc: [OK] } }\n"
        "  shared_out: { key: [], rate: 9/h, store: \"-\", on_store_failure: local, local_share: "
        "2/3 "
        "}\n"
        "  leased: { key: [], rate: 90/s, store: \"-\", lease: { share: 20%, time: 300ms } }\n"
        "  flying: { key: [], algorithm: concurrency, max: 9, store: \"-\", lease: 3s }\n"
        "  here: { key: [], algorithm: concurrency, max: 9 }\n"
        "  hot: { key: [], algorithm: fixed_window, rate: 90/h, start: aligned, shards: 8 }\n"
        "  llm: { key: [], rate: 9/h, settle: { header: X-Used, max: 1000, keep: true } }\n"
        "  hourly: { key: [], algorithm: fixed_window, rate: 9/h, start: aligned, plan: p, "
        "plans: { \"null\": { rate: 8/2h, capacity: 10 }, x: unlimited, y: blocked } }\n";
    s.routes =
        "routes:\n"
        "  - { match: { host: \"[::1]\", path: \"/%25%3f%20{}\\\"'%C3%A4/\", methods: [GET, \"*\"] "
        "}, limits: [\"null\", a], upstream: u }\n"
        "  - { name: \"a: #b\", match: { path_exact: /x }, limits: [\"true\"], upstream: u }\n"
        "  - { match: { path_exact: / }, upstream: u }\n"
        "  - { match: { path: / }, upstream: u }\n";
    s.upstreams =
        "upstreams:\n  u: { servers: [echo, \"app:1\", { address: \"[::1]:2\", weight: 7 }, "
        "{ address: \"unix:/x y\", max_connections: 3 }], max_idle: 0, balance: round_robin, "
        "max_connections: 5, ejection: { failures: 0, on_5xx: true }, "
        "health: { path: \"/a%20b\", interval: 20ms, expected: 204-299 } }\n";
    return s;
}

TEST(print, what_is_printed_loads_and_prints_the_same_again)
{
    for (const sample& s : {sample{}, full()}) {
        const std::string once = print(s.load());
        ASSERT_EQ(problems_of(once), "") << once;
        const settings again = load_text(once, "f");
        EXPECT_EQ(print(again), once);
        EXPECT_EQ(again.server.listeners, s.load().server.listeners);
        EXPECT_EQ(again.upstreams, s.load().upstreams);
        EXPECT_EQ(again.written_limits, s.load().written_limits);
    }
}

TEST(print, matches_survive_the_round_trip)
{
    const settings before = full().load();
    const settings after = load_text(print(before), "f");
    ASSERT_EQ(before.policy->routes.size(), after.policy->routes.size());
    for (std::size_t i = 0; i < before.policy->routes.size(); ++i) {
        const policy::route& a = before.policy->routes[i];
        const policy::route& b = after.policy->routes[i];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.match.host, b.match.host);
        EXPECT_EQ(a.match.path, b.match.path);
        EXPECT_EQ(a.match.exact, b.match.exact);
        EXPECT_EQ(a.match.methods, b.match.methods);
        EXPECT_EQ(a.limits, b.limits);
    }
}

TEST(print, tells_where_the_token_is_and_never_the_token)
{
    const unit::own_folder folder;
    const std::string path = folder.path() / "token";
    std::ofstream{path} << "hunter2\n";
    sample s;
    s.rest = "admin: { token_file: " + path + " }\n";
    EXPECT_EQ(s.load().server.admin_token.text, "hunter2");
    const std::string text = print(s.load());
    EXPECT_THAT(text, HasSubstr("\n  token_file: " + path + "\n"));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
    EXPECT_EQ(load_text(text, "f").server.admin_token, s.load().server.admin_token);
    EXPECT_THAT(print(sample{}.load()), Not(HasSubstr("token_file")));
}

TEST(print, defaults_are_filled_in)
{
    const std::string text = print(sample{}.load());
    for (const char* line :
         {"\nadmin:\n  address: \"127.0.0.1:9901\"\n",
          "\nworkers: auto\n",
          "\ndrain_timeout: 30s\n",
          "\nmax_connections_per_peer: 0\n",
          "\n  header_timeout: 10s\n",
          "\n  idle_timeout: 1m\n",
          "\n  tunnel_idle_timeout: 5m\n",
          "\n  max_header_bytes: 16KiB\n",
          "\n  trusted_proxies: []\n",
          "\n    max_buckets: 1000000\n",
          "\n    key: [client_ip]\n",
          "\n    burst: 10\n",
          "\n    cost: 1\n",
          "\n    store: local\n",
          "\n    shards: 1\n",
          "\n    mode: enforce\n",
          "\n    servers: [echo]\n",
          "\n    max_idle: 256\n",
          "\n    balance: least_requests\n",
          "\n    max_connections: 0\n",
          "\n    max_queue: 1000\n",
          "\n    queue_timeout: 1s\n",
          "\n    retry_budget: 20\n",
          "\n    slow_start: 10s\n",
          "\n    ejection:\n      failures: 5\n      time: 10s\n      max_time: 5m\n",
          "\n  reset: delta\n",
          "\n  format: json\n"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(print, secrets_are_stars)
{
    const std::string text = print(full().load());
    EXPECT_THAT(text, HasSubstr("url: \"redis://us%20er:***@[::1]:7/3\""));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
}

TEST(print, credentials_that_stand_in_the_file_are_stars)
{
    sample s;
    s.stores = "stores: { s: { url: \"postgresql://h/db?options=-c%20app.key%3Dhunter2\" } }\n";
    s.limits = "limits:\n  a: { key: jwt:sub, missing_key: skip, rate: 10/s }\n";
    s.rest = "jwt: { keys: \"https://i/keys?token=hunter2\" }\n";
    s.routes =
        "routes:\n  - { match: { headers: { x-origin-verify: hunter2, x-env: prod } }, "
        "request_headers: { set: { Authorization: \"Bearer hunter2\", X-Api-Key: hunter2, X-Env: "
        "prod } }, response: { set: { Set-Cookie: hunter2 } }, upstream: u }\n";
    s.upstreams =
        "upstreams: { u: { servers: [echo], health: { path: \"/health?token=hunter2\" } } }\n";
    const std::string text = print(s.load());
    for (const char* line :
         {"url: \"postgresql://h:5432/db?options=***\"",
          "headers: { x-env: prod, x-origin-verify: \"***\" }",
          "set: { Authorization: \"***\", X-Api-Key: \"***\", X-Env: prod }",
          "set: { Set-Cookie: \"***\" }",
          "path: \"/health?***\"",
          "keys: \"https://i/keys?***\""}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
    EXPECT_EQ(print(load_text(text, "f")), text);
}

}  // namespace print_test
}  // namespace gateway::config
