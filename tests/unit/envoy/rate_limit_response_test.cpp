#include "gateway/envoy/rate_limit_response.hpp"

#include "tests/unit/envoy/messages.hpp"

#include <gtest/gtest.h>

namespace gateway::envoy {
namespace rate_limit_response_test {

using testing::number;
using testing::text;

std::string encoded(const rate_limit_response& r)
{
    std::string bytes;
    append(r, bytes);
    return bytes;
}

TEST(rate_limit_response, has_a_status_for_each_descriptor)
{
    rate_limit_response r;
    r.begin(2);
    EXPECT_EQ(encoded(r), number(1, 1) + text(2, number(1, 1)) + text(2, number(1, 1)));
    r.begin(0);
    EXPECT_EQ(encoded(r), number(1, 1));
}

TEST(rate_limit_response, has_the_numbers_of_limits_and_headers)
{
    rate_limit_response r;
    r.begin(2);
    r.overall = code::over_limit;
    r.statuses[0] = {
        .code = code::over_limit,
        .limit = current_limit{"logins", 5, time_unit::minute},
        .remaining = 0,
        .reset_seconds = 48};
    r.statuses[1] = {.limit = current_limit{"all", 300, time_unit::unknown}, .remaining = 299};
    r.headers = {{"X-RateLimit-Limit", "5"}, {"Retry-After", "12"}};
    const std::string logins = number(1, 2) +
                               text(2, number(1, 5) + number(2, 2) + text(3, "logins")) +
                               text(4, number(1, 48));
    const std::string all =
        number(1, 1) + text(2, number(1, 300) + number(2, 0) + text(3, "all")) + number(3, 299);
    EXPECT_EQ(
        encoded(r),
        number(1, 2) + text(2, logins) + text(2, all) +
            text(3, text(1, "X-RateLimit-Limit") + text(2, "5")) +
            text(3, text(1, "Retry-After") + text(2, "12"))
    );
}

TEST(rate_limit_response, is_appended)
{
    rate_limit_response r;
    r.begin(1);
    std::string bytes = "before";
    append(r, bytes);
    EXPECT_EQ(bytes, "before" + encoded(r));
}

}  // namespace rate_limit_response_test
}  // namespace gateway::envoy
