#include "gateway/store/redis/cluster/call_parts.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace gateway::store::redis {
namespace call_parts_test {

using kind = call_results::kind;

class parts : public ::testing::Test {
protected:
    const limit::limit slow = *limit::limit::make(1, std::chrono::hours{1}, 5);
    const charge alice{"l", base::hashed_name{"alice"}, &slow};
    const charge bob{"l", base::hashed_name{"bob"}, &slow};
    call asked;
    call_parts split;
    answer into;

    parts()
    {
        asked.number = 7;
        asked.count = 3;
        asked.questions[0].charges = {&alice, 1};
        asked.questions[1].charges = {&bob, 1};
        asked.questions[2].charges = {&alice, 1};
        split.begin(asked);
        for (const std::int64_t times : {2, 1}) {
            simple_charges of_one{.times = times, .interval = hour, .burst = 5, .keys = 1};
            split.encoded(times == 2 ? 0 : 1, {of_one});
        }
    }

    // That so many tokens were owed by each bucket.
    static reply of(int number, std::initializer_list<std::int64_t> owed)
    {
        reply r;
        r.what = reply::kind::integers;
        r.integers[r.count++] = number;
        r.integers[r.count++] = 0;
        for (const std::int64_t tokens : owed) {
            r.integers[r.count++] = tokens * hour;
        }
        return r;
    }

    // In microseconds: a token of the limit.
    static constexpr std::int64_t hour = 3'600'000'000;
};

TEST_F(parts, are_one_for_each_client)
{
    ASSERT_EQ(split.count(), 2U);
    EXPECT_EQ(split.number(), 7);
    ASSERT_EQ(split.questions(0).size(), 2U);
    EXPECT_EQ(split.questions(0)[1], &asked.questions[2]);
    EXPECT_EQ(split.questions(1)[0], &asked.questions[1]);
    EXPECT_NE(split.tag(0), split.tag(1));
}

TEST_F(parts, are_put_together_in_the_order_of_the_questions)
{
    EXPECT_TRUE(split.answered(1, of(-7, {3})));
    EXPECT_FALSE(split.complete());
    EXPECT_TRUE(split.answered(0, of(-7, {0})));
    ASSERT_TRUE(split.complete());
    EXPECT_EQ(split.failed_all(), std::nullopt);
    for (const int remaining : {4, 1, 3}) {
        EXPECT_FALSE(split.ended());
        ASSERT_EQ(split.next(1, into), kind::answer);
        EXPECT_EQ(into.decisions()[0].remaining, remaining);
    }
    EXPECT_TRUE(split.ended());
    EXPECT_EQ(split.grant_epoch(), 0);
}

TEST_F(parts, fail_by_themselves)
{
    split.failed(0, failure::loading, taken::perhaps);
    split.failed(0, failure::timeout, taken::no);
    EXPECT_TRUE(split.answered(1, of(-7, {3})));
    EXPECT_TRUE(split.answered(1, of(-7, {4}))) << "of which only the first counts";
    ASSERT_TRUE(split.complete());
    EXPECT_EQ(split.failed_all(), std::nullopt);
    EXPECT_EQ(split.next(1, into), kind::failed);
    EXPECT_EQ(split.why(), failure::loading);
    EXPECT_EQ(split.tokens(), taken::perhaps);
    EXPECT_EQ(split.next(1, into), kind::answer);
    EXPECT_EQ(into.decisions()[0].remaining, 1);
    EXPECT_EQ(split.next(1, into), kind::failed);
    EXPECT_TRUE(split.ended());
}

TEST_F(parts, fail_together)
{
    split.failed(1, failure::readonly, taken::no);
    split.failed(0, failure::timeout, taken::no);
    EXPECT_TRUE(split.complete());
    EXPECT_EQ(split.failed_all(), failure::timeout);
    EXPECT_EQ(split.tokens_of_all(), taken::no);
}

TEST_F(parts, may_have_been_done_if_one_may)
{
    split.failed(1, failure::unreachable, taken::perhaps);
    split.failed(0, failure::readonly, taken::no);
    EXPECT_EQ(split.tokens_of_all(), taken::perhaps);
}

TEST_F(parts, are_answered_by_their_own_replies_only)
{
    EXPECT_FALSE(split.answered(0, of(7, {0})));
    EXPECT_FALSE(split.answered(0, of(-8, {0})));
    reply words;
    words.what = reply::kind::status;
    EXPECT_FALSE(split.answered(0, words));
    EXPECT_TRUE(split.answered(0, of(-7, {0, 0})));
    EXPECT_TRUE(split.answered(1, of(-7, {})));
    EXPECT_EQ(split.next(1, into), kind::answer);
    EXPECT_EQ(split.next(1, into), kind::garbage);
    EXPECT_FALSE(split.ended()) << "one number is left over";
}

}  // namespace call_parts_test
}  // namespace gateway::store::redis
