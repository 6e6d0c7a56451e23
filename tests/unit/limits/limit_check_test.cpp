#include "tests/unit/limits/limit_check_fixture.hpp"

namespace gateway::limits {
namespace limit_check_test {

using policy::failure_policy;
using policy::limit_rule;
using telemetry::outcome;
using ::testing::ElementsAre;
using testing::limits;
using is = verdict::ruling;

TEST_F(limits, of_the_local_store_decide_at_once)
{
    add("a", policy::local_store, 2);
    add("b", policy::local_store, 5);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::allowed);
    const verdict& v = ask();
    EXPECT_EQ(v.is, is::rejected);
    EXPECT_EQ(v.deciding()->rule->name, "a");
    EXPECT_GT(v.retry_after(), std::chrono::minutes{59});
    EXPECT_EQ(count(0, outcome::allowed), 2U);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 2U);
    EXPECT_EQ(count(1), 2U);  // it was not charged by the request that was rejected
    EXPECT_EQ(left(1), 3);
    EXPECT_EQ(heard, 0);
}

TEST_F(limits, of_the_shared_store_are_asked_in_one_question_and_decide_later)
{
    add("a", elsewhere, 2);
    add("b", elsewhere, 2);
    add("c", policy::local_store, 2);
    ask();
    ASSERT_TRUE(pending());
    EXPECT_EQ(shared->questions, 1);
    EXPECT_THAT(shared->asked, ElementsAre("a", "b"));
    EXPECT_EQ(count(2), 0U);
    shared->answer({true, true}, true);
    EXPECT_EQ(heard, 1);
    EXPECT_EQ(said().is, is::allowed);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(count(i, outcome::allowed), 1U);
        EXPECT_EQ(count(i), 1U);
    }
    EXPECT_EQ(said().deciding()->rule->name, "c");
}

TEST_F(limits, give_local_tokens_back_when_the_shared_store_rejects)
{
    add("a", elsewhere, 2);
    add("c", policy::local_store, 3);
    ask();
    shared->answer({false}, false);
    EXPECT_EQ(said().is, is::rejected);
    EXPECT_EQ(said().retry_after(), std::chrono::seconds{3});
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1), 0U);
    EXPECT_EQ(left(1), 3);
}

TEST_F(limits, of_the_shared_store_are_not_asked_when_the_local_one_rejects)
{
    add("a", elsewhere, 2);
    add("c", policy::local_store, 1);
    ask();
    shared->answer({true}, true);
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_FALSE(pending());
    EXPECT_EQ(shared->questions, 1);
    EXPECT_EQ(said().deciding()->rule->name, "c");
    EXPECT_EQ(reports(), 1U) << "of what was not asked nothing is said";
    EXPECT_EQ(count(0), 1U);
    EXPECT_EQ(count(1, outcome::rejected), 1U);
}

TEST_F(limits, that_are_remembered_as_empty_reject_without_asking_and_take_nothing)
{
    add("a", elsewhere, 2);
    add("b", elsewhere, 2);
    add("c", policy::local_store, 3);
    shared->recalled.emplace();
    shared->recalled->add({.allowed = false, .retry_after = std::chrono::hours{2}});
    shared->recalled->add_unknown();
    shared->recalled->admitted = false;
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_FALSE(pending());
    EXPECT_EQ(shared->questions, 0);
    EXPECT_EQ(said().retry_after(), std::chrono::hours{2});
    EXPECT_EQ(said().limits()[2].decision.remaining, 3);
    EXPECT_EQ(reports(), 2U);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1), 0U);
    EXPECT_EQ(count(2), 0U);
    EXPECT_EQ(left(2), 3);
}

TEST_F(limits, of_which_tokens_are_leased_decide_at_once)
{
    add("a", elsewhere, 2).lease = {.percent = 10};
    add("c", policy::local_store, 2);
    shared->leased.emplace();
    shared->leased->add({.allowed = true, .remaining = 6});
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_FALSE(pending());
    EXPECT_EQ(shared->questions, 0);
    ASSERT_NE(shared->lease, nullptr);
    EXPECT_EQ(shared->lease->percent, 10);
    EXPECT_EQ(said().limits()[0].decision.remaining, 6);
    EXPECT_EQ(count(0, outcome::allowed), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 1U);
    EXPECT_EQ(ask().is, is::allowed);
    shared->lease = nullptr;
    EXPECT_EQ(ask().is, is::rejected) << "by the local one";
    EXPECT_EQ(shared->lease, nullptr) << "nothing is taken that would have to be given back";
}

