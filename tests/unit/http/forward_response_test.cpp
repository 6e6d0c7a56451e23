#include "gateway/http/output/forward_response.hpp"

#include "tests/unit/http/heads.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace gateway::http {
namespace forward_response_test {

using testing::accepted_response;
using testing::values_of;

const limit::limit ten = limit::limit::make(1, std::chrono::seconds{1}, 10).value();
const limit_report nine_left_of_ten{
    "a", &ten, {.allowed = true, .remaining = 9, .reset_after = std::chrono::seconds{1}}};
const limit_statement nine_left{.reports = {&nine_left_of_ten, 1}};

std::string forwarded(
    std::string_view bytes, const response_options& options = {}, bool answers_head = false
)
{
    const response_head head = accepted_response(bytes, answers_head);
    std::string out = "before";
    append_forwarded_response(head, options, out);
    EXPECT_TRUE(out.starts_with("before"));
    return out.substr(6);
}

response_head checked(const std::string& out, bool answers_head = false)
{
    const response_head head = accepted_response(out, answers_head);
    EXPECT_EQ(head.size, out.size()) << out;
    EXPECT_FALSE(head.is_1_0()) << out;
    EXPECT_FALSE(head.respelt_length) << out;
    for (const field& f : head.fields) {
        const bool ours = f.id == field_name::transfer_encoding || f.id == field_name::connection;
        EXPECT_TRUE(!hop_by_hop.contains(f.id) || ours) << out;
    }
    return head;
}

TEST(forward_response, a_plain_response_keeps_its_lines)
{
    EXPECT_EQ(
        forwarded(
            "HTTP/1.1 404 No such\r\nServer:  a \r\nset-cookie:b\r\nContent-Length: 3\r\n\r\n",
            {.added = {.limits = nine_left}}
        ),
        "HTTP/1.1 404 No such\r\nServer:  a \r\nset-cookie:b\r\nContent-Length: 3\r\n"
        "X-RateLimit-Limit: 10\r\nX-RateLimit-Remaining: 9\r\nX-RateLimit-Reset: 1\r\n\r\n"
    );
    EXPECT_EQ(
        forwarded("HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n"),
        "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"
    );
    EXPECT_EQ(
        forwarded("HTTP/1.1 799 \t x\r\nContent-Length: 0\r\n\r\n"),
        "HTTP/1.1 799 \t x\r\nContent-Length: 0\r\n\r\n"
    );
}

TEST(forward_response, fields_of_the_upstream_connection_and_nominated_ones_are_left_out)
{
    const response_head head =
        checked(forwarded("HTTP/1.1 200 OK\r\nConnection: close, x-mine\r\nKeep-Alive: "
                          "timeout=5\r\nProxy-Connection: a\r\nTrailer: x\r\n"
                          "Upgrade: h2c\r\nX-Mine: 1\r\nX-Kept: 2\r\nTransfer-Encoding: "
                          "chunked\r\nConnection: content-length\r\n\r\n"));
    EXPECT_EQ(values_of(head, field_name::other), "2");
    EXPECT_EQ(head.body.how, framing::kind::chunked);
    EXPECT_EQ(head.fields.size(), 2u);
    EXPECT_TRUE(head.keep_alive);
    const auto length = checked(
        forwarded("HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 5\r\n\r\n")
    );
    EXPECT_EQ(length.body.length, 5u);
}

TEST(forward_response, trailers_are_announced_to_clients_that_may_get_them)
{
    const auto announced = [](const std::string& lines, const response_options& options) {
        const std::string out = forwarded(
            "HTTP/1.1 200 OK\r\nTrailer: X-A, Set-Cookie, b\r\n" + lines + "\r\n", options
        );
        return values_of(accepted_response(out), field_name::trailer);
    };
    const std::string in_chunks = "Transfer-Encoding: chunked\r\n";
    const response_options accepts{.client_accepts_trailers = true};
    EXPECT_EQ(announced(in_chunks, accepts), "X-A, b");
    EXPECT_EQ(announced(in_chunks, {}), "-");
    EXPECT_EQ(announced("Content-Length: 0\r\n", accepts), "-");
    EXPECT_EQ(announced("", accepts), "-") << "a body until the end has no trailers";
    EXPECT_EQ(announced("Connection: x-c\r\n" + in_chunks, accepts), "-");
    EXPECT_EQ(announced("Connection: close\r\n" + in_chunks, accepts), "X-A, b");
}

TEST(forward_response, the_body_is_delimited_as_the_client_can_read_it)
{
    struct row {
        std::string_view bytes;
        bool answers_head, client_http_1_0;
        framing::kind how;
    };

    const std::vector<row> rows = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, false, framing::kind::length},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, true, framing::kind::length},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
         false,
         false,
         framing::kind::chunked},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
         false,
         true,
         framing::kind::until_close},
        {"HTTP/1.1 200 OK\r\n\r\n", false, false, framing::kind::chunked},
        {"HTTP/1.0 200 OK\r\n\r\n", false, false, framing::kind::chunked},
        {"HTTP/1.0 200 OK\r\n\r\n", false, true, framing::kind::until_close},
        {"HTTP/1.1 204 No\r\n\r\n", false, false, framing::kind::none},
        {"HTTP/1.1 304 No\r\n\r\n", false, true, framing::kind::none},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true, false, framing::kind::none},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, true, framing::kind::none},
    };
    for (const row& r : rows) {
        const response_head in = accepted_response(r.bytes, r.answers_head);
        const framing out = outbound_framing(in, r.client_http_1_0);
        EXPECT_EQ(out.how, r.how) << r.bytes;
        EXPECT_EQ(out.length, in.body.length);
        const response_options options{.client_http_1_0 = r.client_http_1_0};
        const response_head sent =
            checked(forwarded(r.bytes, options, r.answers_head), r.answers_head);
        EXPECT_EQ(sent.body.how, r.how) << r.bytes;
        EXPECT_EQ(sent.body.length, in.body.length) << r.bytes;
    }
}

