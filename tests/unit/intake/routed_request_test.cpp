#include "gateway/intake/routed_request.hpp"

#include "gateway/http/input/request_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gateway::intake {
namespace routed_request_test {

bool https(const std::vector<std::string>& said, const arrival& by)
{
    std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n";
    for (const std::string& value : said) {
        bytes += "X-Forwarded-Proto: " + value + "\r\n";
    }
    bytes += "\r\n";
    http::request_head head;
    EXPECT_EQ(http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete);
    return is_https(head, by);
}

TEST(routed_request, a_scheme_is_what_a_trusted_peer_says_or_else_the_connections)
{
    struct row {
        std::vector<std::string> said;
        bool of_plain, of_secure;  // what it is, of either connection
    };

    const std::vector<row> rows = {
        {{}, false, true},
        {{"http"}, false, false},
        {{"https"}, true, true},
        {{"WSS"}, true, true},
        {{"ws"}, false, false},
        {{""}, false, true},
        {{"https, http"}, false, true},
        {{"http", "https"}, false, true},
        {{"https", "https"}, false, true},
    };
    for (const row& r : rows) {
        const std::string first = r.said.empty() ? "nothing" : r.said.front();
        EXPECT_EQ(https(r.said, {.peer = {}, .peer_trusted = true, .secure = false}), r.of_plain)
            << first;
        EXPECT_EQ(https(r.said, {.peer = {}, .peer_trusted = true, .secure = true}), r.of_secure)
            << first;
        EXPECT_FALSE(https(r.said, {.peer = {}, .peer_trusted = false, .secure = false})) << first;
        EXPECT_TRUE(https(r.said, {.peer = {}, .peer_trusted = false, .secure = true})) << first;
    }
}

// A client could else have as many buckets by path as there are ways to write it.
TEST(routed_request, the_path_is_in_lower_case_where_the_route_ignores_case)
{
    policy::policy p;
    for (const bool ignores : {true, false}) {
        policy::route route{.name = "r", .match = {}, .limits = {}};
        route.match.path = ignores ? "/u" : "/v";
        route.match.ignore_case = ignores;
        p.routes.push_back(std::move(route));
    }
    p.finish();
    const auto path_of = [&p](const std::string& target) {
        const std::string bytes = "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
        http::request_head head;
        EXPECT_EQ(
            http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete
        );
        intake_memory memory;
        const http::options bounds;
        const client_header header;
        const routed_request found = route_request({p, bounds, header}, head, {}, memory);
        return std::to_string(found.route_index) + std::string{found.path};
    };
    EXPECT_EQ(path_of("/U/Alice"), "0/u/alice");
    EXPECT_EQ(path_of("//%55/AL%C4%B1CE/"), "0/u/alice/");
    EXPECT_EQ(path_of("/v/Alice"), "1/v/Alice");
    EXPECT_EQ(path_of("//v/Alice"), "1/v/Alice");
}

}  // namespace routed_request_test
}  // namespace gateway::intake
