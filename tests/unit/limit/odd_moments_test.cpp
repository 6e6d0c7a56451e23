// Limits at the ends of their range, at moments that have broken clocks, and when a clock steps.
#include "gateway/limit/algebra.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace gateway::limit {
namespace odd_moments_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr hours day{24};

// Since the zero of a clock, or the Unix epoch.
std::vector<base::duration> moments()
{
    return {
        seconds{1},
        milliseconds{(std::int64_t{1} << 32) - 1},  // 49.7 days
        seconds{(std::int64_t{1} << 31) - 1},       // 2038
        seconds{1835395199},                        // the second before 2028-02-29
        seconds{(std::int64_t{1} << 32) - 1}};      // 2106
}

struct numbers {
    std::int64_t tokens;
    base::duration period;
    std::int64_t burst;
};

struct in_ticks {
    terms t;
    base::duration tick;
};

std::vector<in_ticks> extremes()
{
    constexpr std::int64_t milliard = 1'000'000'000;
    std::vector<in_ticks> all;
    for (const auto& [tokens, period, burst] : std::vector<numbers>{
             {1, 365 * day, 1},
             {1, 365 * day, 100},
             {1'000'000, seconds{1}, 1},
             {1'000'000, seconds{1}, milliard},
             {1, seconds{3}, milliard}}) {
        const auto made = limit::make(tokens, period, burst);
        all.push_back({made.value().in_nanoseconds(), base::duration{1}});
        all.push_back({made.value().in_microseconds(), std::chrono::microseconds{1}});
    }
    return all;
}

TEST(extreme_limits, give_their_burst_and_then_one_token_to_the_tick)
{
    for (const auto& [t, tick] : extremes()) {
        for (const base::duration d : moments()) {
            const std::int64_t now = d / tick;
            const step all = take(t, bucket{}, now, t.burst);
            ASSERT_TRUE(all.allowed);
            ASSERT_EQ(all.remaining, 0);
            ASSERT_EQ(all.full_in, t.interval * t.burst);
            const step more = take(t, all.after, now, 1);
            ASSERT_FALSE(more.allowed);
            ASSERT_EQ(more.retry_in, t.interval);
            ASSERT_FALSE(take(t, all.after, now + more.retry_in - 1, 1).allowed);
            ASSERT_TRUE(take(t, all.after, now + more.retry_in, 1).allowed);
            ASSERT_EQ(take(t, all.after, now + all.full_in, 1).remaining, t.burst - 1);
        }
    }
}

TEST(extreme_limits, let_pass_what_costs_nothing_and_never_what_costs_more_than_they_hold)
{
    for (const auto& [t, tick] : extremes()) {
        const step all = take(t, bucket{}, 0, t.burst);
        EXPECT_TRUE(take(t, all.after, 0, 0).allowed) << "empty, but nothing is wanted";
        for (const bucket& b : {bucket{}, all.after}) {
            const step never = take(t, b, 0, t.burst + 1);
            EXPECT_FALSE(never.allowed);
            EXPECT_FALSE(take(t, b, never.retry_in, t.burst + 1).allowed);
        }
    }
}

// A bucket of every kind that a time is kept for, of five tokens.
struct subject {
    const char* name;
    terms t;
};

std::vector<subject> five_of_each_kind()
{
    static const windows equal{5, day / milliseconds{1}, 1000, true};
    static const auto dates = [] {
        auto made = std::make_shared<calendar>();
        for (std::int64_t second = 0; second < std::int64_t{150} * 365 * 86'400; second += 86'400) {
            made->begins.push_back(second);
        }
        return made;
    }();
    static const windows days{5, day / milliseconds{1}, 1000, true, dates};
    const auto in_windows = [](const windows& w) {
        return terms{.interval = 1, .burst = 5, .issued_in = &w, .how = supply_kind::fixed_window};
    };
    return {
        {"token_bucket", {.interval = day / milliseconds{5}, .burst = 5}},
        {"fixed_window", in_windows(equal)},
        {"calendar", in_windows(days)},
        {"sliding_log",
         {.interval = 1,
          .burst = 5,
          .how = supply_kind::sliding,
          .length = day / milliseconds{1},
          .part = 1}}};
}

