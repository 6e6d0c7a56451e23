#include "gateway/intake/request_shape.hpp"

#include "gateway/http/input/request_parser.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gateway::intake {
namespace request_shape_test {

// The first two lines of what is forwarded.
std::string start_of(std::string_view bytes, const policy::route_shape& s)
{
    http::request_head head;
    EXPECT_EQ(http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete);
    http::forward_options options{.default_host = "first.test:81"};
    shape(s, head, options);
    std::string out;
    http::append_forwarded_request(head, options, out);
    return out.substr(0, out.find("\r\n", out.find("Host: ")));
}

policy::route_shape with_prefix(const std::string& from, const std::string& to)
{
    policy::route_shape s;
    s.prefix = {.from = from, .to = to, .to_and_slash = to + '/'};
    return s;
}

TEST(request_shape, changes_the_beginning_of_the_path_alone)
{
    struct row {
        std::string from, to;
        std::string_view target, forwarded;
    };

    const std::vector<row> rows = {
        {"/api", "", "/api", "/"},
        {"/api", "", "/api?q=/api", "/?q=/api"},
        {"/api", "", "/api/", "/"},
        {"/api", "", "/api//evil.test/", "/evil.test/"},
        {"/api", "", "http://a/api/x?y", "/x?y"},
        {"/v1", "/v2", "/v1", "/v2"},
        {"/v1", "/v2", "/v1/", "/v2/"},
        {"/v1", "/v2", "/v1/v1/x%20y", "/v2/v1/x%20y"},
        {"", "/base", "/", "/base/"},
        {"", "/base", "/x", "/base/x"},
        {"/a", "/b/c", "/%61;p/x", "/b/c/x"},
    };
    for (const row& r : rows) {
        const std::string bytes = "GET " + std::string(r.target) + " HTTP/1.1\r\nHost: a\r\n\r\n";
        EXPECT_EQ(
            start_of(bytes, with_prefix(r.from, r.to)),
            "GET " + std::string(r.forwarded) + " HTTP/1.1\r\nHost: a"
        );
    }
}

TEST(request_shape, chooses_the_host)
{
    const std::string_view request = "GET /x?y HTTP/1.1\r\nX-A: 1\r\nhost: client.test:8\r\n\r\n";
    policy::route_shape s;
    EXPECT_EQ(start_of(request, s), "GET /x?y HTTP/1.1\r\nHost: client.test:8");
    s.host = policy::host_source::upstream;
    EXPECT_EQ(start_of(request, s), "GET /x?y HTTP/1.1\r\nHost: first.test:81");
    s.host = policy::host_source::named;
    s.host_name = "inner.test";
    EXPECT_EQ(start_of(request, s), "GET /x?y HTTP/1.1\r\nHost: inner.test");
    EXPECT_EQ(
        start_of("GET http://client.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n", s),
        "GET / HTTP/1.1\r\nHost: inner.test"
    );
    EXPECT_EQ(start_of("GET / HTTP/1.0\r\n\r\n", s), "GET / HTTP/1.1\r\nHost: inner.test");
}

}  // namespace request_shape_test
}  // namespace gateway::intake
