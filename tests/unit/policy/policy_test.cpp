#include "gateway/policy/policy.hpp"

#include <gtest/gtest.h>

namespace gateway::policy {
namespace policy_test {

limit_rule rule(std::string name)
{
    return {
        .name = std::move(name),
        .key = {},
        .limit = *limit::limit::make(1, std::chrono::hours{1}, 1)};
}

TEST(policy, knows_of_which_limits_tokens_may_come_back_before_their_time)
{
    policy p;
    p.limits = {rule("shared"), rule("waits"), rule("corrected"), rule("plain")};
    p.limits[1].max_wait = std::chrono::seconds{1};
    p.limits[2].outcome.charge_on.ranges = {{401, 401}};
    for (const std::vector<std::size_t>& limits :
         std::vector<std::vector<std::size_t>>{{0, 1}, {0}, {2, 3}}) {
        route r;
        r.limits = limits;
        p.routes.push_back(r);
    }
    p.finish();
    EXPECT_TRUE(p.limits[0].may_be_corrected) << "on one of its routes a client may leave";
    EXPECT_TRUE(p.limits[1].may_be_corrected);
    EXPECT_TRUE(p.limits[2].may_be_corrected);
    EXPECT_FALSE(p.limits[3].may_be_corrected);
}

TEST(policy, knows_which_headers_it_reads)
{
    policy p;
    EXPECT_TRUE(p.read_headers.empty());
    p.plans = {{.name = "plans", .key = {.from = key_part::source::header, .name = "x-plan"}}};
    p.plans[0].members = std::make_shared<plan_table>(base::hash_key{});
    p.limits = {rule("keyed"), rule("planned"), rule("costly"), rule("plain")};
    p.limits[0].key = {
        {.from = key_part::source::cookie, .name = "a-cookie"},
        {.from = key_part::source::header, .name = "x-key"},
    };
    p.limits[1].plan.plans = 0;
    p.limits[2].cost = {.from = cost_rule::source::header, .name = "x-cost"};
    p.limits[3].key = p.limits[0].key;
    route r;
    r.match.headers = {{.name = "x-match", .value = "1"}};
    p.routes = {r};
    p.token.emplace().name = "x-token";
    p.finish();
    const std::vector<std::string> all{"x-cost", "x-key", "x-match", "x-plan", "x-token"};
    EXPECT_EQ(p.read_headers, all);
    p.token->in = token_rule::carrier::cookie;
    p.finish();
    EXPECT_EQ(p.read_headers.back(), "x-plan");
}

}  // namespace policy_test
}  // namespace gateway::policy
