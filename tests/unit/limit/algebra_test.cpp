#include "gateway/limit/algebra.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace gateway::limit {
namespace algebra_test {

constexpr std::int64_t most = base::duration{limit::max_refill}.count();

// A store of one bucket, doing what every store does.
struct one_bucket {
    bucket kept;

    step ask(const terms& t, std::int64_t now, std::int64_t cost)
    {
        kept = rebased(t, kept, now);
        const step s = take(t, kept, now, cost);
        if (s.allowed) {
            kept = s.after;
        }
        return s;
    }
};

std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high)
{
    return std::uniform_int_distribution<std::int64_t>{low, high}(random);
}

// Small numbers meet the edges often; huge ones find overflow.
terms random_terms(std::mt19937_64& random)
{
    if (random() % 4 != 0) {
        return {.interval = between(random, 1, 12), .burst = between(random, 1, 8)};
    }
    const std::int64_t interval = between(random, 1, most >> random() % 62);
    return {.interval = interval, .burst = between(random, 1, most / interval)};
}

TEST(bucket, a_fresh_one_gives_its_burst_and_then_one_token_per_interval)
{
    constexpr terms t{.interval = 10, .burst = 3};
    one_bucket b;
    for (std::int64_t left = 2; left >= 0; --left) {
        const step s = b.ask(t, 1000, 1);
        EXPECT_TRUE(s.allowed);
        EXPECT_EQ(s.remaining, left);
        EXPECT_EQ(s.full_in, (3 - left) * 10);
        EXPECT_EQ(s.retry_in, 0);
    }
    EXPECT_EQ(b.ask(t, 1000, 1).retry_in, 10);
    EXPECT_EQ(b.ask(t, 1009, 1).retry_in, 1);
    EXPECT_TRUE(b.ask(t, 1010, 1).allowed);
    EXPECT_FALSE(b.ask(t, 1010, 1).allowed);
}

TEST(bucket, a_rejection_takes_nothing)
{
    constexpr terms t{.interval = 10, .burst = 3};
    one_bucket b;
    b.ask(t, 1000, 2);
    const bucket before = b.kept;
    const step s = b.ask(t, 1000, 2);
    EXPECT_FALSE(s.allowed);
    EXPECT_EQ(s.remaining, 1);
    EXPECT_EQ(s.retry_in, 10);
    EXPECT_EQ(s.full_in, 20);
    EXPECT_EQ(b.kept, before);
    EXPECT_TRUE(b.ask(t, 1000, 1).allowed);
}

TEST(bucket, never_gives_more_than_burst_and_rate_in_any_window)
{
    std::mt19937_64 random{1};
    for (int round = 0; round < 3000; ++round) {
        const terms t{.interval = between(random, 1, 12), .burst = between(random, 1, 8)};
        one_bucket b;
        std::vector<std::pair<std::int64_t, std::int64_t>> given;  // when, how many tokens
        std::int64_t now = between(random, 0, 100);
        for (int i = 0; i < 60; ++i) {
            now += random() % 3 == 0 ? between(random, 0, 2 * t.capacity()) : between(random, 0, 3);
            const std::int64_t cost = between(random, 1, t.burst);
            if (b.ask(t, now, cost).allowed) {
                given.emplace_back(now, cost);
            }
        }
        for (std::size_t from = 0; from < given.size(); ++from) {
            std::int64_t tokens = 0;
            for (std::size_t to = from; to < given.size(); ++to) {
                tokens += given[to].second;
                const std::int64_t window = given[to].first - given[from].first;
                ASSERT_LE(tokens * t.interval, t.capacity() + window);
            }
        }
    }
}

