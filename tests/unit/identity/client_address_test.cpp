#include "gateway/identity/client_address.hpp"

#include "gateway/base/text.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <vector>

namespace gateway::identity {
namespace client_address_test {

using base::ip_address;
using base::ip_prefix;

constexpr const char* xff = "X-Forwarded-For";
constexpr const char* forwarded = "Forwarded";

client_options trusting(
    const std::vector<std::string>& prefixes, int hops, const std::string& header
)
{
    std::vector<ip_prefix> parsed;
    for (const std::string& prefix : prefixes) {
        parsed.push_back(*ip_prefix::parse(prefix));
    }
    client_options options;
    options.trusted_proxies = base::ip_prefix_set{std::move(parsed)};
    options.trusted_hops = hops;
    options.header = header;
    return options;
}

std::string client_of(
    const client_options& options, const char* peer, const std::vector<std::string>& lines
)
{
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    return client_address(options, *ip_address::parse(peer), views).to_string();
}

struct walk_case {
    const char* why;
    const char* header;
    std::vector<std::string> lines;
    const char* client;
};

void PrintTo(const walk_case& c, std::ostream* out)
{
    *out << c.why;
}

// The peer is 192.0.2.1; it, 10/8 and 2001:db8:aaaa::/48 are trusted.
class walk : public testing::TestWithParam<walk_case> {};

TEST_P(walk, ends_at_the_client)
{
    const auto options =
        trusting({"192.0.2.1", "10.0.0.0/8", "2001:db8:aaaa::/48"}, 0, GetParam().header);
    EXPECT_EQ(client_of(options, "192.0.2.1", GetParam().lines), GetParam().client);
}

constexpr const char* peer = "192.0.2.1";

INSTANTIATE_TEST_SUITE_P(
    of_lists,
    walk,
    testing::Values(
        walk_case{"one address", xff, {"203.0.113.9"}, "203.0.113.9"},
        walk_case{
            "what the client sent stands left", xff, {"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
        walk_case{"private is not trusted", xff, {"172.16.0.9"}, "172.16.0.9"},
        walk_case{
            "over trusted proxies of both families",
            xff,
            {"203.0.113.9, 2001:db8:aaaa::1, 10.9.8.7"},
            "203.0.113.9"},
        walk_case{
            "a trusted address left of the client does not count",
            xff,
            {"10.1.1.1, 203.0.113.9, 10.9.8.7"},
            "203.0.113.9"},
        walk_case{
            "everything trusted: the leftmost", xff, {"10.0.0.3, 10.0.0.2, 10.0.0.1"}, "10.0.0.3"},
        walk_case{"no line", xff, {}, peer},
        walk_case{"an empty line", xff, {""}, peer},
        walk_case{"commas and blanks only", xff, {" , ,,\t, "}, peer},
        walk_case{
            "lines are one list in order",
            xff,
            {"198.51.100.1", "203.0.113.9, 10.1.2.3"},
            "203.0.113.9"},
        walk_case{
            "over several lines",
            xff,
            {"203.0.113.9, 10.0.0.3", "10.0.0.2", "10.0.0.1"},
            "203.0.113.9"},
        walk_case{"empty lines are nothing", xff, {"", "203.0.113.9", "", " "}, "203.0.113.9"},
        walk_case{"empty elements are nothing", xff, {",203.0.113.9,, ,10.0.0.1,"}, "203.0.113.9"},
        walk_case{
            "blanks and tabs around", xff, {"\t 203.0.113.9 \t, \t10.0.0.1\t "}, "203.0.113.9"}
    )
);

INSTANTIATE_TEST_SUITE_P(
    of_spellings,
    walk,
    testing::Values(
        walk_case{"a port", xff, {"203.0.113.9:40000"}, "203.0.113.9"},
        walk_case{"a port on a trusted hop", xff, {"203.0.113.9, 10.0.0.1:443"}, "203.0.113.9"},
        walk_case{"the highest port", xff, {"203.0.113.9:65535"}, "203.0.113.9"},
        walk_case{"IPv6", xff, {"2001:DB8:0:0::9"}, "2001:db8::9"},
        walk_case{"IPv6 in brackets", xff, {"[2001:db8::9]"}, "2001:db8::9"},
        walk_case{"IPv6 with a port", xff, {"[2001:db8::9]:443"}, "2001:db8::9"},
        walk_case{"IPv4-mapped, dotted", xff, {"::ffff:203.0.113.9"}, "203.0.113.9"},
        walk_case{"IPv4-mapped, in hex", xff, {"::FFFF:CB00:7109"}, "203.0.113.9"},
        walk_case{"IPv4-mapped, in brackets", xff, {"[::ffff:203.0.113.9]:80"}, "203.0.113.9"},
        walk_case{
            "a trusted hop IPv4-mapped", xff, {"203.0.113.9, ::ffff:10.1.2.3"}, "203.0.113.9"},
        walk_case{
            "IPv6 ending in a dotted quad", xff, {"2001:db8::203.0.113.9"}, "2001:db8::cb00:7109"},
        walk_case{"NAT64 stays IPv6", xff, {"64:ff9b::203.0.113.9"}, "64:ff9b::cb00:7109"}
    )
);

class not_an_address : public testing::TestWithParam<const char*> {};

TEST_P(not_an_address, stops_the_walk_at_the_last_good_address)
{
    const auto options = trusting({"192.0.2.1", "10.0.0.0/8"}, 0, xff);
    const std::string bad = GetParam();
    EXPECT_EQ(client_of(options, peer, {bad}), peer);
    EXPECT_EQ(client_of(options, peer, {"203.0.113.9, " + bad}), peer);
    EXPECT_EQ(
        client_of(options, peer, {"203.0.113.9, " + bad + ", 10.0.0.2, 10.0.0.1"}), "10.0.0.2"
    );
    EXPECT_EQ(client_of(options, peer, {"203.0.113.9", bad, "10.0.0.1"}), "10.0.0.1");
    EXPECT_EQ(client_of(trusting({}, 1, xff), peer, {"203.0.113.9, " + bad}), peer);
    EXPECT_EQ(client_of(trusting({}, 2, xff), peer, {"203.0.113.9, " + bad}), peer);
    EXPECT_EQ(client_of(trusting({}, 1, "X-Real-IP"), peer, {bad}), peer);
}

INSTANTIATE_TEST_SUITE_P(
    of_lists,
    not_an_address,
    testing::Values(
        "unknown",
        "null",
        "-",
        "localhost",
        "_hidden",
        "example.com:80",
        "203.0.113.256",
        "203.0.113",
        "203.0.113.9.1",
        "203.0.113.09",
        "3405803785",
        "0xcb007109",
        "203.0.113.9/32",
        "203.0.113.9:",
        "203.0.113.9:0",
        "203.0.113.9:00",
        "203.0.113.9:65536",
        "203.0.113.9:123456",
        "203.0.113.9:000080",
        "203.0.113.9:http",
        "203.0.113.9:-1",
        "203.0.113.9:80:80",
        "203.0.113.9 80",
        "203.0.113.9;",
        "for=203.0.113.9",
        "\"203.0.113.9\"",
        "[203.0.113.9]",
        "[203.0.113.9]:80",
        "[2001:db8::9",
        "2001:db8::9]",
        "[2001:db8::9]x",
        "[2001:db8::9]443",
        "[2001:db8::9]:",
        "[2001:db8::9]:0",
        "[[2001:db8::9]]",
        "[]",
        "[]:80",
        "[",
        "]",
        ":",
        "::",
        "[::]",
        "0.0.0.0",
        "0.0.0.0:80",
        "::ffff:0.0.0.0",
        "fe80::1%eth0",
        "[fe80::1%25eth0]",
        "1:2:3:4:5:6:7:8:9",
        "2001::db8::1",
        "a:b:c{}\\r\\n",
        "203.0.113.9\x01",
        "\xef\xbc\x92\xef\xbc\x90"
    )
);

INSTANTIATE_TEST_SUITE_P(
    of_forwarded,
    walk,
    testing::Values(
        walk_case{"one parameter", forwarded, {"for=203.0.113.9"}, "203.0.113.9"},
        walk_case{
            "among others, any case",
            forwarded,
            {"by=10.0.0.1;pRoto=https;FoR=203.0.113.9;host=a.test"},
            "203.0.113.9"},
        walk_case{"quoted", forwarded, {"for=\"203.0.113.9\""}, "203.0.113.9"},
        walk_case{
            "obfuscated port", forwarded, {"for=\"203.0.113.9:_gazonk.1-2_\""}, "203.0.113.9"},
        walk_case{"port 0", forwarded, {"for=\"203.0.113.9:0\""}, "203.0.113.9"},
        walk_case{
            "obfuscated port of IPv6",
            forwarded,
            {"for=\"[2001:db8:ffff:ffff:ffff:ffff:255.255.255.255]:_"
             "0123456789012345678901234567890\""},
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
        walk_case{"quoted with a port", forwarded, {"for=\"203.0.113.9:47000\""}, "203.0.113.9"},
        walk_case{"IPv6", forwarded, {"for=\"[2001:db8::9]\""}, "2001:db8::9"},
        walk_case{"IPv6 with a port", forwarded, {"for=\"[2001:db8::9]:47000\""}, "2001:db8::9"},
        walk_case{"IPv4-mapped", forwarded, {"for=\"[::ffff:203.0.113.9]\""}, "203.0.113.9"},
        walk_case{
            "the longest node",
            forwarded,
            {"for=\"[2001:0db8:0000:0000:0000:0000:255.255.255.255]:65535\""},
            "2001:db8::ffff:ffff"},
        walk_case{"escapes", forwarded, {"for=\"\\203.0\\.113.9\""}, "203.0.113.9"},
        walk_case{
            "a chain",
            forwarded,
            {"for=198.51.100.1, for=203.0.113.9;proto=http,for=10.0.0.1"},
            "203.0.113.9"},
        walk_case{
            "a chain over lines",
            forwarded,
            {"for=198.51.100.1", "for=203.0.113.9", "for=10.0.0.1"},
            "203.0.113.9"},
        walk_case{
            "empty elements and pairs",
            forwarded,
            {",;for=203.0.113.9;;proto=http;, ,"},
            "203.0.113.9"},
        walk_case{
            "blanks around pairs", forwarded, {" for=203.0.113.9 ; proto=http "}, "203.0.113.9"},
        walk_case{
            "a comma in quotes",
            forwarded,
            {"host=\"x, for=198.51.100.1\";for=203.0.113.9"},
            "203.0.113.9"},
        walk_case{
            "the same, the other way round",
            forwarded,
            {"for=203.0.113.9;host=\"x, for=198.51.100.1\""},
            "203.0.113.9"},
        walk_case{
            "an escaped quote in quotes",
            forwarded,
            {"for=203.0.113.9;host=\"x\\\", for=198.51.100.1, \\\"\""},
            "203.0.113.9"},
        walk_case{
            "an escaped backslash before the closing quote",
            forwarded,
            {"for=203.0.113.9;host=\"x\\\\\", for=\"10.0.0.1\""},
            "203.0.113.9"},
        walk_case{
            "three backslashes before a quote",
            forwarded,
            {"for=203.0.113.9;host=\"\\\\\\\", for=198.51.100.1\""},
            "203.0.113.9"},
        walk_case{
            "a semicolon in quotes",
            forwarded,
            {"host=\"x;for=198.51.100.1\";for=203.0.113.9"},
            "203.0.113.9"},
        walk_case{
            "an unbalanced quote on an earlier line",
            forwarded,
            {"for=\"198.51.100.1", "for=203.0.113.9"},
            "203.0.113.9"},
        walk_case{
            "an unbalanced quote left of the proxy's element",
            forwarded,
            {"for=\"198.51.100.1, for=203.0.113.9"},
            "203.0.113.9"},
        walk_case{
            "a client's quote cannot reach a proxy's quoted element",
            forwarded,
            {"host=\"x, for=\"203.0.113.9:1\""},
            "203.0.113.9"},
        walk_case{
            "a client's backslash neither",
            forwarded,
            {"for=\"x\\, for=\"203.0.113.9:1\""},
            "203.0.113.9"}
    )
);

class not_a_forwarded_element : public testing::TestWithParam<const char*> {};

TEST_P(not_a_forwarded_element, stops_the_walk_at_the_last_good_address)
{
    const auto options = trusting({"192.0.2.1", "10.0.0.0/8"}, 0, forwarded);
    const std::string bad = GetParam();
    EXPECT_EQ(client_of(options, peer, {bad}), peer);
    EXPECT_EQ(client_of(options, peer, {"for=203.0.113.9", bad}), peer);
    EXPECT_EQ(
        client_of(options, peer, {"for=203.0.113.9", bad + ", for=10.0.0.2", "for=10.0.0.1"}),
        "10.0.0.2"
    );
    EXPECT_EQ(client_of(trusting({}, 2, forwarded), peer, {"for=203.0.113.9", bad}), peer);
}

INSTANTIATE_TEST_SUITE_P(
    of_forwarded,
    not_a_forwarded_element,
    testing::Values(
        "203.0.113.9",
        "for",
        "for=",
        "for=\"\"",
        "=203.0.113.9",
        "for=unknown",
        "for=_hidden",
        "for=\"_hidden:80\"",
        "by=10.0.0.1;proto=https",
        ";",
        "for=[2001:db8::9]",
        "for=2001:db8::9",
        "for=\"2001:db8::9\"",
        "for=203.0.113.9:80",
        "for=\"203.0.113.9:_\"",
        "for=\"203.0.113.9:_a b\"",
        "for=\"203.0.113.9:_a:1\"",
        "for=\"203.0.113.9:port\"",
        "for=\"203.0.113.9:65536\"",
        "for=\"[2001:db8::9]:_+\"",
        "for=\"[203.0.113.9]\"",
        "for = 203.0.113.9",
        "for =203.0.113.9",
        "for= 203.0.113.9",
        "for=\" 203.0.113.9\"",
        "for=\"203.0.113.9\"x",
        "for=203.0.113.9 proto=http",
        "for=203.0.113.9;proto",
        "for=203.0.113.9;=x",
        "for=203.0.113.9;a=\"",
        "for=203.0.113.9;for=203.0.113.10",
        "for=203.0.113.9;a=b=c",
        "for=203.0.113.9;a=\"b\"c",
        "for=\"203.0.113.9",
        "for=203.0.113.9\"",
        "for=\"0.0.0.0\"",
        "for=\"[::]\"",
        "for=\"203.0.113.9\\\"",
        "x-for=203.0.113.9",
        "for=203.0.113.9;\x01=x",
        "for=\"[2001:0db8:0000:0000:0000:0000:255.255.255.255]:65535               \""
    )
);

TEST(client_address, of_an_untrusted_peer_is_the_peer)
{
    for (const char* header : {xff, forwarded, "X-Real-IP"}) {
        const std::string line =
            header == std::string{forwarded} ? "for=203.0.113.9" : "203.0.113.9";
        EXPECT_EQ(client_of(trusting({}, 0, header), peer, {line}), peer);
        EXPECT_EQ(client_of(trusting({"10.0.0.0/8"}, 0, header), peer, {line}), peer);
        EXPECT_EQ(client_of(trusting({"10.0.0.0/8"}, 1, header), peer, {line}), peer);
        EXPECT_EQ(client_of(trusting({"192.0.2.1"}, 0, header), peer, {line}), "203.0.113.9");
        EXPECT_EQ(client_of(trusting({"192.0.2.1"}, 1, header), peer, {line}), "203.0.113.9");
        EXPECT_EQ(client_of(trusting({}, 1, header), peer, {line}), "203.0.113.9");
    }
}

TEST(client_address, counts_hops_from_the_right)
{
    const std::vector<std::string> lines{
        "198.51.100.1, 203.0.113.3,", " ,203.0.113.2,,203.0.113.1 , "};
    const char* const expected[] = {
        "203.0.113.1", "203.0.113.2", "203.0.113.3", "198.51.100.1", peer, peer};
    for (int hops = 1; hops <= 6; ++hops) {
        EXPECT_EQ(client_of(trusting({}, hops, xff), peer, lines), expected[hops - 1]) << hops;
        EXPECT_EQ(client_of(trusting({"192.0.2.0/24"}, hops, xff), peer, lines), expected[hops - 1])
            << hops;
    }
    EXPECT_EQ(
        client_of(trusting({}, 2, forwarded), peer, {"for=203.0.113.2, for=203.0.113.1"}),
        "203.0.113.2"
    );
    EXPECT_EQ(client_of(trusting({}, 1, xff), peer, {}), peer);
}

TEST(client_address, hops_are_positions_whatever_is_trusted)
{
    EXPECT_EQ(
        client_of(trusting({"192.0.2.1", "10.0.0.0/8"}, 1, xff), peer, {"203.0.113.9, 10.0.0.1"}),
        "10.0.0.1"
    );
}

TEST(client_address, examines_a_hundred_elements_at_most)
{
    const auto options = trusting({"192.0.2.1", "10.0.0.0/8"}, 0, xff);
    for (const bool one_line : {true, false}) {
        const auto lines_with = [&](int trusted) {
            std::vector<std::string> lines{"203.0.113.9"};
            for (int i = trusted; i > 0; --i) {
                const std::string hop = "10.0.0." + std::to_string(i);
                if (one_line) {
                    lines[0] += "," + hop;
                } else {
                    lines.push_back(hop);
                }
            }
            return lines;
        };
        EXPECT_EQ(client_of(options, peer, lines_with(99)), "203.0.113.9");
        EXPECT_EQ(client_of(options, peer, lines_with(100)), "10.0.0.100");
        EXPECT_EQ(client_of(options, peer, lines_with(200)), "10.0.0.100");
        EXPECT_EQ(client_of(trusting({}, 100, xff), peer, lines_with(99)), "203.0.113.9");
        EXPECT_EQ(client_of(trusting({}, 101, xff), peer, lines_with(100)), peer);
    }
}

TEST(client_address, a_one_address_header_counts_only_if_it_holds_one_address)
{
    const auto options = trusting({"192.0.2.1"}, 0, "x-real-ip");
    EXPECT_EQ(client_of(options, peer, {"203.0.113.9"}), "203.0.113.9");
    EXPECT_EQ(client_of(options, peer, {" [2001:db8::9]:443 "}), "2001:db8::9");
    EXPECT_EQ(client_of(options, peer, {"", "203.0.113.9"}), "203.0.113.9");
    EXPECT_EQ(client_of(options, peer, {"203.0.113.9, 203.0.113.10"}), peer);
    EXPECT_EQ(client_of(options, peer, {"203.0.113.9", "203.0.113.10"}), peer);
    EXPECT_EQ(client_of(options, peer, {"203.0.113.9", "203.0.113.9"}), peer);
    EXPECT_EQ(client_of(options, peer, {""}), peer);
    EXPECT_EQ(client_of(options, peer, {"192.0.2.1"}), "192.0.2.1");
}

TEST(client_address, the_header_is_named_in_any_case)
{
    EXPECT_EQ(
        client_of(trusting({}, 2, "x-forwarded-FOR"), peer, {"203.0.113.9, 10.0.0.1"}),
        "203.0.113.9"
    );
    EXPECT_EQ(
        client_of(trusting({}, 2, "FORWARDED"), peer, {"for=203.0.113.9, for=10.0.0.1"}),
        "203.0.113.9"
    );
}

TEST(is_trusted, needs_a_listed_peer_or_counted_hops)
{
    const auto trusted = [](const client_options& options, const char* address) {
        return is_trusted(options, *ip_address::parse(address));
    };
    EXPECT_FALSE(trusted(trusting({}, 0, xff), peer));
    EXPECT_TRUE(trusted(trusting({}, 1, xff), peer));
    EXPECT_TRUE(trusted(trusting({"192.0.2.0/24"}, 0, xff), peer));
    EXPECT_TRUE(trusted(trusting({"192.0.2.0/24"}, 0, xff), "::ffff:192.0.2.9"));
    EXPECT_FALSE(trusted(trusting({"192.0.2.0/24"}, 1, xff), "198.51.100.1"));
    EXPECT_FALSE(trusted(trusting({"0.0.0.0/0"}, 0, xff), "::")) << "a peer without an address";
}

// A quoted string that never began costs one pass over the line, not one per quote.
TEST(client_address, long_hostile_lines_are_read_in_linear_time)
{
    const auto options = trusting({"192.0.2.1"}, 0, forwarded);
    for (const char* piece : {"\"", "\\\"", "\\", ",", "\",", "for=\"", ";"}) {
        std::string line;
        while (line.size() < 1'000'000) {
            line += piece;
        }
        EXPECT_EQ(client_of(options, peer, {line}), peer);
        EXPECT_EQ(client_of(options, peer, {line + ", for=203.0.113.9"}), "203.0.113.9");
    }
}

std::vector<std::string> strings(const boost::json::value& array)
{
    std::vector<std::string> result;
    for (const auto& item : array.as_array()) {
        result.emplace_back(item.as_string());
    }
    return result;
}

std::vector<std::string> lines_of(const boost::json::object& c)
{
    std::vector<std::string> lines;
    for (const auto& field : c.at("headers").as_array()) {
        const auto pair = strings(field);
        if (base::equal_ignoring_case(pair[0], c.at("header").as_string())) {
            lines.push_back(pair[1]);
        }
    }
    return lines;
}

// Further tables, one JSON object per line, may lie in the directory that GATEWAY_CASES names.
TEST(client_address, agrees_with_the_case_file_if_there_is_one)
{
    const char* const directory = std::getenv("GATEWAY_CASES");
    if (directory == nullptr) {
        GTEST_SKIP() << "GATEWAY_CASES names no directory with an xff.jsonl";
    }
    std::ifstream file{std::string{directory} + "/xff.jsonl"};
    ASSERT_TRUE(file.is_open());
    int cases = 0;
    for (std::string text; std::getline(file, text); ++cases) {
        const auto c = boost::json::parse(text).as_object();
        const auto& hops = c.at("trusted_hops");
        const auto options = trusting(
            strings(c.at("trusted_proxies")),
            hops.is_null() ? 0 : static_cast<int>(hops.as_int64()),
            std::string{c.at("header").as_string()}
        );
        const auto lines = lines_of(c);
        const std::vector<std::string_view> views(lines.begin(), lines.end());
        const auto from = *ip_address::parse(c.at("peer").as_string());
        const auto client = client_address(options, from, views);
        if (c.contains("also_ok") &&
            c.at("also_ok").as_array()[0].as_string() == client.to_string()) {
            continue;
        }
        EXPECT_EQ(client.to_string(), c.at("expected_ip").as_string()) << c.at("id");
        const auto bucket = client.masked(options.ipv4_prefix, options.ipv6_prefix).to_string();
        EXPECT_EQ(bucket + (client.is_v4() ? "" : "/64"), c.at("expected_bucket").as_string())
            << c.at("id");
    }
    EXPECT_GT(cases, 0);
}

TEST(client_address, says_how_it_was_found)
{
    struct one {
        client_options options;
        const char* peer;
        std::vector<std::string_view> lines;
        const char* address;
        client_reason why;
        int hop;
    };

    const client_options walks = trusting({"10.0.0.0/8"}, 0, xff);
    const client_options counts = trusting({}, 2, xff);
    const client_options reads_one = trusting({"10.0.0.0/8"}, 0, "X-Real-IP");
    for (const one& o : std::vector<one>{
             {walks, "192.0.2.1", {"1.2.3.4"}, "192.0.2.1", client_reason::untrusted_peer, 0},
             {walks, "10.0.0.1", {}, "10.0.0.1", client_reason::no_header, 0},
             {walks,
              "10.0.0.1",
              {"1.2.3.4, 10.0.0.2"},
              "1.2.3.4",
              client_reason::first_untrusted,
              2},
             {walks,
              "10.0.0.1",
              {"10.0.0.3", "10.0.0.2"},
              "10.0.0.3",
              client_reason::all_trusted,
              2},
             {walks, "10.0.0.1", {"x, 10.0.0.2"}, "10.0.0.2", client_reason::unreadable, 1},
             {walks, "10.0.0.1", {""}, "10.0.0.1", client_reason::all_trusted, 0},
             {counts, "192.0.2.1", {"1.1.1.1, 2.2.2.2"}, "1.1.1.1", client_reason::counted, 2},
             {counts, "192.0.2.1", {"2.2.2.2"}, "192.0.2.1", client_reason::not_countable, 0},
             {reads_one, "10.0.0.1", {"1.2.3.4"}, "1.2.3.4", client_reason::only_address, 1},
             {reads_one,
              "10.0.0.1",
              {"1.2.3.4", "5.6.7.8"},
              "10.0.0.1",
              client_reason::no_one_address,
              0},
         }) {
        const auto found = find_client(o.options, *ip_address::parse(o.peer), o.lines);
        EXPECT_EQ(found.address.to_string(), o.address);
        EXPECT_EQ(found.why, o.why) << o.peer << " " << o.address;
        EXPECT_EQ(found.hop, o.hop) << o.peer << " " << o.address;
        EXPECT_EQ(client_address(o.options, *ip_address::parse(o.peer), o.lines), found.address);
    }
}

}  // namespace client_address_test
}  // namespace gateway::identity
