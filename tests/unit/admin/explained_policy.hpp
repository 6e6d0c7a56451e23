// `random_policy` makes policies with random limits, plans and routes, all in the local store, for
// the property of explanations.
#pragma once

#include "gateway/identity/token_keys.hpp"
#include "gateway/policy/policy.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gateway::admin::explained {

using minutes = std::chrono::minutes;
using source = policy::key_part::source;

inline const identity::issuer& known_issuer = identity::issuers()[0];
inline const identity::issuer& unknown_issuer = identity::issuers()[2];

enum class kind { bucket, window, sliding, log, permits };

inline constexpr std::array<const char*, 5> kind_names{
    "bucket", "window", "sliding", "log", "permits"};

class random_policy {
public:
    // Most content that routes may look at, which some bound further.
    static constexpr std::size_t short_look = 24;

    explicit random_policy(std::mt19937& random) : random_(random)
    {
        policy->upstreams = {"app", "spare"};
        policy->client.trusted_proxies =
            base::ip_prefix_set{{*base::ip_prefix::parse("10.0.0.0/8")}};
        add_token_rule();
        add_plans({.from = source::header, .name = "x-plan", .text = "header:x-plan"});
        add_plans({.from = source::jwt, .name = "plan", .text = "jwt:plan"});
        for (int i = 0; i < 10; ++i) {
            add_limit();
        }
        add_routes();
        policy->finish();
    }

    std::shared_ptr<policy::policy> policy = std::make_shared<policy::policy>();

private:
    std::mt19937& random_;

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

    bool one_in(int n) { return below(n) == 0; }

    // The keys come from a file, or from a URL, in which case they may not be there yet.
    void add_token_rule()
    {
        policy::token_rule& rule = policy->token.emplace();
        if (one_in(2)) {
            rule.fetch_timeout = std::chrono::seconds{1};
        }
        if (!rule.are_keys_fetched() || one_in(2)) {
            rule.good.keys = identity::parse_token_keys(known_issuer.jwks()).keys;
        }
    }

    void add_plans(policy::key_part key)
    {
        policy::plan_table members{base::hash_key{1, 2}};
        for (const char* name : {"gold", "free", "none"}) {
            members.add(name, members.plan_named(name));
        }
        policy->plans.push_back(
            {.name = "plans" + std::to_string(policy->plans.size()),
             .key = std::move(key),
             .members = std::make_shared<const policy::plan_table>(std::move(members))}
        );
    }

    // ---- Limits.

    limit::limit numbers(kind k)
    {
        const int few = 1 + below(4);
        switch (k) {
            case kind::window:
                return *limit::limit::in_windows(
                    {.count = few, .length = minutes{10}, .aligned = one_in(2), .capacity = few}
                );
            case kind::sliding:
                return *limit::limit::sliding(few, minutes{10}, 60);
            case kind::log:
                return *limit::limit::sliding(few, minutes{10}, 0);
            case kind::permits:
                return *limit::limit::in_flight(few, std::chrono::seconds{10});
            case kind::bucket:
                break;
        }
        return *limit::limit::make(1, minutes{5}, few);
    }

    policy::key_part part()
    {
        static const std::array<policy::key_part, 11> all{
            {{.from = source::header, .name = "x-key", .text = "header:x-key"},
             {.from = source::query, .name = "q", .text = "query:q"},
             {.from = source::jwt, .name = "sub", .text = "jwt:sub"},
             {.from = source::path, .name = {}, .text = "path"},
             {.from = source::cookie, .name = "s", .text = "cookie:s"},
             {.from = source::host, .name = {}, .text = "host"},
             {.from = source::method, .name = {}, .text = "method"},
             {.from = source::route, .name = {}, .text = "route"},
             {.from = source::json, .name = "user.id", .text = "json:user.id"},
             {.from = source::client_ip, .name = {}, .prefix = 24, .text = "client_ip/24"},
             {.from = source::client_ip, .name = {}, .text = "client_ip"}}};
        return all[static_cast<std::size_t>(below(all.size()))];
    }

    std::vector<policy::key_part> key()
    {
        std::vector<policy::key_part> parts;
        for (int left = one_in(3) ? 2 + below(2) : 1; left > 0; --left) {
            parts.push_back(part());
        }
        return parts;
    }

