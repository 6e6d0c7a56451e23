// Limits whose tokens are issued window by window, beside a model that is obviously right.
#include "gateway/limit/algebra.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace gateway::limit {
namespace windows_test {

using std::chrono::hours;
using std::chrono::seconds;

std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high)
{
    return std::uniform_int_distribution<std::int64_t>{low, high}(random);
}

terms in(const windows& w, std::int64_t capacity)
{
    return {.interval = 1, .burst = capacity, .issued_in = &w, .how = supply_kind::fixed_window};
}

// Tokens in hand; each window brings some, and what does not fit is lost.
class model {
public:
    model(const windows& w, std::int64_t capacity, moment start)
        : windows_(w),
          capacity_(capacity),
          tokens_(capacity),
          window_(w.index(start.now + start.shift))
    {}

    std::int64_t tokens(moment at)
    {
        for (; window_ < windows_.index(at.now + at.shift); ++window_) {
            tokens_ = std::min(tokens_ + windows_.count(), capacity_);
        }
        return tokens_;
    }

    bool take(moment at, std::int64_t cost)
    {
        if (tokens(at) < cost) {
            return false;
        }
        tokens_ -= cost;
        return true;
    }

    // Ticks until there are so many.
    std::int64_t until(moment at, std::int64_t wanted)
    {
        std::int64_t window = window_;
        for (std::int64_t t = tokens(at); t < wanted; t += windows_.count()) {
            ++window;
        }
        return window == window_ ? 0 : windows_.begin(window) - at.now - at.shift;
    }

private:
    const windows& windows_;
    std::int64_t capacity_;
    std::int64_t tokens_;
    std::int64_t window_;
};

// Equally long ones, some spread over a period, or months and days of many lengths.
windows random_windows(std::mt19937_64& random)
{
    const std::int64_t count = between(random, 1, 9);
    if (random() % 4 == 0) {
        return windows::spread(count, between(random, count, 40), 1);
    }
    if (random() % 2 == 0) {
        return {count, between(random, count, 40), 1, random() % 2 == 0};
    }
    auto dates = std::make_shared<calendar>();
    for (std::int64_t at = 0; dates->begins.size() < 400;) {
        dates->begins.push_back(at);
        at += between(random, 20, 24);
    }
    return {count, 24, 1, true, dates};
}

