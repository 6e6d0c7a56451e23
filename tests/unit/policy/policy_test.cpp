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

}  // namespace policy_test
}  // namespace gateway::policy