TEST(bucket, a_patient_client_gets_every_token_it_is_owed)
{
    std::mt19937_64 random{2};
    for (int round = 0; round < 1000; ++round) {
        const terms t = random_terms(random);
        one_bucket b;
        std::int64_t now = between(random, 0, 1000);
        ASSERT_TRUE(b.ask(t, now, t.burst).allowed);
        for (int i = 0; i < 20 && now < most / 2 - t.interval; ++i) {
            now += t.interval;
            ASSERT_TRUE(b.ask(t, now, 1).allowed);
            ASSERT_FALSE(b.ask(t, now, 1).allowed);
        }
    }
}

TEST(bucket, retry_in_is_the_earliest_moment_to_the_tick)
{
    std::mt19937_64 random{3};
    int rejections = 0;
    for (int round = 0; round < 200000; ++round) {
        const terms t = random_terms(random);
        const terms before = random() % 4 == 0 ? random_terms(random) : t;
        one_bucket b;
        const std::int64_t start = between(random, 0, 1000);
        for (int i = 0; i < 3; ++i) {
            b.ask(before, start, between(random, 1, before.burst));
        }
        const std::int64_t now =
            start + between(random, 0, std::min<std::int64_t>(t.capacity(), 1000));
        const std::int64_t cost = between(random, 1, t.burst);
        const step s = b.ask(t, now, cost);
        if (s.allowed) {
            continue;
        }
        ++rejections;
        ASSERT_GE(s.retry_in, 1);
        ASSERT_LE(s.retry_in, s.full_in);
        ASSERT_FALSE(take(t, b.kept, now + s.retry_in - 1, cost).allowed);
        ASSERT_TRUE(take(t, b.kept, now + s.retry_in, cost).allowed);
    }
    EXPECT_GT(rejections, 10000);
}

TEST(bucket, remaining_is_exactly_what_can_still_be_taken)
{
    std::mt19937_64 random{4};
    for (int round = 0; round < 100000; ++round) {
        const terms t = random_terms(random);
        one_bucket b;
        std::int64_t now = between(random, 0, 1000);
        b.ask(t, now, between(random, 1, t.burst));
        now += between(random, 0, std::min<std::int64_t>(t.capacity(), 500));
        const step s = b.ask(t, now, between(random, 1, t.burst));
        ASSERT_GE(s.remaining, 0);
        ASSERT_LE(s.remaining, t.burst);
        if (s.remaining > 0) {
            ASSERT_TRUE(take(t, b.kept, now, s.remaining).allowed);
        }
        ASSERT_FALSE(take(t, b.kept, now, s.remaining + 1).allowed);
        ASSERT_EQ(take(t, b.kept, now + s.full_in, 1).remaining, t.burst - 1)
            << "full after full_in";
        if (s.full_in > 0) {
            ASSERT_FALSE(take(t, b.kept, now + s.full_in - 1, t.burst).allowed) << "and not before";
        }
    }
}

TEST(bucket, a_cost_above_the_burst_is_always_rejected)
{
    for (const terms t :
         {terms{1, 1}, terms{10, 3}, terms{most, 1}, terms{1, most}, terms{3, most / 3}}) {
        for (const std::int64_t cost :
             {t.burst + 1, 2 * t.burst, std::int64_t{9'000'000'000'000'000'000}}) {
            for (const std::int64_t now : {std::int64_t{0}, std::int64_t{1000}, most / 2, most}) {
                const step s = take(t, bucket{}, now, cost);
                EXPECT_FALSE(s.allowed);
                EXPECT_EQ(s.remaining, t.burst);
                EXPECT_EQ(s.retry_in, 0);
            }
        }
    }
}

TEST(bucket, idleness_never_fills_it_above_its_burst)
{
    constexpr terms t{.interval = 10, .burst = 3};
    for (const std::int64_t idle :
         {std::int64_t{30}, std::int64_t{31}, std::int64_t{1} << 40, most}) {
        one_bucket b;
        b.ask(t, 0, 3);
        EXPECT_EQ(b.ask(t, idle, 1).remaining, 2);
        EXPECT_EQ(b.ask(t, idle, 2).remaining, 0);
        EXPECT_FALSE(b.ask(t, idle, 1).allowed);
    }
}

