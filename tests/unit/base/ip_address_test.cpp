#include "gateway/base/ip_address.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <random>

namespace gateway::base {
namespace ip_address_test {

struct spelling {
    const char* text;
    const char* canonical;
};

class accepted : public testing::TestWithParam<spelling> {};

TEST_P(accepted, is_read_and_written_in_canonical_form)
{
    const auto address = ip_address::parse(GetParam().text);
    ASSERT_TRUE(address) << GetParam().text;
    EXPECT_EQ(address->to_string(), GetParam().canonical);
    EXPECT_EQ(ip_address::parse(address->to_string()), address);
}

INSTANTIATE_TEST_SUITE_P(
    ip_address,
    accepted,
    testing::Values(
        spelling{"0.0.0.0", "0.0.0.0"},
        spelling{"203.0.113.7", "203.0.113.7"},
        spelling{"255.255.255.255", "255.255.255.255"},
        spelling{"::", "::"},
        spelling{"::1", "::1"},
        spelling{"1::", "1::"},
        spelling{"::ffff:203.0.113.7", "203.0.113.7"},
        spelling{"::ffff:cb00:7107", "203.0.113.7"},
        spelling{"0:0:0:0:0:FFFF:cb00:7107", "203.0.113.7"},
        spelling{"::203.0.113.7", "::cb00:7107"},
        spelling{"64:ff9b::203.0.113.7", "64:ff9b::cb00:7107"},
        spelling{"2001:0DB8:0000:0000:0000:0000:0000:0007", "2001:db8::7"},
        spelling{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        spelling{"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        spelling{"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        spelling{"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        spelling{"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        spelling{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        spelling{"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"}
    )
);

class refused : public testing::TestWithParam<const char*> {};

TEST_P(refused, is_no_address)
{
    EXPECT_FALSE(ip_address::parse(GetParam())) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    ip_address,
    refused,
    testing::Values(
        "",
        " ",
        "1",
        "1.2.3",
        "1.2.3.",
        "1.2.3.4.",
        ".1.2.3.4",
        "1.2.3.4.5",
        "1..2.3",
        "256.0.0.1",
        "01.2.3.4",
        "1.2.3.00",
        "1.2.3.0004",
        "1.2.3.+4",
        "-1.2.3.4",
        "0x7f.0.0.1",
        "0x7f000001",
        "2130706433",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.4:80",
        "1.2.3.4/32",
        "localhost",
        ":",
        ":::",
        ":1",
        "1:",
        "1::2::3",
        "::1::",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "1:2:3:4::5:6:7:8",
        "12345::",
        "g::",
        "0x1::",
        "+1::",
        "::1.2.3",
        "::1.2.3.4.5",
        "::1.2.3.256",
        "1.2.3.4::",
        "::1.2.3.4:5",
        "1:2:3:4:5:6:7:1.2.3.4",
        "[::1]",
        "::1%eth0",
        "::1 ",
        "fe80::1%25eth0",
        "::1/128"
    )
);

TEST(ip_address, refuses_a_nul_and_high_bytes_anywhere)
{
    const std::string good = "2001:db8::7";
    for (std::size_t i = 0; i <= good.size(); ++i) {
        for (const char c : {'\0', '\x80', '\xff'}) {
            std::string bad = good;
            bad.insert(i, 1, c);
            EXPECT_FALSE(ip_address::parse(bad));
        }
    }
}

// The C library's parser is strict as well: on random near-addresses the two must agree.
TEST(ip_address, agrees_with_inet_pton)
{
    std::mt19937 random{4711};
    constexpr std::string_view alphabet = "::::...0012345789abcfF%x";
    int valid = 0;
    for (int i = 0; i < 300000; ++i) {
        std::string text = i % 2 == 0 ? "" : i % 4 == 1 ? "1:0:3:4::5.6.7.8" : "10.200.3.40";
        for (std::size_t edits = text.empty() ? random() % 12 : random() % 4; edits > 0; --edits) {
            const std::size_t at = random() % (text.size() + 1);
            const std::size_t removed = text.empty() ? 0 : random() % 2;
            text.replace(at, removed, 1, alphabet[random() % alphabet.size()]);
        }
        in6_addr six{};
        in_addr four{};
        const bool is_six = ::inet_pton(AF_INET6, text.c_str(), &six) == 1;
        const bool is_four = ::inet_pton(AF_INET, text.c_str(), &four) == 1;
        const auto parsed = ip_address::parse(text);
        ASSERT_EQ(parsed.has_value(), is_six || is_four) << text;
        if (is_six) {
            ASSERT_TRUE(std::equal(six.s6_addr, six.s6_addr + 16, parsed->network_order().begin()))
                << text;
        }
        if (is_four) {
            ASSERT_EQ(*parsed, ip_address::v4(ntohl(four.s_addr))) << text;
        }
        valid += parsed.has_value() ? 1 : 0;
    }
    EXPECT_GT(valid, 1000);
}

TEST(ip_address, random_numbers_survive_being_written_and_read)
{
    std::mt19937 random{99};
    for (int i = 0; i < 100000; ++i) {
        ip_address::bytes bytes{};
        for (auto& byte : bytes) {
            byte = random() % 2 == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(random());
        }
        const ip_address address{bytes};
        std::array<char, INET6_ADDRSTRLEN> theirs{};
        ::inet_ntop(AF_INET6, bytes.data(), theirs.data(), theirs.size());
        ASSERT_EQ(ip_address::parse(address.to_string()), address) << theirs.data();
    }
}

TEST(ip_address, both_spellings_of_an_ipv4_address_are_one_value)
{
    EXPECT_EQ(ip_address::parse("::ffff:10.1.2.3"), ip_address::v4(0x0a010203));
    EXPECT_TRUE(ip_address::v4(0).is_v4());
    EXPECT_FALSE(ip_address{}.is_v4());
    EXPECT_FALSE(ip_address::parse("::10.1.2.3")->is_v4());
    EXPECT_EQ(ip_address{}.to_string(), "::");
}

TEST(ip_address, masks_each_family_by_its_own_length)
{
    const auto masked = [](const char* text, int v4_length, int v6_length) {
        return ip_address::parse(text)->masked(v4_length, v6_length).to_string();
    };
    EXPECT_EQ(masked("203.0.113.7", 32, 0), "203.0.113.7");
    EXPECT_EQ(masked("203.0.113.7", 24, 0), "203.0.113.0");
    EXPECT_EQ(masked("203.0.113.255", 25, 0), "203.0.113.128");
    EXPECT_EQ(masked("203.0.113.7", 0, 0), "0.0.0.0");
    EXPECT_EQ(masked("2001:db8:1:2:ffff:ffff:ffff:ffff", 0, 64), "2001:db8:1:2::");
    EXPECT_EQ(masked("2001:db8:1:ffff::1", 0, 49), "2001:db8:1:8000::");
    EXPECT_EQ(masked("2001:db8::1", 0, 128), "2001:db8::1");
    EXPECT_EQ(masked("2001:db8::1", 32, 0), "::");
}

}  // namespace ip_address_test
}  // namespace gateway::base
