#include "gateway/telemetry/line_budget.hpp"

#include <gtest/gtest.h>

namespace gateway::telemetry {
namespace line_budget_test {

constexpr base::instant start{std::chrono::hours{1}};
constexpr base::duration second = std::chrono::seconds{1};

TEST(line_budget, grants_its_lines_and_counts_the_rest)
{
    line_budget budget;
    budget.allow(3);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(budget.spend(start));
    }
    EXPECT_FALSE(budget.spend(start));
    EXPECT_FALSE(budget.spend(start + second - base::duration{1}));
    EXPECT_EQ(budget.take_suppressed(), 2u);
    EXPECT_EQ(budget.take_suppressed(), 0u);
}

TEST(line_budget, may_be_changed_within_a_second)
{
    line_budget budget;
    budget.allow(1);
    EXPECT_TRUE(budget.spend(start));
    EXPECT_FALSE(budget.spend(start));
    budget.allow(2);
    EXPECT_TRUE(budget.spend(start));
    EXPECT_FALSE(budget.spend(start));
}

TEST(line_budget, starts_anew_after_a_second)
{
    line_budget budget;
    budget.allow(1);
    EXPECT_TRUE(budget.spend(start));
    EXPECT_TRUE(budget.spend(start + second));
    EXPECT_FALSE(budget.spend(start + second));
    EXPECT_TRUE(budget.spend(start + 100 * second));
}

TEST(line_budget, may_be_for_another_time)
{
    line_budget budget;
    budget.allow(1, 10 * second);
    EXPECT_TRUE(budget.spend(start));
    EXPECT_FALSE(budget.spend(start + 9 * second));
    EXPECT_TRUE(budget.spend(start + 10 * second));
    EXPECT_EQ(budget.take_suppressed(), 1U);
}

TEST(line_budget, adds_lost_lines_to_the_suppressed)
{
    line_budget budget;
    budget.allow(1);
    budget.spend(start);
    budget.spend(start);
    budget.count_lost();
    EXPECT_EQ(budget.take_suppressed(), 2u);
}

}  // namespace line_budget_test
}  // namespace gateway::telemetry
