// Whatever servers may take for one credential has one value, or is ambiguous; different
// credentials have different values.
#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/part_value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace gateway::http {
namespace part_value_property_test {

std::mt19937 dice{5};

std::size_t below(std::size_t n)
{
    return dice() % n;
}

bool one_in(std::size_t n)
{
    return below(n) == 0;
}

std::string any_of(const std::vector<std::string>& texts)
{
    return texts[below(texts.size())];
}

std::string percent(char c)
{
    constexpr std::string_view digits = "0123456789abcdef0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t letters = one_in(2) ? 16 : 0;
    return {'%', digits[byte / 16U + letters], digits[byte % 16U + letters]};
}

// Some of its characters, and those that would mean something, percent-encoded.
std::string encoded(const std::string& text, std::string_view special)
{
    std::string out;
    for (const char c : text) {
        out +=
            one_in(3) || special.find(c) != std::string_view::npos ? percent(c) : std::string(1, c);
    }
    return out;
}

std::string in_any_case(std::string text)
{
    for (char& c : text) {
        c = one_in(2) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    }
    return text;
}

// No '+' and space, which are one to keys.
std::string random_value()
{
    constexpr std::string_view bytes = "abcABC012._~-=/%!*";
    std::string text;
    for (std::size_t n = 1 + below(6); n > 0; --n) {
        text += bytes[below(bytes.size())];
    }
    return text;
}

// The value, or "?" if it is ambiguous.
using reader = void (*)(const http::request_head&, std::string_view, part_value&);

std::string said(const part_value& value)
{
    return value.ambiguous() ? "?" : std::string(value.text());
}

std::string said(reader read, std::string_view name, const std::string& line)
{
    const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n" + line + "\r\n\r\n";
    http::request_head head;
    EXPECT_EQ(http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete);
    part_value value;
    read(head, name, value);
    return said(value);
}

std::string of_query(const std::string& query)
{
    part_value value;
    read_query(query, "a_key", value);
    return said(value);
}

std::string of_cookie(const std::string& text)
{
    return said(read_cookie, "a_key", "Cookie: " + text);
}

std::string of_authorization(const std::string& text)
{
    return said(read_header, "authorization", "Authorization: " + text);
}

// `plain` spells a value in the one way that is never ambiguous, `disguise` in any.
template <typename Plain, typename Disguise, typename Read>
void expect_one_key(Plain plain, Disguise disguise, Read read)
{
    int told = 0;
    for (int i = 0; i < 10'000; ++i) {
        const std::string value = random_value();
        const std::string other = random_value();
        const std::string key = read(plain(value));
        ASSERT_NE(key, "?") << plain(value);
        ASSERT_EQ(key == read(plain(other)), value == other) << value << ' ' << other;
        const std::string spelled = disguise(value);
        const std::string got = read(spelled);
        ASSERT_TRUE(got == key || got == "?") << spelled << " is " << got;
        told += got == key ? 1 : 0;
    }
    EXPECT_GT(told, 300) << "not all is refused";
}

TEST(part_value, of_a_parameter_is_one_in_any_spelling)
{
    const auto spelled = [](const std::string& value) {
        return "a_key=" + encoded(value, "%+&;#");
    };
    const auto disguised = [&](const std::string& value) {
        std::string name = any_of({"a_key", "a_key", "a.key", "a key", "a[key", "A_Key"});
        name = any_of({"", "", "", " ", "?", "["}) + name;
        name += any_of({"", "", "", "[]", "[x]", std::string("\0x", 2)});
        std::string pair =
            encoded(name, std::string_view(" \0#", 3)) + "=" + encoded(value, "%+&;#");
        pair += any_of({"", "", "", ";x=1", "%00x", "&x=1", "&&", "&a_keys=1"});
        return any_of({"?", "?", "??", "?x=1&", "?x=1;", "?x;", "?&&"}) + pair +
               (one_in(4) ? "&" + spelled(value) : "");
    };
    expect_one_key(spelled, disguised, of_query);
}

TEST(part_value, of_a_cookie_is_one_in_any_spelling)
{
    const auto spelled = [](const std::string& value) { return "a_key=" + encoded(value, "%"); };
    const auto escaped = [](const std::string& value) {
        std::string out;
        for (const char c : value) {
            const auto byte = static_cast<unsigned char>(c);
            const std::array<char, 4> octal{
                '\\',
                static_cast<char>('0' + byte / 64),
                static_cast<char>('0' + byte / 8 % 8),
                static_cast<char>('0' + byte % 8)};
            out += one_in(4) ? std::string(octal.data(), octal.size())
                             : (one_in(6) ? "\\" : "") + encoded({c}, "%");
        }
        return '"' + out + '"';
    };
    const auto disguised = [&](const std::string& value) {
        std::string pair =
            any_of({"a_key", "a_key", "a_key ", "A_KEY", "a.key", "%61_key", "a_key[]"});
        pair += one_in(4) ? " = " : "=";
        pair += one_in(3)   ? escaped(value)
                : one_in(3) ? '"' + encoded(value, "%") + '"'
                            : encoded(value, "%");
        pair += any_of({"", "", "", ",x=1", " x=1", "; x=1", "%00", "\xa0", "\"", "&x", " "});
        return any_of({"x=1; ", "", "", "$Version=1; ", "x=1,", "x=1 ", ";", "x; "}) + pair +
               (one_in(4) ? "; " + spelled(value) : "");
    };
    expect_one_key(spelled, disguised, of_cookie);
}

TEST(part_value, of_credentials_is_one_in_any_spelling)
{
    const auto token = [](const std::string& value) {
        std::string text = "t";  // no padding, which does not count
        for (const char c : value) {
            text += c == '=' || c == '%' ? std::string("e") + (c == '=' ? '1' : '2')
                                         : (c == 'e' ? "e0" : std::string(1, c));
        }
        return text;
    };
    const auto spelled = [&](const std::string& value) { return "Bearer " + token(value); };
    const auto disguised = [&](const std::string& value) {
        std::string text = token(value);
        text = any_of({"", "", "", "token="}) + (one_in(4) ? '"' + text + '"' : text);
        text += any_of({"", "", "", "=", "==", " x", ";x=1", ",x", "\t", "\xa0", ", Bearer x"});
        return in_any_case(any_of({"bearer", "bearer", "token"})) + any_of({" ", "\t", " \t "}) +
               text;
    };
    expect_one_key(spelled, disguised, of_authorization);
}

}  // namespace part_value_property_test
}  // namespace gateway::http
