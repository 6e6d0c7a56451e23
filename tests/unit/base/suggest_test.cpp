#include "gateway/base/suggest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gateway::base {
namespace suggest_test {

constexpr std::array<std::string_view, 5> known{"key", "rate", "burst", "cost", "on_store_failure"};

TEST(suggest, distance_counts_single_edits_and_swaps)
{
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("burst", "burst"), 0U);
    EXPECT_EQ(edit_distance("bursst", "burst"), 1U);
    EXPECT_EQ(edit_distance("brust", "burst"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(suggest, slips_are_recognised_whatever_the_case)
{
    EXPECT_EQ(nearest("bursst", known), "burst");
    EXPECT_EQ(nearest("RATE", known), "rate");
    EXPECT_EQ(nearest("on_store", known), "on_store_failure");
    EXPECT_EQ(nearest("on_store_fail", known), "on_store_failure");
    EXPECT_EQ(suggestion("brst", known), ", did you mean \"burst\"?");
}

TEST(suggest, other_words_get_the_list_of_known_ones)
{
    EXPECT_EQ(nearest("zebra", known), "");
    EXPECT_EQ(
        suggestion("zzzzzz", known), "; known here: key, rate, burst, cost, on_store_failure"
    );
    EXPECT_EQ(suggestion("zzzzzz", {}), "");
    EXPECT_EQ(nearest(std::string(100'000, 'r'), known), "");
}

}  // namespace suggest_test
}  // namespace gateway::base
