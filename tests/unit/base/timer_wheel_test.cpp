#include "gateway/base/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>

namespace gateway::base {
namespace timer_wheel_test {

using std::chrono::hours;
using std::chrono::milliseconds;

instant at(std::int64_t ms)
{
    return instant{milliseconds{ms}};
}

class timer : public timer_entry {
public:
    explicit timer(std::function<void(instant)> action = {}) : action_(std::move(action)) {}

    int fired = 0;
    instant fired_at{};

private:
    std::function<void(instant)> action_;

    void expired(instant now) override
    {
        ++fired;
        fired_at = now;
        if (action_) {
            const auto action = action_;  // it may destroy us
            action(now);
        }
    }
};

TEST(timer_wheel, fires_once_and_never_early)
{
    for (std::int64_t deadline = 0; deadline <= 250; ++deadline) {
        timer_wheel wheel{at(0), milliseconds{10}, 8};
        timer t;
        wheel.arm(t, at(deadline));
        std::int64_t now = 0;
        while (t.fired == 0 && now < 1000) {
            wheel.advance(at(++now));
        }
        EXPECT_GE(now, deadline);
        EXPECT_LE(now, std::max<std::int64_t>(deadline + 9, 10));
        EXPECT_FALSE(t.armed());
        wheel.advance(at(5000));
        EXPECT_EQ(t.fired, 1);
    }
}

TEST(timer_wheel, a_deadline_that_is_over_fires_with_the_next_tick)
{
    timer_wheel wheel{at(1000), milliseconds{10}, 8};
    wheel.advance(at(2000));
    timer t;
    wheel.arm(t, at(3));
    wheel.advance(at(2009));
    EXPECT_EQ(t.fired, 0);
    wheel.advance(at(2010));
    EXPECT_EQ(t.fired, 1);
}

TEST(timer_wheel, moving_a_deadline_later_or_earlier_counts)
{
    timer_wheel wheel{at(0), milliseconds{10}, 8};
    timer later;
    timer earlier;
    wheel.arm(later, at(50));
    wheel.arm(earlier, at(500));
    for (std::int64_t now = 10; now <= 40; now += 10) {
        wheel.arm(later, at(now + 300));
        wheel.advance(at(now));
    }
    wheel.arm(earlier, at(60));
    wheel.advance(at(60));
    EXPECT_EQ(earlier.fired, 1);
    wheel.advance(at(339));
    EXPECT_EQ(later.fired, 0);
    EXPECT_EQ(later.deadline(), at(340));
    wheel.advance(at(340));
    EXPECT_EQ(later.fired, 1);
}

TEST(timer_wheel, a_disarmed_entry_does_not_fire_and_can_be_armed_again)
{
    timer_wheel wheel{at(0), milliseconds{10}, 8};
    timer t;
    wheel.disarm(t);
    wheel.arm(t, at(20));
    EXPECT_TRUE(t.armed());
    wheel.disarm(t);
    EXPECT_FALSE(t.armed());
    wheel.advance(at(30));
    EXPECT_EQ(t.fired, 0);
    wheel.arm(t, at(40));
    wheel.disarm(t);
    wheel.arm(t, at(50));
    wheel.advance(at(49));
    EXPECT_EQ(t.fired, 0);
    wheel.advance(at(50));
    EXPECT_EQ(t.fired, 1);
}

TEST(timer_wheel, a_long_pause_fires_everything_that_came_due)
{
    timer_wheel wheel{at(0), milliseconds{1}, 16};
    std::vector<std::unique_ptr<timer>> timers;
    for (std::int64_t i = 0; i < 500; ++i) {
        timers.push_back(std::make_unique<timer>());
        wheel.arm(*timers.back(), at(i));
    }
    timer far;
    wheel.arm(far, instant{hours{24 * 400}});
    timer never;
    wheel.arm(never, instant::max());
    wheel.advance(instant{hours{24 * 300}});
    for (const auto& t : timers) {
        EXPECT_EQ(t->fired, 1);
    }
    EXPECT_EQ(far.fired, 0);
    wheel.advance(instant{hours{24 * 400}});
    EXPECT_EQ(far.fired, 1);
    EXPECT_EQ(never.fired, 0);
    EXPECT_TRUE(never.armed());
}

TEST(timer_wheel, time_that_steps_back_does_nothing)
{
    timer_wheel wheel{at(1000), milliseconds{10}, 4};
    timer t;
    wheel.advance(at(1500));
    wheel.arm(t, at(1600));
    wheel.advance(at(0));
    wheel.advance(at(1200));
    EXPECT_EQ(t.fired, 0);
    wheel.advance(at(1600));
    EXPECT_EQ(t.fired, 1);
}

TEST(timer_wheel, an_entry_may_arm_itself_again_when_it_fires)
{
    timer_wheel wheel{at(0), milliseconds{10}, 8};
    timer* self = nullptr;
    timer t{[&](instant now) { wheel.arm(*self, now + milliseconds{20}); }};
    self = &t;
    wheel.arm(t, at(10));
    for (std::int64_t now = 0; now <= 100; ++now) {
        wheel.advance(at(now));
    }
    EXPECT_EQ(t.fired, 5);  // 10 30 50 70 90
    EXPECT_TRUE(t.armed());
}

TEST(timer_wheel, an_entry_that_is_always_due_does_not_keep_advance_from_returning)
{
    timer_wheel wheel{at(0), milliseconds{10}, 8};
    timer* self = nullptr;
    timer t{[&](instant) { wheel.arm(*self, at(0)); }};
    self = &t;
    wheel.arm(t, at(0));
    wheel.advance(at(1000000));
    EXPECT_GE(t.fired, 1);
    EXPECT_LE(t.fired, 8);
}

TEST(timer_wheel, an_entry_may_destroy_itself_and_others_of_its_slot_when_it_fires)
{
    for (std::size_t destroyer = 0; destroyer < 4; ++destroyer) {
        timer_wheel wheel{at(0), milliseconds{10}, 8};
        std::vector<std::unique_ptr<timer>> timers(4);
        for (std::size_t i = 0; i < timers.size(); ++i) {
            timers[i] = std::make_unique<timer>([&, i](instant) {
                if (i == destroyer) {
                    timers.clear();
                }
            });
            wheel.arm(*timers[i], at(10));
        }
        wheel.advance(at(10));
        EXPECT_TRUE(timers.empty());
        wheel.advance(at(1000));
    }
}

TEST(timer_wheel, an_entry_may_disarm_and_move_others_of_its_slot_when_it_fires)
{
    timer_wheel wheel{at(0), milliseconds{10}, 8};
    timer disarmed;
    timer moved;
    timer t{[&](instant) {
        wheel.disarm(disarmed);
        wheel.arm(moved, at(90));
    }};
    wheel.arm(disarmed, at(10));
    wheel.arm(moved, at(10));
    wheel.arm(t, at(10));  // linked last, so it fires first
    wheel.advance(at(10));
    EXPECT_EQ(t.fired, 1);
    wheel.advance(at(89));
    EXPECT_EQ(disarmed.fired + moved.fired, 0);
    wheel.advance(at(90));
    EXPECT_EQ(moved.fired, 1);
    EXPECT_EQ(disarmed.fired, 0);
}

TEST(timer_wheel, either_side_may_be_destroyed_first)
{
    timer survivor;
    {
        timer_wheel wheel{at(0), milliseconds{10}, 8};
        wheel.arm(survivor, at(10));
    }
    EXPECT_FALSE(survivor.armed());
    timer_wheel wheel{at(0), milliseconds{10}, 8};
    timer neighbour;
    wheel.arm(neighbour, at(10));
    {
        timer short_lived;
        wheel.arm(short_lived, at(10));
    }
    wheel.arm(survivor, at(10));
    wheel.advance(at(10));
    EXPECT_EQ(neighbour.fired, 1);
    EXPECT_EQ(survivor.fired, 1);
}

// Against the obvious list of deadlines: nobody fires early or unasked, or later than promised.
TEST(timer_wheel, agrees_with_a_list_of_deadlines)
{
    std::mt19937 random{2024};
    int fired = 0;
    for (int round = 0; round < 200; ++round) {
        const auto tick = static_cast<std::int64_t>(1 + random() % 20);
        timer_wheel wheel{at(0), milliseconds{tick}, 1 + random() % 32};
        std::vector<std::optional<std::int64_t>> model(20);
        std::vector<std::unique_ptr<timer>> timers;
        for (auto& deadline : model) {
            timers.push_back(std::make_unique<timer>([&](instant now) {
                ASSERT_TRUE(deadline);
                ASSERT_LE(at(*deadline), now);
                deadline.reset();
                ++fired;
            }));
        }
        std::int64_t now = 0;
        for (int step = 0; step < 300; ++step) {
            const std::size_t i = random() % timers.size();
            switch (random() % 4) {
                case 0:
                    wheel.disarm(*timers[i]);
                    model[i].reset();
                    break;
                case 1:
                    now += static_cast<std::int64_t>(random() % 100);
                    wheel.advance(at(now));
                    for (std::size_t each = 0; each < model.size(); ++each) {
                        ASSERT_EQ(timers[each]->armed(), model[each].has_value());
                        ASSERT_FALSE(model[each] && *model[each] <= now - tick);
                    }
                    break;
                default:
                    model[i] = now + static_cast<std::int64_t>(random() % 700);
                    wheel.arm(*timers[i], at(*model[i]));
            }
        }
    }
    EXPECT_GT(fired, 10000);
}

}  // namespace timer_wheel_test
}  // namespace gateway::base
