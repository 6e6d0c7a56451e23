#include "gateway/limit/correction.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::limit {
namespace correction_test {

using kind = correction::kind;

std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high)
{
    return std::uniform_int_distribution<std::int64_t>{low, high}(random);
}

// Token buckets or windows, small enough to meet the edges often.
struct supplies {
    std::vector<windows> in_windows;
    std::vector<terms> all;

    supplies()
    {
        for (const std::int64_t count : {1, 3, 7}) {
            in_windows.emplace_back(count, 20, 1, true);
        }
        for (const windows& w : in_windows) {
            all.push_back(
                {.interval = 1, .burst = 9, .issued_in = &w, .how = supply_kind::fixed_window}
            );
        }
        for (const std::int64_t interval : {1, 4, 11}) {
            all.push_back({.interval = interval, .burst = 9});
        }
    }
};

constexpr base::duration tick{1};

bool ask(const terms& t, bucket& b, moment at, std::int64_t cost)
{
    b = rebased(t, b, at);
    const step s = take(t, b, at, cost);
    b = s.allowed ? s.after : b;
    return s.allowed;
}

// With a charge that is given back later, nobody ever gets more than without it.
TEST(correction, what_is_given_back_is_at_most_what_was_taken)
{
    const supplies s;
    std::mt19937_64 random{1};
    int whole = 0;
    for (int round = 0; round < 200'000; ++round) {
        const terms& t = s.all[random() % s.all.size()];
        moment at{between(random, 100, 200)};
        bucket with;
        ask(t, with, at, between(random, 1, 9));
        at.now += between(random, 0, 30);
        bucket without = rebased(t, with, at);
        with = without;
        const std::int64_t cost = between(random, 1, 5);
        const step charged = take(t, with, at, cost);
        if (!charged.allowed) {
            continue;
        }
        with = charged.after;
        const std::int64_t taken_at = at.now;
        const auto before = owed_before(t, decision_in<base::duration>(charged), cost, tick);
        for (std::size_t others = random() % 5; others > 0; --others) {
            at.now += between(random, 0, 12);
            const std::int64_t theirs = between(random, 1, 3);
            if (ask(t, with, at, theirs)) {
                ASSERT_TRUE(ask(t, without, at, theirs));
            }
        }
        at.now += between(random, 0, 12);
        with = rebased(t, with, at);
        without = rebased(t, without, at);
        const std::int64_t had = look(t, with, at).remaining;
        const correction back{
            .of = {.tokens = cost, .held = at.now - taken_at, .owed_before = before}};
        const std::int64_t has = look(t, corrected(t, with, at, back), at).remaining;
        ASSERT_GE(has, had) << "giving back never takes";
        ASSERT_LE(has, look(t, without, at).remaining);
        whole += has == look(t, without, at).remaining ? 1 : 0;
    }
    EXPECT_GT(whole, 100'000) << "and mostly it is as if nothing had been taken";
}

// Guesses of a busy bucket that are given back late leave nothing behind.
TEST(correction, what_a_busy_bucket_is_given_back_late_is_all_of_it)
{
    constexpr terms t{.interval = 100, .burst = 50};
    bucket b;
    ASSERT_TRUE(ask(t, b, 1000, 20));
    for (std::int64_t now = 1000; now < 1500; now += 10) {
        const step s = take(t, rebased(t, b, now), now, 1);
        ASSERT_TRUE(s.allowed);
        const auto before = owed_before(t, decision_in<base::duration>(s), 1, tick);
        const correction back{.of = {.held = 40, .owed_before = before}};
        b = corrected(t, s.after, now + 40, back);
    }
    EXPECT_EQ(look(t, b, 1500).remaining, 50 - 15) << "as without them";
}

// Of requests that wait some leave, and some are given back after they have gone on. Those that
// count go on at moments at which a bucket would have let each pass, had there been no others.
TEST(correction, who_leaves_a_line_has_no_place_to_give_that_another_was_told)
{
    struct waiter {
        std::int64_t goes_on;
        std::int64_t cost;
        std::int64_t owed_before;
    };

    const supplies s;
    std::mt19937_64 random{3};
    int came_back = 0;
    int stayed = 0;
    for (int round = 0; round < 3'000; ++round) {
        const terms& t = s.all[random() % s.all.size()];
        bucket b;
        moment at{100};
        std::vector<waiter> all;
        for (int i = 0; i < 40; ++i) {
            at.now += between(random, 0, 12);
            b = rebased(t, b, at);
            if (!all.empty() && random() % 3 == 0) {
                const auto left = all.begin() + between(random, 0, std::ssize(all) - 1);
                const bucket before = b;
                b = corrected(
                    t,
                    b,
                    at,
                    {.of =
                         {.tokens = left->cost,
                          .held = at.now - left->goes_on,
                          .owed_before = left->owed_before},
                     .in_line = true}
                );
                (b.full_at() < before.full_at() ? came_back : stayed) += 1;
                all.erase(left);
            }
            const std::int64_t cost = between(random, 1, 9);
            const step said = take(t, b, at, cost, {.ticks = 400, .tokens = 50});
            if (said.allowed) {
                b = said.after;
                all.push_back(
                    {at.now + said.retry_in,
                     cost,
                     owed_before(t, decision_in<base::duration>(said), cost, tick)}
                );
            }
        }
        std::stable_sort(all.begin(), all.end(), [](const waiter& x, const waiter& y) {
            return x.goes_on < y.goes_on;
        });
        bucket alone;
        for (const waiter& w : all) {
            ASSERT_TRUE(ask(t, alone, moment{w.goes_on}, w.cost)) << round;
        }
    }
    EXPECT_GT(came_back, 1'000);
    EXPECT_GT(stayed, 1'000);
}

TEST(correction, a_charge_may_make_debts_and_a_reset_ends_them)
{
    const supplies s;
    for (const terms& t : s.all) {
        bucket b = take(t, bucket{}, 100, 2).after;
        b = corrected(t, b, 100, {.what = kind::charge, .of = {.tokens = 30}});
        EXPECT_EQ(look(t, b, 100).remaining, 0);
        const step refused = take(t, b, 100, 1);
        EXPECT_FALSE(refused.allowed);
        EXPECT_FALSE(take(t, b, 100 + refused.retry_in - 1, 1).allowed);
        EXPECT_TRUE(take(t, b, 100 + refused.retry_in, 1).allowed);
        const step free = take(t, b, 100, 0);
        EXPECT_FALSE(free.allowed) << "in debt nothing passes";
        b = corrected(t, b, 100, {.what = kind::reset});
        EXPECT_EQ(look(t, b, 100).remaining, 9);
    }
}

TEST(correction, a_charge_that_may_make_no_debt_empties_the_bucket_at_most)
{
    const supplies s;
    for (const terms& t : s.all) {
        for (std::int64_t taken = 0; taken <= 9; ++taken) {
            for (std::int64_t tokens = 1; tokens <= 12; ++tokens) {
                const correction more{
                    .what = kind::charge, .of = {.tokens = tokens}, .into_debt = false};
                const bucket b = corrected(t, take(t, bucket{}, 100, taken).after, 100, more);
                const step said = take(t, b, 100, 0);
                EXPECT_TRUE(said.allowed) << "no debt";
                EXPECT_EQ(said.remaining, std::max<std::int64_t>(9 - taken - tokens, 0));
            }
        }
        const bucket in_debt = corrected(
            t, take(t, bucket{}, 100, 2).after, 100, {.what = kind::charge, .of = {.tokens = 30}}
        );
        EXPECT_EQ(
            corrected(
                t, in_debt, 100, {.what = kind::charge, .of = {.tokens = 1}, .into_debt = false}
            ),
            in_debt
        );
    }
}

TEST(correction, of_a_bucket_at_an_older_rate_holds_what_a_century_brings)
{
    // A token a day; by now the limit holds more tokens than come in a hundred years at that rate.
    const std::int64_t day = base::duration{std::chrono::hours{24}}.count();
    const terms old{.interval = day, .burst = 3};
    const terms now{.interval = 1, .burst = 1'000'000};
    const bucket b = take(old, bucket{}, 100, 2).after;
    const auto own = terms_to_correct_in(now, b, 100, kind::charge);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->interval, day);
    EXPECT_EQ(own->burst, 36'500);
    const bucket more = corrected(
        *own, b, 100, {.what = kind::charge, .of = {.tokens = 40'000}, .into_debt = false}
    );
    EXPECT_EQ(more.full_at(), 100 + 36'500 * day);
}

TEST(correction, of_any_size_does_not_overflow)
{
    const supplies s;
    for (const terms& t : s.all) {
        for (const std::int64_t tokens : {std::int64_t{1}, windows::most_tokens}) {
            for (const std::int64_t held : {std::int64_t{0}, std::int64_t{1} << 60}) {
                bucket b = take(t, bucket{}, 100, 9).after;
                for (int i = 0; i < 3; ++i) {
                    b = corrected(t, b, 100, {.what = kind::charge, .of = {.tokens = tokens}});
                    EXPECT_GE(b.full_at(), 100);
                }
                const correction back{
                    .of = {.tokens = tokens, .held = held, .owed_before = held / 2}};
                EXPECT_LE(look(t, corrected(t, b, 100, back), 100).remaining, 9);
            }
        }
    }
}

}  // namespace correction_test
}  // namespace gateway::limit
