#include "gateway/telemetry/second_text.hpp"

#include <gtest/gtest.h>

namespace gateway::telemetry {
namespace second_text_test {

using std::chrono::milliseconds;

std::string iso(second_text& text, base::duration unix_time)
{
    std::string out;
    text.append_iso(out, unix_time);
    return out;
}

std::string common(second_text& text, base::duration unix_time)
{
    std::string out;
    text.append_common(out, unix_time);
    return out;
}

TEST(second_text, renders_known_moments)
{
    second_text text;
    EXPECT_EQ(iso(text, base::duration{0}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(iso(text, milliseconds{951'782'400'007}), "2000-02-29T00:00:00.007Z");
    EXPECT_EQ(common(text, milliseconds{951'782'400'007}), "29/Feb/2000:00:00:00 +0000");
    EXPECT_EQ(common(text, milliseconds{1'795'229'133'999}), "21/Nov/2026:02:45:33 +0000");
}

TEST(second_text, follows_every_change_of_the_second_in_either_format)
{
    second_text text;
    EXPECT_EQ(iso(text, milliseconds{59'999}), "1970-01-01T00:00:59.999Z");
    EXPECT_EQ(iso(text, milliseconds{60'000}), "1970-01-01T00:01:00.000Z");
    EXPECT_EQ(common(text, milliseconds{61'000}), "01/Jan/1970:00:01:01 +0000");
    EXPECT_EQ(iso(text, milliseconds{61'450}), "1970-01-01T00:01:01.450Z");
    EXPECT_EQ(iso(text, milliseconds{60'450}), "1970-01-01T00:01:00.450Z") << "the clock was set";
}

}  // namespace second_text_test
}  // namespace gateway::telemetry
