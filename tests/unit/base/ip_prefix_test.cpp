#include "gateway/base/ip_prefix.hpp"

#include <gtest/gtest.h>

namespace gateway::base {
namespace ip_prefix_test {

bool in(const char* prefix, const char* address)
{
    return ip_prefix::parse(prefix)->contains(*ip_address::parse(address));
}

TEST(ip_prefix, contains_its_first_and_last_address_and_not_their_neighbours)
{
    EXPECT_TRUE(in("10.0.0.0/8", "10.0.0.0"));
    EXPECT_TRUE(in("10.0.0.0/8", "10.255.255.255"));
    EXPECT_FALSE(in("10.0.0.0/8", "9.255.255.255"));
    EXPECT_FALSE(in("10.0.0.0/8", "11.0.0.0"));
    EXPECT_TRUE(in("192.0.2.128/25", "192.0.2.128"));
    EXPECT_FALSE(in("192.0.2.128/25", "192.0.2.127"));
    EXPECT_TRUE(in("2001:db8::/33", "2001:db8:7fff:ffff::"));
    EXPECT_FALSE(in("2001:db8::/33", "2001:db8:8000::"));
}

TEST(ip_prefix, a_bare_address_is_its_own_prefix)
{
    EXPECT_TRUE(in("203.0.113.7", "203.0.113.7"));
    EXPECT_FALSE(in("203.0.113.7", "203.0.113.6"));
    EXPECT_TRUE(in("2001:db8::7", "2001:db8::7"));
    EXPECT_EQ(ip_prefix::parse("203.0.113.7"), ip_prefix::parse("203.0.113.7/32"));
    EXPECT_EQ(ip_prefix::parse("2001:db8::7"), ip_prefix::parse("2001:db8::7/128"));
}

TEST(ip_prefix, takes_mapped_spellings_for_ipv4)
{
    EXPECT_TRUE(in("10.0.0.0/8", "::ffff:10.1.2.3"));
    EXPECT_TRUE(in("::ffff:10.0.0.0/104", "10.1.2.3"));
    EXPECT_EQ(ip_prefix::parse("::ffff:0:0/96"), ip_prefix::parse("0.0.0.0/0"));
}

TEST(ip_prefix, keeps_the_families_apart)
{
    EXPECT_TRUE(in("0.0.0.0/0", "255.1.2.3"));
    EXPECT_FALSE(in("0.0.0.0/0", "2001:db8::1"));
    EXPECT_FALSE(in("0.0.0.0/0", "::"));
    EXPECT_TRUE(in("::/0", "2001:db8::1"));
    EXPECT_FALSE(in("::/0", "10.1.2.3"));
}

TEST(ip_prefix, refuses_what_is_no_prefix)
{
    for (const char* text :
         {"",
          "/",
          "/8",
          "10.0.0.0/",
          "10.0.0.0/33",
          "10.0.0.0/-1",
          "10.0.0.0/+8",
          "10.0.0.0/08",
          "10.0.0.0/8/8",
          "10.0.0.0/8 ",
          "10.0.0.0 /8",
          "10.0.0/8",
          "2001:db8::/129",
          "2001:db8::/032",
          "[::1]/128",
          "localhost",
          "10.0.0.0/4294967304",
          "10.0.0.0/255.0.0.0"}) {
        EXPECT_FALSE(ip_prefix::parse(text)) << text;
    }
}

TEST(ip_prefix, refuses_bits_after_its_length)
{
    for (const char* text :
         {"10.0.0.1/8",
          "192.0.2.64/25",
          "0.0.0.1/0",
          "2001:db8::1/64",
          "::1/0",
          "::ffff:10.0.0.0/8"}) {
        EXPECT_FALSE(ip_prefix::parse(text)) << text;
    }
}

TEST(ip_prefix, is_written_as_it_is_read)
{
    for (const char* text :
         {"10.0.0.0/8", "0.0.0.0/0", "203.0.113.7/32", "::/0", "2001:db8::/32", "::1/128"}) {
        EXPECT_EQ(ip_prefix::parse(text)->to_string(), text);
    }
    EXPECT_EQ(ip_prefix{}.to_string(), "::/128");
}

TEST(ip_prefix_set, contains_what_any_of_its_prefixes_contains)
{
    EXPECT_TRUE(ip_prefix_set{}.empty());
    EXPECT_FALSE(ip_prefix_set{}.contains(ip_address{}));
    const ip_prefix_set set{{*ip_prefix::parse("10.0.0.0/8"), *ip_prefix::parse("2001:db8::/32")}};
    EXPECT_FALSE(set.empty());
    EXPECT_TRUE(set.contains(ip_address::v4(0x0a000001)));
    EXPECT_TRUE(set.contains(*ip_address::parse("2001:db8::1")));
    EXPECT_FALSE(set.contains(ip_address::v4(0x0b000001)));
}

}  // namespace ip_prefix_test
}  // namespace gateway::base