TEST(bucket, a_clock_that_steps_back_gives_nothing)
{
    constexpr terms t{.interval = 10, .burst = 3};
    one_bucket b;
    b.ask(t, 1000, 3);
    const step s = b.ask(t, 400, 1);
    EXPECT_FALSE(s.allowed);
    EXPECT_EQ(s.remaining, 0);
    EXPECT_EQ(400 + s.retry_in, 1010);
}

TEST(bucket, the_largest_limits_do_not_overflow)
{
    for (const terms t : {terms{most, 1}, terms{1, most}, terms{most / 7, 7}}) {
        one_bucket b;
        const std::int64_t now = most;  // a century after the clock's zero
        EXPECT_EQ(b.ask(t, now, t.burst).full_in, t.capacity());
        const step s = b.ask(t, now, t.burst);
        EXPECT_FALSE(s.allowed);
        EXPECT_EQ(s.retry_in, t.capacity());
        EXPECT_EQ(s.remaining, 0);
        b.kept = refunded(t, b.kept, now, {.tokens = t.burst});
        EXPECT_TRUE(b.ask(t, now, t.burst).allowed);
    }
}

TEST(refund, at_once_is_as_if_nothing_had_been_taken)
{
    std::mt19937_64 random{6};
    for (int round = 0; round < 50000; ++round) {
        const terms t = random_terms(random);
        const std::int64_t now = between(random, 0, 1000);
        one_bucket charged;
        charged.ask(t, now, between(random, 1, t.burst));
        const bucket before = charged.kept;
        const std::int64_t then =
            now + between(random, 0, std::min<std::int64_t>(t.capacity(), 1000));
        const std::int64_t cost = between(random, 1, t.burst);
        if (!charged.ask(t, then, cost).allowed) {
            continue;
        }
        charged.kept = refunded(t, charged.kept, then, {.tokens = cost});
        for (const std::int64_t probe : {std::int64_t{1}, t.burst, between(random, 1, t.burst)}) {
            const step with = take(t, charged.kept, then, probe);
            const step without = take(t, before, then, probe);
            ASSERT_EQ(with.allowed, without.allowed);
            ASSERT_EQ(with.after.full_at(), without.after.full_at());
        }
    }
}

// A charge is held for a while, as when another store is asked, while others take tokens too.
TEST(refund, after_a_while_never_leaves_more_than_without_the_charge)
{
    std::mt19937_64 random{7};
    int refunds = 0;
    for (int round = 0; round < 100000; ++round) {
        const terms t{.interval = between(random, 1, 12), .burst = between(random, 1, 8)};
        one_bucket with;
        one_bucket without;
        std::int64_t now = between(random, 0, 100);
        with.ask(t, now, between(random, 1, t.burst));
        without = with;
        now += between(random, 0, t.capacity());
        const std::int64_t taken_at = now;
        const std::int64_t cost = between(random, 1, t.burst);
        if (!with.ask(t, now, cost).allowed) {
            continue;
        }
        for (int others = static_cast<int>(random() % 4); others > 0; --others) {
            now += between(random, 0, t.interval);
            const std::int64_t theirs = between(random, 1, t.burst);
            if (with.ask(t, now, theirs).allowed) {
                ASSERT_TRUE(without.ask(t, now, theirs).allowed);
            }
        }
        now += between(random, 0, t.interval);
        const std::int64_t held = with.kept.full_at();
        with.kept = refunded(t, with.kept, now, {.tokens = cost, .held = now - taken_at});
        ASSERT_LE(with.kept.full_at(), held) << "a refund never takes";
        ASSERT_GE(std::max(with.kept.full_at(), now), std::max(without.kept.full_at(), now));
        ++refunds;
    }
    EXPECT_GT(refunds, 10000);
}