TEST(
    forward_response, a_content_length_stays_where_it_only_describes_and_goes_where_it_is_forbidden
)
{
    const auto length = [](std::string_view status, bool answers_head) {
        const std::string bytes =
            std::string("HTTP/1.1 ").append(status).append(" x\r\nContent-Length: 5\r\n\r\n");
        return values_of(
            checked(forwarded(bytes, {}, answers_head), answers_head), field_name::content_length
        );
    };
    EXPECT_EQ(length("200", true), "5");
    EXPECT_EQ(length("304", false), "5");
    EXPECT_EQ(length("204", false), "-");
    EXPECT_EQ(length("204", true), "-");
}

TEST(forward_response, a_content_length_is_written_as_the_number_it_is)
{
    const auto sent = [](std::string_view status, std::string_view line, bool answers_head = false
                      ) {
        const std::string bytes = std::string("HTTP/1.1 ").append(status).append(" x\r\nA: b\r\n");
        return forwarded(bytes + std::string(line) + "\r\nC: d\r\n\r\n", {}, answers_head);
    };
    for (const char* line :
         {"Content-Length: 010",
          "Content-Length:10",
          "content-length: 10\t",
          "Content-Length:\t10"}) {
        const std::string anew = "HTTP/1.1 200 x\r\nA: b\r\nC: d\r\nContent-Length: 10\r\n\r\n";
        EXPECT_EQ(sent("200", line), anew);
        EXPECT_EQ(sent("200", line, true), anew);
        EXPECT_THAT(sent("304", line), ::testing::HasSubstr("\r\nContent-Length: 10\r\n"));
        EXPECT_EQ(sent("204", line), "HTTP/1.1 204 x\r\nA: b\r\nC: d\r\n\r\n");
    }
    for (const std::string line : {"content-LENGTH: 10", "Content-Length: 0"}) {
        EXPECT_EQ(sent("200", line), "HTTP/1.1 200 x\r\nA: b\r\n" + line + "\r\nC: d\r\n\r\n");
    }
    std::string interim;
    append_interim_response(
        accepted_response("HTTP/1.1 103 x\r\nContent-Length: 00\r\n\r\n"), {}, interim
    );
    EXPECT_EQ(interim, "HTTP/1.1 103 x\r\n\r\n");
}

