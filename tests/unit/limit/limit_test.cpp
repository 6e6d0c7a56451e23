#include "gateway/limit/limit.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace gateway::limit {
namespace limit_test {

using base::duration;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(limit, an_interval_is_rounded_up_never_down)
{
    EXPECT_EQ(limit::make(100, minutes{1}, 20)->in_nanoseconds(), (terms{600'000'000, 20}));
    EXPECT_EQ(limit::make(100, minutes{1}, 20)->in_microseconds(), (terms{600'000, 20}));
    EXPECT_EQ(limit::make(7, seconds{1}, 1)->in_nanoseconds().interval, 142'857'143);
    EXPECT_EQ(limit::make(7, seconds{1}, 1)->in_microseconds().interval, 142'858);
    EXPECT_EQ(limit::make(1, nanoseconds{1}, 1)->in_nanoseconds().interval, 1);
    EXPECT_EQ(limit::make(1, nanoseconds{1}, 1)->in_microseconds().interval, 1);
    EXPECT_EQ(limit::make(1, nanoseconds{1000}, 1)->in_microseconds().interval, 1);
    EXPECT_EQ(limit::make(1, nanoseconds{1'000'001}, 1)->in_microseconds().interval, 1001);
    EXPECT_EQ(limit::make(1'000'001, seconds{1}, 1)->in_microseconds().interval, 1);
}

TEST(limit, a_rate_in_ticks_never_exceeds_the_configured_one)
{
    std::mt19937_64 random{5};
    for (int i = 0; i < 100000; ++i) {
        const auto tokens = static_cast<std::int64_t>(1 + (random() >> (random() % 63 + 1)));
        const auto period = static_cast<std::int64_t>(1 + (random() >> (random() % 63 + 1)));
        const auto made = limit::make(tokens, duration{period}, 1);
        if (!made) {
            continue;
        }
        // interval * tokens >= period > (interval - 1) * tokens
        const __int128 ns = made->in_nanoseconds().interval;
        ASSERT_GE(ns * tokens, period);
        ASSERT_LT((ns - 1) * tokens, period);
        const auto [count, ticks] = made->pace_in_microseconds();
        ASSERT_LE(__int128{count} * period, __int128{tokens} * ticks * 1000);
        if (period / 1000 >= tokens) {
            ASSERT_GE(__int128{count} * period * 1001, __int128{tokens} * ticks * 1000 * 1000);
        }
    }
}

TEST(limit, tokens_that_take_no_whole_number_of_microseconds_come_in_spread_windows)
{
    const auto made = limit::make(600'000, seconds{1}, 1000);
    const terms& t = made->in_microseconds();
    EXPECT_EQ(made->how(), supply_kind::token_bucket);
    EXPECT_EQ(t.how, supply_kind::fixed_window);
    EXPECT_EQ(t.burst, 1000);
    EXPECT_EQ(made->pace_in_microseconds(), (pace{3, 5}));
    EXPECT_EQ(t.issued_in->index(5'000'000), 3'000'000);

    const auto how = [](std::int64_t tokens, duration period, std::int64_t burst) {
        return limit::make(tokens, period, burst)->in_microseconds().how;
    };
    EXPECT_EQ(how(500'000, seconds{1}, 1), supply_kind::token_bucket) << "two microseconds each";
    EXPECT_EQ(how(999, seconds{1}, 1), supply_kind::token_bucket) << "1002 are 0.1 % more";
    EXPECT_EQ(how(998, seconds{1}, 1), supply_kind::token_bucket);
    EXPECT_EQ(how(1500, seconds{1}, 1), supply_kind::token_bucket) << "667 are 0.05 % more";
    EXPECT_EQ(how(1504, seconds{1}, 1), supply_kind::token_bucket);
    EXPECT_EQ(how(1600, seconds{1}, 1), supply_kind::token_bucket) << "exactly 625";
    EXPECT_EQ(how(30'000, seconds{1}, 1), supply_kind::fixed_window);
    EXPECT_EQ(how(2'000'000, seconds{1}, 1), supply_kind::token_bucket) << "as 1,000,000";
    EXPECT_EQ(how(600'000, seconds{1}, windows::most_tokens + 1), supply_kind::token_bucket)
        << "more than a bucket of windows can owe";
}

TEST(limit, rates_that_differ_in_microseconds_only_are_different)
{
    const auto one = limit::make(600'000, seconds{1}, 5);
    const auto other = limit::make(600'100, seconds{1}, 5);
    ASSERT_EQ(one->in_nanoseconds(), other->in_nanoseconds());
    EXPECT_FALSE(one->issues_as(*other));
    EXPECT_TRUE(one->issues_as(*limit::make(1'200'000, seconds{2}, 9)));
}

TEST(limit, impossible_ones_cannot_be_built)
{
    EXPECT_FALSE(limit::make(0, seconds{1}, 1));
    EXPECT_FALSE(limit::make(-1, seconds{1}, 1));
    EXPECT_FALSE(limit::make(1, seconds{0}, 1));
    EXPECT_FALSE(limit::make(1, seconds{-1}, 1));
    EXPECT_FALSE(limit::make(1, seconds{1}, 0));
    EXPECT_FALSE(limit::make(1, seconds{1}, -1));
    EXPECT_FALSE(limit::make(most, seconds{1}, 1));
    EXPECT_FALSE(limit::make(1'000'000'001, seconds{1}, 1)) << "a token in less than a nanosecond";
    EXPECT_TRUE(limit::make(1'000'000'000, seconds{1}, 1));
    EXPECT_FALSE(limit::make(std::numeric_limits<std::int64_t>::min(), duration::min(), most));
}

TEST(limit, a_full_refill_takes_a_century_at_most)
{
    constexpr duration century = limit::max_refill;
    EXPECT_TRUE(limit::make(1, century, 1));
    EXPECT_FALSE(limit::make(1, century + nanoseconds{1}, 1));
    EXPECT_TRUE(limit::make(1, hours{1}, century / hours{1}));
    EXPECT_FALSE(limit::make(1, hours{1}, century / hours{1} + 1));
    EXPECT_FALSE(limit::make(most, duration{most}, most));
    EXPECT_FALSE(limit::make(1, duration{most}, most));
}

TEST(limit, a_full_refill_is_bounded_in_microseconds_too)
{
    // In nanoseconds this bucket fills in time; with an interval of a whole microsecond it would
    // not, and the sums of a script in doubles would no longer be exact.
    constexpr std::int64_t burst = limit::max_refill / std::chrono::microseconds{1};
    EXPECT_TRUE(limit::make(1, nanoseconds{1}, burst));
    EXPECT_FALSE(limit::make(1, nanoseconds{1}, burst + 1));
    EXPECT_LT(
        limit::make(1, nanoseconds{1}, burst)->in_microseconds().capacity(), std::int64_t{1} << 53
    );
}

}  // namespace limit_test
}  // namespace gateway::limit
