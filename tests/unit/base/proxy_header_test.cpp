#include "gateway/base/proxy_header.hpp"

#include "gateway/base/crc32c.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gateway::base {
namespace proxy_header_test {

using namespace std::string_literals;
using namespace std::string_view_literals;
using verdict = proxy_header::verdict;

constexpr std::string_view v2_signature = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::string_view v4_block = "\xcb\x00\x71\x09\x0a\x00\x00\x01\x30\x39\x01\xbb"sv;

ip_address address(std::string_view text)
{
    return ip_address::parse(text).value();
}

const connection_ends v4_ends{{address("203.0.113.9"), 12345}, {address("10.0.0.1"), 443}};
const connection_ends v6_ends{{address("2001:db8::9"), 12345}, {address("2001:db8::1"), 443}};

std::string binary(unsigned version_command, unsigned family, std::string_view rest)
{
    std::string header{v2_signature};
    header += static_cast<char>(version_command);
    header += static_cast<char>(family);
    header += static_cast<char>(rest.size() >> 8);
    header += static_cast<char>(rest.size() & 0xff);
    return header.append(rest);
}

std::string field(unsigned type, std::string_view value)
{
    std::string all;
    all += static_cast<char>(type);
    all += static_cast<char>(value.size() >> 8);
    all += static_cast<char>(value.size() & 0xff);
    return all.append(value);
}

std::string in_network_order(std::uint32_t number)
{
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes += static_cast<char>(number >> shift & 0xff);
    }
    return bytes;
}

// A header with a right checksum between other fields.
std::string with_checksum(std::string_view block, unsigned family)
{
    const std::string before = field(1, "h2") + "\x03\x00\x04"s;
    const std::string after = field(4, std::string(20, '\0'));
    const std::string zeros =
        binary(0x21, family, std::string(block).append(before).append("\0\0\0\0"sv).append(after));
    return binary(
        0x21,
        family,
        std::string(block).append(before).append(in_network_order(crc32c(zeros))).append(after)
    );
}

verdict verdict_of(std::string_view bytes)
{
    return read_proxy_header(bytes).is;
}

struct good_header {
    std::string bytes;
    std::optional<connection_ends> ends;
};

std::vector<good_header> good_headers()
{
    const std::string v6_block = proxy_header_of(v6_ends).substr(16);
    std::vector<good_header> all{
        {"PROXY TCP4 203.0.113.9 10.0.0.1 12345 443\r\n", v4_ends},
        {"PROXY TCP6 2001:db8::9 2001:db8::1 12345 443\r\n", v6_ends},
        {"PROXY TCP6 ::ffff:203.0.113.9 ::ffff:10.0.0.1 12345 443\r\n", v4_ends},
        {"PROXY TCP4 0.0.0.0 255.255.255.255 0 65535\r\n",
         connection_ends{{address("0.0.0.0"), 0}, {address("255.255.255.255"), 65535}}},
        {"PROXY UNKNOWN\r\n", {}},
        {"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", {}},
        {"PROXY UNKNOWN " + std::string(107 - 16, 'x') + "\r\n", {}},
        {proxy_header_of(v4_ends), v4_ends},
        {proxy_header_of(v6_ends), v6_ends},
        {proxy_header_of({}), {}},
        {binary(0x21, 0x12, v4_block), v4_ends},
        {binary(0x21, 0x22, v6_block), v6_ends},
        {binary(0x21, 0x00, ""), {}},
        {binary(0x21, 0x00, "anything"), {}},
        {binary(0x21, 0x01, ""), {}},
        {binary(0x21, 0x10, v4_block), {}},
        {binary(0x21, 0x31, std::string(216, '/')), {}},
        {binary(0x21, 0x32, std::string(216, '/') + field(2, "a.example")), {}},
        {binary(0x21, 0x11, std::string(v4_block) + field(0xee, std::string(2017, 'x'))), v4_ends},
        {binary(0x21, 0x11, std::string(v4_block) + field(4, "")), v4_ends},
        {with_checksum(v4_block, 0x11), v4_ends},
        {with_checksum(v6_block, 0x21), v6_ends},
    };
    // Of a connection that is the proxy's own nothing is looked at, but how long it is.
    for (const unsigned family : {0x00U, 0x11U, 0x21U, 0x31U, 0x44U, 0xffU}) {
        all.push_back({binary(0x20, family, ""), {}});
        all.push_back({binary(0x20, family, v4_block), {}});
        all.push_back({binary(0x20, family, "\x03"), {}});
    }
    return all;
}

