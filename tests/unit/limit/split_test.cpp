#include "gateway/limit/limit.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::limit {
namespace split_test {

using std::chrono::hours;
using std::chrono::seconds;

std::int64_t held_by_parts(const limit& whole)
{
    std::int64_t sum = 0;
    for (const limit& part : whole.parts()) {
        sum += part.burst();
    }
    return sum;
}

TEST(split, gives_what_cannot_be_divided_to_the_first_parts)
{
    const auto made = limit::make(100, seconds{1}, 19)->split(8);
    ASSERT_EQ(made->parts().size(), 8);
    EXPECT_EQ(made->parts()[0].burst(), 3);
    EXPECT_EQ(made->parts()[2].burst(), 3);
    EXPECT_EQ(made->parts()[3].burst(), 2);
    EXPECT_EQ(made->parts()[7].burst(), 2);
    EXPECT_EQ(made->burst(), 19);
    EXPECT_EQ(made->most_at_once(), 3);
    EXPECT_EQ(made->parts()[5].in_nanoseconds().interval, 80'000'000);
    EXPECT_EQ(made->parts()[5].in_microseconds().interval, 80'000);
}

TEST(split, parts_are_never_more_than_the_whole)
{
    std::mt19937_64 random{3};
    int split = 0;
    for (int i = 0; i < 20000; ++i) {
        const auto n = static_cast<std::int64_t>(2 + random() % (limit::most_parts - 1));
        const auto tokens = static_cast<std::int64_t>(1 + (random() >> (24 + random() % 40)));
        const auto burst = static_cast<std::int64_t>(1 + (random() >> (24 + random() % 40)));
        const auto whole = limit::make(tokens, hours{1}, burst);
        const auto made = whole ? whole->split(n) : std::nullopt;
        if (!made) {
            EXPECT_TRUE(!whole || burst < n || burst > 1'000'000) << tokens << ' ' << burst;
            continue;
        }
        ++split;
        ASSERT_EQ(held_by_parts(*made), burst);
        for (const limit& part : made->parts()) {
            // So n of them issue as much as the whole in any time.
            const __int128 hour = base::duration{hours{1}}.count();
            const auto [count, ticks] = part.pace_in_microseconds();
            ASSERT_EQ(part.in_nanoseconds().interval, (hour * n + tokens - 1) / tokens);
            ASSERT_LE(__int128{count} * n * hour, __int128{tokens} * ticks * 1000);
            if (tokens <= n * (hour / 1000)) {
                ASSERT_GE(__int128{count} * n * hour * 1001, __int128{tokens} * ticks * 1'000'000);
            }
        }
    }
    EXPECT_GT(split, 5000);
}

TEST(split, divides_the_count_of_windows)
{
    const auto made =
        limit::in_windows({.count = 10, .length = seconds{60}, .aligned = true, .capacity = 22})
            ->split(4);
    std::int64_t issued = 0;
    for (const limit& part : made->parts()) {
        issued += part.in_nanoseconds().issued_in->count();
        EXPECT_EQ(part.in_nanoseconds().issued_in->length(), base::duration{seconds{60}}.count());
        EXPECT_EQ(
            part.in_microseconds().issued_in->count(), part.in_nanoseconds().issued_in->count()
        );
    }
    EXPECT_EQ(issued, 10);
    EXPECT_EQ(held_by_parts(*made), 22);
    EXPECT_EQ(made->parts()[1].burst(), 6);
    EXPECT_EQ(made->parts()[1].in_nanoseconds().issued_in->count(), 3);
}

TEST(split, divides_the_count_of_a_sliding_window)
{
    const auto made = limit::sliding(9, seconds{16}, 16)->split(2);
    EXPECT_EQ(made->parts()[0].burst(), 5);
    EXPECT_EQ(made->parts()[1].burst(), 4);
    EXPECT_EQ(made->parts()[1].in_nanoseconds().part, base::duration{seconds{1}}.count());
    EXPECT_EQ(made->parts()[1].refill(), seconds{16});
}

TEST(split, is_refused_where_a_part_would_be_empty_or_take_too_long)
{
    EXPECT_FALSE(limit::make(100, seconds{1}, 7)->split(8));
    EXPECT_TRUE(limit::make(100, seconds{1}, 8)->split(8));
    EXPECT_FALSE(limit::in_windows({.count = 3, .length = seconds{60}, .capacity = 100})->split(4));
    EXPECT_FALSE(limit::sliding(3, seconds{60}, 16)->split(4));
    EXPECT_FALSE(limit::in_flight(100, seconds{10})->split(4));
    // Two tokens in one part and one in the other: four times the interval of the whole.
    EXPECT_FALSE(limit::make(1, limit::max_refill / 3, 3)->split(2));
    EXPECT_TRUE(limit::make(1, limit::max_refill / 4, 3)->split(2));
}

TEST(split, of_whole_buckets_there_is_none)
{
    const auto whole = limit::make(100, seconds{1}, 10);
    EXPECT_TRUE(whole->parts().empty());
    EXPECT_EQ(whole->most_at_once(), 10);
    EXPECT_FALSE(*whole == *whole->split(2));
    EXPECT_TRUE(*whole->split(2) == *whole->split(2));
}

TEST(shared_out, is_a_part_of_rate_and_burst)
{
    const auto tokens = limit::make(100, seconds{1}, 19)->shared_out(1, 3);
    ASSERT_TRUE(tokens);
    EXPECT_EQ(tokens->burst(), 19) << "beside the whole";
    EXPECT_EQ(tokens->share()->burst(), 6);
    EXPECT_EQ(tokens->share()->in_nanoseconds().interval, 30'000'000);
    EXPECT_EQ(tokens->share()->in_microseconds().interval, 30'000);
    const auto quota =
        limit::in_windows({.count = 10, .length = hours{1}, .capacity = 20})->shared_out(2, 3);
    EXPECT_EQ(quota->share()->burst(), 13);
    EXPECT_EQ(quota->share()->in_nanoseconds().issued_in->count(), 6);
    EXPECT_EQ(limit::sliding(10, hours{1}, 4)->shared_out(1, 4)->share()->burst(), 2);
    EXPECT_EQ(limit::in_flight(10, seconds{10})->shared_out(1, 4)->share()->burst(), 2);
    EXPECT_FALSE(limit::make(1, seconds{1}, 2)->shared_out(1, 3));
    EXPECT_FALSE(
        limit::in_windows({.count = 1, .length = hours{1}, .capacity = 9})->shared_out(1, 3)
    );
}

TEST(shared_out, shares_together_are_never_more_than_the_whole)
{
    std::mt19937_64 random{5};
    for (int i = 0; i < 20000; ++i) {
        const auto m = static_cast<std::int64_t>(1 + random() % 1000);
        const auto n = static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(m));
        const auto burst = static_cast<std::int64_t>(1 + random() % 5000);
        const auto tokens = static_cast<std::int64_t>(1 + random() % 5000);
        const base::duration period = seconds{1 + random() % 100};
        const auto whole = limit::make(tokens, period, burst);
        const auto made = whole ? whole->shared_out(n, m) : std::nullopt;
        if (made) {
            using wide = __int128;
            EXPECT_LE(static_cast<wide>(made->share()->burst()) * m, static_cast<wide>(burst) * n);
            EXPECT_GE(
                static_cast<wide>(made->share()->in_nanoseconds().interval) * n * tokens,
                static_cast<wide>(period.count()) * m
            );
        }
    }
}

TEST(shared_out, makes_another_limit)
{
    const auto whole = *limit::make(100, seconds{1}, 19);
    EXPECT_NE(*whole.shared_out(1, 3), whole);
    EXPECT_NE(*whole.shared_out(1, 3), *whole.shared_out(1, 4));
    EXPECT_EQ(*whole.shared_out(1, 3), *whole.shared_out(1, 3));
    EXPECT_TRUE(whole.shared_out(1, 3)->issues_as(whole)) << "in the store it is the same";
}

}  // namespace split_test
}  // namespace gateway::limit
