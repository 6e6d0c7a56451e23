#include "gateway/telemetry/escape.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace gateway::telemetry {
namespace escape_test {

using namespace std::string_view_literals;

std::string json(std::string_view text)
{
    std::string out;
    append_json_text(out, text);
    return out;
}

std::string plain(std::string_view text)
{
    std::string out;
    append_plain_text(out, text);
    return out;
}

TEST(escape, follows_the_table)
{
    struct row {
        std::string_view in, json, plain;
    };

    const row table[] = {
        {"", "", ""},
        {"/a b~", "/a b~", "/a b~"},
        {"say \"hi\"", R"(say \"hi\")", R"(say \"hi\")"},
        {R"(a\b)", R"(a\\b)", R"(a\\b)"},
        {"a\r\nb\tc", R"(a\u000d\u000ab\u0009c)", R"(a\x0d\x0ab\x09c)"},
        {"\0"sv, R"(\u0000)", R"(\x00)"},
        {"\x1b[31m\x7f", R"(\u001b[31m\u007f)", R"(\x1b[31m\x7f)"},
        {"h\u00e9\u20ac\U0001f600", "h\u00e9\u20ac\U0001f600", "h\u00e9\u20ac\U0001f600"},
        {"\u0080a\u009b31m\u00a0", "\\u0080a\\u009b31m\u00a0", "\\xc2\\x80a\\xc2\\x9b31m\u00a0"},
        {"\xff", R"(\ufffd)", R"(\xff)"},
        {"a\x80z", R"(a\ufffdz)", R"(a\x80z)"},
        {"\xc0\xaf", R"(\ufffd\ufffd)", R"(\xc0\xaf)"},                // overlong
        {"\xe0\x80\x80", R"(\ufffd\ufffd\ufffd)", R"(\xe0\x80\x80)"},  // overlong
        {"\xed\xa0\x80", R"(\ufffd\ufffd\ufffd)", R"(\xed\xa0\x80)"},  // surrogate
        {"\xf4\x90\x80\x80", R"(\ufffd\ufffd\ufffd\ufffd)", R"(\xf4\x90\x80\x80)"},
        {"\xe2\x82", R"(\ufffd\ufffd)", R"(\xe2\x82)"},  // ends early
        {"\xe2\x82z", R"(\ufffd\ufffdz)", R"(\xe2\x82z)"},
    };
    for (const auto& [in, as_json, as_plain] : table) {
        EXPECT_EQ(json(in), as_json);
        EXPECT_EQ(plain(in), as_plain);
    }
}

TEST(escape, keeps_quotes_in_a_text_that_ends_its_line)
{
    std::string out;
    append_line_text(out, "did you mean \"burst\"?\n\\\xff");
    EXPECT_EQ(out, R"(did you mean "burst"?\x0a\\\xff)");
}

TEST(escape, cuts_long_texts_without_splitting_a_character)
{
    const std::string exactly(max_text_bytes, 'a');
    EXPECT_EQ(json(exactly), exactly);
    EXPECT_EQ(json(exactly + "b"), exactly + "...");
    for (const std::string_view character : {"\u00e9", "\u20ac", "\U0001f600"}) {
        for (std::size_t back = 1; back < character.size(); ++back) {
            const std::string start(max_text_bytes - back, 'a');
            EXPECT_EQ(json(start + std::string{character}), start + "...") << character << back;
        }
    }
}

TEST(escape, makes_valid_printable_json_of_any_bytes)
{
    std::mt19937 random{20261121};
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes(random() % 40, '\0');
        for (char& c : bytes) {
            c = static_cast<char>(random());
        }
        const std::string text = "\"" + json(bytes) + "\"";
        boost::json::error_code ec;
        boost::json::parse(text, ec);
        ASSERT_FALSE(ec) << text;
        for (const char c : text + plain(bytes)) {
            ASSERT_FALSE(c >= 0 && c < 0x20) << text;
        }
    }
}

TEST(escape, finds_what_is_not_plain_wherever_it_stands)
{
    for (std::size_t size = 1; size <= 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (const char c : {'"', '\\', '\n', '\x1f', '\x7f', '\x80', '\xff'}) {
                std::string bytes(size, 'x');
                bytes[at] = c;
                const std::string around(size - at - 1, 'x');
                const std::string alone = json(std::string(1, c));
                ASSERT_NE(alone, std::string(1, c));
                ASSERT_EQ(json(bytes), std::string(at, 'x') + alone + around);
            }
        }
    }
}

TEST(escape, gives_back_ascii_when_parsed)
{
    std::string ascii;
    for (int c = 0; c < 128; ++c) {
        ascii += static_cast<char>(c);
    }
    EXPECT_EQ(boost::json::parse("\"" + json(ascii) + "\"").as_string(), ascii);
}

}  // namespace escape_test
}  // namespace gateway::telemetry
