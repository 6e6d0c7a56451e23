// A shared store is asked for a correction until it has made it, or a minute has passed.
#include "gateway/limits/reservations/corrections.hpp"

#include "gateway/identity/bucket_name.hpp"
#include "tests/unit/limits/far_store.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace gateway::limits {
namespace corrections_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using kind = limit::correction::kind;

constexpr auto rest = milliseconds{100};

class correcting : public ::testing::Test {
protected:
    base::turn_clock clock;
    store::memory_store local{{.max_buckets = 16}};
    corrections all{local, clock};
    testing::far_store far;
    std::shared_ptr<const policy_view> view = std::make_shared<policy_view>();
    const policy::limit_rule rule{
        .name = "l", .key = {}, .limit = *limit::limit::make(10, std::chrono::hours{1}, 10)};
    telemetry::limit_metrics metrics;
    std::string name;

    correcting()
    {
        clock.set(base::now());
        identity::bucket_name of_client;
        of_client.start("l");
        of_client.add("a");
        name = of_client.bytes();
    }

    void make(const limit::correction& what, std::int64_t cost = 1)
    {
        all.make(
            view,
            {.rule = &rule,
             .limit = &rule.limit,
             .metrics = &metrics,
             .bucket_name = name,
             .cost = cost,
             .taken_at = clock.now(),
             .shared = &far},
            what
        );
    }

    void charge() { make({.what = kind::charge, .of = {.tokens = 1}}); }

    void pass(base::duration time)
    {
        clock.set(clock.now() + time);
        all.retry();
    }

    std::uint64_t lost() const { return metrics.corrections_lost.value(); }
};

TEST_F(correcting, asks_once_where_the_store_answers)
{
    charge();
    EXPECT_EQ(far.asked.size(), 1U);
    pass(seconds{10});
    EXPECT_EQ(far.asked.size(), 1U) << "it is still under way";
    far.answer_all();
    EXPECT_TRUE(all.idle());
    pass(rest);
    EXPECT_EQ(far.asked.size(), 1U);
    EXPECT_EQ(lost(), 0U);
}

TEST_F(correcting, asks_again_for_the_same_after_a_rest)
{
    far.refuses = true;
    charge();
    pass(rest - milliseconds{1});
    EXPECT_EQ(far.asked.size(), 1U);
    pass(milliseconds{1});
    EXPECT_EQ(far.asked.size(), 2U);
    far.refuses = false;
    pass(rest);
    far.fail_all();
    EXPECT_FALSE(all.idle()) << "what it did is not known";
    pass(rest);
    ASSERT_EQ(far.asked.size(), 4U);
    for (const std::string& receipt : far.receipts) {
        EXPECT_EQ(receipt, far.receipts[0]);
    }
    far.answer_all();
    EXPECT_TRUE(all.idle());
}

TEST_F(correcting, gives_up_after_a_minute)
{
    far.refuses = true;
    charge();
    pass(seconds{60});
    EXPECT_FALSE(all.idle());
    EXPECT_EQ(lost(), 0U);
    pass(milliseconds{1});
    EXPECT_TRUE(all.idle());
    EXPECT_EQ(lost(), 1U);
}

TEST_F(correcting, gives_nothing_back_that_has_come_back)
{
    far.refuses = true;
    const auto quick = *limit::limit::sliding(10, seconds{1}, 0);
    all.make(
        view,
        {.rule = &rule,
         .limit = &quick,
         .metrics = &metrics,
         .bucket_name = name,
         .taken_at = clock.now(),
         .shared = &far},
        {.what = kind::refund, .of = {.tokens = 1}}
    );
    EXPECT_EQ(far.asked.size(), 1U);
    EXPECT_GE(far.asked[0].of.held, 1);
    pass(seconds{10});
    EXPECT_EQ(far.asked.size(), 1U);
    EXPECT_TRUE(all.idle());
    EXPECT_EQ(lost(), 0U) << "nobody is the poorer for it";
}

TEST_F(correcting, says_how_long_the_tokens_were_held)
{
    far.refuses = true;
    make({.what = kind::refund, .of = {.tokens = 1}});
    pass(seconds{2});
    ASSERT_EQ(far.asked.size(), 2U);
    const auto more = far.asked[1].of.held - far.asked[0].of.held;
    EXPECT_EQ(more, seconds{2} / std::chrono::microseconds{1});
}

TEST_F(correcting, is_bounded)
{
    for (std::size_t i = 0; i < store::pending_corrections::max_pending; ++i) {
        charge();
    }
    EXPECT_EQ(lost(), 0U);
    charge();
    EXPECT_EQ(lost(), 1U);
    all.lose_all();
    EXPECT_TRUE(all.idle());
    EXPECT_EQ(lost(), 1U + store::pending_corrections::max_pending);
    far.answer_all();  // to those that are gone
}

TEST_F(correcting, of_the_local_store_is_made_at_once)
{
    store::answer a;
    const store::charge c{
        .limit_name = "l", .bucket_name = identity::hashed(name), .limit = &rule.limit, .cost = 4};
    ASSERT_TRUE(local.decide(store::intent::take, {&c, 1}, clock.now(), a));
    const reserved r{
        .rule = &rule,
        .limit = &rule.limit,
        .metrics = &metrics,
        .bucket_name = name,
        .cost = 4,
        .taken_at = clock.now()};
    all.make(view, r, {.what = kind::refund, .of = {.tokens = 4}});
    EXPECT_TRUE(all.idle());
    ASSERT_TRUE(local.decide(store::intent::look, {&c, 1}, clock.now(), a));
    EXPECT_EQ(a.decisions()[0].remaining, 10);
}

// The server may be at work on a request that is over, whose response corrects nothing any more.
TEST_F(correcting, places_part_from_charges)
{
    const auto taken = [this](std::int64_t place) {
        return reserved{
            .rule = &rule,
            .limit = &rule.limit,
            .metrics = &metrics,
            .bucket_name = name,
            .permit = place};
    };
    reservation request;
    request.begin(view);
    request.add(taken(0));
    EXPECT_FALSE(request.holds_permits());
    for (const std::int64_t place : {7, 0, 8}) {
        request.add(taken(place));
    }
    reservation places = request.part_with_permits();
    EXPECT_TRUE(places.holds_permits() && !request.holds_permits() && !request.empty());
    places.keep_charges();
    EXPECT_TRUE(places.holds_permits());
    request.keep_charges();
    EXPECT_TRUE(request.empty());
}

}  // namespace corrections_test
}  // namespace gateway::limits
