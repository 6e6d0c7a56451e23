#include "config/text/units.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

namespace gateway::config {
namespace units_test {

using namespace std::chrono_literals;

TEST(units, numbers_are_decimal_and_nothing_else)
{
    EXPECT_EQ(parse_number("0"), 0U);
    EXPECT_EQ(parse_number("8"), 8U);
    EXPECT_EQ(parse_number("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
    for (const char* bad :
         {"", "010", "00", "0x10", "1e3", "1_000", "-1", "+1", " 1", "1 ", "1.0", "ten"}) {
        EXPECT_FALSE(parse_number(bad)) << bad;
    }
}

TEST(units, numbers_too_large_for_the_type_become_its_largest)
{
    EXPECT_EQ(parse_number("18446744073709551616"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(parse_number(std::string(1000, '9')), std::numeric_limits<std::uint64_t>::max());
}

TEST(units, durations_have_a_number_and_a_unit)
{
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("2s"), 2s);
    EXPECT_EQ(parse_duration("5m"), 5min);
    EXPECT_EQ(parse_duration("1h"), 1h);
    EXPECT_EQ(parse_duration("1d"), 24h);
    EXPECT_EQ(parse_duration("0s"), 0s);
    EXPECT_EQ(parse_duration("99999999999999d"), base::duration::max());
    for (const char* bad :
         {"", "5", "s", "1.5s", "-1s", "1 s", "1us", "1S", "1h30m", "010s", "1sec"}) {
        EXPECT_FALSE(parse_duration(bad)) << bad;
    }
}

TEST(units, sizes_are_bytes_or_powers_of_1024)
{
    EXPECT_EQ(parse_size("0"), 0U);
    EXPECT_EQ(parse_size("100"), 100U);
    EXPECT_EQ(parse_size("16KiB"), 16'384U);
    EXPECT_EQ(parse_size("1MiB"), 1'048'576U);
    EXPECT_EQ(parse_size("2GiB"), 2'147'483'648U);
    EXPECT_EQ(parse_size("1TiB"), 1ULL << 40);
    EXPECT_EQ(parse_size("99999999999TiB"), std::numeric_limits<std::uint64_t>::max());
    for (const char* bad : {"", "KiB", "16KB", "16k", "16kib", "1.5MiB", "16 KiB", "-1", "1B"}) {
        EXPECT_FALSE(parse_size(bad)) << bad;
    }
}

TEST(units, rates_are_a_count_per_unit_or_duration)
{
    EXPECT_EQ(parse_rate("100/m"), (rate{100, 1min}));
    EXPECT_EQ(parse_rate("1/s"), (rate{1, 1s}));
    EXPECT_EQ(parse_rate("5/h"), (rate{5, 1h}));
    EXPECT_EQ(parse_rate("7/d"), (rate{7, 24h}));
    EXPECT_EQ(parse_rate("10/10s"), (rate{10, 10s}));
    EXPECT_EQ(parse_rate("3/250ms"), (rate{3, 250ms}));
    for (const char* bad :
         {"",
          "/",
          "100",
          "100/",
          "/m",
          "0/s",
          "1/0s",
          "1/ms",
          "1/min",
          "1.5/s",
          "1 / s",
          "-1/s",
          "1/s/s"}) {
        EXPECT_FALSE(parse_rate(bad)) << bad;
    }
}

TEST(units, what_is_formatted_parses_to_the_same_value)
{
    std::mt19937_64 random{1};
    for (int i = 0; i < 20'000; ++i) {
        const base::duration d = std::chrono::milliseconds{random() >> (24 + random() % 40)};
        EXPECT_EQ(parse_duration(format_duration(d)), d) << d.count();
        const std::uint64_t size = random() >> (random() % 64);
        EXPECT_EQ(parse_size(format_size(size)), size);
        const rate r{static_cast<std::int64_t>(size / 2 + 1), d + 1ms};
        EXPECT_EQ(parse_rate(format_rate(r)), r) << format_rate(r);
    }
}

TEST(units, formatting_takes_the_largest_unit_that_fits)
{
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(1500ms), "1500ms");
    EXPECT_EQ(format_duration(60s), "1m");
    EXPECT_EQ(format_duration(48h), "2d");
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1000), "1000");
    EXPECT_EQ(format_size(3 * 1024), "3KiB");
    EXPECT_EQ(format_rate({100, 1min}), "100/m");
    EXPECT_EQ(format_rate({10, 10s}), "10/10s");
}

}  // namespace units_test
}  // namespace gateway::config
