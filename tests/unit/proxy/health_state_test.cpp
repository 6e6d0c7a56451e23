#include "gateway/proxy/servers/health_state.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>

namespace gateway::proxy {
namespace health_state_test {

using namespace std::chrono_literals;

health_options thresholds(int unhealthy, int healthy)
{
    health_options o;
    o.unhealthy = unhealthy;
    o.healthy = healthy;
    return o;
}

TEST(health_state, changes_sides_at_the_thresholds_and_tells_so_once)
{
    struct step {
        char check;  // + good, - failed
        bool changed;
        bool healthy;  // afterwards
    };

    health_state s(thresholds(3, 2));
    EXPECT_TRUE(s.healthy());
    int number = 0;
    for (const step& now : {
             step{'-', false, true},
             step{'-', false, true},
             step{'+', false, true},
             step{'-', false, true},
             step{'-', false, true},
             step{'-', true, false},
             step{'-', false, false},
             step{'+', false, false},
             step{'-', false, false},
             step{'+', false, false},
             step{'+', true, true},
             step{'+', false, true},
             step{'-', false, true},
         }) {
        EXPECT_EQ(s.checked(now.check == '+'), now.changed) << number;
        EXPECT_EQ(s.healthy(), now.healthy) << number++;
    }
}

TEST(health_state, a_threshold_of_one_follows_every_check)
{
    health_state s(thresholds(1, 1));
    for (const bool good : {false, true, false, false, true, true}) {
        const bool before = s.healthy();
        EXPECT_EQ(s.checked(good), before != good);
        EXPECT_EQ(s.healthy(), good);
    }
}

TEST(health_state, goes_on_with_the_state_it_is_given)
{
    health_state s(thresholds(5, 2), false);
    EXPECT_FALSE(s.healthy());
    EXPECT_FALSE(s.checked(true));
    EXPECT_TRUE(s.checked(true));
    EXPECT_TRUE(s.healthy());
}

// Whatever the checks say, the state is that of the last run as long as its threshold.
TEST(health_state, agrees_with_the_last_run_that_was_long_enough)
{
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        const int unhealthy = 1 + static_cast<int>(random() % 5);
        const int healthy = 1 + static_cast<int>(random() % 5);
        health_state s(thresholds(unhealthy, healthy));
        bool expected = true;
        bool last = true;
        int run = 0;
        for (int i = 0; i < 200; ++i) {
            const bool good = random() % 2 == 0;
            run = i > 0 && good == last ? run + 1 : 1;
            last = good;
            if (run >= (good ? healthy : unhealthy)) {
                expected = good;
            }
            const bool before = s.healthy();
            const bool changed = s.checked(good);
            EXPECT_EQ(changed, before != s.healthy());
            ASSERT_EQ(s.healthy(), expected);
        }
    }
}

TEST(health_state, spreads_checks_without_ever_being_far_from_the_interval)
{
    EXPECT_EQ(health_state::first_pause(10s, 0.0), 0s);
    EXPECT_EQ(health_state::first_pause(10s, 0.5), 5s);
    EXPECT_EQ(health_state::pause(10s, 0.0), 9s);
    EXPECT_EQ(health_state::pause(10s, 0.5), 10s);
    EXPECT_LT(health_state::pause(10s, 0.999), 11s);
}

}  // namespace health_state_test
}  // namespace gateway::proxy
