#include "tests/unit/limits/descriptor_fixture.hpp"

#include <gmock/gmock.h>

namespace gateway::limits {
namespace descriptor_admitter_test {

using namespace testing;
using telemetry::outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string hits(std::uint64_t n)
{
    return text(3, number(1, n));
}

std::string own_limit(std::uint32_t requests, time_unit unit)
{
    return text(2, number(1, requests) + number(2, static_cast<std::uint64_t>(unit)));
}

TEST_F(descriptors, are_told_their_limits_in_their_order)
{
    add("a", 5);
    add("b", 60);
    const auto answer =
        ask(descriptor("b", "1") + descriptor("unknown", "1") + descriptor("a", "1"));
    EXPECT_EQ(answer.overall, code::ok);
    ASSERT_EQ(answer.statuses.size(), 3U);
    EXPECT_EQ(answer.statuses[0].verdict, code::ok);
    EXPECT_EQ(answer.statuses[0].limit, "b");
    EXPECT_EQ(answer.statuses[0].requests_per_unit, 60U);
    EXPECT_EQ(answer.statuses[0].unit, time_unit::hour);
    EXPECT_EQ(answer.statuses[0].remaining, 59U);
    EXPECT_EQ(answer.statuses[0].reset, 60);
    EXPECT_EQ(answer.statuses[1].verdict, code::ok);
    EXPECT_EQ(answer.statuses[1].limit, "");
    EXPECT_EQ(answer.statuses[1].reset, 0);
    EXPECT_EQ(answer.statuses[2].limit, "a");
    EXPECT_EQ(answer.statuses[2].unit, time_unit::unknown) << "five minutes are no unit";
    EXPECT_EQ(answer.statuses[2].remaining, 4U);
}

TEST_F(descriptors, have_a_bucket_for_each_value)
{
    add("a", 1);
    EXPECT_EQ(ask(descriptor("a", "1")).overall, code::ok);
    EXPECT_EQ(ask(descriptor("a", "2")).overall, code::ok);
    EXPECT_EQ(ask(descriptor("a", "")).overall, code::ok) << "an empty value is one";
    for (const char* const value : {"1", "2", ""}) {
        const auto answer = ask(descriptor("a", value));
        EXPECT_EQ(answer.overall, code::over_limit);
        EXPECT_EQ(answer.statuses[0].verdict, code::over_limit);
        EXPECT_EQ(answer.statuses[0].remaining, 0U);
    }
    EXPECT_EQ(ask(descriptor("a", "3") + descriptor("a", "4")).overall, code::ok)
        << "two of one question, too";
    EXPECT_EQ(ask(descriptor("a", "5") + descriptor("a", "5")).overall, code::over_limit);
}

TEST_F(descriptors, are_charged_all_or_nothing)
{
    add("a", 1);
    add("b", 3);
    ask(descriptor("a", "x"));
    const auto answer = ask(descriptor("b", "y") + descriptor("a", "x"));
    EXPECT_EQ(answer.overall, code::over_limit);
    EXPECT_EQ(answer.statuses[0].verdict, code::ok);
    EXPECT_EQ(answer.statuses[0].remaining, 3U);
    EXPECT_EQ(answer.statuses[1].verdict, code::over_limit);
    EXPECT_EQ(ask(descriptor("b", "y")).statuses[0].remaining, 2U);
    EXPECT_EQ(record.deciding_limit, "b");
}

TEST_F(descriptors, have_the_first_rule_whose_entries_are_theirs)
{
    add("k", 5);
    auto& all = rules.services[0].descriptors;
    all.insert(all.begin(), {.match = {{.key = "k", .value = "staff"}}, .limits = {}});
    all.push_back({.match = {{.key = "k"}, {.key = "path"}}, .limits = {0}});
    EXPECT_EQ(ask(descriptor("k", "staff")).statuses[0].limit, "");
    EXPECT_EQ(ask(descriptor("k", "other")).statuses[0].limit, "k");
    const std::string two = text(2, entry("k", "other") + entry("path", "/"));
    EXPECT_EQ(ask(two).statuses[0].remaining, 3U) << "the bucket of k alone";
    EXPECT_EQ(ask(text(2, entry("path", "/") + entry("k", "other"))).statuses[0].limit, "");
    EXPECT_EQ(
        ask(text(2, entry("k", "a") + entry("path", "/") + entry("x", ""))).statuses[0].limit, ""
    );
}

TEST_F(descriptors, cost_the_hits)
{
    add("a", 10);
    EXPECT_EQ(ask(descriptor("a", "1")).statuses[0].remaining, 9U);
    EXPECT_EQ(ask(descriptor("a", "1") + number(3, 0)).statuses[0].remaining, 8U);
    EXPECT_EQ(ask(descriptor("a", "1") + number(3, 3)).statuses[0].remaining, 5U);
    EXPECT_EQ(ask(descriptor("a", "1", hits(2)) + number(3, 100)).statuses[0].remaining, 3U);
    const auto look = ask(descriptor("a", "1", hits(0)));
    EXPECT_EQ(look.overall, code::ok);
    EXPECT_EQ(look.statuses[0].remaining, 3U) << "0 takes nothing";
    EXPECT_EQ(ask(descriptor("a", "1", hits(4))).overall, code::over_limit);
    EXPECT_EQ(ask(descriptor("a", "1", hits(3))).overall, code::ok);
    const auto empty = ask(descriptor("a", "1", hits(0)));
    EXPECT_EQ(empty.overall, code::ok) << "nothing is asked for";
    EXPECT_EQ(empty.statuses[0].remaining, 0U);
}

TEST_F(descriptors, that_cost_more_than_a_bucket_holds_are_over_the_limit)
{
    add("a", 10);
    for (const std::uint64_t n :
         {std::uint64_t{11}, std::uint64_t{1} << 40U, std::uint64_t{1} << 63U, UINT64_MAX}) {
        const auto answer = ask(descriptor("a", "1", hits(n)));
        EXPECT_EQ(answer.overall, code::over_limit) << n;
        EXPECT_EQ(answer.statuses[0].remaining, 10U);
        EXPECT_EQ(answer.headers.count("Retry-After"), 0U) << "no wait would help";
    }
    EXPECT_EQ(ask(descriptor("a", "1") + number(3, UINT32_MAX)).overall, code::over_limit);
    EXPECT_EQ(ask(descriptor("a", "1", hits(10))).overall, code::ok);
}

TEST_F(descriptors, bring_numbers_of_their_own_along)
{
    add("a", 2);
    const auto answer = ask(descriptor("a", "1", own_limit(100, time_unit::hour)));
    EXPECT_EQ(answer.statuses[0].requests_per_unit, 100U);
    EXPECT_EQ(answer.statuses[0].unit, time_unit::hour);
    EXPECT_EQ(answer.statuses[0].remaining, 99U);
    EXPECT_EQ(ask(descriptor("a", "1")).overall, code::ok) << "of two, in the same bucket";
    EXPECT_EQ(ask(descriptor("a", "1")).overall, code::over_limit);
    for (const time_unit unit :
         {time_unit::second,
          time_unit::minute,
          time_unit::day,
          time_unit::week,
          time_unit::month,
          time_unit::year}) {
        const std::string name = "u" + std::to_string(static_cast<int>(unit));
        EXPECT_EQ(ask(descriptor("a", name, own_limit(7, unit))).statuses[0].remaining, 6U) << name;
    }
    EXPECT_EQ(ask(descriptor("unknown", "1", own_limit(1, time_unit::day))).overall, code::ok);
    EXPECT_EQ(ask(descriptor("unknown", "1", own_limit(1, time_unit::day))).overall, code::ok)
        << "no limit, no bucket";
}

TEST_F(descriptors, that_share_a_bucket_are_under_the_numbers_of_the_first)
{
    add("a", 2);
    const std::string many = descriptor("a", "1", own_limit(100, time_unit::hour));
    const auto first = ask(many + descriptor("a", "1") + descriptor("a", "2"));
    EXPECT_EQ(first.statuses[0].remaining, 99U);
    EXPECT_EQ(first.statuses[1].requests_per_unit, 100U);
    EXPECT_EQ(first.statuses[1].remaining, 98U);
    EXPECT_EQ(first.statuses[2].requests_per_unit, 2U) << "another bucket";
    const auto second =
        ask(descriptor("a", "3") + descriptor("a", "3", own_limit(100, time_unit::hour)));
    EXPECT_EQ(second.statuses[1].remaining, 0U) << "of two";
}

TEST_F(descriptors, that_bring_along_no_requests_are_over_the_limit)
{
    add("a", 2);
    add("b", 2);
    const auto answer =
        ask(descriptor("b", "1") + descriptor("a", "1", own_limit(0, time_unit::hour)));
    EXPECT_EQ(answer.overall, code::over_limit);
    EXPECT_EQ(answer.statuses[0].verdict, code::ok);
    EXPECT_EQ(answer.statuses[1].verdict, code::over_limit);
    EXPECT_EQ(count(0, outcome::blocked), 1U);
    EXPECT_EQ(ask(descriptor("b", "1")).statuses[0].remaining, 1U) << "nothing was taken";
}

TEST_F(descriptors, that_bring_along_the_impossible_are_invalid)
{
    add("a", 2);
    for (const time_unit unit : {time_unit::unknown, static_cast<time_unit>(9)}) {
        const std::string message = text(1, "edge") + descriptor("a", "1", own_limit(5, unit));
        EXPECT_EQ(send(message), grpc_status::invalid_argument);
        EXPECT_THAT(detail, HasSubstr("limit that a descriptor brings along"));
    }
    const std::string fast = descriptor("a", "1", own_limit(UINT32_MAX, time_unit::second));
    EXPECT_EQ(send(text(1, "edge") + fast), grpc_status::invalid_argument);
    EXPECT_EQ(ask(descriptor("a", "1")).statuses[0].remaining, 1U) << "nothing was taken";
}

TEST_F(descriptors, that_give_hits_back_are_invalid)
{
    add("a", 2);
    EXPECT_EQ(
        send(text(1, "edge") + descriptor("a", "1", number(4, 1))), grpc_status::invalid_argument
    );
    EXPECT_EQ(detail, "hits cannot be refunded");
    EXPECT_EQ(ask(descriptor("a", "1", number(4, 0))).statuses[0].remaining, 1U);
}

TEST_F(descriptors, of_other_domains_have_no_limit)
{
    add("a", 1);
    const std::string two = descriptor("a", "1") + descriptor("a", "1");
    const auto answer = ask_message(text(1, "other") + two);
    EXPECT_EQ(answer.overall, code::ok);
    ASSERT_EQ(answer.statuses.size(), 2U);
    EXPECT_EQ(answer.statuses[1].verdict, code::ok);
    EXPECT_EQ(answer.statuses[1].limit, "");
    EXPECT_TRUE(answer.headers.empty());
}

TEST_F(descriptors, are_needed_and_so_is_a_domain)
{
    add("a", 1);
    EXPECT_EQ(send(descriptor("a", "1")), grpc_status::invalid_argument);
    EXPECT_EQ(detail, "the domain must not be empty");
    EXPECT_EQ(send(text(1, "edge")), grpc_status::invalid_argument);
    EXPECT_EQ(detail, "there must be a descriptor");
    EXPECT_EQ(send("no message"), grpc_status::invalid_argument);
    EXPECT_EQ(send(""), grpc_status::invalid_argument);
}

TEST_F(descriptors, are_told_ok_in_shadow_mode)
{
    add("a", 1).mode = policy::mode::shadow;
    EXPECT_EQ(ask(descriptor("a", "1")).overall, code::ok);
    const auto answer = ask(descriptor("a", "1"));
    EXPECT_EQ(answer.overall, code::ok);
    EXPECT_EQ(answer.statuses[0].verdict, code::ok);
    EXPECT_EQ(count(0, outcome::shadow_rejected), 1U);
    EXPECT_EQ(record.shadow_rejected, "a");
    EXPECT_EQ(record.refused_for, std::nullopt);
}

TEST_F(descriptors, are_told_the_headers_that_a_client_would_get)
{
    add("a", 2);
    EXPECT_THAT(
        ask(descriptor("a", "1")).headers,
        UnorderedElementsAre(
            Pair("X-RateLimit-Limit", "2"),
            Pair("X-RateLimit-Remaining", "1"),
            Pair("X-RateLimit-Reset", "60")
        )
    );
    ask(descriptor("a", "1"));
    EXPECT_THAT(
        ask(descriptor("a", "1")).headers,
        UnorderedElementsAre(
            Pair("X-RateLimit-Limit", "2"),
            Pair("X-RateLimit-Remaining", "0"),
            Pair("X-RateLimit-Reset", "120"),
            Pair("Retry-After", "60")
        )
    );
    clock.set(clock.now() + std::chrono::seconds{59});
    EXPECT_EQ(ask(descriptor("a", "1")).overall, code::over_limit);
    clock.set(clock.now() + std::chrono::seconds{1});
    EXPECT_EQ(ask(descriptor("a", "1")).overall, code::ok);
}

TEST_F(descriptors, show_the_tightest_of_their_limits)
{
    add("a", 5);
    add("b", 3);
    rules.services[0].descriptors[0].limits = {0, 1};
    rules.limits[1].key = {part("a")};
    EXPECT_EQ(ask(descriptor("a", "1")).statuses[0].limit, "b");
    ask(descriptor("a", "1"));
    ask(descriptor("a", "1"));
    const auto answer = ask(descriptor("a", "1"));
    EXPECT_EQ(answer.statuses[0].limit, "b");
    EXPECT_EQ(answer.overall, code::over_limit);
}

TEST_F(descriptors, under_more_than_eight_limits_are_invalid)
{
    add("a", 1);
    std::string all = text(1, "edge");
    for (int i = 0; i < 8; ++i) {
        all += descriptor("a", std::to_string(i));
    }
    EXPECT_EQ(send(all + descriptor("unknown", "1")), grpc_status::ok);
    EXPECT_EQ(send(all + descriptor("a", "8")), grpc_status::invalid_argument);
    EXPECT_THAT(detail, HasSubstr("more than 8 limits"));
}

TEST_F(descriptors, have_plans)
{
    policy::plan_table members{base::random_hash_key()};
    for (const char* const plan : {"gold", "staff", "banned"}) {
        members.add(plan, members.plan_named(plan));
    }
    rules.plans.push_back(
        {.name = "api",
         .key = part("a"),
         .members = std::make_shared<const policy::plan_table>(std::move(members))}
    );
    using kind = policy::plan_rule::kind;
    const auto own = *limit::limit::make(1, std::chrono::hours{1}, 1);
    add("a", 1).plan = {
        .plans = 0,
        .rules = {
            {"gold", kind::limited, *limit::limit::make(9, std::chrono::hours{1}, 9)},
            {"staff", kind::unlimited, own},
            {"banned", kind::blocked, own}}};
    EXPECT_EQ(ask(descriptor("a", "gold")).statuses[0].remaining, 8U);
    EXPECT_EQ(record.plans, "gold");
    const auto unlimited = ask(descriptor("a", "staff") + descriptor("a", "x"));
    EXPECT_EQ(unlimited.statuses[0].verdict, code::ok);
    EXPECT_EQ(unlimited.statuses[0].remaining, UINT32_MAX);
    EXPECT_EQ(unlimited.statuses[0].limit, "");
    EXPECT_EQ(unlimited.statuses[1].remaining, 0U);
    const auto banned = ask(descriptor("a", "y") + descriptor("a", "banned"));
    EXPECT_EQ(banned.overall, code::over_limit);
    EXPECT_EQ(banned.statuses[0].verdict, code::ok);
    EXPECT_EQ(banned.statuses[1].verdict, code::over_limit);
    EXPECT_EQ(record.refused_for, telemetry::refusal_reason::blocked);
    EXPECT_EQ(ask(descriptor("a", "y")).overall, code::ok) << "nothing was taken";
}

TEST_F(descriptors, are_recorded)
{
    add("a", 4);
    ask(descriptor("a", "1") + number(3, 3));
    EXPECT_EQ(record.outcome, "allowed");
    EXPECT_EQ(record.deciding_limit, "a");
    ASSERT_EQ(record.costs.all().size(), 1U);
    EXPECT_EQ(record.costs.all()[0].tokens, 3);
    EXPECT_TRUE(record.decided);
    ask(descriptor("a", "1") + number(3, 3));
    EXPECT_EQ(record.outcome, "rejected");
    EXPECT_EQ(record.refused_for, telemetry::refusal_reason::rejected);
    EXPECT_EQ(record.retry_after, std::chrono::minutes{2});
    EXPECT_THAT(record.bucket_name, HasSubstr("1"));
    EXPECT_EQ(count(0, outcome::allowed), 1U);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
}

TEST_F(descriptors, ask_a_shared_store_once_for_all)
{
    add("a", 5, elsewhere);
    add("b", 5, elsewhere);
    add("c", 5);
    send(text(1, "edge") + descriptor("a", "1") + descriptor("c", "1") + descriptor("b", "1"));
    ASSERT_TRUE(pending);
    EXPECT_EQ(shared->questions, 1);
    EXPECT_THAT(shared->asked, ElementsAre("a", "b"));
    shared->answer({true, true}, true);
    ASSERT_FALSE(pending);
    EXPECT_EQ(answered().overall, code::ok);
    EXPECT_EQ(answered().statuses[0].remaining, 7U);
    EXPECT_EQ(answered().statuses[1].remaining, 4U);
    send(text(1, "edge") + descriptor("a", "1") + descriptor("c", "1") + descriptor("b", "1"));
    shared->answer({true, false}, false);
    EXPECT_EQ(answered().overall, code::over_limit);
    EXPECT_EQ(answered().statuses[0].verdict, code::ok);
    EXPECT_EQ(answered().statuses[2].verdict, code::over_limit);
    EXPECT_EQ(ask(descriptor("c", "1")).statuses[0].remaining, 3U) << "its token came back";
}

TEST_F(descriptors, follow_the_policy_of_a_store_that_fails)
{
    using policy::failure_policy;
    add("open", 5, elsewhere);
    add("closed", 5, elsewhere).on_store_failure = failure_policy::closed;
    add("local", 5, elsewhere).on_store_failure = failure_policy::local;
    for (const bool at_once : {true, false}) {
        const auto failing = [&](const std::string& key) {
            shared->refuses = at_once ? std::optional{store::failure::unreachable} : std::nullopt;
            send(text(1, "edge") + descriptor(key, at_once ? "1" : "2"));
            shared->fail();
            return status();
        };
        EXPECT_EQ(failing("open"), grpc_status::ok);
        EXPECT_EQ(answered().overall, code::ok);
        EXPECT_EQ(answered().statuses[0].limit, "");
        EXPECT_EQ(failing("closed"), grpc_status::unavailable);
        EXPECT_EQ(failing("local"), grpc_status::ok);
        EXPECT_EQ(answered().statuses[0].remaining, 4U);
    }
    EXPECT_EQ(count(1, outcome::failed_closed), 2U);
}

TEST_F(descriptors, may_be_abandoned)
{
    add("a", 5, elsewhere);
    send(text(1, "edge") + descriptor("a", "1"));
    ASSERT_TRUE(pending);
    abandon();
    shared->answer({true}, true);
    EXPECT_TRUE(pending) << "nobody hears of it";
    send(text(1, "edge") + descriptor("a", "1"));
    shared->answer({true}, true);
    EXPECT_FALSE(pending);
}

}  // namespace descriptor_admitter_test
}  // namespace gateway::limits
