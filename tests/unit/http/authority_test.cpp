#include "gateway/http/authority.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::http {
namespace authority_test {

TEST(authority, a_host_with_an_optional_port_is_one)
{
    for (const char* text :
         {"a",
          "example.com",
          "EXAMPLE.com.",
          "a:80",
          "a:",
          "a:0",
          "a:65535",
          "a:00080",
          "10.0.0.1",
          "10.0.0.1:8080",
          "[::1]",
          "[::1]:8080",
          "[::1]:",
          "[2001:DB8::1]",
          "[::ffff:10.0.0.1]:1",
          "a_b",
          "a.test.",
          "a-b.c"}) {
        EXPECT_TRUE(is_authority(text)) << text;
    }
}

TEST(authority, anything_else_is_none)
{
    for (const char* text :
         {"",
          ":80",
          ":",
          "a b",
          " a",
          "a ",
          "user@a",
          "user:pw@a",
          "@a",
          "a/",
          "a/b",
          "a?b",
          "a#b",
          "a\\b",
          "a:b",
          "a:65536",
          "a:99999999999999999999",
          "a:-1",
          "a:+1",
          "a:8 0",
          "a:80:80",
          "a:80/",
          "::1",
          "[",
          "]",
          "[]",
          "[:",
          "[::1",
          "[::1]x",
          "[::1]80",
          "[::1]:x",
          "[::1]:65536",
          "[10.0.0.1]",
          "[a]",
          "[fe80::1%25eth0]",
          "[fe80::1%eth0]",
          "[v1.x:y]",
          "[::1]]",
          "[[::1]]",
          "a[::1]",
          ".",
          ".a",
          "a..b",
          "a..",
          "a,b",
          "a;b",
          "x%41y",
          "%C3%A9.test",
          "a%",
          "a%4",
          "a%4g",
          "a%g4",
          "%%41",
          "a\"b",
          "a<b",
          "a>b",
          "a^b",
          "a`b",
          "a{b",
          "a|b",
          "a}b",
          "\x80",
          "a\xff",
          "a\x7f",
          "a\tb",
          "a\r",
          "a\n"}) {
        EXPECT_FALSE(is_authority(text)) << text;
    }
    EXPECT_FALSE(is_authority(std::string_view("a\0b", 3)));
}

TEST(authority, no_single_byte_outside_the_grammar_passes)
{
    for (int c = 0; c < 256; ++c) {
        const char byte = static_cast<char>(c);
        const bool expected = (c < 128 && std::isalnum(c) != 0) || byte == '-' || byte == '_';
        EXPECT_EQ(is_authority(std::string(1, byte)), expected) << c;
        EXPECT_EQ(is_authority("long-enough-for-steps" + std::string(1, byte) + ".test"), expected)
            << c;
        EXPECT_EQ(is_authority(std::string("a:") + byte), c >= '0' && c <= '9') << c;
    }
}

}  // namespace authority_test
}  // namespace gateway::http
