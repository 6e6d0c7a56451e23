#include "gateway/http/output/duration_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gateway::http {
namespace duration_text_test {

using namespace std::chrono_literals;

TEST(duration_text, is_as_go_writes_it)
{
    const std::vector<std::pair<base::duration, std::string>> rows{
        {0s, "0s"},
        {1ms, "1ms"},
        {17ms, "17ms"},
        {999ms, "999ms"},
        {1s, "1s"},
        {1200ms, "1.2s"},
        {8640ms, "8.64s"},
        {1005ms, "1.005s"},
        {59s + 50ms, "59.05s"},
        {60s, "1m0s"},
        {6min, "6m0s"},
        {90s + 951ms, "1m30.951s"},
        {1h, "1h0m0s"},
        {13h + 12min, "13h12m0s"},
        {24h * 365 * 100, "876000h0m0s"},
    };
    for (const auto& [time, text] : rows) {
        EXPECT_EQ(duration_text(time).text(), text);
    }
}

TEST(duration_text, is_never_early)
{
    EXPECT_EQ(duration_text(1ns).text(), "1ms");
    EXPECT_EQ(duration_text(999ms + 1ns).text(), "1s");
    EXPECT_EQ(duration_text(59s + 999ms + 1ns).text(), "1m0s");
    EXPECT_EQ(duration_text(-5s).text(), "0s");
}

TEST(duration_text, has_room_for_every_time)
{
    EXPECT_EQ(duration_text(base::duration::max()).text(), "2562047h47m16.855s");
}

}  // namespace duration_text_test
}  // namespace gateway::http
