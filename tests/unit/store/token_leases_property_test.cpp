// Workers that lease tokens of one bucket give what the limit says: never more, and hardly less.
#include "tests/unit/store/leased_world.hpp"

namespace gateway::store::testing {
namespace token_leases_property_test {

struct numbers {
    std::int64_t rate;
    std::int64_t burst;
    int percent;
    base::duration time;
    std::size_t workers;
};

class leases_of : public ::testing::TestWithParam<numbers> {
protected:
    static limit::limit limit_of(const numbers& n)
    {
        return *limit::limit::make(n.rate, 1s, n.burst);
    }

    leased_world world = fresh();
    std::mt19937 random{4711};

    static leased_world fresh()
    {
        return {
            limit_of(GetParam()),
            {.percent = GetParam().percent, .time = GetParam().time},
            GetParam().workers};
    }

    // Tokens that a limit gives in that time to who always asks.
    static std::int64_t all(base::duration time)
    {
        return GetParam().burst + GetParam().rate * (time / 1ms) / 1000;
    }

    // Tokens of a lease.
    static std::int64_t most()
    {
        return std::min(
            GetParam().burst * GetParam().percent / 100,
            GetParam().rate * (GetParam().time / 1ms) / 1000
        );
    }

    // Each worker is asked so many times the rate, together; some workers more than others.
    void ask_for(base::duration time, double times) { ask_for(world, time, times); }

    void ask_for(leased_world& of, base::duration time, double times)
    {
        std::vector<double> part(GetParam().workers);
        double sum = 0;
        for (double& p : part) {
            p = static_cast<double>(1 + random() % 8);
            sum += p;
        }
        const double per_step = static_cast<double>(GetParam().rate) * times / 1000;
        std::vector<double> due(part.size());
        for (const base::instant end = of.now + time; of.now < end; of.pass(1ms)) {
            for (std::size_t i = 0; i < part.size(); ++i) {
                for (due[i] += per_step * part[i] / sum; due[i] >= 1; --due[i]) {
                    of.request(i);
                }
            }
        }
    }
};

TEST_P(leases_of, a_bucket_that_all_ask_for_more_give_what_it_has)
{
    for (const double times : {1.5, 5.0}) {
        const std::int64_t before = world.admitted;
        const auto asked_for = std::chrono::seconds{2 + 2 * GetParam().burst / GetParam().rate};
        const std::int64_t there = world.left();
        ask_for(asked_for, times);
        const std::int64_t given = there + all(asked_for) - GetParam().burst;
        EXPECT_EQ(world.too_many, 0);
        EXPECT_LE(world.admitted - before, given);
        EXPECT_GE(world.admitted - before, given * 99 / 100);
    }
}

TEST_P(leases_of, a_bucket_that_has_enough_reject_nobody)
{
    ask_for(4s, 0.7);
    EXPECT_EQ(world.too_many, 0);
    EXPECT_EQ(world.rejected, 0);
}

TEST_P(leases_of, a_bucket_that_is_asked_now_more_now_less_never_give_a_token_too_many)
{
    for (int turn = 0; turn < 60; ++turn) {
        static constexpr std::array<double, 6> loads{0, 0.1, 0.5, 1, 3, 10};
        ask_for(std::chrono::milliseconds{1 + random() % 400}, loads[random() % loads.size()]);
        if (turn % 10 == 0) {
            world.pass(GetParam().time + 10ms);
        }
    }
    EXPECT_EQ(world.too_many, 0) << "of " << world.admitted;
}

TEST_P(leases_of, a_bucket_that_nobody_asks_any_more_are_given_back)
{
    // Half of what is in it.
    ask_for(std::chrono::milliseconds{500 * GetParam().burst / GetParam().rate / 4}, 5);
    world.pass(GetParam().time + 10ms);
    const bool is_soon_full = world.left() + 2 * most() > GetParam().burst;
    EXPECT_TRUE(is_soon_full || world.given_back > 0);
    EXPECT_NEAR(
        static_cast<double>(world.left()),
        static_cast<double>(world.left_in_ideal()),
        is_soon_full ? static_cast<double>(most()) : 10
    );
}

TEST_P(leases_of, a_worker_that_crashes_are_all_that_is_lost)
{
    ask_for(500ms, 0.9);
    world.crash(0);
    const std::int64_t before = world.admitted;
    const std::int64_t there = world.left();
    EXPECT_LE(
        world.left_in_ideal() - there, most() * static_cast<std::int64_t>(GetParam().workers)
    );
    ask_for(4s, 2.5 * static_cast<double>(GetParam().workers));
    EXPECT_EQ(world.too_many, 0);
    EXPECT_GE(world.admitted - before, (there + all(4s) - GetParam().burst) * 99 / 100);
}

TEST_P(leases_of, a_worker_that_ends_give_nothing_to_those_who_hold_others)
{
    for (int turn = 0; turn < 8; ++turn) {
        leased_world one = fresh();
        ask_for(one, std::chrono::milliseconds{5 + random() % 100}, 1 + turn % 3);
        while (!one.leases(0).end(one.now)) {
            one.pass(100us);
        }
        one.pass(std::chrono::milliseconds{random() % 80});
        ask_for(one, 500ms, 10);
        ASSERT_EQ(one.too_many, 0) << turn;
    }
}

TEST_P(leases_of, a_bucket_that_is_reset_are_void)
{
    ask_for(500ms, 3);
    world.reset();
    world.pass(100ms);
    ask_for(2s, 3);
    EXPECT_EQ(world.too_many, 0);
}

TEST_P(leases_of, a_bucket_that_is_reset_are_not_given_back)
{
    ask_for(std::chrono::milliseconds{250 * GetParam().burst / GetParam().rate}, 3);
    world.reset();
    world.pass(100ms);
    const std::int64_t before = world.given_back;
    // The others hear nothing of it before their leases are over.
    for (const base::instant end = world.now + 2 * GetParam().time; world.now < end;) {
        for (std::int64_t i = 0; i < GetParam().burst / 100; ++i) {
            world.request(0);
        }
        world.pass(1ms);
    }
    EXPECT_EQ(world.given_back, before);
    EXPECT_EQ(world.too_many, 0);
}

INSTANTIATE_TEST_SUITE_P(
    all,
    leases_of,
    ::testing::Values(
        numbers{10'000, 10'000, 10, 1s, 3},
        numbers{2'000, 20'000, 5, 1s, 6},
        numbers{20'000, 2'000, 20, 200ms, 2},
        numbers{1'000, 1'000, 50, 2s, 4}
    )
);

}  // namespace token_leases_property_test
}  // namespace gateway::store::testing
