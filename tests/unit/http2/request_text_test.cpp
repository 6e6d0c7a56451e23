#include "gateway/http2/request_text.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace gateway::http2 {
namespace {

using verdict = request_text::verdict;
using field = std::pair<std::string_view, std::string_view>;

constexpr std::string_view key = "AAAAAAAAAAAAAAAAAAAAAA==";

struct read_text {
    verdict is;
    std::string text;
    int status;
};

read_text read(
    std::initializer_list<field> fields, bool last = true, const http::options& bounds = {}
)
{
    request_text t;
    t.clear();
    for (const auto& [name, value] : fields) {
        t.add(name, value, bounds);
    }
    const verdict v = t.finish(last, key);
    return {v, std::string(t.text()), t.refusal().status};
}

TEST(RequestText, IsTheHeadOfHttp1)
{
    const auto r = read(
        {{":method", "GET"},
         {":scheme", "https"},
         {":path", "/a?b"},
         {":authority", "g.test"},
         {"accept", "*/*"}}
    );
    EXPECT_EQ(r.is, verdict::readable);
    EXPECT_EQ(r.text, "GET /a?b HTTP/1.1\r\nhost: g.test\r\naccept: */*\r\n\r\n");
}

TEST(RequestText, JoinsTheCrumbsOfCookies)
{
    const auto r = read(
        {{":method", "GET"},
         {":scheme", "http"},
         {":path", "/"},
         {":authority", "g"},
         {"cookie", "a=1"},
         {"x", "y"},
         {"cookie", "b=2"}}
    );
    EXPECT_EQ(r.text, "GET / HTTP/1.1\r\nhost: g\r\nx: y\r\ncookie: a=1; b=2\r\n\r\n");
}

TEST(RequestText, SaysHowContentIsFramed)
{
    const std::string head = "POST / HTTP/1.1\r\nhost: g\r\n";
    const field method{":method", "POST"};
    const field scheme{":scheme", "http"};
    const field path{":path", "/"};
    const field authority{":authority", "g"};
    EXPECT_EQ(read({method, scheme, path, authority}, true).text, head + "\r\n");
    EXPECT_EQ(
        read({method, scheme, path, authority}, false).text,
        head + "transfer-encoding: chunked\r\n\r\n"
    );
    EXPECT_EQ(
        read({method, scheme, path, authority, {"content-length", "5"}}, false).text,
        head + "content-length: 5\r\n\r\n"
    );
}

TEST(RequestText, TakesHostForAnAuthorityThatIsMissing)
{
    const field method{":method", "GET"};
    const field scheme{":scheme", "http"};
    const field path{":path", "/"};
    EXPECT_EQ(
        read({method, scheme, path, {"host", "h"}}).text, "GET / HTTP/1.1\r\nhost: h\r\n\r\n"
    );
    const field authority{":authority", "h.test"};
    EXPECT_EQ(
        read({method, scheme, path, authority, {"host", "H.Test"}}).text,
        "GET / HTTP/1.1\r\nhost: h.test\r\n\r\n"
    );
    EXPECT_EQ(
        read({method, scheme, path, authority, {"host", "h.test:80"}}).is, verdict::malformed
    );
}

TEST(RequestText, RefusesWhatTheTextWouldHide)
{
    const field method{":method", "GET"};
    const field scheme{":scheme", "http"};
    const field authority{":authority", "g"};
    for (int byte = 0; byte < 256; ++byte) {
        const std::string path = std::string("/a") + static_cast<char>(byte) + "b";
        const bool visible = byte > 0x20 && byte != 0x7f;
        EXPECT_EQ(
            read({method, scheme, authority, {":path", path}}).is,
            visible ? verdict::readable : verdict::malformed
        ) << byte;
    }
    for (const std::string_view path : {"", "a", "http://x/", "**"}) {
        EXPECT_EQ(read({method, scheme, authority, {":path", path}}).is, verdict::malformed)
            << path;
    }
    for (const std::string_view other : {"", "G T", "G\r\nX:", "G:"}) {
        EXPECT_EQ(
            read({{":method", other}, scheme, authority, {":path", "/"}}).is, verdict::malformed
        ) << other;
    }
}

TEST(RequestText, RefusesOtherSchemes)
{
    for (const std::string_view scheme : {"ftp", "", "httpss"}) {
        const auto r =
            read({{":method", "GET"}, {":scheme", scheme}, {":authority", "g"}, {":path", "/"}});
        EXPECT_EQ(r.is, verdict::refused);
        EXPECT_EQ(r.status, 400);
    }
}

TEST(RequestText, IsAHandshakeForAWebSocket)
{
    const auto r = read(
        {{":method", "CONNECT"},
         {":protocol", "websocket"},
         {":scheme", "https"},
         {":path", "/chat"},
         {":authority", "g"},
         {"sec-websocket-version", "13"}},
        false
    );
    EXPECT_EQ(
        r.text,
        "GET /chat HTTP/1.1\r\nhost: g\r\nsec-websocket-version: 13\r\nconnection: upgrade\r\n"
        "upgrade: websocket\r\nsec-websocket-key: " +
            std::string(key) + "\r\n\r\n"
    );
    const auto other = read(
        {{":method", "CONNECT"},
         {":protocol", "connect-udp"},
         {":scheme", "https"},
         {":path", "/"},
         {":authority", "g"}},
        false
    );
    EXPECT_EQ(other.is, verdict::refused);
    EXPECT_EQ(other.status, 501);
}

TEST(RequestText, KeepsNoMoreThanItsBounds)
{
    http::options bounds;
    bounds.max_header_bytes = 1000;
    bounds.max_headers = 5;
    request_text t;
    t.clear();
    for (int i = 0; i < 1000; ++i) {
        t.add("x-a", std::string(100, 'b'), bounds);
    }
    t.add(":path", "/", bounds);
    EXPECT_LE(t.held_bytes(), 1000U);
    const field method{":method", "GET"};
    const auto r = read(
        {method,
         {":scheme", "http"},
         {":authority", "g"},
         {":path", "/"},
         {"a", ""},
         {"a", ""},
         {"cookie", ""},
         {"cookie", ""},
         {"a", ""},
         {"a", ""}},
        true,
        bounds
    );
    EXPECT_EQ(r.is, verdict::refused);
    EXPECT_EQ(r.status, 431);
}

}  // namespace
}  // namespace gateway::http2
