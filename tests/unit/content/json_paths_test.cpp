#include "gateway/content/json_paths.hpp"

#include <gtest/gtest.h>

namespace gateway::content {
namespace json_paths_test {

TEST(json_paths, have_one_to_eight_names_of_one_to_64_visible_characters)
{
    using names = std::vector<std::string>;
    EXPECT_EQ(json_paths::parse("model"), (names{"model"}));
    EXPECT_EQ(json_paths::parse("messages.0.role"), (names{"messages", "0", "role"}));
    EXPECT_EQ(json_paths::parse("a.b.c.d.e.f.g.h")->size(), 8U);
    EXPECT_EQ(json_paths::parse(std::string(64, 'n'))->size(), 1U);
    for (const std::string& bad :
         {std::string{},
          std::string{"."},
          std::string{"a."},
          std::string{".a"},
          std::string{"a..b"},
          std::string{"a b"},
          std::string{"a\n"},
          std::string{"\xc3\xa9"},
          std::string{"a.b.c.d.e.f.g.h.i"},
          std::string(65, 'n')}) {
        EXPECT_FALSE(json_paths::parse(bad)) << bad;
    }
}

TEST(json_paths, are_numbered_as_they_come_and_each_once)
{
    json_paths paths;
    EXPECT_EQ(paths.add("a.b"), 0U);
    EXPECT_EQ(paths.add("a"), 1U);
    EXPECT_EQ(paths.add("a.b"), 0U);
    EXPECT_EQ(paths.add("a.c"), 2U);
    EXPECT_EQ(paths.count(), 3U);
}

TEST(json_paths, know_what_lies_below_a_name)
{
    json_paths paths;
    const auto ab = paths.add("a.b");
    const auto a = paths.add("a");
    const auto c = paths.add("c");
    const auto child = paths.child_of(json_paths::root, "a");
    ASSERT_TRUE(child);
    const auto& node = paths.at(paths.at(json_paths::root).children[*child]);
    EXPECT_EQ(node.path, *a);
    EXPECT_EQ(node.below, only(*a) | only(*ab));
    EXPECT_EQ(paths.at(json_paths::root).below, only(*a) | only(*ab) | only(*c));
    EXPECT_FALSE(paths.child_of(json_paths::root, "b"));
}

TEST(json_paths, are_at_most_64)
{
    json_paths paths;
    for (std::size_t i = 0; i < json_paths::most; ++i) {
        EXPECT_EQ(paths.add("n" + std::to_string(i)), i);
    }
    EXPECT_FALSE(paths.add("one.more"));
    EXPECT_EQ(paths.add("n7"), 7U) << "it is there already";
}

TEST(json_paths, may_occur_where_their_names_stand)
{
    json_paths paths;
    paths.add("usage.in");
    paths.add("message.usage.out");
    paths.add("total");
    EXPECT_TRUE(paths.may_occur_in(R"({"usage":{}})"));
    EXPECT_TRUE(paths.may_occur_in(R"({"total":1})"));
    EXPECT_TRUE(paths.may_occur_in(R"({"us\u0061ge":{"out":1}})"));
    EXPECT_FALSE(paths.may_occur_in(R"({"in":1,"message":"\n"})"));
    EXPECT_FALSE(paths.may_occur_in(""));
}

TEST(json_paths, may_always_occur_if_a_name_need_not_stand_there)
{
    for (const std::string path : {"0", "choices.0.text", "a/b", "a\\b.c", "a\"b"}) {
        json_paths paths;
        paths.add("usage");
        paths.add(path);
        EXPECT_TRUE(paths.may_occur_in("[]")) << path;
    }
}

}  // namespace json_paths_test
}  // namespace gateway::content
