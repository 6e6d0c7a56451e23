#include "gateway/http/date_line.hpp"

#include <gtest/gtest.h>

namespace gateway::http {
namespace date_line_test {

using std::chrono::milliseconds;

TEST(date_line, is_the_example_of_the_rfc)
{
    EXPECT_EQ(
        date_line(milliseconds{784'111'777'999}).text(), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    );
    EXPECT_EQ(date_line(milliseconds{0}).value(), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(date_line(milliseconds{0}).text(), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
}

TEST(date_line, follows_the_clock_also_backwards)
{
    date_line line(milliseconds{784'111'777'000});
    line.refresh(milliseconds{784'111'777'999});
    EXPECT_EQ(line.text(), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    line.refresh(milliseconds{784'111'778'000});
    EXPECT_EQ(line.text(), "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
    line.refresh(milliseconds{951'782'400'000});
    EXPECT_EQ(line.text(), "Date: Tue, 29 Feb 2000 00:00:00 GMT\r\n");
    line.refresh(milliseconds{784'111'777'000});
    EXPECT_EQ(line.text(), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
}

}  // namespace date_line_test
}  // namespace gateway::http
