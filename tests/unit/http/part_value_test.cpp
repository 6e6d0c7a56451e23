// Spellings that servers take for one value. What a value is otherwise: request_key_test.
#include "gateway/http/part_value.hpp"

#include "gateway/http/input/request_parser.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::http {
namespace part_value_test {

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

TEST(part_value, blanks_around_a_header_do_not_count_in_any_alphabet)
{
    for (const char* value :
         {"a b",
          "\xa0"
          "a b",
          "a b\x85",
          "a b\xa0 \x85"}) {
        EXPECT_EQ(read(read_header, "x-key", "X-Key: " + std::string(value) + "\r\n"), "a b");
    }
    EXPECT_EQ(read(read_header, "x-key", "X-Key: \xff\xa0\xfe\r\n"), "\xff\xa0\xfe");
}

TEST(part_value, of_authorization_is_its_credentials)
{
    const auto credentials = [](const std::string& value) {
        return read(read_header, "authorization", "Authorization: " + value + "\r\n");
    };
    EXPECT_EQ(credentials("BEARER \t  aBc"), "bearer aBc");
    EXPECT_EQ(credentials("Bearer aBc\r\nAuthorization: bearer\taBc"), "bearer aBc");
    EXPECT_EQ(credentials("Bearer aBc\r\nAuthorization: Bearer abc"), "?");
    EXPECT_EQ(credentials("Bearer a b"), "?");
    EXPECT_EQ(credentials(""), "-");
    EXPECT_EQ(read(read_header, "x-authorization", "X-Authorization: B  c\r\n"), "B  c");
}

std::string cookie(const std::string& text)
{
    return read(read_cookie, "s", "Cookie: " + text + "\r\n");
}

TEST(part_value, a_cookie_is_decoded_and_its_quotes_and_blanks_do_not_count)
{
    for (const char* text :
         {"s=abc",
          "s=\"abc\"",
          "a=b; s=abc",
          "s=abc;",
          " s = abc ;x",
          "s=%61b%63",
          "s=%22abc%22",
          "s=abc; s=%61bc",
          "$Version=1; s=abc; $Path=/"}) {
        EXPECT_EQ(cookie(text), "abc") << text;
    }
    for (const char* text :
         {"s=a+b", "s=a%20b", "s=a%2Bb", "s=\"a+b\"", "s=%20a+b%20", "s=a+b%C2%A0+"}) {
        EXPECT_EQ(cookie(text), "a b") << text;
    }
    EXPECT_EQ(cookie("s=%2561"), "%61") << "decoded once";
    for (const char* text : {"xs=abc", "s", "s=", "s=\"\"", "", "ss=a; s1=b; sx"}) {
        EXPECT_EQ(cookie(text), "-") << text;
    }
}

TEST(part_value, a_cookie_that_servers_read_differently_is_ambiguous)
{
    for (const char* text : {"s=a; s=b",    "s=a\r\nCookie: s=b",
                             "s=a; s",      "s=; s=a",
                             "s=\"abc",     "s=abc\"",
                             "s=a\"b",      "s=\"\\141bc\"",
                             "s=\"\\abc\"", "s=a\\bc",
                             "s=abc,x=1",   "s=abc&x",
                             "s=\"a,b\"",   "s=abc x=1",
                             "s=\"a b\"",   "s=a\xc2\xa0",
                             "s=%6",        "s=%zz",
                             "s=%u0061",    "s=a%00b",
                             "s=a%0a"}) {
        EXPECT_EQ(cookie(text), "?") << text;
    }
}

TEST(part_value, a_cookie_that_only_some_servers_take_for_the_key_is_ambiguous)
{
    for (const char* text :
         {"S=abc",
          "s[]=abc",
          "s[x]=abc",
          "[s]=abc",
          "%73=abc",
          "\xa0s=abc",
          "x=1, s=abc",
          "x=1,s=abc",
          "x=1 s=abc",
          "x=1\ts =abc",
          "x=1 , S=abc",
          "x, s=abc"}) {
        EXPECT_EQ(cookie(text), "?") << text;
        EXPECT_EQ(cookie(std::string(text) + "; s=abc"), "?") << text;
    }
    for (const char* text : {"x=1,y=s", "x=1 s", "x=a,ss=b", "x=1,s;y=2", "x=,,, ,"}) {
        EXPECT_EQ(cookie(text), "-") << text;
    }
}

std::string parameter(const std::string& query)
{
    part_value value;
    read_query(query, "k_y", value);
    return value.ambiguous() ? "?" : value.present() ? std::string(value.text()) : "-";
}

TEST(part_value, a_parameter_has_one_value_in_all_its_spellings)
{
    for (const char* query :
         {"?k_y=a+b",
          "?k_y=a%20b",
          "?k_y=a%2Bb",
          "?%6b_%79=%61+b",
          "?&&k_y=a+b&",
          "?k_y=+a+b%20%20",
          "?k_y=%C2%A0a+b",
          "?k_y=%A0a+b%85",
          "?k_y=a+b%E3%80%80%E2%80%8B",
          "?k_y=%EF%BB%BFa+b",
          "?k_y=a+b&k_y=a%20b"}) {
        EXPECT_EQ(parameter(query), "a b") << query;
    }
    for (const char* query : {"?", "?k_y", "?k_y=", "?ky=a", "?k_y_=a", "?x=k_y", "?x=1;y=2"}) {
        EXPECT_EQ(parameter(query), "-") << query;
    }
}

TEST(part_value, a_parameter_that_servers_read_differently_is_ambiguous)
{
    for (const char* query :
         {"?k_y=a&k_y=b", "?k_y&k_y=a",   "?k_y=a&k_y=",  "?k_y=a;x=1",   "?k_y=a;",  "?k_y=a%00b",
          "?k_y=%zz",     "?k_y=%",       "?k_y=%u0061",  "?K_Y=a",       "?k.y=a",   "?k%20y=a",
          "?k+y=a",       "?k[y=a",       "?+k_y=a",      "?%20k_y=a",    "??k_y=a",  "?k_y[]=a",
          "?k_y[x]=a",    "?k_y%5B%5D=a", "?k_y%00x=a",   "?x=1;k_y=a",   "?x;k_y=a", "?x=1;K.Y=a",
          "?;k_y=a",      "?%u006b_y=a",  "?x=1;%6b_y=a", "?k_y%u0000=a", "?k-y=a"}) {
        EXPECT_EQ(parameter(query), "?") << query;
        EXPECT_EQ(parameter(std::string(query) + "&k_y=a"), "?") << query;
    }
}

}  // namespace part_value_test
}  // namespace gateway::http
