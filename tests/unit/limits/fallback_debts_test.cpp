// What was admitted while a store failed is charged to it once, when it can be asked again.
#include "gateway/limits/reservations/fallback_debts.hpp"

#include "gateway/identity/bucket_name.hpp"
#include "tests/unit/limits/far_store.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gateway::limits {
namespace fallback_debts_test {

using testing::far_store;

class debts : public ::testing::Test {
protected:
    base::turn_clock clock;
    store::memory_store local{{.max_buckets = 16}};
    corrections made{local, clock};
    fallback_debts all{made, clock};
    std::shared_ptr<far_store> far = std::make_shared<far_store>();
    std::shared_ptr<const policy_view> view = std::make_shared<policy_view>();
    const policy::limit_rule rule{
        .name = "l", .key = {}, .limit = *limit::limit::make(10, std::chrono::hours{1}, 10)};
    telemetry::limit_metrics metrics;

    static std::string name_of(std::string_view client)
    {
        identity::bucket_name name;
        name.start("l");
        name.add(client);
        return std::string{name.bytes()};
    }

    void owe(const std::string& client, std::int64_t tokens)
    {
        owe(client, tokens, rule, clock.now());
    }

    void owe(
        const std::string& client,
        std::int64_t tokens,
        const policy::limit_rule& under,
        base::instant taken_at
    )
    {
        all.add(view, taken(client, tokens, under, taken_at, *far));
    }

    reserved taken(
        const std::string& client,
        std::int64_t tokens,
        const policy::limit_rule& under,
        base::instant taken_at,
        far_store& from
    )
    {
        return {
            .rule = &under,
            .limit = &under.limit,
            .metrics = &metrics,
            .bucket_name = name_of(client),
            .cost = tokens,
            .taken_at = taken_at,
            .shared = &from};
    }

    std::uint64_t lost() const { return metrics.corrections_lost.value(); }
};

TEST_F(debts, wait_until_the_store_is_well_and_are_charged_once)
{
    owe("a", 1);
    owe("b", 2);
    owe("a", 3);
    all.settle();
    EXPECT_TRUE(far->charged.empty());
    far->well = true;
    all.settle();
    all.settle();
    EXPECT_EQ(
        far->charged, (std::map<std::string, std::int64_t>{{name_of("a"), 4}, {name_of("b"), 2}})
    );
    far->answer_all();
    EXPECT_TRUE(made.idle());
    EXPECT_FALSE(far->asked[0].into_debt);
    EXPECT_NE(far->receipts[0], far->receipts[1]);
}

TEST_F(debts, that_nobody_could_be_charged_for_an_hour_are_lost)
{
    owe("a", 1);
    clock.set(clock.now() + fallback_debts::kept_for);
    all.settle();
    EXPECT_FALSE(all.idle());
    clock.set(clock.now() + std::chrono::nanoseconds{1});
    all.settle();
    EXPECT_TRUE(all.idle());
    EXPECT_EQ(lost(), 1U);
}

TEST_F(debts, are_a_full_bucket_at_most)
{
    for (int i = 0; i < 30; ++i) {
        owe("a", 1);
    }
    far->well = true;
    all.settle();
    EXPECT_EQ(far->charged[name_of("a")], 10);
    far->answer_all();
}

TEST_F(debts, of_a_request_that_had_to_wait_are_charged_under_the_policy_of_later_ones)
{
    policy::limit_rule larger = rule;
    larger.limit = *limit::limit::make(20, std::chrono::hours{1}, 20);
    owe("a", 15, larger, clock.now() + std::chrono::seconds{1});
    owe("a", 1, rule, clock.now());
    far->well = true;
    all.settle();
    EXPECT_EQ(far->charged[name_of("a")], 16);
    far->answer_all();
}

TEST_F(debts, wait_while_there_is_no_room_for_corrections)
{
    far_store gone;
    while (made.has_room()) {
        made.make(
            view,
            taken("b", 1, rule, clock.now(), gone),
            {.what = limit::correction::kind::charge, .of = {.tokens = 1}}
        );
    }
    owe("a", 1);
    far->well = true;
    all.settle();
    EXPECT_FALSE(all.idle());
    EXPECT_EQ(lost(), 0U);
    made.lose_all();
    all.settle();
    EXPECT_EQ(far->charged[name_of("a")], 1);
    far->answer_all();
}

TEST_F(debts, are_bounded)
{
    for (std::size_t i = 0; i < fallback_debts::max_buckets + 5; ++i) {
        owe(std::to_string(i), 1);
    }
    EXPECT_EQ(lost(), 5U);
    owe("1", 1);
    EXPECT_EQ(lost(), 5U) << "one that is known needs no room";
    all.lose_all();
    EXPECT_EQ(lost(), 5U + fallback_debts::max_buckets);
    far->well = true;
    all.settle();
    EXPECT_TRUE(far->charged.empty());
}

}  // namespace fallback_debts_test
}  // namespace gateway::limits
