#include "gateway/limit/pace.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::limit {
namespace pace_test {

TEST(pace, rounds_tokens_down_and_debts_and_times_up)
{
    for (std::int64_t count = 1; count <= 12; ++count) {
        for (std::int64_t period = 1; period <= 40; ++period) {
            const pace p{count, period};
            for (std::int64_t n = 0; n <= 50; ++n) {
                ASSERT_LE(p.tokens_in(n) * period, n * count);
                ASSERT_GT((p.tokens_in(n) + 1) * period, n * count);
                ASSERT_GE(p.tokens_owed(n) * period, n * count);
                ASSERT_LT((p.tokens_owed(n) - 1) * period, n * count);
                ASSERT_GE(p.time_of(n) * count, n * period);
                ASSERT_LT((p.time_of(n) - 1) * count, n * period);
                ASSERT_LE(p.time_of(p.tokens_in(n)), n);
            }
        }
    }
}

TEST(pace, does_not_overflow)
{
    const std::int64_t century = std::int64_t{100} * 365 * 24 * 3600 * 1'000'000;
    const pace p{999'999, 1'000'000};
    EXPECT_EQ(p.tokens_in(century), century / 1'000'000 * 999'999);
    EXPECT_EQ(p.time_of(p.tokens_in(century)), century);
}

}  // namespace pace_test
}  // namespace gateway::limit
