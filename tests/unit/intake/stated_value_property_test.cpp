// Any text that a request carries has the form of the same text where an operator states it, and
// what a request may not carry cannot be stated.
#include "gateway/http/authority.hpp"
#include "gateway/http/input/request_parser.hpp"
#include "gateway/intake/request_key.hpp"
#include "gateway/policy/paths/path.hpp"
#include "gateway/policy/stated_value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace gateway::intake {
namespace stated_value_property_test {

using source = policy::key_part::source;

// The form of a value; nothing: it is refused, or is none.
using form = std::optional<std::string>;

// The head of a request that carries `text` where `part` is read.
std::string head_with(const policy::key_part& part, const std::string& text)
{
    std::string method = "GET";
    std::string target = "/";
    std::string host = "h";
    std::string line;
    switch (part.from) {
        case source::header:
            line = part.name + ": " + text + "\r\n";
            break;
        case source::cookie:
            line = "Cookie: " + part.name + '=' + text + "\r\n";
            break;
        case source::query:
            target = "/?" + part.name + '=' + text;
            break;
        case source::method:
            method = text;
            break;
        case source::host:
            host = text;
            break;
        default:
            target = text;
    }
    return method + ' ' + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + line + "\r\n";
}

form in_request(const policy::key_part& part, const std::string& text)
{
    const std::string bytes = head_with(part, text);
    http::request_head head;
    if (http::parse_request_head(bytes, {}, head).is != http::parse_result::state::complete) {
        return std::nullopt;
    }
    std::string host;
    policy::normalise_host(head.authority, host);
    std::string room;
    policy::normalised_path path{head.path};
    if (head.path.starts_with('/')) {
        path = policy::normalise_path(head.path, room);
    }
    if (!path.refused_because.empty()) {
        return std::nullopt;
    }
    const key_subject subject{
        .head = &head, .address = {}, .client = {}, .host = host, .path = path.path, .route = "r"};
    http::part_value value;
    read_part(part, subject, value);
    return value.present() && !value.ambiguous() ? form{value.text()} : std::nullopt;
}

form stated(const policy::key_part& part, const std::string& text)
{
    http::part_value value;
    return policy::read_stated_value(part, text, value).empty() ? form{value.text()} : std::nullopt;
}

class stated_values : public ::testing::TestWithParam<policy::key_part> {};

TEST_P(stated_values, have_the_form_of_those_of_requests)
{
    constexpr std::array<std::string_view, 26> pieces{
        "a", "B", "c.test", ".",       ":80", "/",        "//",     "%20", "%41",
        "%", "+", "\"",     "=",       ",",   ":",        "*",      "GET", "get",
        "_", "-", "[::1]",  "Bearer ", "eyJ", "\xc3\xa9", "%c3%a9", "~"};
    std::mt19937 random{7};
    int compared = 0;
    for (int i = 0; i < 30'000; ++i) {
        std::string text = GetParam().from == source::path ? "/" : "";
        for (auto n = random() % 4 + 1; n > 0; --n) {
            text += pieces.at(random() % pieces.size());
        }
        const form read = in_request(GetParam(), text);
        if (read) {
            ++compared;
            ASSERT_EQ(stated(GetParam(), text), read) << text;
        }
    }
    EXPECT_GT(compared, 500);
}

INSTANTIATE_TEST_SUITE_P(
    every_part,
    stated_values,
    ::testing::Values(
        policy::key_part{.from = source::header, .name = "x-key", .text = "header:x-key"},
        policy::key_part{.from = source::header, .name = "authorization", .text = "header:a"},
        policy::key_part{.from = source::cookie, .name = "sid", .text = "cookie:sid"},
        policy::key_part{.from = source::query, .name = "key", .text = "query:key"},
        policy::key_part{.from = source::method, .name = {}, .text = "method"},
        policy::key_part{.from = source::host, .name = {}, .text = "host"},
        policy::key_part{.from = source::path, .name = {}, .text = "path"}
    ),
    [](const auto& tested) {
        std::string name = tested.param.text;
        std::replace_if(
            name.begin(), name.end(), [](char c) { return c == ':' || c == '-'; }, '_'
        );
        return name;
    }
);

}  // namespace stated_value_property_test
}  // namespace gateway::intake