TEST(forward_response, a_426_says_what_to_upgrade_to)
{
    const auto sent = [](std::string_view lines, const response_options& options = {}) {
        return forwarded(
            std::string("HTTP/1.1 426 x\r\nContent-Length: 0\r\n").append(lines) + "\r\n", options
        );
    };
    const std::string start = "HTTP/1.1 426 x\r\nContent-Length: 0\r\n";
    const std::string upgrade = start + "Upgrade: TLS/1.0\r\nupgrade: websocket\r\n";
    for (const std::string nominated :
         {"", "Connection: upgrade\r\n", "Connection: close, Upgrade\r\n"}) {
        const std::string lines = nominated + "Upgrade: TLS/1.0\r\nupgrade: websocket\r\n";
        EXPECT_EQ(sent(lines), upgrade + "Connection: upgrade\r\n\r\n");
        EXPECT_EQ(sent(lines, {.close = true}), upgrade + "Connection: upgrade, close\r\n\r\n");
        EXPECT_EQ(
            sent(lines, {.client_http_1_0 = true, .client_keep_alive = true}),
            upgrade + "Connection: upgrade, keep-alive\r\n\r\n"
        );
    }
    EXPECT_EQ(sent(""), start + "\r\n");
    EXPECT_EQ(sent("", {.close = true}), start + "Connection: close\r\n\r\n");
}

TEST(forward_response, the_client_is_told_whether_its_connection_stays)
{
    constexpr std::string_view bytes =
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";
    const auto connection = [&](const response_options& o) {
        return values_of(checked(forwarded(bytes, o)), field_name::connection);
    };
    EXPECT_EQ(connection({}), "-");
    EXPECT_EQ(connection({.close = true}), "close");
    EXPECT_EQ(connection({.client_keep_alive = true}), "-");
    EXPECT_EQ(connection({.client_http_1_0 = true, .client_keep_alive = true}), "keep-alive");
    EXPECT_EQ(connection({.client_http_1_0 = true}), "-");
    EXPECT_EQ(
        connection({.client_http_1_0 = true, .client_keep_alive = true, .close = true}), "close"
    );
}

TEST(forward_response, our_ratelimit_fields_replace_those_of_the_upstream)
{
    constexpr std::string_view bytes =
        "HTTP/1.1 200 OK\r\nX-RateLimit-Limit: 1\r\nx-ratelimit-remaining: 1\r\nX-A: "
        "b\r\nX_RateLimit_Limit: 1\r\n"
        "X-RATELIMIT-RESET: 1\r\nX-RateLimit-Other: 1\r\nContent-Length: 0\r\n\r\n";
    const auto kept = checked(forwarded(bytes));
    EXPECT_EQ(values_of(kept, field_name::x_ratelimit), "1|1|1");
    const auto replaced = checked(forwarded(bytes, {.added = {.limits = nine_left}}));
    EXPECT_EQ(values_of(replaced, field_name::x_ratelimit), "10|9|1");
    EXPECT_EQ(values_of(replaced, field_name::other), "b|1");
    const auto undecided = checked(forwarded(bytes, {.added = {.limits = {.due = true}}}));
    EXPECT_EQ(values_of(undecided, field_name::x_ratelimit), "-");
}

TEST(forward_response, the_request_id_is_ours_alone)
{
    const std::string bytes =
        "HTTP/1.1 200 OK\r\nX-Request-Id: a\r\nx_request_id: b\r\nContent-Length: 0\r\n\r\n";
    const std::string out = forwarded(bytes, {.added = {.request_id = "7"}});
    EXPECT_EQ(values_of(checked(out), field_name::x_request_id), "7") << out;
    EXPECT_EQ(values_of(checked(out), field_name::disguised), "-") << out;
    const response_head interim =
        accepted_response("HTTP/1.1 103 Early Hints\r\nX-Request-Id: a\r\n\r\n");
    std::string hints;
    append_interim_response(interim, {}, hints);
    EXPECT_EQ(hints, "HTTP/1.1 103 Early Hints\r\n\r\n");
}

