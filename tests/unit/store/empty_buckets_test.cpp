#include "gateway/store/remote/empty_buckets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace gateway::store {
namespace empty_buckets_test {

using namespace std::chrono_literals;

// A bucket in a store whose clock is ours: what it answers, by the algebra.
class far_bucket {
public:
    explicit far_bucket(const limit::limit& l) : limit_(&l) {}

    limit::decision take(std::int64_t cost, base::instant now)
    {
        const auto ticks = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch());
        const auto step = limit::take(limit_->in_microseconds(), bucket_, ticks.count(), cost);
        if (step.allowed) {
            bucket_ = step.after;
        }
        return limit::decision_in<std::chrono::microseconds>(step);
    }

private:
    const limit::limit* limit_;
    limit::bucket bucket_;
};

class empty : public ::testing::Test {
protected:
    static constexpr base::duration fresh_for = 10s;
    const limit::limit slow = *limit::limit::make(1, 1s, 2);
    last_answer heard;
    empty_buckets remembered{heard, fresh_for};
    base::instant now{std::chrono::hours{1}};
    // The store answers somebody whenever the test asks what is decided.
    bool answers = true;
    std::int64_t mark = 0;
    answer decided;

    charge of(std::string_view bucket, std::int64_t cost = 1, bool enforced = true) const
    {
        return {"slow", base::hashed_name{bucket}, &slow, cost, enforced};
    }

    void hear()
    {
        if (heard.heard(mark, now)) {
            remembered.forget();
        }
    }

    bool decides(std::vector<charge> charges, belief counts = belief::fresh)
    {
        if (answers) {
            hear();
        }
        return remembered.decides(charges, now, counts, decided);
    }

    void rejected(const charge& c, base::duration retry, base::duration reset)
    {
        hear();
        answer a;
        a.admitted = !c.enforced;
        a.add({.allowed = false, .remaining = 0, .retry_after = retry, .reset_after = reset});
        remembered.remember(std::span{&c, 1}, a, now);
    }
};

// Its tokens do not tell when it passes again.
TEST_F(empty, buckets_that_are_banned_are_not_remembered)
{
    hear();
    answer a;
    a.admitted = false;
    a.add({.banned = true, .remaining = 0, .retry_after = 9s, .reset_after = 2s});
    const charge c = of("a");
    remembered.remember({&c, 1}, a, now);
    EXPECT_FALSE(decides({c}));
}

// What the second decision of a bucket says counts tokens that the first would have taken.
TEST_F(empty, buckets_of_a_rejected_question_are_as_they_were)
{
    const std::vector<charge> twice{of("a"), of("a")};
    answer a;
    a.admitted = false;
    a.add({.allowed = true, .remaining = 1, .retry_after = 0s, .reset_after = 1s});
    a.add({.allowed = false, .remaining = 0, .retry_after = 1s, .reset_after = 2s});
    hear();
    remembered.remember(twice, a, now);
    EXPECT_FALSE(decides({of("a")}));
}

TEST_F(empty, buckets_are_unknown_at_first)
{
    EXPECT_FALSE(decides({of("a")}));
}

TEST_F(empty, buckets_reject_until_the_moment_that_the_store_named)
{
    rejected(of("a"), 500ms, 1500ms);
    ASSERT_TRUE(decides({of("a")}));
    EXPECT_FALSE(decided.admitted);
    ASSERT_TRUE(decided.knows(0));
    EXPECT_FALSE(decided.decisions()[0].allowed);
    EXPECT_EQ(decided.decisions()[0].remaining, 0);
    EXPECT_GE(decided.decisions()[0].retry_after, 500ms);
    EXPECT_LE(decided.decisions()[0].retry_after, 500ms + 1us);
    EXPECT_FALSE(decides({of("b")}));

    now += 500ms;
    ASSERT_TRUE(decides({of("a")})) << "not a microsecond too early";
    now += 1us;
    EXPECT_FALSE(decides({of("a")}));
    EXPECT_TRUE(decides({of("a", 2)})) << "which costs more than has flowed back";
}

