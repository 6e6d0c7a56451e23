#include "gateway/http/input/response_parser.hpp"

#include "tests/unit/http/heads.hpp"

#include <random>
#include <vector>

namespace gateway::http {
namespace response_parser_test {

using testing::accepted_response;
using testing::expect_response_same_however_split;
using testing::parse;
using testing::state;

void expect_refused(const std::string& bytes)
{
    response_head head;
    const parse_result r = parse(bytes, head);
    EXPECT_EQ(r.is, state::rejected) << bytes;
    EXPECT_EQ(r.why.status, 502) << bytes;
    EXPECT_FALSE(r.why.detail.empty()) << bytes;
    expect_response_same_however_split(bytes);
}

std::string with_fields(std::string_view lines)
{
    return std::string("HTTP/1.1 200 OK\r\n").append(lines).append("\r\n");
}

TEST(response_parser, a_response_is_taken_apart_into_slices_of_its_bytes)
{
    const std::string bytes =
        "HTTP/1.1 404 Not \t\x80 here\r\nServer: a\r\nset-cookie:b\r\nContent-Length: 3\r\n\r\nabc";
    const response_head head = accepted_response(bytes);
    EXPECT_EQ(head.status, 404);
    EXPECT_EQ(head.reason, "Not \t\x80 here");
    EXPECT_FALSE(head.is_1_0());
    EXPECT_TRUE(head.keep_alive);
    EXPECT_EQ(head.body.how, framing::kind::length);
    EXPECT_EQ(head.body.length, 3u);
    EXPECT_EQ(head.size, bytes.size() - 3);
    ASSERT_EQ(head.fields.size(), 3u);
    EXPECT_EQ(head.fields[1].name, "set-cookie");
    EXPECT_EQ(head.fields[1].value, "b");
    EXPECT_EQ(head.fields[1].line, "set-cookie:b\r\n");
    expect_response_same_however_split(bytes);
}

TEST(response_parser, a_status_line_may_lack_reason_and_space_and_know_any_three_digits)
{
    EXPECT_EQ(accepted_response("HTTP/1.1 200\r\n\r\n").reason, "");
    EXPECT_EQ(accepted_response("HTTP/1.1 200 \r\n\r\n").reason, "");
    for (const int status : {100, 101, 299, 499, 599, 600, 999}) {
        const std::string bytes = "HTTP/1.0 " + std::to_string(status) + " x\r\n\r\n";
        EXPECT_EQ(accepted_response(bytes).status, status);
        EXPECT_TRUE(accepted_response(bytes).is_1_0());
        expect_response_same_however_split(bytes);
    }
}

TEST(response_parser, malformed_status_lines_are_refused)
{
    for (const char* line :
         {"garbage",
          "HTTP",
          "HTTP/1.1",
          "HTTP/1.1 ",
          "HTTP/1.1 20",
          "HTTP/1.1 20 OK",
          "HTTP/1.1 2000",
          "HTTP/1.1 2000 OK",
          "HTTP/1.1 099 x",
          "HTTP/1.1 000 x",
          "HTTP/1.1 -20 x",
          "HTTP/1.1 +20 x",
          "HTTP/1.1 2x0 x",
          "HTTP/1.1  200 OK",
          "HTTP/1.1\t200 OK",
          "HTTP/1.1 200\tOK",
          "HTTP/1.1200 OK",
          "HTTP/1.2 200 OK",
          "HTTP/2.0 200 OK",
          "HTTP/2 200",
          "http/1.1 200 OK",
          "ICY 200 OK",
          " HTTP/1.1 200 OK",
          "HTTP/1.1 200 O\x01K",
          "HTTP/1.1 200 O\x7fK",
          "HTTP/1.1 200 O\rK",
          "HTTP/1.1 200 O\nK",
          "HTTP/1.1 200 OK\r",
          "\r\nHTTP/1.1 200 OK",
          "HTTP/1.10 200 OK"}) {
        expect_refused(std::string(line) + "\r\nContent-Length: 0\r\n\r\n");
    }
    expect_refused("HTTP/1.1 200 OK\n\n");
    expect_refused("HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n");
    expect_refused(std::string("HTTP/1.1 200 O\0K\r\n\r\n", 20));
}

TEST(response_parser, fields_outside_the_grammar_and_ambiguous_framing_are_refused)
{
    for (const std::string& lines : std::vector<std::string>{
             "X-A : b\r\n",
             "X-A: b\r\n c\r\n",
             " X-A: b\r\n",
             ": b\r\n",
             "X-A\r\n",
             "X-A: b\nX-B: c\r\n",
             "X-A: b\rX-B: c\r\n",
             "X-A: b\x01\r\n",
             std::string("X-A: b\0c\r\n", 10),
             "Connection: a b\r\n",
             "Content-Length: x\r\n",
             "Content-Length:\r\n",
             "Content-Length: -1\r\n",
             "Content-Length: 5, 5\r\n",
             "Content-Length: 9223372036854775808\r\n",
             "Content-Length: 5\r\nContent-Length: 5\r\n",
             "Content-Length: 5\r\nContent-Length: 6\r\n",
             "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding: gzip, chunked\r\n",
             "Transfer-Encoding: chunked, gzip\r\n",
             "Transfer-Encoding: identity\r\n",
             "Transfer-Encoding:\r\n",
         }) {
        expect_refused(with_fields(lines));
    }
    expect_refused("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(response_parser, the_framing_follows_the_status_the_request_and_the_fields)
{
    struct row {
        int status;
        bool answers_head;
        std::string_view fields;
        framing::kind how;
        std::uint64_t length;
    };

    constexpr std::string_view five = "Content-Length: 5\r\n";
    constexpr std::string_view chunked = "Transfer-Encoding: Chunked\r\n";
    const std::vector<row> rows = {
        {200, false, five, framing::kind::length, 5},
        {200, false, "content-length: 0\r\n", framing::kind::length, 0},
        {200, false, chunked, framing::kind::chunked, 0},
        {200, false, "", framing::kind::until_close, 0},
        {404, false, "", framing::kind::until_close, 0},
        {200, true, five, framing::kind::none, 0},
        {200, true, chunked, framing::kind::none, 0},
        {200, true, "", framing::kind::none, 0},
        {204, false, "", framing::kind::none, 0},
        {204, false, five, framing::kind::none, 0},
        {204, false, chunked, framing::kind::none, 0},
        {304, false, five, framing::kind::none, 0},
        {304, false, "", framing::kind::none, 0},
        {100, false, "", framing::kind::none, 0},
        {103, false, "Content-Length: 0\r\n", framing::kind::none, 0},
        {205, false, five, framing::kind::length, 5},
    };
    for (const row& r : rows) {
        std::string bytes = "HTTP/1.1 " + std::to_string(r.status) + " x\r\n";
        bytes.append(r.fields).append("\r\n");
        const response_head head = accepted_response(bytes, r.answers_head);
        EXPECT_EQ(head.body.how, r.how) << bytes;
        EXPECT_EQ(head.body.length, r.length) << bytes;
    }
}

TEST(response_parser, content_where_none_may_be_is_refused_or_may_follow)
{
    for (const char* lines : {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
        for (const char* status : {"100", "102", "103"}) {
            expect_refused(std::string("HTTP/1.1 ") + status + " x\r\n" + lines + "\r\n");
        }
        const auto may_follow = [&](const char* status, bool answers_head) {
            const std::string bytes = std::string("HTTP/1.1 ") + status + " x\r\n" + lines;
            return accepted_response(bytes + "\r\n", answers_head).content_may_follow;
        };
        EXPECT_TRUE(may_follow("204", false));
        EXPECT_TRUE(may_follow("204", true));
        EXPECT_TRUE(may_follow("304", false));
        EXPECT_TRUE(may_follow("200", true));
        EXPECT_FALSE(may_follow("200", false));
    }
    const auto after_head = [](const char* status, const char* lines) {
        const std::string bytes = std::string("HTTP/1.1 ") + status + " x\r\n" + lines + "\r\n";
        return accepted_response(bytes, true).content_may_follow;
    };
    EXPECT_TRUE(after_head("200", "")) << "a GET would be answered until the connection ends";
    EXPECT_FALSE(after_head("200", "Content-Length: 0\r\n"));
    for (const char* status : {"100", "204", "304"}) {
        EXPECT_FALSE(after_head(status, ""));
        EXPECT_FALSE(after_head(status, "Content-Length: 0\r\n"));
    }
}

TEST(response_parser, a_date_counts_if_it_will_be_forwarded)
{
    EXPECT_FALSE(accepted_response(with_fields("X-Date: a\r\nDat: b\r\n")).has_date);
    EXPECT_TRUE(accepted_response(with_fields("dATE: a\r\n")).has_date);
    EXPECT_TRUE(accepted_response(with_fields("Date: a\r\nDate: b\r\n")).has_date);
    EXPECT_FALSE(accepted_response(with_fields("Date: a\r\nConnection: x, DATE\r\n")).has_date);
}

TEST(response_parser, the_version_and_connection_decide_whether_it_is_kept)
{
    const auto kept = [](const char* version, const char* lines) {
        return accepted_response(std::string("HTTP/") + version + " 200 OK\r\n" + lines + "\r\n")
            .keep_alive;
    };
    EXPECT_TRUE(kept("1.1", ""));
    EXPECT_FALSE(kept("1.1", "Connection: Close\r\n"));
    EXPECT_FALSE(kept("1.0", ""));
    EXPECT_TRUE(kept("1.0", "Connection: keep-alive\r\n"));
    EXPECT_FALSE(kept("1.0", "Connection: keep-alive\r\nConnection: close\r\n"));
}

TEST(response_parser, bounds_hold_to_the_byte_and_the_field)
{
    const std::string start = "HTTP/1.1 200 OK\r\nX: ";
    constexpr response_bounds usual;
    const std::size_t room = usual.max_header_bytes - start.size() - 4;
    accepted_response(start + std::string(room, 'x') + "\r\n\r\n");
    accepted_response(
        start + std::string(room, 'x') + "\r\n\r\n" + std::string(usual.max_header_bytes, 'b')
    );
    response_head head;
    EXPECT_EQ(parse(start + std::string(room, 'x') + "\r\n\r", head).is, state::incomplete);
    EXPECT_EQ(parse(start + std::string(room + 1, 'x') + "\r\n\r\n", head).is, state::rejected);
    EXPECT_EQ(parse(start + std::string(2 * room, 'x'), head).is, state::rejected);
    std::string lines;
    for (std::size_t i = 0; i < usual.max_headers; ++i) {
        lines += "A:\r\n";
    }
    accepted_response(with_fields(lines));
    EXPECT_EQ(parse(with_fields(lines + "A:\r\n"), head).is, state::rejected);
    const std::string two = with_fields("A:\r\nB:\r\n");
    const auto bounded = [&](std::size_t bytes, std::size_t fields) {
        return parse_response_head(two, false, {bytes, fields}, head).is;
    };
    EXPECT_EQ(bounded(two.size(), 2), state::complete);
    EXPECT_EQ(bounded(two.size() - 1, 2), state::rejected);
    EXPECT_EQ(bounded(two.size(), 1), state::rejected);
}

TEST(response_parser, damaged_heads_are_judged_alike_however_split)
{
    std::mt19937 random(20240608);
    const std::string good =
        "HTTP/1.1 200 OK\r\nConnection: close, x\r\nTransfer-Encoding: chunked\r\nX-A: \t b "
        "\r\n\r\n0\r\n\r\n";
    const std::string_view spice = "\r\n :\t/0159.-,;aZ_\x7f\x80#?*";
    int accepted = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string bytes = good;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % bytes.size();
            if (random() % 2 == 0) {
                bytes[at] = spice[random() % spice.size()];
            } else {
                bytes.erase(at, 1 + random() % 12);
            }
        }
        expect_response_same_however_split(bytes);
        response_head head;
        accepted += parse(bytes, head).is == state::complete ? 1 : 0;
    }
    EXPECT_GT(accepted, 200);
    EXPECT_LT(accepted, 3800);
}

}  // namespace response_parser_test
}  // namespace gateway::http
