#include "config/limits/window_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <set>

namespace gateway::config {
namespace window_start_test {

constexpr std::int64_t hour = 3600;

std::vector<std::int64_t> begins(std::string_view text, window_unit unit, const std::string& zone)
{
    return calendar_of(parse_wall_clock(text, unit).value(), zone)->begins;
}

std::set<std::int64_t> lengths(const std::vector<std::int64_t>& begins)
{
    std::set<std::int64_t> all;
    for (std::size_t i = 1; i < begins.size(); ++i) {
        all.insert((begins[i] - begins[i - 1]) / hour);
    }
    return all;
}

bool begins_at(const std::vector<std::int64_t>& begins, std::int64_t second)
{
    return std::binary_search(begins.begin(), begins.end(), second);
}

TEST(window_start, is_a_time_with_a_day_where_there_is_a_choice)
{
    const auto weekly = parse_wall_clock("sun 23:59", window_unit::week);
    ASSERT_TRUE(weekly);
    EXPECT_EQ(weekly->day, 7U);
    EXPECT_EQ(weekly->hour, 23U);
    EXPECT_EQ(weekly->minute, 59U);
    EXPECT_EQ(parse_wall_clock("28 00:00", window_unit::month)->day, 28U);
    EXPECT_EQ(parse_wall_clock("08:00", window_unit::month)->day, 1U);
    for (const char* bad :
         {"",
          "8:00",
          "08:0",
          "08:000",
          "24:00",
          "08:60",
          "0800",
          "08.00",
          "+8:00",
          " 08:00",
          "08:00 ",
          "1 08:00",
          "mon 08:00",
          "08:00:00",
          "08:00Z"}) {
        EXPECT_FALSE(parse_wall_clock(bad, window_unit::day)) << bad;
    }
    for (const char* bad : {"Mon 08:00", "monday 08:00", "1 08:00", "mon", "mon  08:00"}) {
        EXPECT_FALSE(parse_wall_clock(bad, window_unit::week)) << bad;
    }
    for (const char* bad : {"0 08:00", "29 08:00", "mon 08:00", "01 08:00", "1"}) {
        EXPECT_FALSE(parse_wall_clock(bad, window_unit::month)) << bad;
    }
}

// date -d "TZ=..." +%s says the same of each.
TEST(window_start, follows_both_clock_changes_of_a_year)
{
    const auto daily = begins("08:00", window_unit::day, "Europe/Berlin");
    EXPECT_EQ(lengths(daily), (std::set<std::int64_t>{23, 24, 25}));
    EXPECT_TRUE(begins_at(daily, 1774681200)) << "2026-03-28 08:00 +01";
    EXPECT_TRUE(begins_at(daily, 1774681200 + 23 * hour)) << "2026-03-29 08:00 +02";
    EXPECT_TRUE(begins_at(daily, 1792911600)) << "2026-10-25 08:00 +01, 25 hours after";
    EXPECT_TRUE(begins_at(daily, 1792911600 - 25 * hour));
}

TEST(window_start, that_a_clock_change_leaves_out_is_that_of_the_change)
{
    const auto daily = begins("02:30", window_unit::day, "Europe/Berlin");
    EXPECT_TRUE(begins_at(daily, 1774746000)) << "2026-03-29 03:00 +02";
    EXPECT_TRUE(begins_at(daily, 1792888200)) << "2026-10-25 02:30 +02, the first of two";
    EXPECT_FALSE(begins_at(daily, 1792888200 + hour));
}

TEST(window_start, knows_months_and_leap_days)
{
    const auto monthly = begins("1 00:00", window_unit::month, "UTC");
    EXPECT_EQ(lengths(monthly), (std::set<std::int64_t>{28 * 24, 29 * 24, 30 * 24, 31 * 24}));
    EXPECT_TRUE(begins_at(monthly, 1835481600)) << "2028-02-29 is in February: 2028-03-01";
    EXPECT_TRUE(begins_at(monthly, 4296844800)) << "2106-03-01, past 32 bits";
    EXPECT_EQ(monthly.front(), 1577836800) << "2020-01-01";
    const auto late = begins("28 23:59", window_unit::month, "UTC");
    EXPECT_EQ(late.size(), monthly.size());
}

TEST(window_start, of_a_week_is_on_its_day)
{
    const auto weekly = begins("mon 08:00", window_unit::week, "UTC");
    EXPECT_EQ(lengths(weekly), (std::set<std::int64_t>{7 * 24}));
    EXPECT_EQ(weekly.front(), 1578297600) << "Monday, 2020-01-06 08:00";
    EXPECT_EQ(begins("wed 00:00", window_unit::week, "UTC").front(), 1577836800) << "2020-01-01";
}

TEST(window_start, in_an_unknown_zone_is_none)
{
    EXPECT_EQ(calendar_of({}, "Mars/Olympus"), nullptr);
    EXPECT_EQ(calendar_of({}, ""), nullptr);
    EXPECT_EQ(calendar_of({}, "../../etc/passwd"), nullptr);
}

// glibc reads the rule at the end of a zone's file.
TEST(window_start, follows_clock_changes_after_those_that_files_name)
{
    for (const char* zone :
         {"Europe/Berlin",
          "America/New_York",
          "Australia/Sydney",
          "Africa/Cairo",
          "Asia/Jerusalem",
          "America/Mexico_City",
          "Europe/Istanbul",
          "Asia/Kolkata"}) {
        const auto daily = begins("08:00", window_unit::day, zone);
        setenv("TZ", zone, 1);
        tzset();
        int wrong = 0;
        for (const std::int64_t second : daily) {
            const auto at = static_cast<std::time_t>(second);
            std::tm told{};
            localtime_r(&at, &told);
            wrong += told.tm_hour == 8 && told.tm_min == 0 ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0) << zone;
    }
    unsetenv("TZ");
    tzset();
}

}  // namespace window_start_test
}  // namespace gateway::config
