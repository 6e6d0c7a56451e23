#include "gateway/store/remote/breaker_state.hpp"

#include <gtest/gtest.h>

namespace gateway::store {
namespace breaker_state_test {

using std::chrono::milliseconds;

base::instant at(std::int64_t ms)
{
    return base::instant{milliseconds{1'000'000 + ms}};
}

TEST(breaker_state, opens_at_the_fifth_failure_in_a_row)
{
    breaker_state b{{}};
    for (int i = 0; i < 4; ++i) {
        EXPECT_FALSE(b.failed(failure::timeout, at(i)));
    }
    b.succeeded(at(4));
    for (int i = 5; i < 9; ++i) {
        EXPECT_FALSE(b.failed(failure::unreachable, at(i)));
    }
    EXPECT_FALSE(b.open());
    EXPECT_TRUE(b.failed(failure::loading, at(9)));
    EXPECT_TRUE(b.open());
    EXPECT_FALSE(b.failed(failure::loading, at(10))) << "opened before";
}

TEST(breaker_state, only_failures_of_the_whole_store_move_it)
{
    for (std::size_t i = 0; i < failure_names.size(); ++i) {
        const auto why = static_cast<failure>(i);
        breaker_state b{{}};
        for (int n = 0; n < 100; ++n) {
            b.failed(why, at(n));
        }
        EXPECT_EQ(b.open(), i <= static_cast<std::size_t>(failure::readonly)) << failure_names[i];
    }
}

TEST(breaker_state, opens_when_half_of_twenty_within_a_second_failed)
{
    breaker_state b{{}};
    for (int i = 0; i < 10; ++i) {
        b.succeeded(at(i * 40));
        EXPECT_EQ(b.failed(failure::timeout, at(i * 40 + 20)), i == 9) << i;
    }
    breaker_state mostly_good{{}};
    for (int i = 0; i < 300; ++i) {
        mostly_good.succeeded(at(i * 10));
        mostly_good.succeeded(at(i * 10));
        EXPECT_FALSE(mostly_good.failed(failure::timeout, at(i * 10)));
    }
}

TEST(breaker_state, forgets_what_is_older_than_the_window)
{
    breaker_state b{{}};
    for (int i = 0; i < 100; ++i) {  // half of them fail, but never twenty in a second
        b.succeeded(at(i * 150));
        EXPECT_FALSE(b.failed(failure::timeout, at(i * 150 + 75)));
    }
}

TEST(breaker_state, stays_open_until_a_probe_succeeds_and_then_begins_anew)
{
    breaker_state b{{}};
    for (int i = 0; i < 5; ++i) {
        b.failed(failure::timeout, at(i));
    }
    for (int i = 0; i < 100; ++i) {
        b.succeeded(at(i));  // an answer that was on its way
    }
    EXPECT_TRUE(b.open());
    b.probe_succeeded();
    EXPECT_FALSE(b.open());
    for (int i = 0; i < 4; ++i) {
        EXPECT_FALSE(b.failed(failure::timeout, at(10)));
    }
    EXPECT_TRUE(b.failed(failure::timeout, at(11)));
}

TEST(breaker_state, opens_when_it_is_told_to)
{
    const breaker_options options{
        .failures = 2, .decisions = 4, .window = milliseconds{100}, .pause = {}};
    breaker_state in_a_row{options};
    EXPECT_FALSE(in_a_row.failed(failure::timeout, at(0)));
    EXPECT_TRUE(in_a_row.failed(failure::timeout, at(500)));

    breaker_state half{options};
    half.succeeded(at(0));
    EXPECT_FALSE(half.failed(failure::timeout, at(0)));
    half.succeeded(at(50));
    EXPECT_TRUE(half.failed(failure::timeout, at(50)));

    breaker_state slow{options};
    slow.succeeded(at(0));
    EXPECT_FALSE(slow.failed(failure::timeout, at(0)));
    slow.succeeded(at(100));
    EXPECT_FALSE(slow.failed(failure::timeout, at(100))) << "half, but within two windows";

    half.probe_succeeded();
    EXPECT_FALSE(half.failed(failure::timeout, at(60)));
    EXPECT_TRUE(half.failed(failure::timeout, at(60))) << "still as it was told";
}

TEST(breaker_state, pauses_for_two_thirds_of_the_longest_pause_and_more)
{
    const breaker_state b{{}};
    EXPECT_EQ(b.pause(0), milliseconds{300});
    EXPECT_GT(b.pause(0.5), milliseconds{300});
    EXPECT_LE(b.pause(0.999), milliseconds{450});
    EXPECT_EQ((breaker_state{{.pause = milliseconds{30}}}.pause(0)), milliseconds{20});
}

}  // namespace breaker_state_test
}  // namespace gateway::store