TEST(forward_response, an_interim_response_has_fields_and_no_framing)
{
    const std::string bytes =
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 0\r\nConnection: x\r\n"
        "X: y\r\nX-RateLimit-Limit: 9\r\n\r\n";
    std::string out;
    append_interim_response(accepted_response(bytes), {}, out);
    EXPECT_EQ(out, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-RateLimit-Limit: 9\r\n\r\n");
    out.clear();
    append_interim_response(accepted_response(bytes), {.limits = {.due = true}}, out);
    EXPECT_EQ(out, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
}

TEST(forward_response, a_date_is_added_where_the_upstream_sent_none)
{
    const response_options options{.added = {.limits = nine_left, .date = "now"}};
    const auto date = [&](const std::string& lines) {
        const std::string bytes = "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n\r\n";
        return values_of(checked(forwarded(bytes, options)), field_name::date);
    };
    EXPECT_EQ(date(""), "now");
    EXPECT_EQ(date("Date: then\r\n"), "then");
    EXPECT_EQ(date("Date: then\r\nConnection: date\r\n"), "now");
}

TEST(forward_response, every_mix_of_fields_gives_a_sound_head)
{
    const std::vector<std::string> lines = {
        "Connection: x-a, content-length, transfer-encoding, x-ratelimit-limit\r\n",
        "X-A: 1\r\n",
        "X-B: 2\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Keep-Alive: 1\r\n",
        "X-RateLimit-Limit: 3\r\n",
    };
    for (unsigned mix = 0; mix < 1u << lines.size(); ++mix) {
        for (const int status : {200, 204, 304, 500}) {
            std::string bytes = "HTTP/1.1 " + std::to_string(status) + " x\r\n";
            for (std::size_t i = 0; i < lines.size(); ++i) {
                bytes += (mix >> i & 1) != 0 ? lines[i] : "";
            }
            bytes += "\r\n";
            const response_head head = checked(forwarded(
                bytes, {.added = {.limits = (mix & 4) != 0 ? nine_left : limit_statement{}}}
            ));
            const bool has_body = status == 200 || status == 500;
            EXPECT_EQ(head.body.how, has_body ? framing::kind::chunked : framing::kind::none)
                << bytes;
            EXPECT_EQ(values_of(head, field_name::other), [&] {
                const bool a = (mix & 3) == 2;
                const bool b = (mix & 4) != 0;
                return a && b ? "1|2" : a ? "1" : b ? "2" : "-";
            }()) << bytes;
        }
    }
}

field_edits edits(
    std::vector<std::pair<std::string, std::string>> set, std::vector<std::string> remove
)
{
    field_edits e{.set = std::move(set), .remove = std::move(remove), .lines = {}, .own_lines = {}};
    e.finish();
    return e;
}

TEST(forward_response, edits_replace_and_remove_fields_however_they_are_spelt)
{
    const field_edits e = edits({{"X-A", "1"}, {"Server", "s"}}, {"X-Powered-By"});
    const std::string lines = "x-a: 0\r\nX_A: 0\r\nB: c\r\nx-powered-BY: php\r\nX-Powered: y\r\n";
    EXPECT_EQ(
        forwarded("HTTP/1.1 204 x\r\nDate: d\r\n" + lines + "\r\n", {.added = {.edits = &e}}),
        "HTTP/1.1 204 x\r\nDate: d\r\nB: c\r\nX-Powered: y\r\nX-A: 1\r\nServer: s\r\n\r\n"
    );
    std::string interim;
    append_interim_response(
        accepted_response("HTTP/1.1 103 x\r\n" + lines + "\r\n"), {.edits = &e}, interim
    );
    EXPECT_EQ(interim, "HTTP/1.1 103 x\r\nB: c\r\nX-Powered: y\r\n\r\n");
}

TEST(forward_response, what_is_set_stays_though_the_upstream_nominates_it)
{
    const field_edits e = edits({{"X-A", "1"}}, {});
    EXPECT_EQ(
        forwarded(
            "HTTP/1.1 204 x\r\nDate: d\r\nConnection: X-A\r\nX-A: 0\r\n\r\n",
            {.added = {.edits = &e}}
        ),
        "HTTP/1.1 204 x\r\nDate: d\r\nX-A: 1\r\n\r\n"
    );
}

}  // namespace forward_response_test
}  // namespace gateway::http
