#include "config/text/hints.hpp"
#include "config/text/units.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace gateway::config {
namespace unit_hints_test {

std::string mean(const std::string& text)
{
    return text.empty() ? text : ", did you mean \"" + text + "\"?";
}

struct row {
    const char* written;
    const char* meant;
};

TEST(unit_hints, rates_as_other_people_write_them)
{
    const row rows[] = {
        {"10/sec", "10/s"},
        {"10/min", "10/m"},
        {"10/hour", "10/h"},
        {"10/day", "10/d"},
        {"10/S", "10/s"},
        {"10 / s", "10/s"},
        {"10r/s", "10/s"},
        {"10r/m", "10/m"},
        {"100rps", "100/s"},
        {"100 per minute", "100/m"},
        {"5 requests per second", "5/s"},
        {"10/1min", "10/1m"},
        {"10/5 min", "10/5m"},
        {"10/30secs", "10/30s"},
        {"100", ""},
        {"1.5/s", ""},
        {"1 200/s", ""},
        {"1,000/s", ""},
        {"0/sec", ""},
        {"10/month", ""},
        {"/sec", ""},
        {"sec", ""},
        {"", ""},
        {"1k/m", "1000/m"},
        {"2K per hour", "2000/h"},
        {"5 requests every 10 sec", "5/10s"},
        {"1e3/m", ""},
        {"1M/s", ""},
        {"1kk/s", ""},
        {"100/m/s", ""},
        {"10/s/sec", ""},
        {"10 and 20 per second", ""},
        {"10 dozen/s", ""},
    };
    for (const row& r : rows) {
        EXPECT_EQ(rate_hint(r.written), mean(r.meant)) << r.written;
    }
    EXPECT_EQ(rate_hint(std::string(100'000, '1') + "/sec"), "");
}

TEST(unit_hints, durations_and_sizes_as_other_people_write_them)
{
    const row durations[] = {
        {"1min", "1m"},
        {"30 seconds", "30s"},
        {"500msec", "500ms"},
        {"2HOURS", "2h"},
        {"30", ""},
        {"1.5s", ""},
        {"1h30min", ""},
        {"-1sec", ""},
    };
    for (const row& r : durations) {
        EXPECT_EQ(duration_hint(r.written), mean(r.meant)) << r.written;
    }
    const row sizes[] = {
        {"16KB", "16KiB"},
        {"10m", "10MiB"},
        {"1 gb", "1GiB"},
        {"64Ki", "64KiB"},
        {"100 bytes", "100"},
        {"1.5MB", ""},
        {"big", ""},
    };
    for (const row& r : sizes) {
        EXPECT_EQ(size_hint(r.written), mean(r.meant)) << r.written;
    }
}

// Whatever is written: a hint is something that we would take.
TEST(unit_hints, what_is_suggested_is_valid)
{
    std::mt19937 random{1};
    const std::string spice = "0129 /smhdinrKkMGb.";
    int hints = 0;
    for (int round = 0; round < 200'000; ++round) {
        std::string text;
        for (std::size_t i = random() % 8; i > 0; --i) {
            text += spice[random() % spice.size()];
        }
        const auto meant = [&hints](const std::string& hint) {
            hints += hint.empty() ? 0 : 1;
            const std::size_t begin = hint.find('"') + 1;
            return hint.substr(begin, hint.rfind('"') - begin);
        };
        if (const std::string hint = rate_hint(text); !hint.empty()) {
            EXPECT_TRUE(parse_rate(meant(hint))) << text;
        }
        if (const std::string hint = duration_hint(text); !hint.empty()) {
            EXPECT_TRUE(parse_duration(meant(hint))) << text;
        }
        if (const std::string hint = size_hint(text); !hint.empty()) {
            EXPECT_TRUE(parse_size(meant(hint))) << text;
        }
    }
    EXPECT_GT(hints, 1000);
}

}  // namespace unit_hints_test
}  // namespace gateway::config
