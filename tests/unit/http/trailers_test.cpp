#include "gateway/http/trailers.hpp"

#include "tests/unit/http/heads.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gateway::http {
namespace trailers_test {

std::string passed(std::string_view section)
{
    std::string out;
    append_forwardable_trailers(section, out);
    return out;
}

std::string announced(std::string_view lines)
{
    std::string out;
    append_announced_trailers(testing::accepted_request(testing::post_with(lines)).fields, out);
    return out;
}

// Names that must not pass, by the reason.
constexpr const char* forbidden[] = {
    // framing, and what concerns one connection
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Keep-Alive",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Upgrade",
    "HTTP2-Settings",
    // routing
    "Host",
    "Via",
    "Max-Forwards",
    "X-Original-URL",
    "X-Original-Anything",
    "X-Rewrite-URL",
    "X-Script-Name",
    "SCRIPT_NAME",
    // request modifiers
    "Expect",
    "Range",
    "If-Match",
    "If-None-Match",
    "If-Modified-Since",
    "If-Unmodified-Since",
    "If-Range",
    "Pragma",
    "Cache-Control",
    "Origin",
    "X-HTTP-Method",
    "X-HTTP-Method-Override",
    "X-Method-Override",
    "Sec-Fetch-Site",
    "Sec-WebSocket-Key",
    // credentials
    "Authorization",
    "Proxy-Authorization",
    "Proxy-Authenticate",
    "WWW-Authenticate",
    "Cookie",
    "Cookie2",
    "Set-Cookie",
    "Set-Cookie2",
    "Client-Cert",
    "Client-Cert-Chain",
    "X-Api-Key",
    "Api-Key",
    "ApiKey",
    "X-Auth-Token",
    "X-Access-Token",
    "X-CSRF-Token",
    "X-XSRF-Token",
    // names of the client
    "Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Port",
    "X-Real-IP",
    "X-Client-IP",
    "X-Cluster-Client-IP",
    "True-Client-IP",
    "CF-Connecting-IP",
    "Fastly-Client-IP",
    // control of responses and caches
    "Age",
    "Date",
    "Expires",
    "Location",
    "Refresh",
    "Retry-After",
    "Vary",
    "Warning",
    "Access-Control-Allow-Origin",
    // the form of the content
    "Content-Encoding",
    "Content-Type",
    "Content-Range",
    "Content-Language",
    "Content-Location",
    "Content-Disposition",
    // what the gateway says itself
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Anything",
    "RateLimit",
    "RateLimit-Policy",
    "X-Request-Id",
    "traceparent",
    "tracestate",
};

TEST(trailers, no_field_of_the_head_passes_in_any_spelling)
{
    for (const std::string name : forbidden) {
        std::string upper = name;
        std::string lower = name;
        std::string underscored = name;
        std::string dotted = name;
        std::transform(name.begin(), name.end(), upper.begin(), ::toupper);
        std::transform(name.begin(), name.end(), lower.begin(), ::tolower);
        std::replace(underscored.begin(), underscored.end(), '-', '_');
        std::replace(dotted.begin(), dotted.end(), '-', '.');
        for (const std::string& spelling : {name, upper, lower, underscored, dotted}) {
            EXPECT_FALSE(is_forwardable_trailer(spelling)) << spelling;
            EXPECT_EQ(passed("X-A: 1\r\n" + spelling + ": x\r\nX-B: 2\r\n"), "X-A: 1\r\nX-B: 2\r\n")
                << spelling;
            EXPECT_EQ(announced("Trailer: X-A, " + spelling + "\r\n"), "Trailer: X-A\r\n");
        }
    }
}

TEST(trailers, other_fields_pass)
{
    for (const std::string name :
         {"grpc-status",
          "grpc-message",
          "grpc-status-details-bin",
          "Server-Timing",
          "Content-Digest",
          "Repr-Digest",
          "Content-MD5",
          "Digest",
          "ETag",
          "Last-Modified",
          "Signature",
          "X-Checksum",
          "If",
          "X-Forwarded",
          "Hosts",
          "a",
          "x-rate",
          "Proxy"}) {
        EXPECT_TRUE(is_forwardable_trailer(name)) << name;
        EXPECT_EQ(passed(name + ": x\r\n"), name + ": x\r\n");
    }
}

TEST(trailers, they_are_spelled_alike_and_keep_their_order)
{
    EXPECT_EQ(passed(""), "");
    EXPECT_EQ(
        passed("B:1\r\na: \t2 3\t \r\nC:\r\nB:  \x80\r\n"), "B: 1\r\na: 2 3\r\nC: \r\nB: \x80\r\n"
    );
}

TEST(trailers, nothing_passes_from_the_first_malformed_line_on)
{
    for (const std::string bad :
         {" folded\r\n",
          "\tfolded\r\n",
          "X-T : 1\r\n",
          ": 1\r\n",
          "X-T\r\n",
          "X-T: a\nX-U: 2\r\n",
          "X-T: a\rX-U: 2\r\n",
          "X-T: \x01\r\n",
          "X-T: \x7f\r\n",
          "X\x80: 1\r\n",
          "\r\n"}) {
        EXPECT_EQ(passed("X-A: 1\r\n" + bad + "X-B: 2\r\n"), "X-A: 1\r\n") << bad;
    }
    EXPECT_EQ(passed(std::string("X-A: 1\r\nX-T: \0\r\n", 16)), "X-A: 1\r\n");
    EXPECT_EQ(passed("X-A: 1\r\nX-T: 1"), "X-A: 1\r\n");
    EXPECT_EQ(passed("X-A: 1\r\nX-T: 1\r"), "X-A: 1\r\n");
}

TEST(trailers, all_of_many_pass)
{
    for (const std::size_t count : {trailers_at_once - 1, trailers_at_once, 3 * trailers_at_once}) {
        std::string section;
        for (std::size_t i = 0; i < count; ++i) {
            section += "X-" + std::to_string(i) + ": a\r\n";
        }
        EXPECT_EQ(passed(section), section);
        EXPECT_EQ(passed("Host: b\r\n" + section + "Host: b\r\n"), section);
    }
}

TEST(trailers, withheld_names_do_not_pass)
{
    std::string out = "before\r\n";
    append_forwardable_trailers(
        "X-A: 1\r\nX-B: 2\r\nX-C: 3\r\n", [](std::string_view name) { return name == "X-B"; }, out
    );
    EXPECT_EQ(out, "before\r\nX-A: 1\r\nX-C: 3\r\n");
}

TEST(trailers, announcements_are_joined_without_what_does_not_pass)
{
    EXPECT_EQ(announced(""), "");
    EXPECT_EQ(announced("Trailer:\r\n"), "");
    EXPECT_EQ(announced("Trailer: Host\r\n"), "");
    EXPECT_EQ(announced("Trailer: a b, \"c\", d:, \x80\r\n"), "");
    EXPECT_EQ(
        announced("Trailer: a,,b\t, host\r\nX-A: 1\r\ntrailer: c\r\n"), "Trailer: a, b, c\r\n"
    );
    EXPECT_EQ(announced("Connection: trailer\r\nTrailer: a\r\n"), "");
}

}  // namespace trailers_test
}  // namespace gateway::http
