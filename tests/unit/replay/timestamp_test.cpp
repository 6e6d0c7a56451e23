#include "gateway/replay/logs/timestamp.hpp"

#include <gtest/gtest.h>

namespace gateway::replay {
namespace timestamp_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// 2026-11-28 10:00:00 UTC.
constexpr seconds ten{1'795'860'000};

TEST(timestamp, rfc3339_in_every_zone)
{
    for (const char* text :
         {"2026-11-28T10:00:00Z",
          "2026-11-28T11:00:00+01:00",
          "2026-11-28t04:30:00-0530",
          "2026-11-28 10:00:00",
          "2026-11-28T10:00:00.000z"}) {
        EXPECT_EQ(parse_rfc3339(text), ten) << text;
    }
    EXPECT_EQ(parse_rfc3339("2026-11-28T10:00:00.123456789Z"), ten + base::duration{123'456'789});
}

TEST(timestamp, nothing_else_is_rfc3339)
{
    for (const char* text :
         {"",
          "2026",
          "2026-13-28T10:00:00Z",
          "2026-11-28T25:00:00Z",
          "2026-11-28T10:00Z",
          "2026-11-28T10:00:00.Z",
          "2026-11-28T10:00:00Z!",
          "2026-11-28T10:00:00+1"}) {
        EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
    }
}

TEST(timestamp, common_log_format_and_haproxy)
{
    EXPECT_EQ(parse_common_time("28/Nov/2026:10:00:00 +0000"), ten);
    EXPECT_EQ(parse_common_time("28/Nov/2026:05:30:00 -0430"), ten);
    EXPECT_EQ(parse_common_time("28/Nov/2026:10:00:00.655"), ten + milliseconds{655});
    EXPECT_EQ(parse_common_time("28/Nuv/2026:10:00:00 +0000"), std::nullopt);
}

TEST(timestamp, unix_time_by_its_size)
{
    EXPECT_EQ(parse_unix_time("1795860000"), ten);
    EXPECT_EQ(parse_unix_time("1795860000.5"), ten + milliseconds{500});
    EXPECT_EQ(parse_unix_time("1795860000123"), ten + milliseconds{123});
    EXPECT_EQ(parse_unix_time("1795860000123456"), ten + std::chrono::microseconds{123'456});
    EXPECT_EQ(parse_unix_time("1795860000123456789"), ten + base::duration{123'456'789});
    for (const char* text :
         {"", "-1", "x", "17958600001234567890123", "9999999999", "9999999999999999999"}) {
        EXPECT_EQ(parse_unix_time(text), std::nullopt) << text;
    }
}

TEST(timestamp, seconds_are_exact)
{
    EXPECT_EQ(parse_seconds("0.001234"), std::chrono::microseconds{1234});
    EXPECT_EQ(parse_seconds("3600"), hours{1});
    EXPECT_EQ(parse_seconds("1."), std::nullopt);
}

TEST(timestamp, numbers_with_an_exponent)
{
    EXPECT_EQ(parse_seconds("8.1e-05"), std::chrono::microseconds{81});
    EXPECT_EQ(parse_seconds("1.5E2"), seconds{150});
    EXPECT_EQ(parse_seconds("2e+0"), seconds{2});
    EXPECT_EQ(parse_unix_time("1.79586e9"), ten);
    for (const char* text : {"1e", "1e+", "1e2x", "1x-05e", "1e10", "1e999", "e5", "-1e2"}) {
        EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
    }
}

}  // namespace timestamp_test
}  // namespace gateway::replay