// Of one client; milliseconds.
class client {
public:
    explicit client(const terms& t) : terms_(t) {}

    bool take_one(std::int64_t now)
    {
        if (terms_.how == supply_kind::sliding) {
            past_.forget(now - terms_.length);
            bucket_ = bucket::sliding(past_.used(), INT64_MAX);
        }
        const moment at = terms_.how == supply_kind::sliding ? moment{now, past_} : moment{now, 0};
        const step s = take(terms_, bucket_, at, 1);
        if (s.allowed) {
            bucket_ = s.after;
            past_.take(counted_at(terms_, now, 0), 1);
        }
        return s.allowed;
    }

    int take_all(std::int64_t now)
    {
        int taken = 0;
        while (take_one(now)) {
            ++taken;
        }
        return taken;
    }

private:
    terms terms_;
    bucket bucket_;
    history past_;
};

constexpr std::array<std::int64_t, 6> steps{
    1,
    999,
    hours{1} / milliseconds{1},
    std::int64_t{1} << 32,
    366 * day / milliseconds{1},
    3650 * day / milliseconds{1}};

TEST(stepping_clock, gives_nothing_backwards)
{
    for (const subject& s : five_of_each_kind()) {
        for (const std::int64_t step : steps) {
            client c{s.t};
            const std::int64_t now = seconds{(std::int64_t{1} << 32) - 1} / milliseconds{1};
            ASSERT_EQ(c.take_all(now), 5);
            EXPECT_EQ(c.take_all(now - step), 0) << s.name << " by " << step;
            EXPECT_EQ(c.take_all(now), 0) << s.name << " by " << step << " and again";
        }
    }
}

TEST(stepping_clock, gives_forwards_what_the_time_would_have_and_never_more_than_the_burst)
{
    for (const subject& s : five_of_each_kind()) {
        for (const base::duration from : moments()) {
            for (const std::int64_t step : steps) {
                client c{s.t};
                const std::int64_t now = from / milliseconds{1};
                ASSERT_EQ(c.take_all(now), 5);
                const int given = c.take_all(now + step);
                EXPECT_LE(given, 5) << s.name;
                if (step >= 2 * s.t.length && step >= 2 * day / milliseconds{1}) {
                    EXPECT_EQ(given, 5) << s.name << " by " << step;
                }
                EXPECT_EQ(c.take_all(now), 0) << s.name << ": back again";
            }
        }
    }
}

// 08:00 in Berlin; window_start_test.cpp has these moments from a time zone.
TEST(day_of_a_clock_change, is_as_long_as_it_is)
{
    constexpr std::int64_t spring = 1774681200;  // 2026-03-28
    constexpr std::int64_t autumn = 1792911600;  // 2026-10-25
    constexpr std::int64_t hour = 3600;
    const auto dates = std::make_shared<calendar>(calendar{
        {spring - 24 * hour,
         spring,
         spring + 23 * hour,
         spring + 47 * hour,
         autumn - 49 * hour,
         autumn - 25 * hour,
         autumn,
         autumn + 24 * hour}});
    const windows w{5, 86'400, 1, true, dates};
    const terms t{.interval = 1, .burst = 5, .issued_in = &w, .how = supply_kind::fixed_window};
    for (const auto& [begin, length] :
         {std::pair{spring - 24 * hour, 24},
          {spring, 23},
          {spring + 23 * hour, 24},
          {autumn - 49 * hour, 24},
          {autumn - 25 * hour, 25},
          {autumn, 24}}) {
        const step all = take(t, bucket{}, begin, 5);
        EXPECT_EQ(all.full_in, length * hour);
        const std::int64_t last = begin + length * hour - 1;
        EXPECT_FALSE(take(t, all.after, last, 1).allowed);
        EXPECT_EQ(take(t, all.after, last, 1).retry_in, 1);
        EXPECT_EQ(take(t, all.after, last + 1, 5).remaining, 0);
        EXPECT_TRUE(take(t, all.after, last + 1, 5).allowed);
    }
}

}  // namespace odd_moments_test
}  // namespace gateway::limit
