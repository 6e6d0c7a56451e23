#include "gateway/intake/claimed_limits.hpp"

#include <gtest/gtest.h>

namespace gateway::intake {
namespace claimed_limits_test {

using namespace std::chrono_literals;

policy::limit_rule per_minute()
{
    return {
        .name = "l",
        .key = {},
        .limit = *limit::limit::make(100, 1min, 100),
        .claimed = {
            .tokens = {.claim = "rpm", .standard = 100, .max = 1'000'000},
            .period = 1min,
            .burst = {.claim = "burst", .standard = 0, .max = 50}}};
}

TEST(claimed_limits, are_made_once_for_each_pair_of_numbers)
{
    const policy::limit_rule rule = per_minute();
    const policy::limit_rule other = per_minute();
    claimed_limits all;
    const identity::verified_token token{.claims = {{"rpm", "60"}, {"burst", "5"}}};
    const limit::limit& made = all.of(rule, &token);
    EXPECT_EQ(made.burst(), 5);
    EXPECT_EQ(made.refill(), 5s);
    EXPECT_EQ(all.tokens_of(made), 60);
    const identity::verified_token same{.claims = {{"burst", "5"}, {"rpm", "060"}}};
    EXPECT_EQ(&all.of(rule, &same), &made);
    EXPECT_NE(&all.of(other, &same), &made);
    const identity::verified_token half{.claims = {{"rpm", "60"}}};
    EXPECT_EQ(all.of(rule, &half).burst(), 60);
    EXPECT_EQ(all.of(rule, nullptr).burst(), 100);
    EXPECT_EQ(all.tokens_of(rule.limit), std::nullopt);
}

TEST(claimed_limits, are_bounded_and_then_the_default)
{
    const policy::limit_rule rule = per_minute();
    claimed_limits all;
    const auto of = [&](std::size_t number) -> const limit::limit& {
        const identity::verified_token token{.claims = {{"rpm", std::to_string(number)}}};
        return all.of(rule, &token);
    };
    const limit::limit& first = of(1);
    for (std::size_t i = 2; i <= claimed_limits::most; ++i) {
        ASSERT_NE(&of(i), &rule.limit);
    }
    EXPECT_EQ(&of(claimed_limits::most + 1), &rule.limit);
    EXPECT_EQ(&of(1), &first);
}

}  // namespace claimed_limits_test
}  // namespace gateway::intake
