// Sliding limits against a model that keeps every token by itself.
#include "gateway/limit/algebra.hpp"
#include "gateway/limit/limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gateway::limit {
namespace history_test {

using std::chrono::seconds;

// When each token was taken, and what was asked of it.
class every_token {
public:
    explicit every_token(const terms& t) : terms_(t) {}

    // In the window before `now`, and so much longer.
    std::int64_t taken_before(std::int64_t now, std::int64_t longer = 0) const
    {
        return std::count_if(taken_.begin(), taken_.end(), [&](std::int64_t at) {
            return at > now - terms_.length - longer && at <= now;
        });
    }

    void take(std::int64_t at, std::int64_t tokens)
    {
        taken_.insert(taken_.end(), static_cast<std::size_t>(tokens), at);
    }

private:
    terms terms_;
    std::vector<std::int64_t> taken_;
};

step take_from(const terms& t, const bucket& b, moment at, std::int64_t cost)
{
    return take(t, b, at, cost);
}

// What a store does: forget, decide, keep.
class kept {
public:
    explicit kept(const limit& l) : terms_(l.in_nanoseconds()) {}

    step take(std::int64_t now, std::int64_t cost)
    {
        const step s = would_take(now, cost);
        if (s.allowed) {
            past.take(counted_at(terms_, now, 0), cost);
        }
        return s;
    }

    step would_take(std::int64_t now, std::int64_t cost)
    {
        past.forget(now - terms_.length);
        return take_from(terms_, bucket::sliding(past.used(), INT64_MAX), {now, past}, cost);
    }

    history past;

private:
    terms terms_;
};

class sliding : public ::testing::TestWithParam<std::int64_t> {
protected:
    const limit seven = *limit::sliding(7, seconds{1}, GetParam());
    const terms t = seven.in_nanoseconds();
    std::mt19937_64 random{11};

    std::int64_t below(std::int64_t n)
    {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    }
};

TEST_P(sliding, never_has_more_than_the_count_in_any_window_and_no_less_than_it_must)
{
    kept store{seven};
    every_token model{t};
    std::int64_t now = 5'000'000'000;
    for (int i = 0; i < 20'000; ++i) {
        now += below(200'000'000);
        const std::int64_t cost = below(4);
        const step s = store.take(now, cost);
        if (s.allowed) {
            ASSERT_LE(model.taken_before(now) + cost, 7);
            model.take(now, cost);
        } else {
            ASSERT_GT(model.taken_before(now, t.part - 1) + cost, 7) << "at most a part late";
        }
    }
}

TEST_P(sliding, says_exactly_when_the_same_request_passes)
{
    kept store{seven};
    std::int64_t now = 5'000'000'000;
    for (int i = 0; i < 5'000; ++i) {
        now += below(200'000'000);
        const std::int64_t cost = 1 + below(3);
        const step s = store.take(now, cost);
        if (!s.allowed) {
            kept same = store;
            ASSERT_FALSE(same.would_take(now + s.retry_in - 1, cost).allowed);
            ASSERT_TRUE(same.would_take(now + s.retry_in, cost).allowed);
        }
        kept same = store;
        ASSERT_EQ(same.would_take(now + s.full_in, 0).remaining, 7);
    }
}

TEST_P(sliding, gives_back_what_was_taken)
{
    kept store{seven};
    std::int64_t now = 5'000'000'000;
    store.take(now, 3);
    store.take(now + 100, 2);
    store.past.refund(now + 1, 2);
    EXPECT_EQ(store.would_take(now + 200, 0).remaining, 4);
    store.past.refund(now + 101 + t.part, 9);
    EXPECT_EQ(store.would_take(now + 200, 0).remaining, 4) << "nothing was taken so late";
    store.past.refund(INT64_MIN, INT64_MAX);
    EXPECT_EQ(store.would_take(now + 200, 0).remaining, 7);
}

TEST_P(sliding, forgets_what_has_come_back)
{
    kept store{seven};
    std::int64_t now = 5'000'000'000;
    for (int i = 0; i < 1'000; ++i, now += 150'000'000) {
        store.take(now, 1);
        ASSERT_LE(store.past.size(), 8U);
    }
    store.would_take(now + 3'000'000'000, 0);
    EXPECT_EQ(store.past.size(), 0U);
    EXPECT_EQ(store.past.used(), 0);
}

INSTANTIATE_TEST_SUITE_P(parts, sliding, ::testing::Values(0, 2, 16, 64));

TEST(sliding_limit, refuses_what_cannot_be)
{
    EXPECT_FALSE(limit::sliding(0, seconds{1}, 0));
    EXPECT_FALSE(limit::sliding(1, seconds{0}, 0));
    EXPECT_FALSE(limit::sliding(1, std::chrono::microseconds{15}, 16));
    EXPECT_FALSE(limit::sliding(1, limit::max_refill + seconds{1}, 0));
    EXPECT_FALSE(limit::in_flight(0, seconds{10}));
    EXPECT_FALSE(limit::in_flight(1, std::chrono::milliseconds{999}));
}

TEST(places, come_back_when_they_are_given_back)
{
    const terms t = limit::in_flight(2, seconds{10})->in_microseconds();
    bucket b;
    for (int i = 0; i < 2; ++i) {
        const step s = take(t, b, 5, 1);
        ASSERT_TRUE(s.allowed);
        b = s.after;
    }
    EXPECT_FALSE(take(t, b, INT64_MAX / 2, 1).allowed) << "whatever time passes";
    EXPECT_EQ(take(t, b, 5, 1).retry_in, 1'000'000);
    b = refunded(t, b, 9, {.tokens = 1, .held = 4});
    EXPECT_TRUE(take(t, b, 9, 1).allowed);
    b = refunded(t, refunded(t, b, 9, {}), 9, {});
    EXPECT_TRUE(b.is_full(9));
}

}  // namespace history_test
}  // namespace gateway::limit
