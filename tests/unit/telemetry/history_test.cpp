#include "gateway/telemetry/history/history.hpp"

#include <gtest/gtest.h>

namespace gateway::telemetry {
namespace {

using std::chrono::seconds;

constexpr std::size_t index_of(outcome o)
{
    return static_cast<std::size_t>(o);
}

TEST(history, holds_what_each_second_has_counted)
{
    totals now;
    now.limits["l"].decisions[index_of(outcome::allowed)] = 100;
    history past(now);
    now.limits["l"].decisions[index_of(outcome::allowed)] = 103;
    now.limits["l"].decisions[index_of(outcome::rejected)] = 2;
    now.requests.duration[0] = 5;
    now.requests.refused[static_cast<std::size_t>(refusal_reason::rejected)] = 2;
    past.add(now, seconds{1000});
    past.add(now, seconds{1001});

    ASSERT_EQ(past.seconds().size(), 2U);
    const second& first = past.seconds().front();
    EXPECT_EQ(first.number, 1U);
    EXPECT_EQ(first.at, seconds{1000});
    EXPECT_EQ(first.requests.allowed, 3U);
    EXPECT_EQ(first.requests.refused[static_cast<std::size_t>(refusal_reason::rejected)], 2U);
    EXPECT_EQ(first.requests.all(), 5U);
    ASSERT_EQ(first.limits.size(), 1U);
    EXPECT_EQ(past.limit_name(first.limits[0]), "l");
    EXPECT_EQ(first.limits[0].of(outcome::allowed), 3U);
    EXPECT_TRUE(past.seconds().back().limits.empty());
    EXPECT_EQ(past.seconds().back().requests.all(), 0U);
}

TEST(history, keeps_ten_minutes)
{
    history past({});
    for (std::size_t i = 0; i < history::length + 5; ++i) {
        past.add({}, seconds{i});
    }
    EXPECT_EQ(past.seconds().size(), history::length);
    EXPECT_EQ(past.seconds().front().number, 6U);
    EXPECT_EQ(past.last_number(), history::length + 5);
}

TEST(history, keeps_so_many_names_apart_and_counts_the_others_in_sums)
{
    history past({});
    totals now;
    for (std::size_t i = 0; i < history::most_names + 3; ++i) {
        now.limits["l" + std::to_string(i)].decisions[0] = 1;
    }
    past.add(now, seconds{1});
    EXPECT_EQ(past.seconds().back().limits.size(), history::most_names);
}

TEST(history, gives_up_names_that_no_kept_second_has)
{
    history past({});
    totals now;
    for (std::size_t i = 0; i < history::most_names; ++i) {
        now.limits["old" + std::to_string(i)].decisions[0] = 1;
    }
    past.add(now, seconds{1});
    now.limits["new"];
    for (std::size_t i = 1; i < history::length; ++i) {
        now.limits["new"].decisions[0] += 1;
        past.add(now, seconds{1 + i});
        ASSERT_TRUE(past.seconds().back().limits.empty()) << "the first second is still kept";
    }
    now.limits["new"].decisions[0] += 1;
    past.add(now, seconds{1 + history::length});
    ASSERT_EQ(past.seconds().back().limits.size(), 1U);
    EXPECT_EQ(past.limit_name(past.seconds().back().limits[0]), "new");
}

TEST(history, shows_a_store_that_is_down_although_nobody_asks)
{
    history past({});
    totals now;
    now.stores["s"];
    past.add(now, seconds{1});
    EXPECT_TRUE(past.seconds().back().stores.empty());
    now.stores["s"].is_up = false;
    past.add(now, seconds{2});
    ASSERT_EQ(past.seconds().back().stores.size(), 1U);
    EXPECT_FALSE(past.seconds().back().stores[0].is_up);
}

TEST(history, names_the_reason_of_most_failures)
{
    history past({});
    totals now;
    now.upstreams["u"].failures[3] = 2;
    now.upstreams["u"].failures[5] = 7;
    past.add(now, seconds{1});
    const upstream_second& u = past.seconds().back().upstreams.at(0);
    EXPECT_EQ(u.failures, 9U);
    EXPECT_EQ(u.reason, 5);
    EXPECT_FALSE(u.took.p50.has_value());
}

TEST(history, counts_a_thing_that_was_counted_anew_from_nothing)
{
    totals now;
    now.stores["s"].requests = 50;
    history past(now);
    now.stores["s"].requests = 4;
    past.add(now, seconds{1});
    EXPECT_EQ(past.seconds().back().stores.at(0).calls, 4U);
}

TEST(quantile, is_even_within_a_bucket)
{
    duration_counts counts{};
    EXPECT_FALSE(quantile(counts, 0.5).has_value());
    counts[1] = 10;  // from 0.1 ms to 0.25 ms
    EXPECT_NEAR(quantile(counts, 0.5).value(), 0.000175, 1e-9);
    EXPECT_NEAR(quantile(counts, 1).value(), 0.00025, 1e-9);
    counts.back() = 1000;
    EXPECT_NEAR(quantile(counts, 0.99).value(), 10, 1e-9);
}

}  // namespace
}  // namespace gateway::telemetry
