#include "gateway/tracing/export_pace.hpp"

#include <gtest/gtest.h>

namespace gateway::tracing {
namespace export_pace_test {

using namespace std::chrono_literals;

TEST(export_pace, waits_longer_after_each_failure_and_briefly_after_a_success)
{
    export_pace pace;
    for (const auto longest : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        export_pace same = pace;
        EXPECT_EQ(same.failed(0s, 0), longest / 2.0) << "half of it at least";
        EXPECT_EQ(pace.failed(0s, 1), longest);
    }
    EXPECT_EQ(pace.taken(), export_interval);
    EXPECT_EQ(pace.failed(0s, 1), 2 * export_interval);
}

TEST(export_pace, waits_as_long_as_the_collector_asks_for_within_a_bound)
{
    export_pace pace;
    EXPECT_EQ(pace.failed(7s, 1), 7s);
    EXPECT_EQ(pace.failed(1s, 1), 2s) << "but not less than without";
    EXPECT_EQ(pace.failed(24h, 1), longest_wished_pause);
}

TEST(export_pace, reads_retry_after)
{
    constexpr base::duration now = 784'111'777s;  // Sun, 06 Nov 1994 08:49:37 GMT
    EXPECT_EQ(parse_retry_after("120", now), 120s);
    EXPECT_EQ(parse_retry_after("0", now), 0s);
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:00 GMT", now), 23s);
    EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), 0s) << "past";
    for (const auto* const bad :
         {"",
          "-1",
          "+1",
          "1.5",
          "1s",
          "99999999999999999999",
          "Sun, 06 Nov 1994 08:50:00",
          "Sun, 06 Nov 1994 08:50:00 GMT.",
          "tomorrow"}) {
        EXPECT_EQ(parse_retry_after(bad, now), 0s) << bad;
    }
    EXPECT_GT(parse_retry_after("9223372036854775807", now), longest_wished_pause);
    EXPECT_GT(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now), longest_wished_pause);
}

}  // namespace export_pace_test
}  // namespace gateway::tracing