TEST_F(empty, buckets_are_known_from_an_answer_that_took_the_last_token_too)
{
    const charge last = of("a");
    answer a;
    a.add({.allowed = true, .remaining = 0, .retry_after = 0s, .reset_after = 2s});
    hear();
    remembered.remember(std::span{&last, 1}, a, now);
    EXPECT_TRUE(decides({of("a")}));
    now += 1s + 1us;
    EXPECT_FALSE(decides({of("a")}, belief::all));
}

TEST_F(empty, buckets_are_asked_for_if_the_store_has_been_silent)
{
    rejected(of("a"), 1h, 2h);
    answers = false;
    now += last_answer::heard_for;
    EXPECT_TRUE(decides({of("a")}));
    now += 1us;
    EXPECT_FALSE(decides({of("a")}));
    EXPECT_TRUE(decides({of("a")}, belief::all));
    hear();
    EXPECT_TRUE(decides({of("a")})) << "nobody has given tokens meanwhile";
}

TEST_F(empty, buckets_are_forgotten_when_somebody_gives_tokens)
{
    rejected(of("a"), 1h, 2h);
    mark = 1;
    EXPECT_FALSE(decides({of("a")}));
    EXPECT_FALSE(decides({of("a")}, belief::all));
    rejected(of("b"), 1h, 2h);
    EXPECT_TRUE(decides({of("b")}));
    EXPECT_FALSE(decides({of("a")})) << "nor do they come back with others";
}

TEST_F(empty, buckets_are_asked_for_again_in_the_end_if_the_store_can_be_asked)
{
    rejected(of("a"), 1h, 2h);
    now += fresh_for - 2us;
    EXPECT_TRUE(decides({of("a")}));
    now += 3us;
    EXPECT_FALSE(decides({of("a")}));
    EXPECT_TRUE(decides({of("a")}, belief::all));
    rejected(of("a"), 1h, 2h);
    EXPECT_TRUE(decides({of("a")}));
}

TEST_F(empty, buckets_that_are_not_fresh_make_room)
{
    for (std::size_t i = 0; i < 8 * empty_buckets::slots; ++i) {
        rejected(of(std::to_string(i)), 1h, 2h);
    }
    rejected(of("new"), 1s, 2s);
    EXPECT_FALSE(decides({of("new")}));
    now += fresh_for + 1us;
    rejected(of("new"), 1s, 2s);
    EXPECT_TRUE(decides({of("new")}));
}

TEST_F(empty, buckets_that_have_tokens_left_are_asked_for)
{
    const charge one = of("a");
    answer a;
    a.add({.allowed = true, .remaining = 1, .retry_after = 0s, .reset_after = 1s});
    remembered.remember(std::span{&one, 1}, a, now);
    EXPECT_FALSE(decides({of("a")}));
}

TEST_F(empty, bucket_of_one_limit_rejects_the_others_unseen)
{
    rejected(of("a"), 500ms, 1500ms);
    ASSERT_TRUE(decides({of("b"), of("a")}));
    EXPECT_FALSE(decided.admitted);
    EXPECT_FALSE(decided.knows(0));
    EXPECT_TRUE(decided.knows(1));
}

TEST_F(empty, bucket_beside_others_is_asked_for_once_more_when_it_is_emptied)
{
    const std::vector<charge> both{of("a"), of("b")};
    hear();
    answer a;
    a.add({.allowed = true, .remaining = 0, .retry_after = 0s, .reset_after = 2s});
    a.add({.allowed = true, .remaining = 1, .retry_after = 0s, .reset_after = 1s});
    remembered.remember(both, a, now);
    EXPECT_FALSE(decides(both)) << "b may reject as well, and for longer";
    a.clear();
    a.admitted = false;
    a.add({.allowed = false, .remaining = 0, .retry_after = 1s, .reset_after = 2s});
    a.add({.allowed = true, .remaining = 1, .retry_after = 0s, .reset_after = 1s});
    remembered.remember(both, a, now);
    ASSERT_TRUE(decides({of("a"), of("b", 2)}));
    EXPECT_TRUE(decided.knows(0));
    ASSERT_TRUE(decided.knows(1)) << "the rejection has shown it, too";
    EXPECT_EQ(decided.decisions()[1].retry_after, 1s);
    EXPECT_FALSE(decides({of("b")})) << "which has a token";
    ASSERT_TRUE(decides({of("a"), of("c")})) << "other buckets are not asked for";
    EXPECT_FALSE(decided.knows(1));
}