TEST(rebased, keeps_the_owed_tokens_and_pays_them_back_at_the_new_rate)
{
    constexpr terms slow{.interval = 100, .burst = 10};
    constexpr terms fast{.interval = 10, .burst = 10};
    one_bucket b;
    b.ask(slow, 1000, 10);
    EXPECT_EQ(rebased(fast, b.kept, 1000), (bucket{fast, 1100}));
    EXPECT_EQ(b.ask(fast, 1000, 1).retry_in, 10);
    EXPECT_FALSE(b.ask(fast, 1009, 1).allowed);
    EXPECT_TRUE(b.ask(fast, 1010, 1).allowed);
    EXPECT_EQ(b.ask(slow, 1010, 1).retry_in, 100);
}

// The reason why a store keeps the rebased bucket of a rejected client.
TEST(rebased, a_client_that_keeps_being_rejected_follows_the_new_rate)
{
    constexpr terms day{.interval = 86'400, .burst = 1};
    constexpr terms second{.interval = 10, .burst = 1};
    one_bucket b;
    b.ask(day, 0, 1);
    for (std::int64_t now = 0; now < 10; ++now) {
        EXPECT_EQ(b.ask(second, now, 1).retry_in, 10 - now);
    }
    EXPECT_TRUE(b.ask(second, 10, 1).allowed);

    b = {};
    b.ask(second, 0, 1);
    EXPECT_FALSE(b.ask(day, 0, 1).allowed);
    EXPECT_FALSE(b.ask(day, 86'399, 1).allowed) << "debt paid at the rate that no longer is";
}

TEST(rebased, never_forgives_a_debt_and_adds_less_than_a_tick)
{
    std::mt19937_64 random{8};
    for (int round = 0; round < 200000; ++round) {
        const terms old = random_terms(random);
        const terms fresh = random_terms(random);
        const std::int64_t now = between(random, 0, most);
        const std::int64_t owed = between(random, 0, old.capacity());
        const bucket b{old, now + owed};
        const bucket after = rebased(fresh, b, now);
        ASSERT_TRUE(after.follows(fresh));
        const __int128 exact =
            static_cast<__int128>(owed) * fresh.interval;  // in ticks / old.interval
        const __int128 got = static_cast<__int128>(after.full_at() - now) * old.interval;
        if (after.full_at() - now < most) {
            ASSERT_GE(got, exact);
            ASSERT_LT(got, exact + old.interval);
        } else {
            ASSERT_GE(after.full_at() - now, fresh.capacity())
                << "bounded, and still an empty bucket";
        }
        take(fresh, after, now, between(random, 1, fresh.burst));  // must not overflow
        refunded(fresh, after, now, {.tokens = between(random, 1, fresh.burst)});
        ASSERT_EQ(rebased(fresh, after, now), after);
    }
}

TEST(rebased, a_changed_burst_leaves_the_debt_alone)
{
    constexpr terms wide{.interval = 10, .burst = 20};
    constexpr terms narrow{.interval = 10, .burst = 5};
    one_bucket b;
    b.ask(wide, 0, 20);
    const step s = b.ask(narrow, 0, 1);
    EXPECT_FALSE(s.allowed);
    EXPECT_EQ(s.remaining, 0);
    EXPECT_EQ(s.retry_in, 160);
    EXPECT_EQ(s.full_in, 200);
    EXPECT_EQ(b.ask(wide, 150, 1).remaining, 14);
}

TEST(rebased, a_full_or_fresh_bucket_just_takes_the_new_interval)
{
    constexpr terms t{.interval = 10, .burst = 3};
    EXPECT_EQ(rebased(t, bucket{}, 500), (bucket{t, 0}));
    EXPECT_EQ(rebased(t, bucket{terms{.interval = 7, .burst = 3}, 500}, 500), (bucket{t, 500}));
}

}  // namespace algebra_test
}  // namespace gateway::limit
