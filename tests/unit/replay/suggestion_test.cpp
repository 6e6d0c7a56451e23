#include "gateway/replay/suggestion.hpp"

#include "gateway/replay/rate_steps.hpp"
#include "gateway/replay/trial.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gateway::replay {
namespace suggestion_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

policy::limit_rule rule_of(const limit::limit& l, std::string rate)
{
    policy::limit_rule rule{.name = "l", .key = {}, .limit = l};
    rule.rate = std::move(rate);
    return rule;
}

const policy::limit_rule any_bucket = rule_of(*limit::limit::make(1, seconds{1}, 1), "1/s");

// Arrivals that are added in order.
class traffic {
public:
    void come(std::uint64_t client, base::duration at, std::int64_t cost = 1)
    {
        all.add({client, client}, at, cost);
    }

    std::optional<suggestion> suggest_for(
        double requests, const policy::limit_rule& rule = any_bucket
    )
    {
        return suggest(rule, all, {.requests = requests}, complaint);
    }

    // Share of requests that the numbers reject, found by one trial.
    double rejected_by(std::int64_t count, base::duration period, std::int64_t burst)
    {
        trial t;
        t.burst = burst;
        t.terms = limit::limit::make(count, period, burst)->in_nanoseconds();
        run_trials(all, {&t, 1});
        return static_cast<double>(t.rejected) / static_cast<double>(all.size());
    }

    arrivals all{1000};
    std::string complaint;
};

TEST(suggestion, of_a_steady_client_is_its_rate)
{
    traffic t;
    for (int i = 0; i < 600; ++i) {
        t.come(1, seconds{i});
    }
    const auto s = t.suggest_for(0);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->best.rate, "1/s");
    EXPECT_EQ(s->best.burst, 1);
}

TEST(suggestion, of_bursts_is_their_size)
{
    traffic t;
    for (int i = 0; i < 500; ++i) {
        for (int n = 0; n < 5; ++n) {
            t.come(1, seconds{10 * i} + milliseconds{n});
        }
    }
    const auto s = t.suggest_for(0);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->best.rate, "30/m");
    EXPECT_EQ(s->best.burst, 5);
}

TEST(suggestion, of_days_and_nights_is_that_of_days)
{
    traffic t;
    for (int day = 0; day < 3; ++day) {
        for (int second = 0; second < 86'400; second += second < 57'600 ? 10 : 600) {
            t.come(1, seconds{day * 86'400 + second});
        }
    }
    const auto s = t.suggest_for(0);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->best.rate, "6/m");
    EXPECT_EQ(s->best.burst, 1);
}

TEST(suggestion, may_reject_the_share_that_is_accepted)
{
    traffic t;
    for (int i = 0; i < 990; ++i) {
        t.come(1, seconds{i});
    }
    for (int i = 0; i < 10; ++i) {
        t.come(2, seconds{2000});
    }
    const auto all = t.suggest_for(0);
    ASSERT_TRUE(all);
    EXPECT_GE(all->best.burst, 10);
    const auto most = t.suggest_for(0.009);
    ASSERT_TRUE(most);
    EXPECT_EQ(most->best.rate, "1/s");
    EXPECT_EQ(most->best.burst, 1);
    EXPECT_NEAR(most->best.requests, 0.009, 1e-12);
    EXPECT_NEAR(most->best.clients, 0.5, 1e-12);
}

TEST(suggestion, of_clients)
{
    traffic t;
    for (std::uint64_t client = 0; client < 100; ++client) {
        for (std::uint64_t i = 0; i <= client / 99 * 20; ++i) {
            t.come(client, seconds{1});
        }
        t.come(client, seconds{100});
    }
    const auto s = suggest(any_bucket, t.all, {.clients = 0.01}, t.complaint);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->best.burst, 1);
    EXPECT_NEAR(s->best.clients, 0.01, 1e-12);
}

