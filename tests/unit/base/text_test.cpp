#include "gateway/base/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gateway::base {
namespace text_test {

TEST(text, folds_ascii_letters_and_nothing_else)
{
    for (int i = 0; i < 256; ++i) {
        const char c = static_cast<char>(i);
        EXPECT_EQ(to_lower(c), i >= 'A' && i <= 'Z' ? static_cast<char>(i + 32) : c);
    }
    EXPECT_EQ(lower_case("X-Forwarded-FOR \xc3\x84[@"), "x-forwarded-for \xc3\x84[@");
    EXPECT_EQ(lower_case(""), "");
}

TEST(text, compares_without_case)
{
    EXPECT_TRUE(equal_ignoring_case("Forwarded", "fORWARDED"));
    EXPECT_TRUE(equal_ignoring_case("", ""));
    EXPECT_FALSE(equal_ignoring_case("Forwarded", "Forwarde"));
    EXPECT_FALSE(equal_ignoring_case("Forwarde", "Forwarded"));
    EXPECT_FALSE(equal_ignoring_case("[", "{"));
    EXPECT_FALSE(equal_ignoring_case("\xc3\x84", "\xc3\xa4"));
}

TEST(text, what_is_cleared_keeps_little_memory)
{
    std::string text(100'000, 'x');
    clear_keeping_little(text);
    EXPECT_EQ(text, "");
    EXPECT_LT(text.capacity(), 100U);
    text.assign(1000, 'x');
    clear_keeping_little(text);
    EXPECT_EQ(text, "");
    EXPECT_GE(text.capacity(), 1000U);
}

TEST(text, trims_spaces_and_tabs_only)
{
    EXPECT_EQ(trimmed(" \t a b\t "), "a b");
    EXPECT_EQ(trimmed("a"), "a");
    EXPECT_EQ(trimmed(" \t"), "");
    EXPECT_EQ(trimmed(""), "");
    EXPECT_EQ(trimmed("\r\na\v\f"), "\r\na\v\f");
    EXPECT_EQ(
        trimmed("\xc2\xa0"
                "a"),
        "\xc2\xa0"
        "a"
    );
}

TEST(text, reads_decimals_up_to_the_bound)
{
    constexpr auto max = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(parse_decimal("0", 0), 0U);
    EXPECT_EQ(parse_decimal("000", 0), 0U);
    EXPECT_EQ(parse_decimal("007", 9), 7U);
    EXPECT_EQ(parse_decimal("65535", 65535), 65535U);
    EXPECT_EQ(parse_decimal("65536", 65535), std::nullopt);
    EXPECT_EQ(parse_decimal("1", 0), std::nullopt);
    EXPECT_EQ(parse_decimal("9", 5), std::nullopt);
    EXPECT_EQ(parse_decimal("18446744073709551615", max), max);
    EXPECT_EQ(parse_decimal("18446744073709551616", max), std::nullopt);
    EXPECT_EQ(parse_decimal("99999999999999999999999", max), std::nullopt);
}

TEST(text, refuses_what_is_not_all_digits)
{
    for (const char* text : {"", " ", "+1", "-1", "1 ", " 1", "1.0", "0x1", "1e3", "\xd9\xa1"}) {
        EXPECT_EQ(parse_decimal(text, 1000), std::nullopt) << text;
    }
}

TEST(text, agrees_with_plain_arithmetic_on_every_small_number_and_bound)
{
    for (std::uint64_t max = 0; max < 130; ++max) {
        for (std::uint64_t n = 0; n < 260; ++n) {
            const auto expected = n <= max ? std::optional{n} : std::nullopt;
            ASSERT_EQ(parse_decimal(std::to_string(n), max), expected) << n << " " << max;
        }
    }
}

}  // namespace text_test
}  // namespace gateway::base