TEST_F(limits, of_which_tokens_are_leased_are_corrected_in_the_store)
{
    limit_rule& rule = add("a", elsewhere, 2);
    rule.lease = {.percent = 10};
    rule.outcome.charge_on.ranges = {{500, 599}};
    shared->leased.emplace();
    shared->leased->add({.allowed = true, .remaining = 6, .reset_after = std::chrono::hours{2}});
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(shared->questions, 0);
    respond(200);
    EXPECT_EQ(shared->questions, 1) << "the correction";
}

TEST_F(limits, without_leases_take_none)
{
    add("a", elsewhere, 2);
    ask();
    EXPECT_EQ(shared->lease, nullptr);
}

TEST_F(limits, that_are_remembered_as_empty_are_named_with_the_local_ones_in_the_way)
{
    add("a", elsewhere, 2);
    add("c", policy::local_store, 1);
    ask();
    shared->answer({true}, true);
    shared->recalled.emplace();
    shared->recalled->add({.allowed = false, .retry_after = std::chrono::seconds{2}});
    shared->recalled->admitted = false;
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_GT(said().retry_after(), std::chrono::minutes{59});
    EXPECT_FALSE(said().limits()[0].decision.allowed);
    EXPECT_FALSE(said().limits()[1].decision.allowed);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1, outcome::rejected), 1U);
}

TEST_F(limits, in_shadow_mode_that_are_remembered_as_empty_are_not_asked_and_let_pass)
{
    add("a", elsewhere, 2).mode = policy::mode::shadow;
    add("c", policy::local_store, 3);
    shared->recalled.emplace();
    shared->recalled->add({.allowed = false, .retry_after = std::chrono::seconds{2}});
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(shared->questions, 0);
    EXPECT_EQ(count(0, outcome::shadow_rejected), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 1U);
    shared->recalled.reset();
    EXPECT_EQ(left(1), 2);
}

struct failing {
    std::vector<failure_policy> policies;
    std::vector<bool> shadow;
    is result;
    std::vector<outcome> outcomes;
    std::vector<std::uint64_t> counts;
};

class store_failures : public limits, public ::testing::WithParamInterface<failing> {};

TEST_P(store_failures, mean_what_each_limit_says)
{
    for (std::size_t i = 0; i < GetParam().policies.size(); ++i) {
        limit_rule& r = add(std::to_string(i), elsewhere, 2);
        r.on_store_failure = GetParam().policies[i];
        r.mode = GetParam().shadow[i] ? policy::mode::shadow : policy::mode::enforce;
    }
    const std::size_t home = GetParam().policies.size();
    add("home", policy::local_store, 9);
    for (const bool at_once : {false, true}) {
        shared->refuses = at_once ? std::optional(store::failure::open) : std::nullopt;
        ask();
        EXPECT_EQ(pending(), !at_once);
        shared->fail();
        EXPECT_EQ(said().is, GetParam().result);
        for (std::size_t i = 0; i < home; ++i) {
            EXPECT_EQ(said().limits()[i].what, GetParam().outcomes[i]) << i;
            EXPECT_EQ(count(i), (at_once ? 2U : 1U) * GetParam().counts[i]) << i;
        }
    }
    EXPECT_EQ(heard, 1);
    EXPECT_EQ(left(home), GetParam().result == is::allowed ? 7 : 9);
}

using enum failure_policy;

INSTANTIATE_TEST_SUITE_P(
    all,
    store_failures,
    ::testing::Values(
        failing{{open}, {false}, is::allowed, {outcome::failed_open}, {1}},
        failing{{closed}, {false}, is::unavailable, {outcome::failed_closed}, {1}},
        failing{
            {policy::failure_policy::local}, {false}, is::allowed, {outcome::failed_local}, {1}},
        failing{
            {open, closed},
            {false, false},
            is::unavailable,
            {outcome::failed_open, outcome::failed_closed},
            {0, 1}},
        failing{{closed}, {true}, is::allowed, {outcome::failed_open}, {1}},
        failing{
            {open, policy::failure_policy::local, closed},
            {false, false, true},
            is::allowed,
            {outcome::failed_open, outcome::failed_local, outcome::failed_open},
            {1, 1, 1}}
    )
);

