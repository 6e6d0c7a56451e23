#include "gateway/http/http_date.hpp"

#include <gtest/gtest.h>

namespace gateway::http {
namespace http_date_test {

using std::chrono::milliseconds;

TEST(http_date, is_the_example_of_the_rfc)
{
    EXPECT_EQ(http_date(milliseconds{784'111'777'999}).text(), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(http_date(milliseconds{0}).text(), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(http_date, follows_the_clock_also_backwards)
{
    http_date line(milliseconds{784'111'777'000});
    line.refresh(milliseconds{784'111'777'999});
    EXPECT_EQ(line.text(), "Sun, 06 Nov 1994 08:49:37 GMT");
    line.refresh(milliseconds{784'111'778'000});
    EXPECT_EQ(line.text(), "Sun, 06 Nov 1994 08:49:38 GMT");
    line.refresh(milliseconds{951'782'400'000});
    EXPECT_EQ(line.text(), "Tue, 29 Feb 2000 00:00:00 GMT");
    line.refresh(milliseconds{784'111'777'000});
    EXPECT_EQ(line.text(), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace http_date_test
}  // namespace gateway::http
