#include "gateway/proxy/servers/ejection_state.hpp"

#include <gtest/gtest.h>

namespace gateway::proxy {
namespace ejection_state_test {

using namespace std::chrono_literals;

class ejection : public ::testing::Test {
protected:
    ejection_options rules{.failures = 3, .time = 10s, .max_time = 35s};
    ejection_state state;
    base::instant now{1h};

    void fail_until_out()
    {
        while (!state.failed(rules, now)) {
        }
        state.eject(rules, now);
    }
};

TEST_F(ejection, takes_failures_in_a_row)
{
    EXPECT_FALSE(state.failed(rules, now));
    EXPECT_FALSE(state.failed(rules, now));
    EXPECT_TRUE(state.succeeded(now));
    EXPECT_FALSE(state.failed(rules, now));
    EXPECT_FALSE(state.failed(rules, now));
    EXPECT_TRUE(state.failed(rules, now));
    EXPECT_FALSE(state.is_out(now));
}

TEST_F(ejection, that_was_not_permitted_is_asked_for_again_with_the_next_failure)
{
    for (int i = 0; i < 2; ++i) {
        state.failed(rules, now);
    }
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(state.failed(rules, now));
    }
}

TEST_F(ejection, never_happens_without_a_number_of_failures)
{
    rules.failures = 0;
    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(state.failed(rules, now));
    }
}

TEST_F(ejection, ends_after_its_time)
{
    fail_until_out();
    EXPECT_TRUE(state.is_out(now));
    EXPECT_TRUE(state.is_out(now + 10s - 1ns));
    EXPECT_FALSE(state.is_out(now + 10s));
    EXPECT_EQ(state.until(), now + 10s);
}

TEST_F(ejection, does_not_listen_to_requests_from_before)
{
    fail_until_out();
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(state.failed(rules, now + 9s));
    }
    EXPECT_FALSE(state.succeeded(now + 9s));
    now += 10s;
    EXPECT_TRUE(state.failed(rules, now));  // still on trial
}

TEST_F(ejection, is_longer_each_time_that_the_trial_fails_up_to_a_bound)
{
    fail_until_out();
    for (const base::duration length : {20s, 35s, 35s}) {
        now = state.until() + 1s;
        EXPECT_TRUE(state.failed(rules, now));
        state.eject(rules, now);
        EXPECT_EQ(state.until() - now, length);
    }
}

TEST_F(ejection, needs_as_many_failures_as_ever_after_one_success)
{
    fail_until_out();
    now += 10s;
    EXPECT_TRUE(state.succeeded(now));
    EXPECT_FALSE(state.failed(rules, now));
    EXPECT_FALSE(state.failed(rules, now));
    EXPECT_TRUE(state.failed(rules, now));
}

TEST_F(ejection, is_a_first_one_again_after_having_been_back_for_as_long)
{
    fail_until_out();
    now = state.until() + 10s;
    fail_until_out();
    EXPECT_EQ(state.until() - now, 10s);
}

TEST(may_eject, keeps_the_last_server_and_the_share_and_permits_one)
{
    ejection_options rules;
    for (std::size_t servers = 1; servers <= 64; ++servers) {
        for (std::uint32_t share = 1; share <= 100; ++share) {
            rules.max_share = share;
            for (std::size_t out = 0; out < servers; ++out) {
                const std::size_t left = servers - out - 1;
                const bool may = may_eject(rules, servers, out, left);
                EXPECT_TRUE(!may || left > 0);
                EXPECT_TRUE(!may || out == 0 || (out + 1) * 100 <= servers * share);
                EXPECT_TRUE(may || left == 0 || out > 0);
            }
        }
    }
}

}  // namespace ejection_state_test
}  // namespace gateway::proxy
