// When keys are fetched, by scripts of events.
#include "gateway/identity/key_fetch_state.hpp"

#include <gtest/gtest.h>

namespace gateway::identity {
namespace key_fetch_state_test {

using namespace std::chrono_literals;

constexpr base::instant start{1000s};

class key_fetches : public ::testing::Test {
protected:
    base::instant now = start;
    key_fetch_state state{10min, start};

    void pass(base::duration time) { now += time; }

    // The time until the next fetch.
    base::duration wait() const { return state.next().value() - now; }

    void succeed(std::optional<base::duration> life = {})
    {
        state.begin();
        EXPECT_FALSE(state.next().has_value());
        state.succeeded(now, life);
    }

    void fail()
    {
        state.begin();
        state.failed(now);
    }

    // Whether an unknown key causes a fetch now.
    bool unknown_causes_one()
    {
        state.note_unknown(now);
        return wait() <= 0s;
    }
};

TEST_F(key_fetches, are_due_at_the_start_and_when_keys_are_old)
{
    EXPECT_EQ(wait(), 0s);
    EXPECT_FALSE(state.is_under_way());
    state.begin();
    EXPECT_TRUE(state.is_under_way());
    EXPECT_TRUE(state.is_worth_waiting());
    pass(2s);
    state.succeeded(now, {});
    EXPECT_FALSE(state.is_under_way());
    EXPECT_FALSE(state.is_worth_waiting());
    EXPECT_EQ(wait(), 10min);
}

TEST_F(key_fetches, follow_the_issuer_within_bounds)
{
    for (const auto& [life, expected] :
         {std::pair<base::duration, base::duration>{1h, 1h},
          {0s, 1min},
          {59s, 1min},
          {24h, 24h},
          {25h, 24h},
          {-1s, 1min}}) {
        succeed(life);
        EXPECT_EQ(wait(), expected);
    }
}

TEST_F(key_fetches, are_repeated_after_failures_ever_later)
{
    for (const base::duration pause : {1s, 2s, 4s, 8s, 10s, 10s}) {
        fail();
        EXPECT_TRUE(state.is_failing());
        EXPECT_EQ(wait(), pause);
        pass(pause);
    }
    succeed();
    EXPECT_FALSE(state.is_failing());
    fail();
    EXPECT_EQ(wait(), 1s);
}

TEST_F(key_fetches, that_repeat_a_failed_one_have_nobody_wait)
{
    fail();
    pass(1s);
    state.begin();
    EXPECT_FALSE(state.is_worth_waiting());
    state.note_unknown(now);
    EXPECT_TRUE(state.is_worth_waiting()) << "it is for that request now";
    state.failed(now);
    pass(2s);
    state.begin();
    EXPECT_FALSE(state.is_worth_waiting());
    state.note_unknown(now);
    EXPECT_FALSE(state.is_worth_waiting()) << "not so soon again";
}

TEST_F(key_fetches, for_unknown_keys_are_half_a_minute_apart)
{
    succeed();
    pass(1s);
    EXPECT_TRUE(unknown_causes_one());
    succeed();
    EXPECT_EQ(state.unknown_from(), now + 30s);
    EXPECT_FALSE(unknown_causes_one());
    EXPECT_EQ(wait(), 10min);
    pass(30s - 1ns);
    EXPECT_FALSE(unknown_causes_one());
    pass(1ns);
    EXPECT_TRUE(unknown_causes_one());
    fail();
    pass(29s);
    EXPECT_EQ(wait(), -28s) << "the one after the failure is due";
}

TEST_F(key_fetches, for_unknown_keys_put_no_other_off)
{
    fail();
    EXPECT_TRUE(unknown_causes_one()) << "although a pause has begun";
    fail();
    EXPECT_EQ(wait(), 2s);
}

TEST(life_by, is_the_max_age)
{
    EXPECT_EQ(life_by("max-age=60"), 60s);
    EXPECT_EQ(life_by("public, Max-Age=\"3600\", must-revalidate"), 1h);
    EXPECT_EQ(life_by("max-age=0"), 0s);
    EXPECT_EQ(life_by("max-age=5, max-age=7"), 5s);
    for (const char* const none :
         {"",
          "no-store",
          "max-age",
          "max-age=",
          "max-age=x",
          "max-age=-1",
          "s-maxage=5",
          "max-age=99999999999999999999",
          "max-age=1.5"}) {
        EXPECT_EQ(life_by(none), std::nullopt) << none;
    }
}

}  // namespace key_fetch_state_test
}  // namespace gateway::identity
