// What explain() says of a request is what the request then gets.
#include "gateway/base/text.hpp"
#include "gateway/http/request_parser.hpp"
#include "gateway/identity/token_keys.hpp"
#include "gateway/limits/admitter.hpp"
#include "gateway/limits/corrections.hpp"
#include "gateway/limits/explanation.hpp"
#include "gateway/limits/permit_leases.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::limits {
namespace explained_property_test {

using source = policy::key_part::source;

const identity::issuer& issuer = identity::issuers()[0];

// A policy with random limits, plans and routes, all in the local store.
class random_policy {
public:
    explicit random_policy(std::mt19937& random) : random_(random)
    {
        policy->client.trusted_proxies =
            base::ip_prefix_set{{*base::ip_prefix::parse("10.0.0.0/8")}};
        policy->token.emplace().good.keys = identity::parse_token_keys(issuer.jwks()).keys;
        add_plans();
        for (int i = 0; i < 6; ++i) {
            add_limit("l" + std::to_string(i));
        }
        for (const char* path : {"/a", "/b/c", "/b"}) {
            add_route(path);
        }
        policy->finish();
    }

    std::shared_ptr<policy::policy> policy = std::make_shared<policy::policy>();

private:
    std::mt19937& random_;

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

    void add_plans()
    {
        policy->plans.push_back({.name = "p", .key = {.from = source::header, .name = "x-plan"}});
        policy::plan_table members{base::hash_key{1, 2}};
        for (const char* name : {"gold", "free", "none"}) {
            members.add(name, members.plan_named(name));
        }
        policy->plans[0].members = std::make_shared<const policy::plan_table>(std::move(members));
    }

    limit::limit few()
    {
        const int burst = 1 + below(4);
        return *limit::limit::make(1, std::chrono::hours{1}, burst);
    }

    policy::key_part part()
    {
        switch (below(5)) {
            case 0:
                return {.from = source::header, .name = "x-key", .text = "header:x-key"};
            case 1:
                return {.from = source::query, .name = "q", .text = "query:q"};
            case 2:
                return {.from = source::jwt, .name = "sub", .text = "jwt:sub"};
            case 3:
                return {.from = source::path, .name = {}, .text = "path"};
            default:
                return {};
        }
    }

    void add_limit(const std::string& name)
    {
        using kind = policy::plan_rule::kind;
        policy::limit_rule rule{.name = name, .key = {part()}, .limit = few()};
        rule.when_missing = static_cast<policy::missing_key>(below(3));
        rule.mode = below(4) == 0 ? policy::mode::shadow : policy::mode::enforce;
        if (below(3) == 0) {
            rule.cost.from = policy::cost_rule::source::header;
            rule.cost.name = "x-cost";
            rule.cost.max = 3;
        }
        if (below(3) == 0) {
            rule.plan = {
                .plans = 0,
                .rules = {
                    {"gold", kind::limited, few()},
                    {"free", kind::unlimited, few()},
                    {"none", kind::blocked, few()}}};
        }
        policy->limits.push_back(std::move(rule));
    }

    void add_route(const std::string& path)
    {
        policy::route r{.name = path, .match = {}, .limits = {}};
        r.match.path = path;
        r.match.ignore_case = below(2) == 0;
        for (std::size_t i = 0; i < policy->limits.size(); ++i) {
            if (below(2) == 0) {
                r.limits.push_back(i);
            }
        }
        if (below(3) == 0) {
            r.bounds.max_body_bytes = 5;
        }
        policy->routes.push_back(std::move(r));
    }
};

intake::hypothetical_request random_request(std::mt19937& random)
{
    const auto one_of = [&random](std::initializer_list<const char*> texts) {
        return std::string{texts.begin()[random() % texts.size()]};
    };
    intake::hypothetical_request r;
    r.method = one_of({"GET", "POST", "OPTIONS", "TRACE"});
    r.url = one_of({"/a", "/A/x", "/b/c", "/b//c/", "/b/d", "/%zz", "/none"}) +
            one_of({"", "?q=1", "?q=1&q=2", "?q="});
    r.peer = one_of({"10.0.0.1", "192.0.2.9"});
    const auto maybe = [&](const char* name, std::initializer_list<const char*> values) {
        if (std::string value = one_of(values); value != "-") {
            r.headers.emplace_back(name, std::move(value));
        }
    };
    maybe("X-Key", {"-", "k", "l"});
    maybe("X-Key", {"-", "-", "k"});
    maybe("X-Plan", {"-", "gold", "free", "none", "else"});
    maybe("X-Cost", {"-", "0", "1", "2", "x", "9"});
    maybe("X-Forwarded-For", {"-", "192.0.2.1", "192.0.2.2"});
    maybe("Max-Forwards", {"-", "-", "-", "-", "0"});
    maybe("Content-Length", {"-", "-", "-", "9"});
    static const std::string good = "Bearer " + issuer.token(R"({"sub":"alice"})");
    static const std::string bad = good + "AAAA";
    maybe("Authorization", {"-", good.c_str(), bad.c_str()});
    return r;
}

// A worker's part of the limits, as far as they need it.
class gate final : private verdict_listener {
public:
    explicit gate(std::shared_ptr<policy::policy> p) : policy_(std::move(p))
    {
        auto v = std::make_shared<policy_view>();
        v->policy = policy_;
        v->http_of_routes.resize(policy_->routes.size());
        v->client_header = intake::client_header{policy_->client.header};
        v->tokens = std::make_unique<intake::token_cache>(policy_->token->good);
        v->no_route = &route_metrics_;
        v->routes.assign(policy_->routes.size(), &route_metrics_);
        v->limits.assign(policy_->limits.size(), &limit_metrics_);
        view_ = std::move(v);
    }

