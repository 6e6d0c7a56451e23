// Limits of the same kind at another rate.
#include "gateway/limit/limit.hpp"

#include <gtest/gtest.h>

namespace gateway::limit {
namespace at_rate_test {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(at_rate, keeps_the_kind_of_a_limit)
{
    const auto bucket = limit::make(5, minutes{1}, 9)->at_rate(100, hours{1});
    EXPECT_EQ(bucket, limit::make(100, hours{1}, 100));
    const auto sliding = limit::sliding(5, minutes{1}, 16)->at_rate(100, hours{1});
    EXPECT_EQ(sliding, limit::sliding(100, hours{1}, 16));
    for (const bool aligned : {true, false}) {
        const auto windows =
            limit::in_windows({.count = 5, .length = minutes{1}, .aligned = aligned, .capacity = 10}
            )
                ->at_rate(100, hours{1});
        EXPECT_EQ(
            windows,
            limit::in_windows(
                {.count = 100, .length = hours{1}, .aligned = aligned, .capacity = 100}
            )
        );
    }
}

TEST(at_rate, is_whole_and_without_a_share)
{
    const auto split = limit::make(8, minutes{1}, 8)->split(2)->at_rate(100, hours{1});
    EXPECT_TRUE(split->parts().empty());
    const auto shared = limit::make(8, minutes{1}, 8)->shared_out(1, 2)->at_rate(100, hours{1});
    EXPECT_EQ(shared->share(), nullptr);
}

TEST(at_rate, refuses_impossible_numbers)
{
    const auto one = *limit::make(1, seconds{1}, 1);
    EXPECT_FALSE(one.at_rate(0, seconds{1}));
    EXPECT_FALSE(one.at_rate(-1, seconds{1}));
    EXPECT_FALSE(one.at_rate(1'000'000'001, seconds{1}));
    EXPECT_TRUE(one.at_rate(UINT32_MAX, hours{24 * 365}));
    EXPECT_FALSE(limit::in_flight(5, seconds{10})->at_rate(5, seconds{1}));
}

}  // namespace at_rate_test
}  // namespace gateway::limit
