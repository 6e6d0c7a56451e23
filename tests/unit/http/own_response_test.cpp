#include "gateway/http/output/own_response.hpp"

#include "tests/unit/http/heads.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace gateway::http {
namespace own_response_test {

using testing::accepted_response;
using testing::values_of;

std::string text_of(const own_response& answer)
{
    std::string out = "before";
    append_own_response(answer, out);
    EXPECT_TRUE(out.starts_with("before"));
    return out.substr(6);
}

// The body, after the head was found sound and its length exact.
boost::json::object problem_of(const std::string& bytes)
{
    const response_head head = accepted_response(bytes);
    EXPECT_EQ(head.body.how, framing::kind::length) << bytes;
    EXPECT_EQ(head.size + head.body.length, bytes.size()) << bytes;
    EXPECT_NE(bytes.find("\r\nContent-Type: application/problem+json\r\n"), std::string::npos)
        << bytes;
    EXPECT_NE(bytes.find("\r\nCache-Control: no-store\r\n"), std::string::npos) << bytes;
    return boost::json::parse(bytes.substr(head.size)).as_object();
}

TEST(own_response, a_429_names_the_limits_that_were_violated)
{
    const limit::limit five = limit::limit::make(1, std::chrono::seconds{1}, 5).value();
    const std::array<limit_report, 3> reports{{
        {"per_client", &five, {.allowed = false}},
        {"other", &five, {.allowed = true, .remaining = 2}},
        {"all", &five, {.allowed = false}},
    }};
    const std::string bytes = text_of({
        .status = 429,
        .detail = "Slow down.",
        .added = {.limits = {.reports = reports, .options = {.ratelimit = true}}},
        .retry_after = std::chrono::milliseconds{2001},
    });
    EXPECT_NE(bytes.find("\r\nX-RateLimit-Limit: 5\r\n"), std::string::npos);
    EXPECT_NE(bytes.find("\r\nRateLimit: \"per_client\""), std::string::npos);
    EXPECT_TRUE(bytes.starts_with("HTTP/1.1 429 Too Many Requests\r\n")) << bytes;
    EXPECT_NE(bytes.find("\r\nRetry-After: 3\r\n"), std::string::npos);
    EXPECT_EQ(
        problem_of(bytes),
        boost::json::parse(
            R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",
            "title":"Too Many Requests","status":429,"detail":"Slow down.","violated-policies":["per_client","all"]})"
        )
    );
    EXPECT_TRUE(accepted_response(bytes).keep_alive);
}

