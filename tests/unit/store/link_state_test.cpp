#include "gateway/store/remote/link_state.hpp"

#include <gtest/gtest.h>

namespace gateway::store {
namespace link_state_test {

using std::chrono::milliseconds;

void bring_up(link_state& s)
{
    s.connecting();
    s.connected();
    s.greeted();
}

TEST(link_state, can_be_asked_only_when_ready)
{
    link_state s;
    EXPECT_EQ(s.unusable(), failure::unreachable);
    s.connecting();
    EXPECT_EQ(s.unusable(), failure::unreachable);
    s.connected();
    EXPECT_EQ(s.now_in(), link_state::phase::greeting);
    EXPECT_EQ(s.unusable(), failure::unreachable);
    s.greeted();
    EXPECT_EQ(s.unusable(), std::nullopt);
    s.lost(failure::protocol);
    EXPECT_EQ(s.unusable(), failure::protocol);
    s.connecting();
    EXPECT_EQ(s.unusable(), failure::protocol) << "as long as nothing better is known";
}

TEST(link_state, is_awaited_until_it_has_been_ready_or_lost)
{
    link_state s;
    EXPECT_TRUE(s.awaited());
    s.connecting();
    s.connected();
    EXPECT_TRUE(s.awaited());
    s.greeted();
    EXPECT_FALSE(s.awaited());
    s.lost(failure::unreachable);
    s.connecting();
    EXPECT_FALSE(s.awaited());

    link_state refused;
    refused.connecting();
    refused.lost(failure::auth);
    EXPECT_FALSE(refused.awaited());

    link_state closed;
    closed.close();
    EXPECT_FALSE(closed.awaited());
}

TEST(link_state, can_be_lost_at_every_step_and_begins_again)
{
    for (int steps = 1; steps <= 3; ++steps) {
        link_state s;
        s.connecting();
        if (steps > 1) {
            s.connected();
        }
        if (steps > 2) {
            s.greeted();
        }
        s.lost(failure::timeout);
        EXPECT_EQ(s.now_in(), link_state::phase::resting);
        bring_up(s);
        EXPECT_TRUE(s.ready());
    }
}

TEST(link_state, rests_twice_as_long_each_time_up_to_a_bound)
{
    link_state s;
    for (const int ms : {50, 100, 200, 400, 450, 450, 450}) {
        s.connecting();
        s.lost(failure::unreachable);
        EXPECT_EQ(s.rest(0, {}), milliseconds{ms} / 2);
        EXPECT_LT(s.rest(0.999, {}), milliseconds{ms});
    }
    for (int i = 0; i < 1000; ++i) {
        s.connecting();
        s.lost(failure::unreachable);
    }
    EXPECT_EQ(s.rest(0, {}), link_state::longest_rest / 2);
}

TEST(link_state, counts_the_time_of_an_attempt_as_rest)
{
    link_state s;
    for (int i = 0; i < 10; ++i) {
        s.connecting();
        s.lost(failure::timeout);
    }
    EXPECT_EQ(s.rest(0.5, milliseconds{100}), s.rest(0.5, {}) - milliseconds{100});
    for (const int ms : {400, 800, 100'000}) {
        EXPECT_EQ(s.rest(0, milliseconds{ms}), link_state::shortest_rest);
        EXPECT_LT(s.rest(0.999, milliseconds{ms}), 2 * link_state::shortest_rest);
    }
}

TEST(link_state, only_a_proof_makes_the_rests_short_again)
{
    link_state s;
    for (int i = 0; i < 5; ++i) {
        bring_up(s);
        s.lost(failure::readonly);
    }
    EXPECT_GT(s.rest(0, {}), milliseconds{200}) << "connecting alone proves nothing";
    bring_up(s);
    s.proved();
    s.lost(failure::readonly);
    EXPECT_LE(s.rest(0.999, {}), milliseconds{50});
}

TEST(link_state, is_slow_from_the_start_with_a_server_that_refuses_us)
{
    for (const failure why : {failure::auth, failure::config}) {
        link_state s;
        s.connecting();
        s.lost(why);
        EXPECT_EQ(s.rest(0, {}), link_state::longest_rest / 2);
    }
}

TEST(link_state, stays_closed)
{
    link_state s;
    bring_up(s);
    s.close();
    s.lost(failure::timeout);
    EXPECT_TRUE(s.closed());
    EXPECT_EQ(s.unusable(), failure::unreachable);
}

}  // namespace link_state_test
}  // namespace gateway::store
