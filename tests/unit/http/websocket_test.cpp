#include "gateway/http/input/websocket.hpp"

#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/input/response_parser.hpp"
#include "gateway/http/output/forward_request.hpp"
#include "gateway/http/output/forward_response.hpp"

#include <gmock/gmock.h>

namespace gateway::http {
namespace websocket_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string rest =
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
const std::string asking = "Connection: Upgrade\r\nUpgrade: websocket\r\n" + rest;

request_head parsed(const std::string& bytes)
{
    request_head head;
    EXPECT_EQ(parse_request_head(bytes, {}, head).is, parse_result::state::complete) << bytes;
    return head;
}

std::string get(const std::string& lines)
{
    return "GET /ws HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
}

struct sample {
    const char* name;
    std::string bytes;
    bool asks;
};

class requests : public ::testing::TestWithParam<sample> {};

TEST_P(requests, ask_for_a_websocket_or_are_ordinary)
{
    EXPECT_EQ(parsed(GetParam().bytes).websocket, GetParam().asks) << GetParam().bytes;
    const std::string bytes = GetParam().bytes;
    const request_head head = parsed(bytes);
    std::string out;
    append_forwarded_request(head, {}, out);
    if (GetParam().asks) {
        EXPECT_THAT(out, HasSubstr("\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"));
        EXPECT_TRUE(parsed(out).websocket) << out;
    } else {
        EXPECT_THAT(out, Not(HasSubstr("pgrade"))) << out;
    }
    EXPECT_THAT(out, Not(HasSubstr("h2c")));
    EXPECT_THAT(out, Not(HasSubstr("HTTP2-Settings")));
}

INSTANTIATE_TEST_SUITE_P(
    all,
    requests,
    ::testing::Values(
        sample{"plain", get(asking), true},
        sample{
            "in_other_letters",
            get("CONNECTION: keep-alive, uPGRADE\r\nUPGRADE: WebSocket\r\n" + rest),
            true},
        sample{
            "among_other_protocols",
            get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c, websocket\r\n"
                "HTTP2-Settings: AAMA\r\n" +
                rest),
            true},
        sample{
            "on_a_second_line",
            get("Connection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: ,websocket\r\n" + rest),
            true},
        sample{"with_an_empty_body", get(asking + "Content-Length: 0\r\n"), true},
        sample{"with_a_body", get(asking + "Content-Length: 3\r\n"), false},
        sample{"with_chunks", get(asking + "Transfer-Encoding: chunked\r\n"), false},
        sample{"post", "POST /ws HTTP/1.1\r\nHost: h\r\n" + asking + "\r\n", false},
        sample{"old", "GET /ws HTTP/1.0\r\nHost: h\r\n" + asking + "\r\n", false},
        sample{"not_nominated", get("Upgrade: websocket\r\n" + rest), false},
        sample{"nominated_only", get("Connection: Upgrade\r\n" + rest), false},
        sample{
            "h2c",
            get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n" +
                rest),
            false},
        sample{
            "a_version_of_it",
            get("Connection: upgrade\r\nUpgrade: websocket/13\r\n" + rest),
            false},
        sample{
            "part_of_a_word", get("Connection: upgrade\r\nUpgrade: websockets\r\n" + rest), false},
        sample{
            "no_key",
            get("Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"),
            false},
        sample{"two_keys", get(asking + rest), false},
        sample{
            "a_short_key",
            get("Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n"),
            false},
        sample{
            "a_key_that_is_no_base64",
            get("Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j,Q==\r\n"),
            false},
        sample{
            "no_version",
            get("Connection: upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
            false},
        sample{
            "another_version_is_the_upstreams_to_judge",
            get("Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
            true}
    ),
    [](const auto& param) { return std::string(param.param.name); }
);

TEST(websocket, what_connection_nominates_besides_is_not_forwarded)
{
    const std::string bytes =
        get("Connection: Upgrade, X-Mine, X-Forwarded-For\r\nUpgrade: websocket\r\nX-Mine: 1\r\n"
            "Sec-WebSocket-Protocol: chat\r\n" +
            rest);
    std::string out;
    append_forwarded_request(parsed(bytes), {}, out);
    EXPECT_THAT(out, Not(HasSubstr("X-Mine")));
    EXPECT_THAT(out, HasSubstr("X-Forwarded-For: "));
    EXPECT_THAT(out, HasSubstr("Sec-WebSocket-Protocol: chat\r\n"));
    EXPECT_THAT(out, HasSubstr("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
}

TEST(websocket, is_granted_by_a_101_to_it_alone)
{
    const std::vector<std::pair<std::string, bool>> samples{
        {"HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n", true},
        {"HTTP/1.1 101\r\nUpgrade: websocket\r\nConnection: keep-alive, upgrade\r\n\r\n", true},
        {"HTTP/1.1 200 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", false},
        {"HTTP/1.0 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", false},
        {"HTTP/1.1 101 x\r\n\r\n", false},
        {"HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n", false},
        {"HTTP/1.1 101 x\r\nConnection: Upgrade\r\n\r\n", false},
        {"HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", false},
        {"HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n\r\n", false},
        {"HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n\r\n",
         false},
    };
    for (const auto& [bytes, granted] : samples) {
        response_head head;
        ASSERT_EQ(parse_response_head(bytes, false, {}, head).is, parse_result::state::complete);
        EXPECT_EQ(grants_websocket(head), granted) << bytes;
    }
}

TEST(websocket, a_grant_is_forwarded_with_fields_of_our_own_for_this_connection)
{
    const std::string bytes =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade, x-mine\r\n"
        "X-Mine: 1\r\nContent-Length: 0\r\nX-RateLimit-Limit: 1\r\nSec-WebSocket-Accept: a\r\n\r\n";
    response_head head;
    ASSERT_EQ(parse_response_head(bytes, false, {}, head).is, parse_result::state::complete);
    std::string out;
    const limit::limit nine = limit::limit::make(1, std::chrono::seconds{1}, 9).value();
    const limit_report said{"a", &nine, {.allowed = true}};
    append_forwarded_response(
        head, {.close = true, .added = {.limits = {.reports = {&said, 1}}}}, out
    );
    EXPECT_EQ(
        out,
        "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: a\r\nX-RateLimit-Limit: "
        "9\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 0\r\nConnection: upgrade\r\nUpgrade: "
        "websocket\r\n\r\n"
    );
}

}  // namespace websocket_test
}  // namespace gateway::http
