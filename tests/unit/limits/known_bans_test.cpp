#include "gateway/limits/reports/known_bans.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::limits {
namespace known_bans_test {

using namespace std::chrono_literals;

const base::instant start{1h};

void note(
    known_bans& bans, const std::string& name, base::duration length, base::instant now = start
)
{
    bans.note(base::hashed_name{name}, now + length, now);
}

TEST(known_bans, tell_those_that_are_not_over)
{
    known_bans bans;
    note(bans, "a", 1s);
    note(bans, "b", 3s);
    note(bans, "b", 2s);
    EXPECT_EQ(bans.all(start).size(), 2U);
    const auto later = bans.all(start + 1s);
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later[0].name, "b");
    EXPECT_EQ(later[0].until, start + 2s) << "what was heard last";
    EXPECT_TRUE(bans.all(start + 2s).empty());
}

TEST(known_bans, are_bounded_and_make_room_for_others_when_they_are_over)
{
    known_bans bans;
    for (std::size_t i = 0; i < known_bans::most; ++i) {
        note(bans, std::to_string(i), i == 0 ? 1s : 1h);
    }
    EXPECT_FALSE(bans.leaves_out(start));
    note(bans, "more", 1h);
    EXPECT_TRUE(bans.leaves_out(start));
    EXPECT_FALSE(bans.leaves_out(start + 1h));
    EXPECT_EQ(bans.all(start).size(), known_bans::most);
    note(bans, "more", 1h, start + 2s);
    EXPECT_EQ(bans.all(start + 2s).size(), known_bans::most);
    note(bans, "even more", 1h, start + 2s);
    EXPECT_EQ(bans.all(start + 2s).size(), known_bans::most);
    EXPECT_TRUE(bans.leaves_out(start + 1h)) << "as long as the last one lasts";
}

TEST(known_bans, leave_out_names_that_are_too_long)
{
    known_bans bans;
    note(bans, std::string(known_bans::longest_name, 'x'), 1s);
    note(bans, std::string(known_bans::longest_name + 1, 'x'), 1s);
    EXPECT_EQ(bans.all(start).size(), 1U);
    EXPECT_TRUE(bans.leaves_out(start));
}

TEST(known_bans, of_several_workers_are_told_once_the_longest_first)
{
    const auto all = merged(std::vector<known_bans::ban>{
        {"a", start + 1s}, {"b", start + 3s}, {"a", start + 2s}, {"c", start + 2s}});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].name, "b");
    EXPECT_EQ(all[1].name, "a");
    EXPECT_EQ(all[1].until, start + 2s);
    EXPECT_EQ(all[2].name, "c");
}

}  // namespace known_bans_test
}  // namespace gateway::limits