    // The status that the request is refused with, and the limit that refuses it.
    std::string admit(const intake::hypothetical_request& r)
    {
        std::string bytes = r.method + ' ' + r.url + " HTTP/1.1\r\nHost: localhost\r\n";
        for (const auto& [name, value] : r.headers) {
            bytes.append(name).append(": ").append(value).append("\r\n");
        }
        bytes += "\r\n";
        http::request_head head;
        const http::parse_result parsed = http::parse_request_head(bytes, {}, head);
        if (parsed.is != http::parse_result::state::complete) {
            return told(parsed.why.status, "");
        }
        admitter_.reset(view_, *base::ip_address::parse(r.peer), false, nullptr);
        const admission a = admitter_.admit(head, head, *this);
        const bool refused = a.next == admission::action::respond;
        return refused ? told(a.status, record_.deciding_limit) : "0";
    }

    // The same, as explain() and a look at the buckets tell it. A forged token is charged to limits
    // that may reject it: then nothing is said.
    std::string explain(const intake::hypothetical_request& r)
    {
        std::string complaint;
        const explanation e = limits::explain(policy_, {}, r, complaint);
        EXPECT_EQ(complaint, "");
        for (const intake::named_charge& c : std::span{e.limits}.first(e.asked)) {
            if (c.is == intake::named_charge::state::charged && c.rule->enforced() &&
                !has_tokens(c)) {
                return told(429, c.rule->name);
            }
        }
        if (e.status == 0) {
            return "0";
        }
        return told(e.status, e.refused_by ? policy_->limits[*e.refused_by].name : "");
    }

private:
    std::shared_ptr<policy::policy> policy_;
    std::shared_ptr<const policy_view> view_;
    telemetry::route_metrics route_metrics_;
    telemetry::limit_metrics limit_metrics_;
    store::memory_store local_{{.max_buckets = 1024}};
    base::turn_clock clock_;
    top_buckets top_;
    bucket_parts parts_;
    check_pool checks_{local_, clock_, top_, parts_};
    corrections corrections_{local_, clock_};
    permit_leases permit_leases_{clock_};
    abandoned_checks abandoned_{checks_, corrections_, permit_leases_};
    scratch memory_;
    request_record record_;
    admitter admitter_{checks_, abandoned_, memory_, clock_, record_};

    static std::string told(int status, std::string_view limit)
    {
        return std::to_string(status) + ' ' + std::string{limit};
    }

    bool has_tokens(const intake::named_charge& c)
    {
        identity::bucket_name name = c.name;
        const store::charge one{
            .limit_name = c.rule->name,
            .bucket_name = name.hashed(),
            .limit = c.limit,
            .cost = c.cost};
        store::answer a;
        EXPECT_TRUE(local_.decide(store::intent::look, {&one, 1}, clock_.now(), a));
        return a.decisions()[0].allowed;
    }

    void decided(const verdict&) override { ADD_FAILURE() << "nothing is shared"; }
};

TEST(explained, is_what_the_request_then_gets)
{
    std::mt19937 random{35};
    std::map<std::string, int> seen;
    for (int p = 0; p < 100; ++p) {
        const random_policy made{random};
        gate through{made.policy};
        for (int i = 0; i < 100; ++i) {
            const auto request = random_request(random);
            const std::string said = through.explain(request);
            const std::string got = through.admit(request);
            ASSERT_EQ(said, got) << "policy " << p << ", request " << i << ": " << request.method
                                 << ' ' << request.url;
            ++seen[got.substr(0, 3)];
        }
    }
    for (const char* status : {"0", "400", "403", "404", "405", "200", "413", "429"}) {
        EXPECT_GT(seen[status], 20) << status;
    }
}

}  // namespace explained_property_test
}  // namespace gateway::limits
