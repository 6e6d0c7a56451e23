#include "gateway/policy/claimed_numbers.hpp"

#include <gtest/gtest.h>

namespace gateway::policy {
namespace claimed_numbers_test {

TEST(claimed_number, is_that_of_the_claim_up_to_the_most)
{
    const claimed_number number{.claim = "rpm", .standard = 100, .max = 10'000};
    EXPECT_EQ(number.stated_by("1"), 1);
    EXPECT_EQ(number.stated_by("0009"), 9);
    EXPECT_EQ(number.stated_by("10000"), 10'000);
    EXPECT_EQ(number.stated_by("10001"), 10'000);
    EXPECT_EQ(number.stated_by("18446744073709551616"), 10'000);
}

TEST(claimed_number, is_the_default_without_a_positive_integer)
{
    const claimed_number number{.claim = "rpm", .standard = 100, .max = 10'000};
    EXPECT_EQ(number.stated_by({}), 100);
    for (const char* const bad : {"", "0", "000", "-1", "+1", "1.5", "1e3", " 1", "true", "x"}) {
        EXPECT_EQ(number.stated_by(bad), 100) << bad;
    }
    EXPECT_EQ((claimed_number{.standard = 7}.stated_by("9")), 7) << "there is no claim";
}

TEST(claimed_numbers, make_a_bucket_of_a_period_unless_the_burst_says_more)
{
    const claimed_numbers numbers{
        .tokens = {.claim = "rpm", .standard = 100, .max = 1000},
        .period = std::chrono::minutes{1}};
    EXPECT_EQ(numbers.limit_of(60, 0)->burst(), 60);
    EXPECT_EQ(numbers.limit_of(60, 5)->burst(), 5);
    EXPECT_EQ(numbers.limit_of(60, 5)->refill(), std::chrono::seconds{5});
    EXPECT_FALSE(numbers.limit_of(0, 5).has_value());
}

}  // namespace claimed_numbers_test
}  // namespace gateway::policy
