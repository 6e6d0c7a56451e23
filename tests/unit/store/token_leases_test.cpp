#include "gateway/store/remote/token_leases.hpp"

#include "gateway/store/remote/call.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <string>
#include <vector>

namespace gateway::store {
namespace token_leases_test {

using namespace std::chrono_literals;

// The store is played by the test: what is asked of it is on the wire.
class leases : public ::testing::Test, private lease_port {
protected:
    // Ten tokens come back in a second's hundredth; a bucket is empty for ten seconds.
    const limit::limit fast = *limit::limit::make(1000, 1s, 10'000);
    const limit::token_lease tenth{.percent = 10, .time = 1s};
    std::deque<pending_question> wire;
    lease_port& port = *this;
    last_answer last;
    token_leases of{port, last};
    base::instant now{1h};
    base::instant wake = base::instant::max();
    bool refuses = false;
    // What the store's bucket owes, as time.
    base::duration debt = 5s;
    // Of its last grant.
    std::int64_t mark = 0;
    answer decided;

    charge one(std::string_view name = "hot", std::int64_t cost = 1) const
    {
        return {
            .limit_name = "l",
            .bucket_name = base::hashed_name{name},
            .limit = &fast,
            .cost = cost,
            .lease = &tenth};
    }

    bool spend(const charge& c, belief counts = belief::fresh)
    {
        return of.spend({&c, 1}, now, counts, decided);
    }

    void hear(std::int64_t of_grant)
    {
        if (last.heard(of_grant, now)) {
            of.forget();
        }
    }

    // Requests that the store is asked for, and has admitted at once.
    void ask_store(const charge& c, int times = 1)
    {
        for (int i = 0; i < times; ++i) {
            of.asked({&c, 1}, now);
            hear(mark);
            answer a;
            debt += 1ms;
            a.add({.allowed = true, .remaining = left(), .reset_after = debt});
            of.answered({&c, 1}, a, now, now);
        }
    }

    std::int64_t left() const { return 10'000 - debt / 1ms; }

    // To the oldest question on the wire.
    void reply(bool admitted = true)
    {
        ASSERT_FALSE(wire.empty());
        question* const q = wire.front().release();
        const charge& c = wire.front().charges[0];
        if (admitted && c.correction == nullptr) {
            debt += c.cost * 1ms;
        }
        answer a;
        a.admitted = admitted;
        a.add({.allowed = admitted, .remaining = left(), .reset_after = debt});
        wire.pop_front();
        if (q != nullptr) {
            q->answered(a);
        }
    }

    // Nobody hears of what was asked.
    void lose_all()
    {
        for (pending_question& p : wire) {
            p.release();
        }
        wire.clear();
    }

    void pass(base::duration time)
    {
        now += time;
        debt = std::max<base::duration>(debt - time, 0s);
        if (wake <= now) {
            wake = of.passed(now);
        }
    }

    // A lease of so many tokens of that bucket, one of which has not been spent.
    void lease(const charge& c, int tokens)
    {
        ask_store(c, tokens);
        while (wire.size() > 1) {
            reply();
        }
        reply();
    }

    std::int64_t asked_for() const { return wire.back().charges[0].cost; }

private:
    std::optional<failure> ask_for_lease(
        std::span<const charge> charges, question& q, base::instant at
    ) override
    {
        if (refuses) {
            return failure::overload;
        }
        wire.emplace_back().hold(q, charges, at, at);
        return std::nullopt;
    }

    void wake_for_lease(base::instant at) override { wake = std::min(wake, at); }
};

TEST_F(leases, are_of_what_is_asked_much)
{
    ask_store(one(), 3);
    EXPECT_TRUE(wire.empty());
    ask_store(one());
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_EQ(asked_for(), 4);
    EXPECT_FALSE(spend(one())) << "not there yet";
    ask_store(one(), 20);
    EXPECT_EQ(wire.size(), 1U) << "one at a time";
    reply();
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(spend(one())) << i;
        EXPECT_TRUE(decided.admitted);
    }
    EXPECT_FALSE(spend(one()));
}

TEST_F(leases, are_of_nothing_that_is_asked_now_and_then)
{
    for (int i = 0; i < 100; ++i) {
        ask_store(one());
        pass(15ms);
    }
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases, tell_what_the_store_said_and_what_is_left_of_them)
{
    lease(one(), 4);
    ASSERT_TRUE(spend(one()));
    EXPECT_EQ(decided.decisions()[0].remaining, left() + 3);
    EXPECT_EQ(decided.decisions()[0].reset_after, debt - 3ms);
    charge corrected = one();
    corrected.may_be_corrected = true;
    ASSERT_TRUE(spend(corrected));
    EXPECT_EQ(decided.decisions()[0].reset_after, debt - 2ms) << "when this token is paid back";
}

TEST_F(leases, follow_each_other_when_half_is_spent)
{
    ask_store(one(), 40);
    reply();  // of a lease that was asked for when only four had come
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(wire.empty());
        ASSERT_TRUE(spend(one()));
    }
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_EQ(asked_for(), 42);
    reply();
    for (int i = 0; i < 2 + 42; ++i) {
        ASSERT_TRUE(spend(one())) << i;
    }
}

TEST_F(leases, are_no_more_than_the_share_the_rate_and_a_quarter_of_the_rest)
{
    debt = 0s;
    const charge c = one("hot", 600);
    ask_store(c, 3);
    ASSERT_TRUE(wire.empty()) << "a tenth is less than two such requests";
    const charge some = one("hot", 100);
    ask_store(some, 20);
    EXPECT_EQ(asked_for(), 1000);
    reply(false);
    lose_all();
    debt = 9s;
    ask_store(some);
    EXPECT_EQ(asked_for(), (left()) / 4);
}

TEST_F(leases, serve_all_charges_or_none)
{
    lease(one("a"), 4);
    lease(one("b"), 4);
    std::vector<charge> both{one("a", 4), one("b", 4)};
    EXPECT_TRUE(of.cover(both, now, belief::fresh));
    both[1].cost = 5;
    EXPECT_FALSE(of.spend(both, now, belief::fresh, decided));
    both[1].cost = 4;
    both[1].lease = nullptr;
    EXPECT_FALSE(of.spend(both, now, belief::fresh, decided));
    const std::vector<charge> twice{one("a"), one("a")};
    EXPECT_FALSE(of.spend(twice, now, belief::fresh, decided)) << "left to the store";
    both[1].lease = &tenth;
    ASSERT_TRUE(of.spend(both, now, belief::fresh, decided));
    EXPECT_EQ(decided.decisions().size(), 2U);
    EXPECT_FALSE(spend(one("a")));
    EXPECT_FALSE(spend(one("b")));
    EXPECT_FALSE(spend(one("c")));
}

TEST_F(leases, leave_what_costs_nothing_to_the_store)
{
    lease(one(), 4);
    EXPECT_FALSE(spend(one("hot", 0)));
}

TEST_F(leases, count_only_while_the_store_is_heard)
{
    lease(one(), 4);
    pass(100ms);
    EXPECT_TRUE(spend(one()));
    pass(1ms);
    EXPECT_FALSE(spend(one()));
    EXPECT_TRUE(spend(one(), belief::all)) << "it cannot be asked";
    hear(0);
    EXPECT_TRUE(spend(one()));
}

// Where no answer tells of grants, as in a cluster, the answer of the store does.
TEST_F(leases, are_over_when_the_bucket_is_banned)
{
    const charge c = one();
    answer banned;
    banned.admitted = false;
    banned.add({.banned = true, .remaining = left(), .retry_after = 1h, .reset_after = debt});
    lease(c, 4);
    of.answered({&c, 1}, banned, now, now);
    EXPECT_FALSE(spend(c));
    const charge other = one("other");
    ask_store(other, 40);
    reply();
    ASSERT_TRUE(spend(other) && spend(other));
    ASSERT_EQ(wire.size(), 1U) << "half is spent, so more is asked for";
    question* const q = wire.front().release();
    wire.pop_front();
    q->answered(banned);
    EXPECT_FALSE(spend(other));
}

TEST_F(leases, are_over_after_their_time)
{
    lease(one(), 4);
    pass(999ms);
    hear(0);
    EXPECT_TRUE(spend(one()));
    lose_all();
    pass(1ms);
    hear(0);
    EXPECT_FALSE(spend(one()));
    EXPECT_FALSE(spend(one(), belief::all));
}

TEST_F(leases, are_over_when_the_bucket_has_been_paid_back)
{
    debt = 0s;
    lease(one(), 4);  // it owes 8 ms
    const auto owed = debt;
    pass(owed - 3ms);
    EXPECT_TRUE(of.cover(std::vector{one("hot", 3)}, now, belief::fresh));
    EXPECT_FALSE(of.cover(std::vector{one("hot", 4)}, now, belief::fresh));
    pass(3ms);
    EXPECT_FALSE(spend(one()));
}

TEST_F(leases, are_shorter_where_others_have_given_tokens_back)
{
    lease(one(), 4);
    debt = 2ms;
    const charge other = one("hot", 5);
    ask_store(other);
    EXPECT_TRUE(of.cover(std::vector{one("hot", 3)}, now, belief::fresh));
    EXPECT_FALSE(of.cover(std::vector{one("hot", 4)}, now, belief::fresh));
}

TEST_F(leases, give_back_what_is_left_once)
{
    lease(one(), 4);
    ASSERT_TRUE(spend(one()));
    const auto owed_before = debt - 3ms;
    pass(1s);
    ASSERT_EQ(wire.size(), 1U);
    const charge c = wire.front().charges[0];
    ASSERT_NE(c.correction, nullptr);
    EXPECT_EQ(c.bucket_name.bytes(), "hot");
    EXPECT_EQ(c.limit_name, "l");
    EXPECT_EQ(c.receipt.size(), 32U);
    EXPECT_EQ(c.correction->what, limit::correction::kind::refund);
    EXPECT_EQ(c.correction->of.tokens, 3);
    EXPECT_EQ(c.correction->of.held, 1'000'000);
    EXPECT_EQ(c.correction->of.owed_before, owed_before / 1us);
    reply();
    pass(10s);
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases, of_a_bucket_that_responses_correct_need_its_own_word)
{
    lease(one(), 4);
    charge corrected = one();
    corrected.may_be_corrected = true;
    pass(101ms);
    hear(mark);
    EXPECT_FALSE(spend(corrected));
    EXPECT_TRUE(spend(one()));
}

TEST_F(leases, are_given_back_with_the_mark_that_they_were_taken_under)
{
    mark = 7;
    lease(one(), 4);
    pass(1s);
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_EQ(wire.front().charges[0].correction->grant_epoch, 7);
}

TEST_F(leases, that_the_store_does_not_take_back_are_lost)
{
    lease(one(), 4);
    refuses = true;
    pass(1s);
    refuses = false;
    pass(10s);
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases, give_nothing_back_to_a_bucket_that_is_soon_full)
{
    debt = 1s;
    lease(one(), 4);
    pass(1s);
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases, are_void_when_somebody_gave_tokens)
{
    lease(one(), 4);
    hear(7);
    EXPECT_FALSE(spend(one()));
    EXPECT_FALSE(spend(one(), belief::all));
    pass(2s);
    EXPECT_TRUE(wire.empty()) << "the bucket owes nobody";
}

TEST_F(leases, of_a_limit_that_was_changed_are_not_spent)
{
    lease(one(), 4);
    const limit::limit slower = *limit::limit::make(500, 1s, 10'000);
    charge changed = one();
    changed.limit = &slower;
    EXPECT_FALSE(spend(changed));
    ask_store(changed);
    EXPECT_FALSE(spend(one()));
}

TEST_F(leases, rest_when_nobody_knows_whether_there_is_one)
{
    ask_store(one(), 4);
    wire.front().release()->failed(failure::timeout, taken::perhaps);
    lose_all();
    ask_store(one(), 40);
    (void)of.passed(now);
    pass(999ms);
    ask_store(one(), 40);
    EXPECT_TRUE(wire.empty());
    pass(1ms);
    ask_store(one());
    EXPECT_EQ(wire.size(), 1U);
}

TEST_F(leases, are_not_more_than_there_is_room_for)
{
    for (std::size_t i = 0; i < token_leases::max_buckets + 10; ++i) {
        ask_store(one(std::to_string(i)), 8);
    }
    EXPECT_LE(wire.size(), token_leases::max_buckets);
    EXPECT_GT(wire.size(), token_leases::max_buckets / 2);
    while (!wire.empty()) {
        reply();
    }
    pass(10s);
    while (!wire.empty()) {
        reply();
    }
    ask_store(one("another"), 8);
    EXPECT_EQ(wire.size(), 1U);
}

TEST_F(leases, all_end_with_their_worker)
{
    lease(one("a"), 4);
    ask_store(one("b"), 4);
    EXPECT_FALSE(of.end(now));
    EXPECT_FALSE(spend(one("a")));
    ASSERT_EQ(wire.size(), 2U);
    reply();
    EXPECT_FALSE(of.end(now)) << "the second was still to come";
    ASSERT_EQ(wire.size(), 2U);
    std::set<std::string_view> receipts;
    for (const pending_question& p : wire) {
        ASSERT_NE(p.charges[0].correction, nullptr);
        receipts.insert(p.charges[0].receipt);
    }
    EXPECT_EQ(receipts.size(), 2U);
    reply();
    reply();
    EXPECT_TRUE(of.end(now));
    ask_store(one("c"), 40);
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases, may_go_before_their_questions)
{
    {
        token_leases short_lived{port, last};
        const charge c = one();
        for (int i = 0; i < 4; ++i) {
            short_lived.asked({&c, 1}, now);
        }
        answer a;
        a.add({.allowed = true, .remaining = 5000, .reset_after = 5s});
        short_lived.answered({&c, 1}, a, now, now);
        ASSERT_EQ(wire.size(), 1U);
    }
    EXPECT_EQ(wire.front().asker, nullptr);
}

}  // namespace token_leases_test
}  // namespace gateway::store
