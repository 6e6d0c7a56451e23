// Spellings that servers take for one value. What a value is otherwise: request_key_test.
#include "gateway/server/part_value.hpp"

#include "gateway/http/request_parser.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::server {
namespace {

using reader = void (*)(const http::request_head&, std::string_view, part_value&);

// The value, "-" without one, "?" if it is ambiguous.
std::string read(reader from, std::string_view name, const std::string& lines)
{
    const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
    http::request_head head;
    EXPECT_EQ(http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete)
        << bytes;
    part_value value;
    from(head, name, value);
    return value.ambiguous() ? "?" : value.present() ? std::string(value.text()) : "-";
}

TEST(part_value, a_header_in_disguise_is_ambiguous)
{
    for (const char* name : {"X_Api_Key", "x.api-key", "X-API_KEY", "X~Api~Key"}) {
        EXPECT_EQ(read(read_header, "x-api-key", std::string(name) + ": a\r\n"), "?") << name;
    }
    EXPECT_EQ(read(read_header, "x_api_key", "X_Api_Key: a\r\n"), "a");
    EXPECT_EQ(read(read_header, "x_api_key", "X-Api-Key: a\r\n"), "?");
    EXPECT_EQ(read(read_header, "x-api-key", "XApiKey: a\r\nX-Api-Keys: b\r\n"), "-");
}

// The upstream would not get it, and take the request for one without.
TEST(part_value, what_connection_has_removed_is_ambiguous)
{
    const std::string removing = "Connection: close, x-Api-Key, COOKIE\r\n";
    EXPECT_EQ(read(read_header, "x-api-key", removing + "X-Api-Key: a\r\n"), "?");
    EXPECT_EQ(read(read_header, "x-api-key", removing), "-");
    EXPECT_EQ(read(read_header, "x-api-keys", removing + "X-Api-Keys: a\r\n"), "a");
    EXPECT_EQ(read(read_cookie, "s", removing + "Cookie: a=b; s=c\r\n"), "?");
    EXPECT_EQ(read(read_cookie, "s", removing + "Cookie: a=b\r\n"), "-");
}

TEST(part_value, the_scheme_of_credentials_has_one_spelling)
{
    const auto credentials = [](const std::string& value) {
        return read(read_header, "authorization", "Authorization: " + value + "\r\n");
    };
    EXPECT_EQ(credentials("Bearer aBc"), "bearer aBc");
    EXPECT_EQ(credentials("BEARER    aBc  d"), "bearer aBc  d");
    EXPECT_EQ(credentials("Negotiate"), "negotiate");
    EXPECT_EQ(credentials(""), "-");
    EXPECT_EQ(read(read_header, "x-authorization", "X-Authorization: B  c\r\n"), "B  c");
}

TEST(part_value, a_cookie_is_decoded_and_its_quotes_and_blanks_do_not_count)
{
    const auto cookie = [](const std::string& text) {
        return read(read_cookie, "s", "Cookie: " + text + "\r\n");
    };
    for (const char* text :
         {"s=abc",
          "s=\"abc\"",
          "a=b; s=abc",
          "s=abc;",
          " s = abc ;x",
          "s=%61b%63",
          "s=abc; s=%61bc"}) {
        EXPECT_EQ(cookie(text), "abc") << text;
    }
    EXPECT_EQ(cookie("s=\"abc"), "\"abc");
    EXPECT_EQ(cookie("s=%6"), "%6");
    EXPECT_EQ(cookie("s=%2561"), "%61") << "decoded once";
    for (const char* text : {"S=abc", "xs=abc", "s", "s=", "s=\"\"", ""}) {
        EXPECT_EQ(cookie(text), "-") << text;
    }
    EXPECT_EQ(cookie("s=a; s=b"), "?");
    EXPECT_EQ(cookie("s=a\r\nCookie: s=b"), "?");
}

}  // namespace
}  // namespace gateway::server
