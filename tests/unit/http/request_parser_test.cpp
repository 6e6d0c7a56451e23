#include "gateway/http/input/request_parser.hpp"

#include "gateway/http/request_target.hpp"
#include "tests/unit/http/heads.hpp"

#include <random>
#include <vector>

namespace gateway::http {
namespace request_parser_test {

using testing::accepted_request;
using testing::expect_refused;
using testing::expect_request_same_however_split;
using testing::parse;
using testing::post_with;
using testing::refused;
using testing::state;

constexpr std::string_view no_body = "Host: a\r\n\r\n";

TEST(request_parser, a_request_is_taken_apart_into_slices_of_its_bytes)
{
    const std::string bytes =
        "PATCH /a/b?c=d&e HTTP/1.1\r\nHost: a.test:81\r\nX-Empty:\r\nX-Spaced: \t b c \t\r\nx-bin: "
        "\x80\xff\r\n"
        "Content-Length: 12\r\n\r\nGET / HTTP/1.1";
    const request_head head = accepted_request(bytes);
    EXPECT_EQ(head.method, "PATCH");
    EXPECT_EQ(head.target, "/a/b?c=d&e");
    EXPECT_EQ(head.path, "/a/b");
    EXPECT_EQ(head.query, "?c=d&e");
    EXPECT_EQ(head.authority, "a.test:81");
    EXPECT_FALSE(head.is_1_0());
    EXPECT_FALSE(head.absolute_form);
    EXPECT_FALSE(head.expects_continue);
    EXPECT_TRUE(head.keep_alive);
    EXPECT_EQ(head.body.how, framing::kind::length);
    EXPECT_EQ(head.body.length, 12u);
    EXPECT_EQ(head.size, bytes.size() - 14);
    ASSERT_EQ(head.fields.size(), 5u);
    EXPECT_EQ(head.fields[1].name, "X-Empty");
    EXPECT_EQ(head.fields[1].value, "");
    EXPECT_EQ(head.fields[2].value, "b c");
    EXPECT_EQ(head.fields[2].line, "X-Spaced: \t b c \t\r\n");
    EXPECT_EQ(head.fields[3].value, "\x80\xff");
    EXPECT_EQ(head.fields[0].line.data(), head.method.data() + 27);
    expect_request_same_however_split(bytes);
}

TEST(request_parser, the_target_forms_give_path_query_and_authority)
{
    struct row {
        std::string start, path, query, authority;
        bool absolute;
    };

    const std::vector<row> rows = {
        {"GET /", "/", "", "h", false},
        {"GET /?", "/", "?", "h", false},
        {"GET //x/../y", "/x/../y", "", "h", false},
        {"GET ///", "/", "", "h", false},
        {"GET //?//", "/", "?//", "h", false},
        {"GET /a//b//", "/a//b//", "", "h", false},
        {"GET /.//a", "/.//a", "", "h", false},
        {"GET http://b//x//y", "/x//y", "", "b", true},
        {"OPTIONS http://b//", "/", "", "b", true},
        {"GET /a?b?c", "/a", "?b?c", "h", false},
        {"GET /%0d%0a\"<>\\^`{|}", "/%0d%0a\"<>\\^`{|}", "", "h", false},
        {"GET /http://b/", "/http://b/", "", "h", false},
        {"OPTIONS *", "*", "", "h", false},
        {"GET http://b", "/", "", "b", true},
        {"GET http://b/", "/", "", "b", true},
        {"GET http://b?q", "/", "?q", "b", true},
        {"GET http://b/?q", "/", "?q", "b", true},
        {"GET HTTP://B:80/x?q", "/x", "?q", "B:80", true},
        {"GET https://[::1]:1/x", "/x", "", "[::1]:1", true},
        {"OPTIONS http://b", "*", "", "b", true},
        {"OPTIONS http://b/", "/", "", "b", true},
        {"OPTIONS http://b?q", "/", "?q", "b", true},
        {"brew /", "/", "", "h", false},
    };
    for (const row& r : rows) {
        const std::string bytes = r.start + " HTTP/1.1\r\nHost: h\r\n\r\n";
        const request_head head = accepted_request(bytes);
        EXPECT_EQ(head.path, r.path) << r.start;
        EXPECT_EQ(head.query, r.query) << r.start;
        EXPECT_EQ(head.authority, r.authority) << r.start;
        EXPECT_EQ(head.absolute_form, r.absolute) << r.start;
        expect_request_same_however_split(bytes);
    }
}

TEST(request_parser, a_standard_method_in_another_letter_case_is_refused)
{
    const std::string rest = " / HTTP/1.1\r\nHost: h\r\n\r\n";
    for (const std::string standard :
         {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}) {
        for (std::size_t spelling = 1; spelling < (1U << standard.size()); ++spelling) {
            std::string method = standard;
            for (std::size_t i = 0; i < method.size(); ++i) {
                method[i] = static_cast<char>(method[i] | ((spelling >> i & 1) != 0 ? 0x20 : 0));
            }
            expect_refused({method + rest, 400});
        }
    }
    for (const std::string method : {"brew", "gets", "ge", "p-ost", "get0", "M-SEARCH", "GET_"}) {
        EXPECT_EQ(accepted_request(method + rest).method, method);
    }
    expect_request_same_however_split("pOST" + rest);
}

TEST(request_parser, request_lines_that_two_readers_could_read_differently_are_refused)
{
    const std::vector<refused> rows = {
        {"G@T / HTTP/1.1", 400},
        {" GET / HTTP/1.1", 400},
        {"\tGET / HTTP/1.1", 400},
        {" / HTTP/1.1", 400},
        {"GET\t/ HTTP/1.1", 400},
        {"GET  / HTTP/1.1", 400},
        {"GET /  HTTP/1.1", 400},
        {"GET /\tHTTP/1.1", 400},
        {"GET / b HTTP/1.1", 400},
        {"GET /\r\n", 400},
        {"GET\r\n", 400},
        {"GET /a\rb HTTP/1.1", 400},
        {"GET /a\nHTTP/1.1", 400},
        {std::string("GET /a\0b HTTP/1.1", 17), 400},
        {"GET /a\x7f HTTP/1.1", 400},
        {"GET /caf\xc3\xa9 HTTP/1.1", 400},
        {"GET /a#b HTTP/1.1", 400},
        {"GET * HTTP/1.1", 400},
        {"OPTIONS ** HTTP/1.1", 400},
        {"OPTIONS *?a HTTP/1.1", 400},
        {"GET a HTTP/1.1", 400},
        {"GET ?a HTTP/1.1", 400},
        {"GET a.test:80 HTTP/1.1", 400},
        {"GET ftp://a/ HTTP/1.1", 400},
        {"GET http:/a HTTP/1.1", 400},
        {"GET http:// HTTP/1.1", 400},
        {"GET http:///a HTTP/1.1", 400},
        {"GET http://?a HTTP/1.1", 400},
        {"GET http://u@a/ HTTP/1.1", 400},
        {"GET http://a:b/ HTTP/1.1", 400},
        {"GET http://a#b HTTP/1.1", 400},
        {"CONNECT a:22 HTTP/1.1", 501},
        {"CONNECT / HTTP/1.1", 501},
        {"GET / HTTP/1.1 ", 400},
        {"GET / HTTP/1.1x", 400},
        {"GET / HTTP/1.11", 400},
        {"GET / HTTP/1.x", 400},
        {"GET / HTTP/x.1", 400},
        {"GET / HTTP/1,1", 400},
        {"GET / HTTP/11", 400},
        {"GET / HTTP/1.", 400},
        {"GET / HTTP/1", 400},
        {"GET / HTTP/.1", 400},
        {"GET / HTTP/01.1", 400},
        {"GET / http/1.1", 400},
        {"GET / HTTP /1.1", 400},
        {"GET / ICY/1.0", 400},
        {"GET / HTTPS/1.1", 400},
        {"GET / HTTP/0.9", 505},
        {"GET / HTTP/1.2", 505},
        {"GET / HTTP/2.0", 505},
        {"GET / HTTP/9.9", 505},
        {"PRI * HTTP/2.0", 505},
        {std::string(max_method_bytes + 1, 'M') + " / HTTP/1.1", 501},
        {std::string(20000, 'M') + " / HTTP/1.1", 501},
    };
    for (const refused& r : rows) {
        expect_refused({r.head + "\r\n" + std::string(no_body), r.status});
    }
    expect_refused({std::string("GET / HTTP/1.1\n").append(no_body), 400});
    expect_refused({std::string("GET / HTTP/1.1\r").append(no_body), 400});
    expect_refused({"\x16\x03\x01\x02", 400});
    expect_refused({"\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400});
}

TEST(request_parser, a_method_may_be_as_long_as_its_bound)
{
    const std::string method(max_method_bytes, 'M');
    EXPECT_EQ(accepted_request(method + " / HTTP/1.1\r\nHost: a\r\n\r\n").method, method);
}

TEST(request_parser, one_empty_line_before_a_request_is_ignored)
{
    const std::string bytes = "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nX";
    const request_head head = accepted_request(bytes);
    EXPECT_EQ(head.method, "GET");
    EXPECT_EQ(head.size, bytes.size() - 1);
    expect_request_same_however_split(bytes);
    expect_refused({"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400});
    expect_refused({"\r GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400});
}

TEST(request_parser, the_version_decides_whether_the_connection_is_kept)
{
    struct row {
        std::string_view version, connection;
        bool kept;
    };

    const std::vector<row> rows = {
        {"1.1", "", true},
        {"1.1", "Connection: close\r\n", false},
        {"1.1", "Connection: x, CLOSE\r\n", false},
        {"1.1", "Connection: x\r\nConnection: close\r\n", false},
        {"1.1", "Connection: keep-alive, close\r\n", false},
        {"1.1", "Connection: closed\r\n", true},
        {"1.0", "", false},
        {"1.0", "Connection: Keep-Alive\r\n", true},
        {"1.0", "Connection: keep-alive, close\r\n", false},
        {"1.0", "Proxy-Connection: keep-alive\r\n", false},
    };
    for (const row& r : rows) {
        std::string bytes = "GET / HTTP/";
        bytes.append(r.version).append("\r\nHost: a\r\n").append(r.connection).append("\r\n");
        const request_head head = accepted_request(bytes);
        EXPECT_EQ(head.keep_alive, r.kept) << bytes;
        EXPECT_EQ(head.is_1_0(), r.version == "1.0");
    }
}

TEST(request_parser, fields_outside_the_grammar_are_refused)
{
    for (const std::string& lines : std::vector<std::string>{
             "X-A : b\r\n",
             " X-A: b\r\n",
             "X-A: b\r\n c\r\n",
             "X-A: b\r\n\tc\r\n",
             "X-A:\r\n Content-Length: 1\r\n",
             ": b\r\n",
             "X-A\r\n",
             "X A: b\r\n",
             "X\tA: b\r\n",
             "X(A): b\r\n",
             "X/A: b\r\n",
             "X\"A\": b\r\n",
             "X\x80: b\r\n",
             std::string("X\0A: b\r\n", 8),
             std::string("X-A: b\0c\r\n", 10),
             "X-A: b\x01\r\n",
             "X-A: b\x0c\r\n",
             "X-A: b\x0b\r\n",
             "X-A: b\x7f\r\n",
             "X-A: b\nX-B: c\r\n",
             "X-A: b\rX-B: c\r\n",
             "X-A: b\r\r\n",
             "X-A: b\n\r\n",
             "X-A: b\r\n\n",
             "X-A: b\n",
             "Connection: a b\r\n",
             "Connection: \"close\"\r\n",
         }) {
        expect_refused({post_with(lines), 400});
    }
    expect_refused({"GET / HTTP/1.1\r\nHost: a\n\n", 400});
    expect_refused({"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400});
}

TEST(request_parser, no_control_byte_may_stand_anywhere_in_a_head)
{
    const std::string good = "GET /ab HTTP/1.1\r\nHost: ab\r\nX-Ab: cd\r\n\r\n";
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (int c = 0; c < 256; ++c) {
            if ((c >= 0x20 && c != 0x7f && c < 0x80) || good[i] == static_cast<char>(c)) {
                continue;
            }
            std::string bad = good;
            bad[i] = static_cast<char>(c);
            const bool in_value =
                i + 1 >= good.find("cd") && i < good.find("cd") + 2 && (c == '\t' || c >= 0x80);
            const bool in_host =
                i + 1 >= good.find("ab\r") && i < good.find("ab\r") + 2 && c == '\t';
            request_head head;
            const bool is_accepted = parse(bad, head).is == state::complete;
            EXPECT_EQ(is_accepted, in_value || in_host) << "byte " << c << " at " << i;
        }
    }
}

TEST(request_parser, gRPC_is_known_by_its_content_type)
{
    const auto is_grpc = [](std::string_view lines) {
        return accepted_request(post_with(lines)).grpc;
    };
    EXPECT_TRUE(is_grpc("Content-Type: application/grpc\r\n"));
    EXPECT_TRUE(is_grpc("CONTENT-TYPE:application/grpc+proto\r\nX-A: 1\r\n"));
    EXPECT_TRUE(is_grpc("content-type: application/grpc;a=b\r\n"));
    EXPECT_FALSE(is_grpc(""));
    EXPECT_FALSE(is_grpc("Content-Type: application/grpc-web\r\n"));
    EXPECT_FALSE(is_grpc("Content_Type: application/grpc\r\n"));
    EXPECT_FALSE(is_grpc("X-Type-Type1: application/grpc\r\n"));
}

TEST(request_parser, gRPC_is_known_in_a_refused_head_as_far_as_that_was_read)
{
    const auto is_grpc = [](const std::string& text) {
        request_head head;
        EXPECT_EQ(
            parse(text, head, {.max_header_bytes = 300, .max_headers = 4}).is, state::rejected
        );
        return head.grpc;
    };
    const std::string type = "Content-Type: application/grpc\r\n";
    EXPECT_TRUE(is_grpc(post_with(type + "X-A: " + std::string(300, 'a') + "\r\n")));
    EXPECT_TRUE(is_grpc(post_with(type + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n")));
    EXPECT_TRUE(is_grpc(post_with(type + "Content-Length: x\r\n")));
    EXPECT_FALSE(is_grpc(post_with("X-A : 1\r\n" + type)));
    EXPECT_FALSE(is_grpc(post_with("Content-Length: x\r\n")));
}

TEST(request_parser, a_timeout_of_gRPC_is_found_if_there_is_one)
{
    const auto timeout = [](std::string_view lines) {
        return accepted_request(post_with(lines)).grpc_timeout;
    };
    EXPECT_EQ(timeout("Grpc-Timeout: 1S \r\n"), "1S");
    EXPECT_EQ(timeout("X: 1\r\n"), "");
    EXPECT_EQ(timeout("grpc-timeout: 1S\r\ngrpc-timeout: 2S\r\n"), "");
    EXPECT_EQ(timeout("grpc-timeout: 1S\r\ngrpc-timeout: 2S\r\ngrpc-timeout: 1S\r\n"), "");
}

TEST(request_parser, a_head_used_again_remembers_nothing)
{
    request_head head;
    const std::string first =
        "POST http://b/x?y HTTP/1.0\r\nContent-Length: 5\r\nConnection: close, "
        "content-length\r\nContent-Type: application/grpc\r\nGrpc-Timeout: 1S\r\n\r\n";
    ASSERT_EQ(parse(first, head).is, state::complete);
    ASSERT_EQ(parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n", head).is, state::complete);
    EXPECT_EQ(head.query, "");
    EXPECT_FALSE(head.absolute_form || head.is_1_0() || head.grpc);
    EXPECT_EQ(head.grpc_timeout, "");
    EXPECT_EQ(head.body.how, framing::kind::none);
    ASSERT_EQ(head.fields.size(), 1u);
    EXPECT_FALSE(head.fields.front().nominated);
}

// Good heads with a few bytes changed, dropped, doubled or moved: mostly bad, sometimes good,
// always the same however they arrive.
TEST(request_parser, damaged_heads_are_judged_alike_however_split)
{
    std::mt19937 random(20240607);
    const std::string good =
        "\r\nPOST http://a.test/b?c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: "
        "close, x\r\n"
        "Transfer-Encoding: chunked\r\nX-A: \t b \r\n\r\n0\r\n\r\n";
    const std::string_view spice = "\r\n :\t/0159.-,;aZ_\x7f\x80#?*";
    int accepted = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string bytes = good;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % bytes.size();
            switch (random() % 3) {
                case 0:
                    bytes[at] = spice[random() % spice.size()];
                    break;
                case 1:
                    bytes.erase(at, 1 + random() % 12);
                    break;
                default:
                    bytes.insert(at, 1, spice[random() % spice.size()]);
            }
        }
        expect_request_same_however_split(bytes);
        request_head head;
        accepted += parse(bytes, head).is == state::complete ? 1 : 0;
    }
    EXPECT_GT(accepted, 200);
    EXPECT_LT(accepted, 3800);
}

}  // namespace request_parser_test
}  // namespace gateway::http