TEST(suggestion, no_pair_with_both_numbers_smaller_will_do)
{
    std::mt19937 random{36};
    for (int round = 0; round < 20; ++round) {
        traffic t;
        base::duration at{0};
        for (int i = 0; i < 400; ++i) {
            at += random() % 5 == 0 ? seconds{random() % 30} : milliseconds{random() % 400};
            t.come(random() % 3, at);
        }
        const double accepted = static_cast<double>(random() % 3) * 0.01;
        const auto s = t.suggest_for(accepted);
        ASSERT_TRUE(s) << t.complaint;
        for (const suggested_numbers& n : s->curve) {
            EXPECT_LE(n.requests, accepted);
            const auto slower = static_cast<std::int64_t>(n.per_second * 86'400) - 1;
            if (n.burst > 1 && slower > 0) {
                EXPECT_GT(t.rejected_by(slower, std::chrono::hours{24}, n.burst - 1), accepted)
                    << n.rate << ", " << n.burst;
            }
        }
    }
}

TEST(suggestion, of_windows_and_of_a_sliding_log_is_a_count)
{
    limit::window_options options;
    options.count = 1;
    options.length = seconds{60};
    options.aligned = true;
    for (const auto& rule :
         {rule_of(*limit::limit::in_windows(options), "1/m"),
          rule_of(*limit::limit::sliding(1, seconds{60}, 0), "1/m")}) {
        traffic t;
        for (int minute = 0; minute < 50; ++minute) {
            for (int n = 0; n < 7; ++n) {
                t.come(1, seconds{60 * minute + n});
            }
        }
        const auto s = t.suggest_for(0, rule);
        ASSERT_TRUE(s);
        EXPECT_EQ(s->best.rate, "7/m");
        EXPECT_EQ(s->best.burst, 7);
    }
}

TEST(suggestion, says_why_there_is_none)
{
    traffic t;
    EXPECT_FALSE(t.suggest_for(0));
    EXPECT_EQ(t.complaint, "it judged no request");
    t.come(1, seconds{1});
    EXPECT_FALSE(t.suggest_for(0, rule_of(*limit::limit::in_flight(1, seconds{10}), "")));
    EXPECT_EQ(t.complaint, "it counts requests in flight");
}

TEST(rate_steps, rise_by_little_and_are_written_plainly)
{
    const auto all = rate_steps();
    EXPECT_EQ(all.front().text(), "1/d");
    EXPECT_EQ(all.back().text(), "1000000/s");
    for (std::size_t i = 1; i < all.size(); ++i) {
        EXPECT_LT(all[i - 1].per_second(), all[i].per_second());
    }
}

TEST(arrivals, are_sorted_by_bucket_and_stay_in_order)
{
    arrivals all{3};
    std::mt19937 random{1};
    for (int i = 0; i < 10'000; ++i) {
        all.add({random() % 5, 0}, base::duration{i}, 1);
    }
    EXPECT_TRUE(all.is_partial());
    EXPECT_EQ(all.buckets(), 3U);
    ASSERT_TRUE(all.sort());
    arrival last{};
    std::uint64_t seen = 0;
    all.for_each([&](const arrival& a) {
        EXPECT_TRUE(a.bucket == last.bucket ? a.at >= last.at : a.bucket > last.bucket);
        last = a;
        ++seen;
    });
    EXPECT_EQ(seen, all.size());
}

TEST(arrivals, are_sorted_if_one_bucket_has_more_than_memory_holds)
{
    arrivals all{3};
    for (std::size_t i = 0; i < arrivals::most_in_memory + 10; ++i) {
        all.add({i % 1000 == 0 ? 1U : 0U, 0}, base::duration{i}, 1);
        all.add({2, 0}, base::duration{i}, 1);
    }
    ASSERT_TRUE(all.sort());
    arrival last{};
    std::uint64_t seen = 0;
    bool in_order = true;
    all.for_each([&](const arrival& a) {
        in_order = in_order && (a.bucket == last.bucket ? a.at >= last.at : a.bucket > last.bucket);
        last = a;
        ++seen;
    });
    EXPECT_TRUE(in_order);
    EXPECT_EQ(seen, all.size());
}

TEST(suggestion, names_the_keys_that_it_leaves_out)
{
    traffic t;
    t.come(1, seconds{1});
    t.come(1, seconds{2});
    policy::limit_rule rule = any_bucket;
    EXPECT_TRUE(t.suggest_for(0, rule)->without.empty());
    rule.penalty.after = 2;
    rule.cost.caps = true;
    rule.shards = 2;
    rule.max_wait = seconds{1};
    rule.outcome.charge_on.ranges = {{401, 401}};
    rule.outcome.reset_on.ranges = {{200, 299}};
    rule.outcome.settle_header = "x-used";
    const std::vector<std::string> all{
        "penalty", "reserve: cap", "shards", "max_wait", "charge_on", "reset_on", "settle"};
    EXPECT_EQ(t.suggest_for(0, rule)->without, all);
}

}  // namespace suggestion_test
}  // namespace gateway::replay
