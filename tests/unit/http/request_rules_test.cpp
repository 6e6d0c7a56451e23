// What a request must say about itself: its host, its framing, its expectation, within bounds.
#include "gateway/http/input/request_parser.hpp"
#include "tests/unit/http/heads.hpp"

#include <vector>

namespace gateway::http {
namespace request_rules_test {

using testing::accepted_request;
using testing::expect_refused;
using testing::expect_request_same_however_split;
using testing::parse;
using testing::post_with;
using testing::refused;
using testing::state;

TEST(request_rules, a_request_names_exactly_one_valid_host)
{
    expect_refused({"GET / HTTP/1.1\r\n\r\n", 400});
    expect_refused({"GET / HTTP/1.1\r\nX-Host: a\r\n\r\n", 400});
    expect_refused({"GET http://a/ HTTP/1.1\r\n\r\n", 400});
    for (const char* value :
         {"",
          " ",
          "a b",
          "a,b c",
          "u@a",
          "a/b",
          "a:b",
          "a\\b",
          "a?b",
          "[::1",
          "a:65536",
          "http://a"}) {
        expect_refused({std::string("GET / HTTP/1.1\r\nHost: ") + value + "\r\n\r\n", 400});
        expect_refused({std::string("GET / HTTP/1.0\r\nHost: ") + value + "\r\n\r\n", 400});
        expect_refused({std::string("GET http://a/ HTTP/1.1\r\nHost: ") + value + "\r\n\r\n", 400});
    }
    for (const char* version : {"1.0", "1.1"}) {
        for (const char* second : {"Host: a", "host: b", "HOST:a"}) {
            expect_refused(
                {std::string("GET / HTTP/") + version + "\r\nHost: a\r\n" + second + "\r\n\r\n",
                 400}
            );
        }
    }
    EXPECT_EQ(accepted_request("GET / HTTP/1.0\r\n\r\n").authority, "");
    EXPECT_EQ(accepted_request("GET / HTTP/1.0\r\nHost: b\r\n\r\n").authority, "b");
    EXPECT_EQ(accepted_request("GET http://c/ HTTP/1.0\r\n\r\n").authority, "c");
    EXPECT_EQ(accepted_request("GET http://c/ HTTP/1.1\r\nHost: b\r\n\r\n").authority, "c");
}

TEST(request_rules, a_body_is_framed_by_one_content_length_or_by_chunked)
{
    const auto framing_of = [](std::string_view lines) {
        return accepted_request(post_with(lines)).body;
    };
    EXPECT_EQ(framing_of("").how, framing::kind::none);
    EXPECT_EQ(framing_of("Content-Encoding: chunked\r\n").how, framing::kind::none);
    EXPECT_EQ(framing_of("Content-Length: 0\r\n").how, framing::kind::length);
    EXPECT_EQ(framing_of("Content-Length: 0\r\n").length, 0u);
    EXPECT_EQ(framing_of("cOnTeNt-LeNgTh:\t 0042 \r\n").length, 42u);
    EXPECT_EQ(framing_of("Content-Length: 9223372036854775807\r\n").length, 9223372036854775807u);
    EXPECT_EQ(framing_of("Transfer-Encoding: chunked\r\n").how, framing::kind::chunked);
    EXPECT_EQ(framing_of("transfer-encoding:CHUNKED\t\r\n").how, framing::kind::chunked);
    EXPECT_EQ(
        framing_of("Transfer_Encoding: chunked\r\nContent-Length: 5\r\n").how, framing::kind::length
    );
    EXPECT_EQ(framing_of("Content_Length: 5\r\n").how, framing::kind::none);
}

TEST(request_rules, ambiguous_or_unknown_framing_is_refused)
{
    for (const char* value :
         {"",
          " ",
          "-5",
          "+5",
          "5 5",
          "5,5",
          "5, 5",
          "0x5",
          "5;",
          "5.0",
          "5e1",
          "five",
          "5_0",
          "\x80"
          "5",
          "9223372036854775808",
          "18446744073709551616",
          "18446744073709551621",
          "99999999999999999999999999"}) {
        expect_refused({post_with(std::string("Content-Length: ") + value + "\r\n"), 400});
    }
    for (const char* second : {"5", "6"}) {
        expect_refused(
            {post_with(std::string("Content-Length: 5\r\ncontent-length: ") + second + "\r\n"), 400}
        );
    }
    const std::vector<refused> codings = {
        {"xchunked", 501},
        {"chunk", 501},
        {"chunkedchunked", 501},
        {"identity", 501},
        {"gzip", 501},
        {"", 400},
        {"gzip, chunked", 400},
        {"chunked, gzip", 400},
        {"chunked, chunked", 400},
        {"chunked, identity", 400},
        {",chunked", 400},
        {"chunked,", 400},
        {"chunked;q=1", 400},
        {"\"chunked\"", 400},
        {"\xa0"
         "chunked",
         400},
    };
    for (const refused& r : codings) {
        const std::string line = "Transfer-Encoding: " + r.head + "\r\n";
        expect_refused({post_with(line), r.status});
        expect_refused({post_with(line + "Content-Length: 5\r\n"), 400});
        expect_refused({post_with("Content-Length: 5\r\n" + line), 400});
    }
    expect_refused({post_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400}
    );
    expect_refused({post_with("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), 400});
    for (const char* length : {"0", "5"}) {
        const std::string line = std::string("Content-Length: ") + length + "\r\n";
        expect_refused({post_with("Transfer-Encoding: chunked\r\n" + line), 400});
        expect_refused({post_with(line + "Transfer-Encoding: chunked\r\n"), 400});
    }
    expect_refused({"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400});
}

TEST(request_rules, only_the_expectation_of_a_continue_is_known)
{
    EXPECT_TRUE(accepted_request(post_with("Expect: 100-Continue\r\n")).expects_continue);
    EXPECT_FALSE(
        accepted_request("POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").expects_continue
    );
    EXPECT_FALSE(accepted_request("POST / HTTP/1.0\r\nExpect: x\r\n\r\n").expects_continue);
    for (const char* value : {"", "\t", ",", " , ,"}) {  // lists of nothing
        const std::string bytes = post_with(std::string("Expect:") + value + "\r\n");
        EXPECT_FALSE(accepted_request(bytes).expects_continue);
    }
    for (const char* value : {"x", ", x", "y 100-continue", "100-continue, x", "200-ok"}) {
        expect_refused({post_with(std::string("Expect: ") + value + "\r\n"), 417});
    }
}

TEST(request_rules, bounds_hold_to_the_byte_and_the_field)
{
    options limits;
    limits.max_header_bytes = 60;
    limits.max_headers = 3;
    const auto status = [&](const std::string& bytes) {
        request_head head;
        const parse_result r = parse(bytes, head, limits);
        expect_request_same_however_split(bytes, limits);
        return r.is == state::rejected ? r.why.status : r.is == state::complete ? 200 : 0;
    };
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";  // 25 bytes; 35 are left
    EXPECT_EQ(status(start + "X: " + std::string(28, 'x') + "\r\n\r\n"), 200);
    EXPECT_EQ(
        status(start + "X: " + std::string(28, 'x') + "\r\n\r\n" + std::string(100, 'b')), 200
    );
    EXPECT_EQ(status(start + "X: " + std::string(29, 'x') + "\r\n\r\n"), 431);
    EXPECT_EQ(status(start + "X: " + std::string(100, 'x')), 431);
    EXPECT_EQ(status(start + "X: " + std::string(28, 'x')), 0);
    EXPECT_EQ(status(start + "X: " + std::string(31, 'x')), 0);
    EXPECT_EQ(status(start + "X: " + std::string(32, 'x')), 431) << "full, and no end in sight";
    EXPECT_EQ(status(start + "X: " + std::string(100, 'x') + "\r\n : \r\n\r\n"), 431);
    EXPECT_EQ(status("GET /" + std::string(100, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    EXPECT_EQ(status("\r\nGET /" + std::string(100, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    EXPECT_EQ(status("GET /" + std::string(45, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    EXPECT_EQ(status("GET /" + std::string(44, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 431);
    EXPECT_EQ(status(start + "A:\r\nB:\r\n\r\n"), 200);
    EXPECT_EQ(status(start + "A:\r\nB:\r\nC:\r\n\r\n"), 431);
}

TEST(request_rules, max_forwards_is_one_number_where_it_is_obeyed)
{
    for (const char* method : {"OPTIONS", "TRACE"}) {
        const std::string start = std::string(method) + " / HTTP/1.1\r\nHost: a\r\n";
        for (const char* value : {"", "-1", "+1", "1 1", "1,1", "0x1", "1.0", "a"}) {
            expect_refused({start + "Max-Forwards: " + value + "\r\n\r\n", 400});
        }
        expect_refused({start + "Max-Forwards: 1\r\nMax-Forwards: 1\r\n\r\n", 400});
        EXPECT_FALSE(accepted_request(start + "\r\n").max_forwards);
        EXPECT_EQ(accepted_request(start + "Max-Forwards: 000\r\n\r\n").max_forwards, 0U);
    }
    EXPECT_FALSE(accepted_request(post_with("Max-Forwards: a\r\nMax-Forwards: b\r\n")).max_forwards
    );
}

TEST(request_rules, a_trace_has_no_content)
{
    const std::string start = "TRACE / HTTP/1.1\r\nHost: a\r\n";
    expect_refused({start + "Content-Length: 1\r\n\r\n", 400});
    expect_refused({start + "Transfer-Encoding: chunked\r\n\r\n", 400});
    EXPECT_EQ(accepted_request(start + "Content-Length: 0\r\n\r\n").body.length, 0U);
    EXPECT_EQ(accepted_request(start + "\r\n").body.how, framing::kind::none);
}

}  // namespace request_rules_test
}  // namespace gateway::http