TEST(windows, give_and_say_what_the_model_does)
{
    std::mt19937_64 random{1};
    int rejections = 0;
    for (int round = 0; round < 5000; ++round) {
        const windows w = random_windows(random);
        const std::int64_t capacity = between(random, 1, 30);
        const terms t = in(w, capacity);
        moment at{between(random, 0, 100), w.shift(random(), 7)};
        model expected{w, capacity, at};
        bucket b;
        for (int i = 0; i < 50; ++i) {
            at.now += random() % 2 == 0 ? 0 : between(random, 0, 60);
            const std::int64_t cost = between(random, 1, capacity);
            b = rebased(t, b, at);
            const step got = take(t, b, at, cost);
            const std::int64_t had = expected.tokens(at);
            ASSERT_EQ(got.allowed, expected.take(at, cost));
            ASSERT_EQ(got.remaining, expected.tokens(at));
            ASSERT_EQ(got.retry_in, got.allowed ? 0 : expected.until(at, cost));
            ASSERT_EQ(got.full_in, expected.until(at, capacity));
            ASSERT_EQ(look(t, b, at).remaining, had);
            if (got.allowed) {
                b = got.after;
                ASSERT_EQ(b.full_at(), at.now + got.full_in) << "may be forgotten then";
            } else {
                ++rejections;
                ASSERT_FALSE(take(t, b, {at.now + got.retry_in - 1, at.shift}, cost).allowed);
                ASSERT_TRUE(take(t, b, {at.now + got.retry_in, at.shift}, cost).allowed);
            }
        }
    }
    EXPECT_GT(rejections, 10'000);
}

TEST(windows, that_are_spread_begin_when_their_tokens_are_due)
{
    for (std::int64_t period = 1; period <= 30; ++period) {
        for (std::int64_t count = 1; count <= period; ++count) {
            const windows w = windows::spread(count, period, 1);
            for (std::int64_t at = -2 * period; at <= 3 * period; ++at) {
                // The last k with k * period <= at * count.
                std::int64_t due = -4 * count;
                while ((due + 1) * period <= at * count) {
                    ++due;
                }
                ASSERT_EQ(w.index(at), due) << count << " in " << period << " at " << at;
                ASSERT_LE(w.begin(due), at);
                ASSERT_GT(w.begin(due + 1), at);
                ASSERT_EQ(w.nearest(w.begin(due)), due);
            }
        }
    }
}

TEST(windows, that_are_spread_are_exact_at_any_moment_of_a_script)
{
    std::mt19937_64 random{4};
    for (int i = 0; i < 100'000; ++i) {
        const std::int64_t period = between(random, 1, windows::longest_period);
        const std::int64_t count = between(random, 1, period);
        const windows w = windows::spread(count, period, 1'000'000);
        // Lua computes this in doubles.
        const auto at = static_cast<double>(between(random, 0, std::int64_t{1} << 52));
        const auto n = static_cast<double>(count);
        const auto p = static_cast<double>(period);
        const double periods = std::floor(at / p);
        const double index = periods * n + std::floor((at - periods * p) * n / p);
        ASSERT_EQ(w.index(static_cast<std::int64_t>(at)), static_cast<std::int64_t>(index));
        const double whole = std::floor(index / n);
        const double begin = whole * p + std::ceil((index - whole * n) * p / n);
        ASSERT_EQ(w.begin(static_cast<std::int64_t>(index)), static_cast<std::int64_t>(begin));
    }
}

TEST(windows, give_at_most_their_capacity_in_one_and_their_count_in_the_long_run)
{
    std::mt19937_64 random{2};
    for (int round = 0; round < 500; ++round) {
        const windows w{between(random, 1, 9), 40, 1, false};
        const std::int64_t capacity = between(random, 1, 30);
        const terms t = in(w, capacity);
        const std::int64_t shift = w.shift(random(), 0);
        bucket b;
        std::int64_t given = 0;
        std::int64_t given_in_window = 0;
        for (std::int64_t now = 0; now < 4000; ++now) {
            if (w.index(now + shift) != w.index(now - 1 + shift)) {
                given_in_window = 0;
            }
            const step s = take(t, b, {now, shift}, 1);
            if (s.allowed) {
                b = s.after;
                ++given;
                ++given_in_window;
            }
            ASSERT_LE(given_in_window, capacity);
            const std::int64_t begun = w.index(now + shift) - w.index(shift);
            ASSERT_LE(given, capacity + begun * w.count());
        }
        EXPECT_GE(given, 98 * std::min(w.count(), capacity)) << "and they are there to be had";
    }
}

TEST(windows, a_refund_at_once_is_as_if_nothing_had_been_taken)
{
    std::mt19937_64 random{3};
    for (int round = 0; round < 20'000; ++round) {
        const windows w = random_windows(random);
        const terms t = in(w, between(random, 1, 30));
        moment at{between(random, 0, 100), w.shift(random(), 0)};
        bucket b = take(t, bucket{}, at, between(random, 1, t.burst)).after;
        at.now += between(random, 0, 50);
        const std::int64_t cost = between(random, 1, t.burst);
        const step s = take(t, b, at, cost);
        if (!s.allowed) {
            continue;
        }
        const bucket back = refunded(t, s.after, at, {.tokens = cost});
        ASSERT_EQ(look(t, back, at).remaining, look(t, b, at).remaining);
        const std::int64_t held = between(random, 0, 60);
        const moment later{at.now + held, at.shift};
        ASSERT_LE(
            look(t, refunded(t, s.after, later, {.tokens = cost, .held = held}), later).remaining,
            look(t, b, later).remaining
        ) << "never more than without the charge";
    }
}

TEST(windows, a_clock_that_steps_back_gives_nothing)
{
    const windows w{5, 100, 1, true};
    const terms t = in(w, 5);
    const bucket b = take(t, bucket{}, 1000, 5).after;
    for (const std::int64_t now : {999, 900, 500, 0}) {
        EXPECT_FALSE(take(t, b, now, 1).allowed);
        EXPECT_EQ(take(t, b, now, 1).remaining, 0);
    }
    EXPECT_FALSE(take(t, b, 1099, 1).allowed);
    EXPECT_EQ(take(t, b, 1100, 1).remaining, 4);
}

// The wall clock is set while the store's own goes on.
TEST(windows, a_wall_clock_that_is_set_gives_no_window_before_the_last_one_would_have_ended)
{
    const windows w{5, 100, 1, true};
    const terms t = in(w, 5);
    const bucket b = take(t, bucket{}, {1010, 0}, 5).after;  // full again at 1100
    for (const std::int64_t to_unix : {-1000, -49, -1, 1, 49, 89}) {
        EXPECT_FALSE(take(t, b, {1010, to_unix}, 1).allowed) << to_unix;
    }
    for (const std::int64_t now : {1060, 1070, 1099}) {
        for (std::int64_t to_unix = -120; to_unix <= 120; ++to_unix) {
            const moment at{now, to_unix};
            ASSERT_FALSE(take(t, b, at, 1).allowed) << now << ' ' << to_unix;
            ASSERT_EQ(take(t, b, at, 1).retry_in, 1100 - now);
        }
    }
    EXPECT_TRUE(take(t, b, {1100, -60}, 1).allowed);
}

TEST(windows, keep_what_is_owed_when_the_limit_changes)
{
    const windows hundred{100, 1000, 1, true};
    const windows fifty{50, 1000, 1, true};
    const windows shorter{100, 500, 1, true};
    const terms line{.interval = 10, .burst = 100};
    const bucket b = take(in(hundred, 100), bucket{}, 1200, 90).after;
    for (const windows* w : {&fifty, &shorter}) {
        const bucket now = rebased(in(*w, 100), b, 1300);
        EXPECT_EQ(look(in(*w, 100), now, 1300).remaining, 10);
    }
    EXPECT_EQ(look(in(fifty, 100), rebased(in(fifty, 100), b, 1300), 2000).remaining, 60);
    EXPECT_EQ(rebased(line, b, 1300).full_at(), 1300 + 900);
    const bucket of_line = take(line, bucket{}, 1200, 90).after;  // 80.1 are owed at 1299
    EXPECT_EQ(look(in(hundred, 100), rebased(in(hundred, 100), of_line, 1299), 1299).remaining, 19);
    EXPECT_EQ(look(in(hundred, 100), rebased(in(hundred, 100), b, 2000), 2000).remaining, 100);
}

TEST(windows, of_clients_that_are_not_aligned_begin_at_moments_of_their_own)
{
    const windows w{1, 1000, 1, false};
    EXPECT_EQ(w.shift(0, 77), 0);
    EXPECT_EQ(w.shift(std::uint64_t{1} << 63, 77), 500);
    EXPECT_EQ(w.shift(UINT64_MAX, 77), 999);
    EXPECT_EQ(windows(1, 1000, 1, true).shift(123, 77), 77);
}

TEST(windows, of_a_calendar_are_usual_ones_beyond_it)
{
    const auto dates = std::make_shared<calendar>(calendar{{1000, 1080, 1200}});
    const windows w{5, 100, 1, true, dates};
    const terms t = in(w, 5);
    for (const auto& [taken, full] :
         {std::pair{50, 100},
          {999, 1000},
          {1000, 1080},
          {1100, 1200},
          {1200, 1300},
          {1350, 1400}}) {
        const bucket b = take(t, bucket{}, taken, 5).after;
        EXPECT_EQ(b.full_at(), full);
        EXPECT_FALSE(take(t, b, full - 1, 1).allowed);
        EXPECT_TRUE(take(t, b, full, 1).allowed);
    }
}

// Every jump of the wall clock, from every moment of a window: who used a window up is told when it
// may go on, that is true, and never more than two windows later.
TEST(windows, tell_the_truth_after_any_jump_of_the_wall_clock)
{
    const auto dates = std::make_shared<calendar>(calendar{{1000, 1100, 1180, 1300, 1400, 1500}});
    for (const windows& w : {windows{5, 100, 1, true}, windows{5, 100, 1, true, dates}}) {
        const terms t = in(w, 5);
        for (std::int64_t taken = 0; taken < 2000; taken += 17) {
            const bucket used_up = take(t, bucket{}, {taken, 0}, 5).after;
            for (std::int64_t jump = -5000; jump <= 5000; jump += 23) {
                const moment at{taken + 1, jump};
                const bucket b = rebased(t, used_up, at);
                const step said = take(t, b, at, 1);
                ASSERT_LE(said.retry_in, 2 * 120);
                if (said.allowed) {
                    continue;
                }
                for (const std::int64_t in : {said.retry_in / 2, said.retry_in - 1}) {
                    ASSERT_FALSE(
                        take(t, rebased(t, b, {at.now + in, jump}), {at.now + in, jump}, 1).allowed
                    ) << taken
                      << ' ' << jump << ' ' << in;
                }
                const moment then{at.now + said.retry_in, jump};
                ASSERT_TRUE(take(t, rebased(t, b, then), then, 1).allowed) << taken << ' ' << jump;
            }
        }
    }
}

TEST(windows, used_up_by_a_clock_that_had_not_been_set_are_usual_ones)
{
    // 1970; the calendar begins half a century later.
    const auto dates = std::make_shared<calendar>();
    for (std::int64_t at = 1'577'836'800; dates->begins.size() < 1000; at += 86'400) {
        dates->begins.push_back(at);
    }
    const windows w{5, 86'400, 1, true, dates};
    const terms t = in(w, 5);
    const bucket b = take(t, bucket{}, {1000, 0}, 5).after;
    EXPECT_EQ(b.full_at(), 86'400);
    const moment set{1001, 1'600'000'000};
    EXPECT_LE(take(t, rebased(t, b, set), set, 1).retry_in, 2 * 86'400);
}

TEST(windows, of_calendars_that_differ_somewhere_are_others)
{
    const auto winter = std::make_shared<calendar>(calendar{{100, 200, 300, 400}});
    const auto summer = std::make_shared<calendar>(calendar{{100, 200, 299, 400}});
    EXPECT_NE(windows(5, 100, 1, true, winter).id(), windows(5, 100, 1, true, summer).id());
    EXPECT_EQ(windows(5, 100, 1, true, winter).id(), windows(5, 100, 1, true, winter).id());
}

// Gateways of several versions read each other's buckets by these.
TEST(windows, have_known_ids)
{
    auto dates = std::make_shared<calendar>();
    dates->begins = {0, 10, 30};
    EXPECT_EQ((windows{5, 10'000'000, 1'000'000, false}.id()), 909'757);
    EXPECT_EQ((windows{5, 10'000'000, 1'000'000, true}.id()), 911'178);
    EXPECT_EQ((windows{5, 100, 1, true, dates}.id()), 3'535'095);
    EXPECT_EQ(windows::spread(3, 5, 1'000'000).id(), 370'292);
}

TEST(windows, impossible_ones_cannot_be_built)
{
    const window_options good{.count = 5, .length = seconds{1}, .capacity = 5};
    EXPECT_TRUE(limit::in_windows(good));
    for (const auto& [count, length, capacity] :
         std::vector<std::tuple<std::int64_t, base::duration, std::int64_t>>{
             {0, seconds{1}, 5},
             {5, seconds{0}, 5},
             {5, seconds{1}, 0},
             {5, std::chrono::microseconds{4}, 5},
             {windows::most_tokens + 1, hours{24}, 5},
             {5, seconds{1}, windows::most_tokens + 1},
             {1, hours{24 * 365}, 101}}) {
        EXPECT_FALSE(limit::in_windows({.count = count, .length = length, .capacity = capacity}));
    }
}

TEST(windows, the_largest_do_not_overflow)
{
    const windows w{windows::most_tokens, 1, 1, true};
    const terms t = in(w, windows::most_tokens);
    const std::int64_t now = base::duration{limit::max_refill}.count();
    const step all = take(t, bucket{}, now, windows::most_tokens);
    EXPECT_TRUE(all.allowed);
    EXPECT_EQ(take(t, all.after, now, 1).retry_in, 1);
    EXPECT_EQ(take(t, all.after, now, windows::most_tokens).retry_in, 1);
}

}  // namespace windows_test
}  // namespace gateway::limit