TEST_F(limits, decide_locally_from_buckets_of_their_own_while_their_store_fails)
{
    add("a", elsewhere, 2).on_store_failure = policy::failure_policy::local;
    add("c", policy::local_store, 9);
    shared->refuses = store::failure::open;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_EQ(count(0, outcome::failed_local), 2U);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(left(1), 7);
}

// The store may have given the place all the same.
TEST_F(limits, give_back_a_place_of_a_store_that_failed_under_its_own_name)
{
    limit_rule& a = add("a_long_name_of_a_limit", elsewhere, 2);
    a.limit = *limit::limit::in_flight(2, std::chrono::seconds{10});
    a.on_store_failure = policy::failure_policy::local;
    ask();
    const std::string asked = shared->bucket;
    shared->fail();
    EXPECT_EQ(said().is, is::allowed);
    EXPECT_EQ(count(0, outcome::failed_local), 1U);
    end_request();
    EXPECT_EQ(shared->questions, 2);
    EXPECT_EQ(shared->bucket, asked);
    EXPECT_EQ(bucket_of(0), asked);
}

TEST_F(limits, in_shadow_mode_never_reject)
{
    add("a", policy::local_store, 1).mode = policy::mode::shadow;
    add("b", policy::local_store, 9);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(count(0, outcome::allowed), 1U);
    EXPECT_EQ(count(0, outcome::shadow_rejected), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 2U);
    EXPECT_EQ(reports(), 1U);  // and the client is not told
}

TEST_F(limits, are_unavailable_when_the_table_has_no_room_but_not_for_one_in_shadow_mode)
{
    use_table_without_room();
    limit_rule& a = add("a", policy::local_store, 9);
    EXPECT_EQ(ask_without_room().is, is::unavailable);
    EXPECT_EQ(count(0, outcome::failed_closed), 1U);
    a.mode = policy::mode::shadow;
    EXPECT_EQ(ask_without_room().is, is::allowed);
    EXPECT_EQ(count(0, outcome::failed_open), 1U);
    add("b", policy::local_store, 9);
    EXPECT_EQ(ask_without_room().is, is::unavailable);
    EXPECT_EQ(count(1, outcome::failed_closed), 1U);
    EXPECT_EQ(count(0), 2U);
    add("far", elsewhere, 9);
    EXPECT_EQ(ask_without_room().is, is::unavailable);
    EXPECT_EQ(shared->questions, 0) << "a 503 says nothing of other limits";
}

TEST_F(limits, that_were_abandoned_tell_nobody)
{
    add("a", elsewhere, 2);
    ask();
    abandon();
    shared->answer({true}, true);
    shared->fail();
    EXPECT_EQ(heard, 0);
    EXPECT_EQ(count(0), 0U);
    ask();  // and may be used again
    shared->answer({true}, true);
    EXPECT_EQ(heard, 1);
}

TEST_F(limits, that_could_not_be_decided_are_named_before_those_that_allowed)
{
    add("b", policy::local_store, 5);
    add("a", elsewhere, 2);
    shared->refuses = store::failure::open;
    ask();
    EXPECT_EQ(said().deciding()->rule->name, "a");
}

TEST_F(limits, in_shadow_mode_that_reject_are_named_whatever_the_others_have_left)
{
    add("a", policy::local_store, 2);
    add("b", policy::local_store, 1).mode = policy::mode::shadow;
    add("c", policy::local_store, 1).mode = policy::mode::shadow;
    add("d", policy::local_store, 1).mode = policy::mode::shadow;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(shadow_rejections(), "");
    EXPECT_EQ(ask().is, is::allowed);  // nobody has anything left now
    EXPECT_EQ(said().deciding()->rule->name, "b");
    EXPECT_EQ(shadow_rejections(), "b,c,d");
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_EQ(said().deciding()->rule->name, "a");
    EXPECT_EQ(shadow_rejections(), "") << "they are not counted, either";
    EXPECT_EQ(count(1, outcome::shadow_rejected), 1U);
}

TEST_F(limits, whose_buckets_are_rejected_most_are_counted_as_their_decisions_are)
{
    add("a", policy::local_store, 2);
    add("b", policy::local_store, 1).mode = policy::mode::shadow;
    for (int i = 0; i < 5; ++i) {
        ask();
    }
    EXPECT_EQ(count(0, outcome::rejected), 3U);
    EXPECT_EQ(count(1, outcome::shadow_rejected), 1U);
    EXPECT_EQ(top_rejections(), 4U);
}

}  // namespace limit_check_test
}  // namespace gateway::limits
