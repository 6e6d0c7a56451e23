// The values of a key's parts, and the bucket names made of them.
#include "gateway/intake/request_key.hpp"

#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/part_value.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace gateway::intake {
namespace request_key_test {

using policy::missing_key;
using source = policy::key_part::source;

// A parsed request that owns its bytes.
struct request {
    std::string bytes;
    http::request_head head;

    explicit request(const std::string& target, const std::string& lines = {})
        : bytes("GET " + target + " HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n")
    {
        const auto parsed = http::parse_request_head(bytes, {}, head);
        EXPECT_EQ(parsed.is, http::parse_result::state::complete) << bytes;
    }
};

// "-": absent, "!": ambiguous.
std::string said(const http::part_value& value)
{
    if (value.ambiguous()) {
        return "!";
    }
    return value.present() ? std::string(value.text()) : "-";
}

std::string header(const std::string& lines)
{
    http::part_value value;
    read_header(request("/", lines).head, "x-key", value);
    return said(value);
}

std::string cookie(const std::string& lines)
{
    http::part_value value;
    read_cookie(request("/", lines).head, "sid", value);
    return said(value);
}

std::string query(std::string_view text)
{
    http::part_value value;
    read_query(text, "key", value);
    return said(value);
}

TEST(part_value, of_a_header_is_that_of_all_its_lines)
{
    EXPECT_EQ(header(""), "-");
    EXPECT_EQ(header("X-Key: a b\r\n"), "a b");
    EXPECT_EQ(header("x-KEY: a\r\nX-Key2: b\r\n"), "a");
    EXPECT_EQ(header("X-Key:\r\n"), "-") << "an empty one does not count";
    EXPECT_EQ(header("X-Key: a\r\nX-Key: a\r\n"), "a");
    EXPECT_EQ(header("X-Key: a\r\nX-Key:\r\n"), "!") << "a server could go by the empty one";
    EXPECT_EQ(header("X-Key: a\r\nX-Key: A\r\n"), "!");
    EXPECT_EQ(header("X-Key: a\r\nX-Key: b\r\nX-Key: a\r\n"), "!") << "and stays so";
}

TEST(part_value, of_a_cookie_is_found_among_the_others_and_in_every_line)
{
    EXPECT_EQ(cookie(""), "-");
    EXPECT_EQ(cookie("Cookie: sid=a\r\n"), "a");
    EXPECT_EQ(cookie("Cookie: x=1; sid=a=b ; y=2\r\n"), "a=b");
    EXPECT_EQ(cookie("Cookie: xsid=1; sid2=1; sid\r\n"), "-");
    EXPECT_EQ(cookie("Cookie: sid=\r\n"), "-");
    EXPECT_EQ(cookie("Cookie: sid=a; sid=a\r\n"), "a");
    EXPECT_EQ(cookie("Cookie: sid=a; sid=b\r\n"), "!");
    EXPECT_EQ(cookie("Cookie: sid=a\r\nCookie: sid=b\r\n"), "!");
}

TEST(part_value, of_a_query_parameter_is_decoded_as_its_name_is)
{
    EXPECT_EQ(query(""), "-");
    EXPECT_EQ(query("?"), "-");
    EXPECT_EQ(query("?key=a"), "a");
    EXPECT_EQ(query("key=a"), "a");
    EXPECT_EQ(query("?x=1&key=a=b&y"), "a=b");
    EXPECT_EQ(query("?xkey=a&keys=b&key"), "-");
    EXPECT_EQ(query("?%6b%65Yx=x&%6Bey=a%20b+c"), "a b c");
    EXPECT_EQ(query("?key=a&key=%61"), "a");
    EXPECT_EQ(query("?key=a&%6bey=b"), "!");
}

class keys : public ::testing::Test {
protected:
    policy::limit_rule rule{
        .name = "l", .key = {}, .limit = *limit::limit::make(1, std::chrono::seconds{1}, 1)};

    key_result result = key_result::made;
    bool peer_trusted = false;

    // Of a request to "/p"; empty unless made.
    std::string name_of(const request& r, std::uint32_t client = 0x01020304)
    {
        return name_of(r, base::ip_address::v4(client));
    }

