#include "gateway/limits/reports/recent_rejections.hpp"

#include <gtest/gtest.h>

namespace gateway::limits {
namespace {

rejection_of<std::string_view> one(std::string_view bucket, std::string_view path = "/")
{
    return {.route = "r", .limit = "l", .bucket_name = bucket, .path = path};
}

TEST(recent_rejections, returns_those_not_seen_oldest_first)
{
    recent_rejections all;
    EXPECT_TRUE(all.after(0).empty());
    all.add(one("a"));
    all.add(one("b"));
    all.add(one("c"));
    EXPECT_EQ(all.count(), 3U);
    const auto fresh = all.after(1);
    ASSERT_EQ(fresh.size(), 2U);
    EXPECT_EQ(fresh[0].bucket_name, "b");
    EXPECT_EQ(fresh[1].bucket_name, "c");
    EXPECT_TRUE(all.after(3).empty());
}

TEST(recent_rejections, keeps_the_last_ones)
{
    recent_rejections all;
    for (std::size_t i = 0; i < 3 * recent_rejections::most + 7; ++i) {
        all.add(one(std::to_string(i)));
    }
    const auto kept = all.after(0);
    ASSERT_EQ(kept.size(), recent_rejections::most);
    EXPECT_EQ(kept.front().bucket_name, std::to_string(2 * recent_rejections::most + 7));
    EXPECT_EQ(kept.back().bucket_name, std::to_string(3 * recent_rejections::most + 6));
}

TEST(recent_rejections, cuts_texts_and_leaves_out_names_that_are_too_long)
{
    recent_rejections all;
    const std::string longest(recent_rejections::longest_name, 'n');
    all.add(one(longest, std::string(5000, 'p')));
    all.add(one(longest + 'n'));
    EXPECT_EQ(all.after(0)[0].bucket_name, longest);
    EXPECT_EQ(all.after(0)[0].path.size(), recent_rejections::longest_text);
    EXPECT_TRUE(all.after(0)[1].bucket_name.empty());
}

}  // namespace
}  // namespace gateway::limits
