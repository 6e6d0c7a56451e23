#include "gateway/policy/plan_table.hpp"

#include "gateway/policy/plan.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace gateway::policy {
namespace plan_table_test {

using added = plan_table::added;
using ::testing::ElementsAre;

constexpr base::hash_key key{1, 2};

plan_table::added add(plan_table& to, const char* prefix, plan_id plan)
{
    return to.add(*base::ip_prefix::parse(prefix), plan);
}

int plan_of(const plan_table& in, const char* address)
{
    return in.find(*base::ip_address::parse(address));
}

TEST(plan_table, is_empty_at_first)
{
    const plan_table t{key};
    EXPECT_EQ(t.find("a"), 0);
    EXPECT_EQ(plan_of(t, "10.0.0.1"), 0);
    EXPECT_EQ(t.size(), 0U);
}

TEST(plan_table, knows_plans_by_the_order_of_their_names)
{
    plan_table t{key};
    EXPECT_EQ(t.plan_named("gold"), 1);
    EXPECT_EQ(t.plan_named("free"), 2);
    EXPECT_EQ(t.plan_named("gold"), 1);
    EXPECT_THAT(t.names(), ElementsAre("gold", "free"));
}

TEST(plan_table, has_room_for_so_many_names)
{
    plan_table t{key};
    for (std::size_t i = 1; i <= max_plan_names; ++i) {
        EXPECT_EQ(t.plan_named(std::to_string(i)), i);
    }
    EXPECT_EQ(t.plan_named("one more"), 0);
    EXPECT_EQ(t.plan_named("255"), 255);
}

TEST(plan_table, finds_what_was_added_and_nothing_else)
{
    plan_table t{key};
    for (int i = 0; i < 20'000; ++i) {
        ASSERT_EQ(t.add("key" + std::to_string(i), static_cast<plan_id>(i % 255 + 1)), added::yes);
    }
    EXPECT_EQ(t.size(), 20'000U);
    for (int i = 0; i < 20'000; ++i) {
        ASSERT_EQ(t.find("key" + std::to_string(i)), i % 255 + 1);
        ASSERT_EQ(t.find("kez" + std::to_string(i)), 0);
    }
    EXPECT_EQ(t.find(""), 0);
}

TEST(plan_table, takes_less_than_a_hundred_bytes_for_a_key)
{
    plan_table t{key};
    for (int i = 0; i < 50'000; ++i) {
        t.add(std::to_string(i), 1);
        if (i > 100) {
            ASSERT_LE(t.bytes(), 50 * t.size()) << i;
        }
    }
    EXPECT_GE(t.bytes(), 17 * t.size());
}

TEST(plan_table, refuses_two_plans_for_one_key)
{
    plan_table t{key};
    EXPECT_EQ(t.add("a", 1), added::yes);
    EXPECT_EQ(t.add("a", 1), added::yes);
    EXPECT_EQ(t.add("a", 2), added::has_another_plan);
    EXPECT_EQ(t.find("a"), 1);
    EXPECT_EQ(t.size(), 1U);
    EXPECT_EQ(add(t, "10.0.0.0/8", 1), added::yes);
    EXPECT_EQ(add(t, "10.0.0.0/8", 2), added::has_another_plan);
    EXPECT_EQ(add(t, "10.0.0.0/9", 2), added::yes);
}

TEST(plan_table, looks_at_no_key_that_is_too_long)
{
    plan_table t{key};
    const std::string longest(longest_plan_key, 'x');
    t.add(longest, 1);
    t.add(longest + "x", 1);
    EXPECT_EQ(t.find(longest), 1);
    EXPECT_EQ(t.find(longest + "x"), 0);
}

TEST(plan_table, the_longest_prefix_decides)
{
    plan_table t{key};
    add(t, "0.0.0.0/0", 1);
    add(t, "10.1.2.3", 4);
    add(t, "10.0.0.0/8", 2);
    add(t, "10.1.0.0/16", 3);
    EXPECT_EQ(plan_of(t, "11.0.0.1"), 1);
    EXPECT_EQ(plan_of(t, "10.2.0.1"), 2);
    EXPECT_EQ(plan_of(t, "10.1.2.2"), 3);
    EXPECT_EQ(plan_of(t, "10.1.2.3"), 4);
    EXPECT_EQ(plan_of(t, "::ffff:10.1.2.3"), 4);
    EXPECT_EQ(plan_of(t, "2001:db8::1"), 0);
}

TEST(plan_table, prefixes_of_one_family_have_nothing_of_the_other)
{
    plan_table t{key};
    add(t, "::/0", 1);
    add(t, "2001:db8::/32", 2);
    add(t, "2001:db8::7", 3);
    EXPECT_EQ(plan_of(t, "10.0.0.1"), 0);
    EXPECT_EQ(plan_of(t, "::1"), 1);
    EXPECT_EQ(plan_of(t, "2001:db8::8"), 2);
    EXPECT_EQ(plan_of(t, "2001:db8::7"), 3);
}

// Held against the prefixes themselves, asked one by one.
TEST(plan_table, agrees_with_a_search_through_all_prefixes)
{
    std::mt19937 random{7};
    const auto address = [&random] {  // few enough that prefixes overlap
        const auto digit = [&random] { return static_cast<std::uint32_t>(random() % 16); };
        return base::ip_address::v4(0x0a000000U | (digit() << 20) | digit());
    };
    plan_table t{key};
    std::map<std::string, plan_id> all;
    for (int i = 0; i < 200; ++i) {
        const int length = static_cast<int>(random() % 33);
        const std::string text =
            address().masked(length, 0).to_string() + '/' + std::to_string(length);
        const auto plan = static_cast<plan_id>(random() % 255 + 1);
        if (all.emplace(text, plan).second) {
            ASSERT_EQ(add(t, text.c_str(), plan), added::yes);
        }
    }
    for (int i = 0; i < 5'000; ++i) {
        const base::ip_address a = address();
        int longest = -1;
        plan_id expected = 0;
        for (const auto& [text, plan] : all) {
            const auto prefix = *base::ip_prefix::parse(text);
            if (prefix.contains(a) && prefix.length() > longest) {
                longest = prefix.length();
                expected = plan;
            }
        }
        ASSERT_EQ(t.find(a), expected) << a.to_string();
    }
}

TEST(plan_choice, gives_each_plan_its_rule_and_the_others_the_limit_itself)
{
    const auto numbers = *limit::limit::make(1, std::chrono::seconds{1}, 1);
    plan_table t{key};
    t.plan_named("free");
    t.plan_named("gold");
    t.plan_named("silver");
    plan_choice c{
        .plans = 0,
        .rules = {
            {"gold", plan_rule::kind::limited, numbers},
            {"guests", plan_rule::kind::blocked, numbers},
            {"silver", plan_rule::kind::unlimited, numbers}}};
    c.finish(t, "guests");
    EXPECT_EQ(c.of(0), &c.rules[1]);
    EXPECT_EQ(c.of(t.plan_named("free")), nullptr);
    EXPECT_EQ(c.of(t.plan_named("gold")), &c.rules[0]);
    EXPECT_EQ(c.of(t.plan_named("silver")), &c.rules[2]);
    c.finish(t, "");
    EXPECT_EQ(c.of(0), nullptr);
}

}  // namespace plan_table_test
}  // namespace gateway::policy
