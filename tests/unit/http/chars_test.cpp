#include "gateway/http/chars.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace gateway::http {
namespace chars_test {

TEST(chars, the_token_characters_are_those_of_rfc_9110)
{
    for (int c = 0; c < 256; ++c) {
        const bool expected =
            (c < 128 && std::isalnum(c) != 0) ||
            (c != 0 &&
             std::string("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string::npos);
        EXPECT_EQ(is_token_char(static_cast<char>(c)), expected) << c;
    }
    EXPECT_FALSE(is_token(""));
    EXPECT_TRUE(is_token("a"));
    EXPECT_FALSE(is_token("a b"));
}

TEST(chars, field_text_is_everything_but_control_bytes_and_delete)
{
    for (int c = 0; c < 256; ++c) {
        EXPECT_EQ(is_field_text(static_cast<char>(c)), c == '\t' || (c >= 0x20 && c != 0x7f)) << c;
    }
}

// Every byte, at every place of a text of every small length, among plain and non-ASCII neighbours.
TEST(chars, the_fast_skips_stop_exactly_where_a_byte_at_a_time_would)
{
    for (const char filler : {'a', '\x80', '\xff', '~', '!'}) {
        for (std::size_t length = 1; length <= 36; ++length) {
            for (std::size_t place = 0; place < length; ++place) {
                for (int c = 0; c < 256; ++c) {
                    std::string text(length, filler);
                    text[place] = static_cast<char>(c);
                    const char* const end = text.data() + length;
                    const char* expected = text.data();
                    while (expected != end && is_field_text(*expected)) {
                        ++expected;
                    }
                    ASSERT_EQ(skip_field_text(text.data(), end), expected) << c << " at " << place;
                    expected = text.data();
                    while (expected != end && static_cast<unsigned char>(*expected) > 0x20 &&
                           static_cast<unsigned char>(*expected) < 0x7f) {
                        ++expected;
                    }
                    ASSERT_EQ(skip_visible(text.data(), end), expected) << c << " at " << place;
                    expected = text.data();
                    while (expected != end && is_token_char(*expected)) {
                        ++expected;
                    }
                    ASSERT_EQ(skip_token(text.data(), end), expected) << c << " at " << place;
                }
            }
        }
    }
}

}  // namespace chars_test
}  // namespace gateway::http