    std::string name_of(const request& r, const base::ip_address& client)
    {
        identity::bucket_name name;
        result = make_bucket_name(rule, subject_of(r, client), name).is;
        return result == key_result::made ? std::string(name.bytes()) : std::string{};
    }

    // The description of the key's fault; empty: it has none.
    std::string fault_of(const request& r) const
    {
        identity::bucket_name name;
        const key_fault fault =
            make_bucket_name(rule, subject_of(r, base::ip_address::v4(1)), name).fault;
        return fault.part == nullptr ? std::string{} : described(fault);
    }

private:
    key_subject subject_of(const request& r, const base::ip_address& client) const
    {
        return {
            .head = &r.head,
            .address = client,
            .client = client.masked(32, 64),
            .host = "h",
            .path = "/p",
            .route = "r",
            .peer_trusted = peer_trusted};
    }
};

TEST_F(keys, of_a_prefix_have_its_bits_and_no_more_than_32_of_an_ipv4_address)
{
    const request r = request("/");
    const auto same = [&](const char* a, const char* b) {
        return name_of(r, *base::ip_address::parse(a)) == name_of(r, *base::ip_address::parse(b));
    };
    rule.key = {{.from = policy::key_part::source::client_ip, .name = {}, .prefix = 48}};
    EXPECT_TRUE(same("2001:db8:1:2::3", "2001:db8:1:ffff::9"));
    EXPECT_FALSE(same("2001:db8:1:2::3", "2001:db8:2:2::3"));
    EXPECT_FALSE(same("192.0.2.1", "192.0.2.2"));
    rule.key.front().prefix = 24;
    EXPECT_TRUE(same("192.0.2.1", "192.0.2.255"));
    EXPECT_FALSE(same("192.0.2.1", "192.0.3.1"));
    EXPECT_TRUE(same("2001:db8::", "2001:dff::"));
    rule.key.front().prefix = 128;
    EXPECT_FALSE(same("2001:db8::1", "2001:db8::2")) << "finer than what is one client elsewhere";
    EXPECT_TRUE(same("2001:db8::1", "2001:db8::1"));
}

TEST_F(keys, without_parts_are_one_bucket_for_all_and_another_for_each_limit)
{
    const std::string all = name_of(request("/a"), 1);
    EXPECT_EQ(all, name_of(request("/b", "X: y\r\n"), 2));
    rule.name = "m";
    EXPECT_NE(all, name_of(request("/a"), 1));
}

TEST_F(keys, of_every_source_hold_what_the_request_says)
{
    for (const auto& [from, text] : std::vector<std::pair<source, std::string>>{
             {source::method, "GET"},
             {source::host, "h"},
             {source::path, "/p"},
             {source::route, "r"},
             {source::header, "v"},
             {source::cookie, "w"},
             {source::query, "x"}}) {
        rule.key = {{from, "n"}};
        identity::bucket_name expected;
        expected.start("l");
        expected.add(text);
        EXPECT_EQ(name_of(request("/?n=x", "N: v\r\nCookie: n=w\r\n")), expected.bytes()) << text;
    }
    rule.key = {{}};
    identity::bucket_name expected;
    expected.start("l");
    expected.add(base::ip_address::v4(0x01020304));
    EXPECT_EQ(name_of(request("/")), expected.bytes());
}

TEST_F(keys, of_a_path_are_the_same_with_and_without_a_slash_at_its_end)
{
    rule.key = {{source::path, "path"}};
    const auto of = [this](std::string_view path) {
        const request r = request("/");
        const key_subject subject{
            .head = &r.head, .address = {}, .client = {}, .host = "h", .path = path, .route = "r"};
        identity::bucket_name name;
        EXPECT_EQ(make_bucket_name(rule, subject, name).is, key_result::made);
        return std::string(name.bytes());
    };
    EXPECT_EQ(of("/u/alice/"), of("/u/alice"));
    EXPECT_NE(of("/u/alice/x"), of("/u/alice"));
    EXPECT_NE(of("/"), of("*"));
}

TEST_F(keys, that_lack_a_part_are_what_the_rule_says_and_two_values_are_refused)
{
    rule.key = {{}, {source::header, "x-key"}};
    rule.when_missing = missing_key::reject;
    name_of(request("/"));
    EXPECT_EQ(result, key_result::reject);
    rule.when_missing = missing_key::skip;
    name_of(request("/"));
    EXPECT_EQ(result, key_result::skip);
    rule.when_missing = missing_key::client_ip;
    EXPECT_NE(name_of(request("/")), name_of(request("/"), 5));
    for (const missing_key when :
         {missing_key::reject, missing_key::skip, missing_key::client_ip}) {
        rule.when_missing = when;
        name_of(request("/", "X-Key: a\r\nX-Key: b\r\n"));
        EXPECT_EQ(result, key_result::reject);
    }
}

TEST_F(keys, that_lack_a_part_name_it)
{
    rule.key = {
        {},
        {source::header, "x-key", 0, "header:x-key"},
        {source::query, "a\"b\\", 0, "query:a\"b\\"},
        {source::jwt, "sub", 0, "jwt:sub"},
        {source::cert, "subject", 0, "cert:subject"}};
    EXPECT_EQ(fault_of(request("/")), "header:x-key, which identifies the client, is missing");
    EXPECT_EQ(
        fault_of(request("/", "X-Key: a\r\nX-Key: b\r\n")),
        "header:x-key, which identifies the client, has two values, or is spelled in a way that "
        "servers read differently"
    );
    rule.key.erase(rule.key.begin() + 1);
    EXPECT_EQ(fault_of(request("/")), "query:a?b?, which identifies the client, is missing")
        << "no escaping is needed";
    rule.key.erase(rule.key.begin() + 1);
    EXPECT_EQ(
        fault_of(request("/")),
        "jwt:sub, which identifies the client, is missing: the request has no valid token with "
        "that claim"
    );
    rule.key.erase(rule.key.begin() + 1);
    EXPECT_EQ(
        fault_of(request("/")),
        "cert:subject, which identifies the client, is missing: the client has shown no "
        "certificate with it"
    );
    rule.when_missing = missing_key::client_ip;
    EXPECT_EQ(fault_of(request("/")), "");
}

// The upstream does not get it.
TEST_F(keys, a_header_of_trusted_peers_is_absent_from_requests_of_others)
{
    rule.key = {{.from = source::header, .name = "x-real-ip", .from_trusted_peers = true}};
    rule.when_missing = missing_key::client_ip;
    const std::string of_address = name_of(request("/"));
    const request r{"/", "X-Real-IP: a\r\nX-Real-IP: b\r\n"};
    EXPECT_EQ(name_of(r), of_address);
    peer_trusted = true;
    EXPECT_EQ(name_of(r), "");
    EXPECT_EQ(result, key_result::reject);
    EXPECT_NE(name_of(request("/", "X-Real-IP: a\r\n")), of_address);
}

TEST_F(keys, a_text_never_stands_for_the_address_that_replaces_a_missing_part)
{
    rule.key = {{source::header, "x-key"}};
    rule.when_missing = missing_key::client_ip;
    const std::string of_address = name_of(request("/"));
    for (const char* text : {"1.2.3.4", "::ffff:1.2.3.4", "16909060"}) {
        EXPECT_NE(name_of(request("/", "X-Key: " + std::string(text) + "\r\n")), of_address);
    }
}

TEST_F(keys, two_different_lists_of_values_never_share_a_bucket)
{
    rule.key = {{source::header, "a"}, {source::header, "b"}};
    std::mt19937 random{11};
    const auto value = [&] {
        std::string text;
        for (std::size_t n = 1 + random() % 3; n > 0; --n) {
            text += "a:,\x80"[random() % 4];
        }
        return text;
    };
    std::set<std::string> lists;
    std::set<std::string> names;
    for (int i = 0; i < 2000; ++i) {
        const std::string lines = "A: " + value() + "\r\nB: " + value() + "\r\n";
        lists.insert(lines);
        names.insert(name_of(request("/", lines)));
    }
    EXPECT_EQ(names.size(), lists.size());
    EXPECT_GT(names.size(), 500U);
}

}  // namespace request_key_test
}  // namespace gateway::intake
