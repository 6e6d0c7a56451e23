#include "gateway/http2/field_block.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gateway::http2 {
namespace field_block_test {

using pairs = std::vector<std::pair<std::string, std::string>>;

pairs fields_of(const field_block& block)
{
    pairs found;
    for (std::size_t i = 0; i < block.size(); ++i) {
        const nghttp2_nv& f = block.data()[i];
        found.emplace_back(
            std::string(reinterpret_cast<const char*>(f.name), f.namelen),
            std::string(reinterpret_cast<const char*>(f.value), f.valuelen)
        );
    }
    return found;
}

pairs fields_of(int status, std::string lines)
{
    return fields_of(field_block(status, lines));
}

pairs request_of(std::string head)
{
    return fields_of(field_block("https", head));
}

TEST(field_block, has_the_status_first_and_names_in_lower_case)
{
    EXPECT_EQ(
        fields_of(204, "Date: now\r\nX-Foo:  Bar baz \r\nx-empty:\r\n\r\n"),
        (pairs{{":status", "204"}, {"date", "now"}, {"x-foo", "Bar baz"}, {"x-empty", ""}})
    );
}

TEST(field_block, keeps_what_never_comes_again_out_of_the_table)
{
    std::string lines =
        "Date: now\r\nX-Request-Id: 1\r\nX-RateLimit-Limit: 9\r\n"
        "X-RateLimit-Remaining: 3\r\nX-RateLimit-Remaining-Tokens: 3\r\n";
    const field_block block(200, lines);
    std::vector<bool> out;
    for (std::size_t i = 0; i < block.size(); ++i) {
        out.push_back((block.data()[i].flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0);
    }
    EXPECT_EQ(out, (std::vector{false, false, true, false, true, true}));
}

TEST(field_block, has_no_status_for_trailers)
{
    EXPECT_EQ(fields_of(0, "Grpc-Status: 0\r\n"), (pairs{{"grpc-status", "0"}}));
}

TEST(field_block, leaves_out_what_concerns_a_connection)
{
    EXPECT_EQ(
        fields_of(
            0,
            "Connection: close\r\nKeep-Alive: 1\r\nProxy-Connection: x\r\nTE: trailers\r\n"
            "Transfer-Encoding: chunked\r\nUpgrade: h2c\r\nx-a: 1\r\n"
        ),
        (pairs{{"x-a", "1"}})
    );
}

TEST(field_block, takes_a_value_with_colons)
{
    EXPECT_EQ(fields_of(0, "location: http://x:1/\r\n"), (pairs{{"location", "http://x:1/"}}));
}

TEST(field_block, of_a_request_has_pseudo_fields_first)
{
    EXPECT_EQ(
        request_of("GET /a?b=c HTTP/1.1\r\nX-A: 1\r\nHost: h:1\r\nX-B: 2\r\n\r\n"),
        (pairs{
            {":method", "GET"},
            {":scheme", "https"},
            {":path", "/a?b=c"},
            {":authority", "h:1"},
            {"x-a", "1"},
            {"x-b", "2"}})
    );
}

TEST(field_block, of_a_request_without_a_host_has_no_authority)
{
    EXPECT_EQ(
        request_of("OPTIONS * HTTP/1.1\r\n\r\n"),
        (pairs{{":method", "OPTIONS"}, {":scheme", "https"}, {":path", "*"}})
    );
}

TEST(field_block, of_a_request_says_that_trailers_are_understood)
{
    EXPECT_EQ(
        request_of("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n"
                   "Connection: TE\r\n\r\n"),
        (pairs{
            {":method", "POST"},
            {":scheme", "https"},
            {":path", "/"},
            {":authority", "h"},
            {"te", "trailers"}})
    );
}

}  // namespace field_block_test
}  // namespace gateway::http2
