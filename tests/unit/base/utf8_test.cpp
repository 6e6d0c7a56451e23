#include "gateway/base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::base {
namespace utf8_test {

// The characters U+0080, U+07FF, U+0800, U+D7FF, U+E000, U+FFFF, U+10000 and U+10FFFF.
const std::string edges =
    "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf"
    "\xbf";

TEST(utf8, is_every_character_in_its_shortest_form)
{
    EXPECT_EQ(first_not_utf8(""), std::string::npos);
    EXPECT_EQ(first_not_utf8("ascii\n"), std::string::npos);
    EXPECT_EQ(first_not_utf8(edges), std::string::npos);
    EXPECT_EQ(utf8_length(edges), 2U);
    EXPECT_EQ(utf8_length("a"), 0U);
}

TEST(utf8, the_first_byte_that_is_none_is_named)
{
    for (const char* bad :
         {"\x80",
          "\xc0\xaf",
          "\xc1\xbf",
          "\xc3",
          "\xc3(",
          "\xe0\x9f\xbf",
          "\xe2\x82",
          "\xed\xa0\x80",
          "\xf0\x8f\xbf\xbf",
          "\xf0\x9f\x98",
          "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80",
          "\xff\xfe"}) {
        EXPECT_EQ(first_not_utf8(edges + bad + "x"), edges.size()) << bad;
        EXPECT_EQ(utf8_length(bad), 0U) << bad;
    }
}

TEST(utf8, is_cut_in_front_of_a_whole_character)
{
    EXPECT_EQ(utf8_prefix("abc", 3), "abc");
    EXPECT_EQ(utf8_prefix("abc", 2), "ab");
    EXPECT_EQ(utf8_prefix("abc", 0), "");
    for (const std::string character : {"\xc2\x80", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
        const std::string text = "ab" + character + "c";
        for (std::size_t most = 2; most < 2 + character.size(); ++most) {
            EXPECT_EQ(utf8_prefix(text, most), "ab") << most;
        }
        EXPECT_EQ(utf8_prefix(text, 2 + character.size()), "ab" + character);
    }
    EXPECT_EQ(utf8_prefix("\x80\x80\x80\x80\x80\x80", 5).size(), 2U) << "bytes of no character";
}

}  // namespace utf8_test
}  // namespace gateway::base