TEST_F(empty, buckets_in_shadow_mode_decide_only_if_all_are)
{
    rejected(of("a", 1, false), 500ms, 1500ms);
    EXPECT_FALSE(decides({of("a", 1, false), of("b")})) << "b may take a token";
    EXPECT_FALSE(decides({of("a", 1, false), of("b", 1, false)})) << "b counts, too";
    ASSERT_TRUE(decides({of("a", 1, false)}));
    EXPECT_TRUE(decided.admitted);
    EXPECT_FALSE(decided.decisions()[0].allowed);
}

TEST_F(empty, buckets_of_a_limit_that_has_changed_are_asked_for)
{
    rejected(of("a"), 500ms, 1500ms);
    const auto faster = *limit::limit::make(2, 1s, 2);
    const auto larger = *limit::limit::make(1, 1s, 3);
    EXPECT_FALSE(decides({{"slow", base::hashed_name{"a"}, &faster, 1, true}}));
    EXPECT_FALSE(decides({{"slow", base::hashed_name{"a"}, &larger, 1, true}}));
    EXPECT_TRUE(decides({of("a")}));
}

TEST_F(empty, buckets_are_replaced_by_what_is_said_later)
{
    rejected(of("a"), 500ms, 1500ms);
    rejected(of("a"), 100ms, 1100ms);
    now += 101ms;
    EXPECT_FALSE(decides({of("a")}));
}

TEST_F(empty, buckets_have_bounded_room_and_the_longest_stay)
{
    constexpr std::size_t many = 4 * empty_buckets::slots;
    for (std::size_t i = 0; i < many; ++i) {
        const std::string name = std::to_string(i);
        rejected(of(name), 1s + std::chrono::microseconds{i}, 2s + std::chrono::microseconds{i});
    }
    std::size_t known = 0;
    for (std::size_t i = 0; i < many; ++i) {
        known += decides({of(std::to_string(i))}) ? 1 : 0;
    }
    EXPECT_LE(known, empty_buckets::slots);
    EXPECT_GE(known, empty_buckets::slots * 9 / 10);
    EXPECT_TRUE(decides({of(std::to_string(many - 1))}));
    now += 1h;
    rejected(of("new"), 1s, 2s);
    EXPECT_TRUE(decides({of("new")})) << "those that are full again make room";
}

// Whatever others take meanwhile, and whenever the answers came: what is rejected here, the store
// would have rejected, too.
TEST_F(empty, buckets_never_reject_what_the_store_would_let_pass)
{
    std::mt19937 random{4711};
    const auto up_to = [&random](int most) {
        return std::uniform_int_distribution<int>{0, most}(random);
    };
    int rejected_here = 0;
    for (int round = 0; round < 200; ++round) {
        const auto limit = *limit::limit::make(1 + up_to(20), 1s, 1 + up_to(10));
        far_bucket far{limit};
        const std::string name = "round " + std::to_string(round);
        bool others_took = false;
        for (int step = 0; step < 200; ++step) {
            now += std::chrono::microseconds{up_to(100'000)};
            const charge c{"l", base::hashed_name{name}, &limit, 1 + up_to(2), true};
            if (remembered.decides(std::span{&c, 1}, now, belief::all, decided)) {
                ++rejected_here;
                const limit::decision there = far.take(c.cost, now);
                EXPECT_FALSE(there.allowed);
                if (!others_took) {
                    EXPECT_GE(decided.decisions()[0].retry_after, there.retry_after);
                }
                continue;
            }
            const limit::decision d = far.take(c.cost, now);
            others_took = up_to(3) == 0;  // of which nothing is heard here
            if (!others_took) {
                answer a;
                a.admitted = d.allowed;
                a.add(d);
                remembered.remember(std::span{&c, 1}, a, now);
            }
        }
    }
    EXPECT_GT(rejected_here, 10'000);
}

}  // namespace empty_buckets_test
}  // namespace gateway::store