TEST(proxy_header, is_read_whole_wherever_it_is_cut_and_whatever_follows)
{
    for (const good_header& good : good_headers()) {
        for (std::size_t cut = 0; cut < good.bytes.size(); ++cut) {
            ASSERT_EQ(verdict_of(good.bytes.substr(0, cut)), verdict::incomplete)
                << testing::PrintToString(good.bytes) << " cut at " << cut;
        }
        for (const std::string& behind :
             {""s, "GET / HTTP/1.1\r\n"s, good.bytes, std::string(3000, '\n')}) {
            const proxy_header read = read_proxy_header(good.bytes + behind);
            ASSERT_EQ(read.is, verdict::whole) << testing::PrintToString(good.bytes);
            ASSERT_EQ(read.size, good.bytes.size());
            ASSERT_EQ(read.ends, good.ends) << testing::PrintToString(good.bytes);
        }
    }
}

// Whatever came after it would be read as the header's.
TEST(proxy_header, is_malformed_as_soon_as_that_is_certain)
{
    const std::string longest_line = "PROXY UNKNOWN " + std::string(107 - 16, 'x');
    EXPECT_EQ(verdict_of(longest_line + "x"), verdict::incomplete);
    EXPECT_EQ(verdict_of(longest_line + "x\r"), verdict::malformed);
    EXPECT_EQ(verdict_of(longest_line + "x\r\n"), verdict::malformed);
    for (const std::string_view begin :
         {"G"sv,
          "GET / HTTP/1.1\r\n"sv,
          "proxy "sv,
          "PROXZ"sv,
          "\r\n\r\nG"sv,
          "\n"sv,
          "\0"sv,
          "\x16\x03\x01"sv}) {
        EXPECT_EQ(verdict_of(begin), verdict::malformed) << testing::PrintToString(begin);
    }
    std::string too_long = binary(0x21, 0x11, "");
    too_long[14] = '\x07';
    too_long[15] = '\xf0';
    EXPECT_EQ(verdict_of(too_long), verdict::incomplete) << "2,048 bytes in all";
    too_long[15] = '\xf1';
    EXPECT_EQ(verdict_of(too_long), verdict::malformed);
    EXPECT_EQ(verdict_of(too_long.replace(12, 1, "\x20")), verdict::malformed);
}

TEST(proxy_header, of_text_is_strict)
{
    for (const std::string_view line : {
             "TCP4 203.0.113.9 10.0.0.1 12345"sv,
             "TCP4 203.0.113.9 10.0.0.1 12345 443 "sv,
             "TCP4 203.0.113.9 10.0.0.1 12345 443 1"sv,
             "TCP4  203.0.113.9 10.0.0.1 12345 443"sv,
             "TCP4 203.0.113.9 10.0.0.1 12345  443"sv,
             "TCP4 203.0.113.9\t10.0.0.1 12345 443"sv,
             "TCP4 203.0.113.9 10.0.0.1 12345 65536"sv,
             "TCP4 203.0.113.9 10.0.0.1 012345 443"sv,
             "TCP4 203.0.113.9 10.0.0.1 -1 443"sv,
             "TCP4 203.0.113.9 10.0.0.1 +1 443"sv,
             "TCP4 203.0.113.9 10.0.0.1 0x1 443"sv,
             "TCP4 203.0.113.9 10.0.0.1 1 443\r"sv,
             "TCP4 203.0.113.9 10.0.0.1 1 44\0003"sv,
             "TCP4 203.0.113.09 10.0.0.1 1 443"sv,
             "TCP4 203.0.113.9:80 10.0.0.1 1 443"sv,
             "TCP4 2001:db8::9 2001:db8::1 12345 443"sv,
             "TCP4 203.0.113.9 2001:db8::1 12345 443"sv,
             "TCP6 203.0.113.9 10.0.0.1 12345 443"sv,
             "TCP6 2001:db8::9 10.0.0.1 12345 443"sv,
             "TCP6 [2001:db8::9] [2001:db8::1] 12345 443"sv,
             "TCP6 fe80::1%eth0 2001:db8::1 12345 443"sv,
             "TCP4"sv,
             "TCP5 203.0.113.9 10.0.0.1 12345 443"sv,
             "UDP4 203.0.113.9 10.0.0.1 12345 443"sv,
             "tcp4 203.0.113.9 10.0.0.1 12345 443"sv,
             "UNKNOWNX"sv,
             ""sv,
             " UNKNOWN"sv,
         }) {
        EXPECT_EQ(verdict_of("PROXY " + std::string(line) + "\r\n"), verdict::malformed)
            << testing::PrintToString(line);
    }
    EXPECT_EQ(verdict_of("PROXY UNKNOWN\n"), verdict::malformed);
    EXPECT_EQ(verdict_of("PROXY TCP4 203.0.113.9 10.0.0.1 12345 443\n"), verdict::malformed);
}

