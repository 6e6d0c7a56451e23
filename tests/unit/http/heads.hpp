// What the tests of this folder share: parsing a whole head, and the rule that holds for any bytes,
// that how they were split changes nothing.
#pragma once

#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/input/response_parser.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <string_view>

namespace gateway::http::testing {

using state = parse_result::state;

inline parse_result parse(std::string_view bytes, request_head& head, const options& limits = {})
{
    return parse_request_head(bytes, limits, head);
}

inline parse_result parse(std::string_view bytes, response_head& head, bool answers_head = false)
{
    return parse_response_head(bytes, answers_head, {}, head);
}

// `parse_prefix(bytes, head)` on every prefix: undecided up to some point, and from there on the
// same answer for ever. As the parsers keep nothing between calls, that covers every split.
template <typename Head, typename Parse>
void expect_same_however_split(std::string_view bytes, const Parse& parse_prefix)
{
    Head whole;
    const parse_result end = parse_prefix(bytes, whole);
    Head part;
    bool decided = false;
    for (std::size_t n = 0; n <= bytes.size(); ++n) {
        const std::string copy(bytes.substr(0, n));  // so that a sanitizer sees a read past the end
        const parse_result r = parse_prefix(copy, part);
        if (r.is == state::incomplete) {
            ASSERT_FALSE(decided) << "undecided again after " << n << " bytes of: " << bytes;
            continue;
        }
        decided = true;
        ASSERT_EQ(r.is, end.is) << "after " << n << " bytes of: " << bytes;
        ASSERT_EQ(r.why.status, end.why.status) << "after " << n << " bytes of: " << bytes;
        if (r.is == state::complete) {
            ASSERT_EQ(part.size, whole.size) << bytes;
            ASSERT_EQ(part.fields.size(), whole.fields.size()) << bytes;
            ASSERT_LE(part.size, n) << bytes;
        }
    }
}

inline void expect_request_same_however_split(std::string_view bytes, const options& limits = {})
{
    expect_same_however_split<request_head>(bytes, [&](std::string_view b, request_head& head) {
        return parse(b, head, limits);
    });
}

inline void expect_response_same_however_split(std::string_view bytes)
{
    expect_same_however_split<response_head>(bytes, [](std::string_view b, response_head& head) {
        return parse(b, head);
    });
}

// Bytes that must be refused, and with which status.
struct refused {
    std::string head;
    int status;
};

inline void expect_refused(const refused& r)
{
    request_head head;
    const parse_result result = parse(r.head, head);
    EXPECT_EQ(result.is, state::rejected) << r.head;
    EXPECT_EQ(result.why.status, r.status) << r.head << "\nbecause: " << result.why.detail;
    EXPECT_FALSE(result.why.detail.empty()) << r.head;
    expect_request_same_however_split(r.head);
}

inline std::string post_with(std::string_view lines)
{
    return std::string("POST /a HTTP/1.1\r\nHost: a\r\n").append(lines).append("\r\n");
}

// A copy that outlives the test, so that the head of a temporary can be looked at.
inline std::string_view kept(std::string_view bytes)
{
    static std::deque<std::string> all;
    return all.emplace_back(bytes);
}

// The bytes must begin with a whole acceptable head.
inline request_head accepted_request(std::string_view bytes)
{
    request_head head;
    const parse_result r = parse(kept(bytes), head);
    EXPECT_EQ(r.is, state::complete) << r.why.status << " " << r.why.detail << " for: " << bytes;
    return head;
}

inline response_head accepted_response(std::string_view bytes, bool answers_head = false)
{
    response_head head;
    const parse_result r = parse(kept(bytes), head, answers_head);
    EXPECT_EQ(r.is, state::complete) << r.why.detail << " for: " << bytes;
    return head;
}

// The values of all fields of that name, ignoring case, joined by "|"; "-" if there is none.
template <typename Head>
std::string values_of(const Head& head, field_name id)
{
    std::string joined;
    bool any = false;
    for (const field& f : head.fields) {
        if (f.id == id) {
            joined.append(any ? "|" : "").append(f.value);
            any = true;
        }
    }
    return any ? joined : "-";
}

}  // namespace gateway::http::testing