TEST(own_response, every_status_the_gateway_gives_has_its_phrase_and_problem)
{
    const std::pair<int, const char*> phrases[] = {
        {400, "Bad Request"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {417, "Expectation Failed"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
        {508, "Loop Detected"},
    };
    for (const auto& [status, phrase] : phrases) {
        const std::string bytes = text_of({.status = status, .detail = "d"});
        EXPECT_EQ(accepted_response(bytes).status, status);
        EXPECT_EQ(accepted_response(bytes).reason, phrase);
        const auto problem = problem_of(bytes);
        EXPECT_EQ(problem.at("status"), status);
        EXPECT_EQ(problem.at("title"), phrase);
        EXPECT_EQ(problem.at("detail"), "d");
        EXPECT_FALSE(problem.contains("violated-policies"));
        const std::string type(problem.at("type").as_string());
        EXPECT_EQ(
            type,
            status == 429 ? "https://iana.org/assignments/http-problem-types#quota-exceeded"
            : status == 503
                ? "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
                : "about:blank"
        );
    }
    EXPECT_TRUE(text_of({.status = 799}).starts_with("HTTP/1.1 500 Internal Server Error\r\n"));
}

TEST(own_response, the_answer_to_a_head_has_the_same_head_and_no_body)
{
    const std::string whole = text_of({.status = 404, .detail = "d"});
    const std::string head = text_of({.status = 404, .detail = "d", .head_only = true});
    EXPECT_EQ(head, whole.substr(0, whole.find("\r\n\r\n") + 4));
}

TEST(own_response, says_the_request_id_whoever_answers)
{
    fixed_response fixed{.status = 204};
    fixed.finish();
    for (const fixed_response* f :
         {static_cast<const fixed_response*>(nullptr), &std::as_const(fixed)}) {
        const std::string bytes =
            text_of({.status = 429, .added = {.request_id = "7"}, .fixed = f});
        EXPECT_EQ(values_of(accepted_response(bytes), field_name::x_request_id), "7") << bytes;
    }
}

TEST(own_response, the_client_is_told_whether_its_connection_stays)
{
    const auto connection = [](bool close, bool keep_alive_1_0) {
        const own_response answer{.status = 400, .close = close, .keep_alive_1_0 = keep_alive_1_0};
        return values_of(accepted_response(text_of(answer)), field_name::connection);
    };
    EXPECT_EQ(connection(false, false), "-");
    EXPECT_EQ(connection(true, false), "close");
    EXPECT_EQ(connection(false, true), "keep-alive");
    EXPECT_EQ(connection(true, true), "close");
}

TEST(own_response, what_is_no_problem_is_a_head_alone)
{
    EXPECT_EQ(
        text_of({.status = 200, .added = {.date = "d"}, .extra = {"Allow", "OPTIONS"}}),
        "HTTP/1.1 200 OK\r\nDate: d\r\nContent-Length: 0\r\nCache-Control: no-store\r\n"
        "Allow: OPTIONS\r\n\r\n"
    );
}

TEST(own_response, tells_how_many_bytes_are_content)
{
    std::string out;
    const std::size_t content = append_own_response({.status = 404, .detail = "d"}, out);
    EXPECT_EQ(content, accepted_response(out).body.length);
    std::string head;
    EXPECT_EQ(append_own_response({.status = 404, .detail = "d", .head_only = true}, head), 0U);
    EXPECT_EQ(out.substr(0, head.size()), head);
}

TEST(own_response, gets_what_its_route_sets_but_for_what_it_says_of_its_content)
{
    field_edits e;
    e.set = {{"X-A", "1"}, {"content-type", "text/css"}, {"Cache-Control", "public"}, {"B", "2"}};
    e.finish();
    EXPECT_EQ(
        text_of({.status = 200, .added = {.edits = &e}}),
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nCache-Control: no-store\r\nX-A: 1\r\nB: 2\r\n\r\n"
    );
}

fixed_response fixed(int status, const std::string& body)
{
    fixed_response f{
        .status = status, .content_type = body.empty() ? "" : "text/css", .body = body};
    f.finish();
    return f;
}

TEST(own_response, may_be_a_routes_with_what_the_route_sets)
{
    const fixed_response page = fixed(200, "body");
    field_edits e;
    e.set = {{"Cache-Control", "public"}};
    e.finish();
    const own_response said{
        .added = {.date = "d", .edits = &e}, .extra = {"Location", "/"}, .fixed = &page};
    const std::string head =
        "HTTP/1.1 200 OK\r\nDate: d\r\nContent-Type: text/css\r\nContent-Length: 4\r\n"
        "Location: /\r\nCache-Control: public\r\n\r\n";
    EXPECT_EQ(text_of(said), head + "body");
    own_response of_head = said;
    of_head.head_only = true;
    EXPECT_EQ(text_of(of_head), head);
}

TEST(own_response, may_be_a_rejection_of_a_routes_own_that_nobody_keeps)
{
    fixed_response page{
        .status = 503, .content_type = "text/html", .body = "<p>", .no_store = true};
    page.finish();
    field_edits e;
    e.set = {{"Cache-Control", "public"}, {"X-A", "1"}};
    e.finish();
    const limit::limit five = limit::limit::make(1, std::chrono::seconds{1}, 5).value();
    const std::array<limit_report, 1> reports{{{"few", &five, {.allowed = false}}}};
    const own_response said{
        .status = 503,
        .detail = "not told",
        .added = {.limits = {.reports = reports}, .edits = &e},
        .retry_after = std::chrono::seconds{7},
        .fixed = &page};
    EXPECT_EQ(
        text_of(said),
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\n"
        "Cache-Control: no-store\r\nContent-Length: 3\r\nX-RateLimit-Limit: 5\r\n"
        "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 0\r\nRetry-After: 7\r\nX-A: 1\r\n\r\n<p>"
    );
}

TEST(own_response, of_a_route_has_no_length_where_there_is_no_body)
{
    for (const auto& [status, text] :
         {std::pair{204, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"},
          std::pair{304, "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n"},
          std::pair{
              205, "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
          std::pair{
              404, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
          std::pair{299, "HTTP/1.1 299 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n"}}) {
        const fixed_response f = fixed(status, "");
        EXPECT_EQ(text_of({.fixed = &f, .close = true}), text);
    }
}

TEST(own_response, to_a_call_of_grpc_is_a_head_that_has_what_trailers_would)
{
    const limit::limit five = limit::limit::make(1, std::chrono::seconds{1}, 5).value();
    const std::array<limit_report, 1> reports{{{"few", &five, {.allowed = false}}}};
    field_edits e;
    e.set = {{"X-A", "1"}, {"content-type", "text/css"}};
    e.finish();
    own_response said{
        .status = 429,
        .detail = "100 % used; retry later",
        .added = {.limits = {.reports = reports}, .date = "d", .request_id = "7", .edits = &e},
        .retry_after = std::chrono::microseconds{1'234'001},
        .grpc = grpc_status::resource_exhausted};
    const std::string text =
        "HTTP/1.1 200 OK\r\nDate: d\r\nX-Request-Id: 7\r\nContent-Type: application/grpc\r\n"
        "Content-Length: 0\r\nCache-Control: no-store\r\ngrpc-status: 8\r\n"
        "grpc-message: 100 %25 used; retry later\r\nX-RateLimit-Limit: 5\r\n"
        "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 0\r\ngrpc-retry-pushback-ms: 1235\r\n"
        "X-A: 1\r\n";
    EXPECT_EQ(text_of(said), text + "\r\n");
    said.close = true;
    EXPECT_EQ(text_of(said), text + "Connection: close\r\n\r\n");
    std::string out;
    EXPECT_EQ(append_own_response(said, out), 0U) << "it has no content";
}

TEST(own_response, to_a_call_of_grpc_is_no_page_of_the_route)
{
    const fixed_response page = fixed(503, "<p>");
    EXPECT_EQ(
        text_of({.status = 503, .detail = "d", .fixed = &page, .grpc = grpc_status::unavailable}),
        "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nContent-Length: 0\r\n"
        "Cache-Control: no-store\r\ngrpc-status: 14\r\ngrpc-message: d\r\n\r\n"
    );
}

TEST(own_response, tells_a_client_of_grpc_not_to_repeat_what_can_never_pass)
{
    const auto pushback = [](const own_response& answer) {
        const std::string text = text_of(answer);
        const std::string name = "\r\ngrpc-retry-pushback-ms: ";
        const std::size_t at = text.find(name);
        return at == std::string::npos
                   ? std::string{"-"}
                   : text.substr(at + name.size(), text.find('\r', at + 2) - at - name.size());
    };
    EXPECT_EQ(pushback({.status = 429, .grpc = grpc_status::resource_exhausted}), "-1");
    EXPECT_EQ(pushback({.status = 403, .grpc = grpc_status::permission_denied}), "-");
    EXPECT_EQ(
        pushback({.status = 503, .retry_after = base::duration{1}, .grpc = grpc_status::unavailable}
        ),
        "1"
    );
}

}  // namespace own_response_test
}  // namespace gateway::http