    policy::cost_rule cost()
    {
        using cost_source = policy::cost_rule::source;
        const policy::content_cost member{.path = "n", .standard = 1, .max = 3};
        const policy::content_cost bytes{.bytes_per_token = 20, .standard = 1, .max = 3};
        policy::cost_rule rule;
        rule.caps = one_in(2);
        rule.max = 3;
        rule.from = static_cast<cost_source>(below(5));
        switch (rule.from) {
            case cost_source::header:
                rule.name = "x-cost";
                break;
            case cost_source::query:
                rule.name = "n";
                break;
            case cost_source::methods:
                rule.methods = {{"POST", 2}, {"OPTIONS", 0}};
                break;
            case cost_source::content:
                rule.parts = one_in(2)   ? std::vector{member}
                             : one_in(2) ? std::vector{bytes}
                                         : std::vector{member, bytes};
                break;
            case cost_source::fixed:
                break;
        }
        return rule;
    }

    policy::plan_choice plan(kind k)
    {
        using rule = policy::plan_rule::kind;
        return {
            .plans = static_cast<std::size_t>(below(2)),
            .rules = {
                {"gold", rule::limited, numbers(k)},
                {"free", rule::unlimited, numbers(k)},
                {"none", rule::blocked, numbers(k)}}};
    }

    void take_numbers_from_claims(policy::limit_rule& rule)
    {
        rule.claimed = {
            .tokens = {.claim = "rate", .standard = 1, .max = 3},
            .period = minutes{5},
            .burst = {.claim = one_in(2) ? "burst" : "", .standard = 2, .max = 4}};
        rule.rate = "1/5m";
        rule.limit = *rule.claimed.limit_of(1, 2);
    }

    void add_limit()
    {
        const kind k = static_cast<kind>(below(kind_names.size()));
        policy::limit_rule rule{
            .name = kind_names[static_cast<std::size_t>(k)] + std::to_string(policy->limits.size()),
            .key = key(),
            .limit = numbers(k)};
        rule.when_missing = static_cast<policy::missing_key>(below(3));
        rule.mode = one_in(4) ? policy::mode::shadow : policy::mode::enforce;
        rule.soft = one_in(2) ? 50 : 0;
        if (one_in(4)) {
            rule.penalty = {1 + below(3), minutes{30}, minutes{10}, std::chrono::hours{1}};
        }
        if (k != kind::permits) {
            rule.cost = one_in(2) ? cost() : policy::cost_rule{};
            rule.max_wait = one_in(5) ? minutes{6} : minutes{0};
        }
        if (k == kind::bucket && one_in(3)) {
            take_numbers_from_claims(rule);
        } else if (one_in(3)) {
            rule.plan = plan(k);
        }
        policy->limits.push_back(std::move(rule));
    }

    // ---- Routes.

    void add_routes()
    {
        add_route("model", "/a").json = {{.path = "model", .value = "m"}};
        add_route("a", "/a");
        add_route("posts", "/b").methods = {"POST"};
        add_route("host", "/b").host = "*.example.com";
        add_route("secure", "/b").scheme = policy::url_scheme::https;
        add_route("b", "/b");
    }

    // Returns what the route matches, for more conditions.
    policy::route_match& add_route(const char* name, const char* path)
    {
        policy::route& r = policy->routes.emplace_back();
        r.name = name;
        r.match.path = path;
        r.match.ignore_case = one_in(2);
        for (std::size_t i = 0; i < policy->limits.size(); ++i) {
            if (one_in(3) && r.limits.size() < policy::max_limits_per_route) {
                r.limits.push_back(i);
            }
        }
        bound(r.bounds);
        if (one_in(2)) {
            r.rejection = rejection();
        }
        const bool serves = r.rejection && r.rejection->upstream != policy::no_upstream;
        if (!serves && one_in(4)) {
            r.upstream = policy::no_upstream;
            r.shape.answer.emplace().response.status = 204;
        }
        return r.match;
    }

    void bound(policy::route_bounds& bounds)
    {
        if (one_in(5)) {
            bounds.max_body_bytes = 8;
        }
        if (one_in(2)) {
            bounds.max_inspected_body = short_look;
            bounds.refuses_long_body = one_in(2);
        }
    }

    policy::route_rejection rejection()
    {
        policy::route_rejection made;
        made.page.status = one_in(2) ? 503 : 429;
        if (one_in(2)) {
            made.upstream = 1;
        }
        if (one_in(4)) {
            made.format = http::error_format::jsonrpc;
        }
        return made;
    }
};

}  // namespace gateway::admin::explained
