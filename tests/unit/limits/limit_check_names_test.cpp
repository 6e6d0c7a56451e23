#include "tests/unit/limits/limit_check_fixture.hpp"

namespace gateway::limits {
namespace limit_check_names_test {

using policy::failure_policy;
using policy::limit_rule;
using telemetry::outcome;
using ::testing::AnyOf;
using ::testing::EndsWith;
using testing::limits;
using is = verdict::ruling;

TEST_F(limits, with_a_missing_key_do_as_they_say)
{
    const policy::key_part header{policy::key_part::source::header, "x-key"};
    limit_rule& a = add("a", policy::local_store, 9);
    a.key = {header};
    a.when_missing = policy::missing_key::skip;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(said().count, 0U);
    EXPECT_EQ(said().deciding(), nullptr);
    a.when_missing = policy::missing_key::client_ip;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(count(0), 1U);
    a.when_missing = policy::missing_key::reject;
    EXPECT_EQ(ask().is, is::unidentified);
    EXPECT_EQ(said().deciding()->rule->name, "a");
    EXPECT_EQ(count(0), 1U);
    a.mode = policy::mode::shadow;
    EXPECT_EQ(ask().is, is::allowed);
}

TEST_F(limits, with_the_same_key_have_the_buckets_that_each_has_alone)
{
    using policy::missing_key;
    const policy::key_part header{policy::key_part::source::header, "x-key"};
    const policy::key_part host{policy::key_part::source::host, ""};

    struct rule {
        std::vector<policy::key_part> key;
        missing_key when_missing = missing_key::reject;
        std::int64_t parts = 1;
    };

    const std::vector<rule> rules{
        {.key = {{}, header}, .when_missing = missing_key::skip},
        {.key = {{}}, .parts = 2},
        {.key = {{}}},
        {.key = {{}, host}},
        {.key = {{}}},
        {.key = {{}}, .parts = 2},
        {.key = {{}, header}, .when_missing = missing_key::client_ip},
        {.key = {{}, host}},
    };
    std::size_t names = 0;
    for (const rule& r : rules) {
        limit_rule& added = add(std::string(++names, 'x'), policy::local_store, 100);
        added.key = r.key;
        added.when_missing = r.when_missing;
        if (r.parts > 1) {
            added.limit = *added.limit.split(r.parts);
        }
    }
    std::vector<std::string> alone;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        alone.push_back(bucket_alone(i));
    }
    EXPECT_EQ(alone[0], "none");
    ask();
    ASSERT_EQ(said().count, rules.size() - 1);
    for (std::size_t i = 1; i < rules.size(); ++i) {
        EXPECT_EQ(bucket_of(i - 1), alone[i]) << i;
        if (rules[i].parts == 1) {
            EXPECT_EQ(said().limits()[i - 1].decision.remaining, 98) << i;
        }
    }
}

TEST_F(limits, name_the_bucket_in_their_own_store_whoever_decides)
{
    add("a", elsewhere, 2).on_store_failure = failure_policy::local;
    ask();
    const std::string asked = shared->bucket;
    EXPECT_EQ(bucket_of(0), asked);
    shared->fail();
    EXPECT_EQ(said().deciding()->what, outcome::failed_local);
    EXPECT_EQ(bucket_of(0), asked);
}

TEST_F(limits, that_are_split_charge_one_part_and_tell_of_the_whole)
{
    limit_rule& rule = add("a", elsewhere, 20);
    rule.limit = *rule.limit.split(2);
    ask();
    EXPECT_THAT(shared->bucket, AnyOf(EndsWith("0/2"), EndsWith("1/2")));
    const std::string charged = shared->bucket;
    shared->answer({true}, true);  // 7 of 10
    EXPECT_EQ(said().limits()[0].decision.remaining, 14);
    EXPECT_EQ(said().limits()[0].limit->burst(), 20);
    EXPECT_EQ(bucket_of(0), charged.substr(0, bucket_of(0).size()));
    EXPECT_EQ(bucket_of(0).size() + 4 + 3, charged.size()) << "people hear of the whole bucket";
}

TEST_F(limits, that_are_split_give_out_no_more_than_the_whole)
{
    limit_rule& rule = add("a", policy::local_store, 19);
    rule.limit = *rule.limit.split(8);
    int passed = 0;
    for (int i = 0; i < 500; ++i) {
        passed += ask().is == is::allowed ? 1 : 0;
    }
    EXPECT_EQ(passed, 19);
}

TEST_F(limits, that_are_split_are_corrected_in_the_part_that_was_charged)
{
    limit_rule& rule = add("a", elsewhere, 20);
    rule.limit = *rule.limit.split(2);
    rule.outcome.reset_on.ranges.emplace_back(200, 299);
    ask();
    const std::string charged = shared->bucket;
    const std::int64_t burst = shared->burst;
    shared->answer({true}, true);
    shared->bucket.clear();
    respond(200);
    EXPECT_EQ(shared->questions, 2);
    EXPECT_EQ(shared->bucket, charged);
    EXPECT_EQ(shared->burst, burst);
    EXPECT_EQ(burst, 10);
}

TEST_F(limits, that_are_split_fall_back_to_a_part_of_their_own)
{
    limit_rule& rule = add("a", elsewhere, 20);
    rule.limit = *rule.limit.split(2);
    rule.on_store_failure = failure_policy::local;
    ask();
    shared->fail();
    EXPECT_EQ(said().is, is::allowed);
    EXPECT_EQ(said().limits()[0].decision.remaining, 18) << "9 of 10 in one of two parts";
}

}  // namespace limit_check_names_test
}  // namespace gateway::limits
