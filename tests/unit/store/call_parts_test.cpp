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
    call_parts told;
    answer into;

    parts()
    {
        asked.number = 7;
        asked.count = 3;
        asked.questions[0].charges = {&alice, 1};
        asked.questions[1].charges = {&bob, 1};
        asked.questions[2].charges = {&alice, 1};
        told.begin(asked);
        for (const std::int64_t times : {2, 1}) {
            simple_charges of_one{.times = times, .interval = hour, .burst = 5, .keys = 1};
            told.told(times == 2 ? 0 : 1, {of_one});
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
    ASSERT_EQ(told.count(), 2U);
    EXPECT_EQ(told.number(), 7);
    ASSERT_EQ(told.questions(0).size(), 2U);
    EXPECT_EQ(told.questions(0)[1], &asked.questions[2]);
    EXPECT_EQ(told.questions(1)[0], &asked.questions[1]);
    EXPECT_NE(told.tag(0), told.tag(1));
}

TEST_F(parts, are_put_together_in_the_order_of_the_questions)
{
    EXPECT_TRUE(told.answered(1, of(-7, {3})));
    EXPECT_FALSE(told.complete());
    EXPECT_TRUE(told.answered(0, of(-7, {0})));
    ASSERT_TRUE(told.complete());
    EXPECT_EQ(told.failed_all(), std::nullopt);
    for (const int remaining : {4, 1, 3}) {
        EXPECT_FALSE(told.ended());
        ASSERT_EQ(told.next(1, into), kind::answer);
        EXPECT_EQ(into.decisions()[0].remaining, remaining);
    }
    EXPECT_TRUE(told.ended());
    EXPECT_EQ(told.grant_epoch(), 0);
}

TEST_F(parts, fail_by_themselves)
{
    told.failed(0, failure::loading, taken::perhaps);
    told.failed(0, failure::timeout, taken::no);
    EXPECT_TRUE(told.answered(1, of(-7, {3})));
    EXPECT_TRUE(told.answered(1, of(-7, {4}))) << "of which only the first counts";
    ASSERT_TRUE(told.complete());
    EXPECT_EQ(told.failed_all(), std::nullopt);
    EXPECT_EQ(told.next(1, into), kind::failed);
    EXPECT_EQ(told.why(), failure::loading);
    EXPECT_EQ(told.tokens(), taken::perhaps);
    EXPECT_EQ(told.next(1, into), kind::answer);
    EXPECT_EQ(into.decisions()[0].remaining, 1);
    EXPECT_EQ(told.next(1, into), kind::failed);
    EXPECT_TRUE(told.ended());
}

TEST_F(parts, fail_together)
{
    told.failed(1, failure::readonly, taken::no);
    told.failed(0, failure::timeout, taken::no);
    EXPECT_TRUE(told.complete());
    EXPECT_EQ(told.failed_all(), failure::timeout);
    EXPECT_EQ(told.tokens_of_all(), taken::no);
}

TEST_F(parts, may_have_been_done_if_one_may)
{
    told.failed(1, failure::unreachable, taken::perhaps);
    told.failed(0, failure::readonly, taken::no);
    EXPECT_EQ(told.tokens_of_all(), taken::perhaps);
}

TEST_F(parts, are_answered_by_their_own_replies_only)
{
    EXPECT_FALSE(told.answered(0, of(7, {0})));
    EXPECT_FALSE(told.answered(0, of(-8, {0})));
    reply words;
    words.what = reply::kind::status;
    EXPECT_FALSE(told.answered(0, words));
    EXPECT_TRUE(told.answered(0, of(-7, {0, 0})));
    EXPECT_TRUE(told.answered(1, of(-7, {})));
    EXPECT_EQ(told.next(1, into), kind::answer);
    EXPECT_EQ(told.next(1, into), kind::garbage);
    EXPECT_FALSE(told.ended()) << "one number is left over";
}

}  // namespace call_parts_test
}  // namespace gateway::store::redis