TEST(proxy_header, of_bytes_is_strict)
{
    for (unsigned command = 0; command < 256; ++command) {
        const verdict expected =
            command == 0x20 || command == 0x21 ? verdict::whole : verdict::malformed;
        EXPECT_EQ(verdict_of(binary(command, 0x11, v4_block)), expected) << command;
    }
    for (unsigned family = 0; family < 256; ++family) {
        const bool known = family >> 4 <= 3 && (family & 0xf) <= 2;
        EXPECT_EQ(
            verdict_of(binary(0x21, family, std::string(216, '\0'))),
            known ? verdict::whole : verdict::malformed
        ) << family;
    }
    EXPECT_EQ(verdict_of(binary(0x21, 0x11, v4_block.substr(1))), verdict::malformed);
    EXPECT_EQ(verdict_of(binary(0x21, 0x21, v4_block)), verdict::malformed);
    EXPECT_EQ(verdict_of(binary(0x21, 0x31, std::string(215, '/'))), verdict::malformed);
}

TEST(proxy_header, fields_must_fill_the_rest)
{
    const std::string whole = field(1, "http/1.1") + field(2, "a.example");
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        const bool between = cut == 0 || cut == 3 + "http/1.1"sv.size();
        EXPECT_EQ(
            verdict_of(binary(0x21, 0x11, std::string(v4_block) + whole.substr(0, cut))),
            between ? verdict::whole : verdict::malformed
        ) << cut;
    }
}

TEST(proxy_header, a_wrong_checksum_is_malformed_whichever_bit_is_wrong)
{
    const std::string good = with_checksum(v4_block, 0x11);
    ASSERT_EQ(verdict_of(good), verdict::whole);
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
            const proxy_header read = read_proxy_header(bad);
            // Without addresses nothing is looked at; a field of another type is no checksum.
            const bool told_nothing = read.is == verdict::whole && !read.ends;
            const bool other_field = at == 16 + v4_block.size() + 5;
            EXPECT_TRUE(read.is != verdict::whole || told_nothing || other_field)
                << "bit " << bit << " of byte " << at;
        }
    }
    EXPECT_EQ(
        verdict_of(binary(0x21, 0x11, std::string(v4_block) + field(3, "abc"))), verdict::malformed
    );
    EXPECT_EQ(
        verdict_of(binary(0x21, 0x11, std::string(v4_block) + field(3, ""))), verdict::malformed
    );
}

TEST(proxy_header, what_is_written_is_read_back)
{
    const connection_ends mixed{{address("203.0.113.9"), 1}, {address("2001:db8::1"), 65535}};
    for (const connection_ends& ends : {v4_ends, v6_ends, mixed}) {
        EXPECT_EQ(read_proxy_header(proxy_header_of(ends)).ends, ends);
    }
    EXPECT_EQ(proxy_header_of(v4_ends), binary(0x21, 0x11, v4_block));
    EXPECT_EQ(proxy_header_of(mixed).size(), 16U + 36U);
    EXPECT_EQ(proxy_header_of({}), binary(0x20, 0x00, ""));
}

TEST(crc32c, is_that_of_rfc_3720)
{
    EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
    EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
    EXPECT_EQ(crc32c(""), 0U);
    EXPECT_EQ(crc32c("56789", crc32c("1234")), crc32c("123456789"));
}

}  // namespace proxy_header_test
}  // namespace gateway::base
