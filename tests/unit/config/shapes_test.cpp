// What routes change of their requests.
#include "config/print.hpp"
#include "tests/unit/config/complaints.hpp"

#include <gtest/gtest.h>

namespace gateway::config {
namespace shapes_test {

using ::testing::HasSubstr;
using ::testing::Not;

// The route, with these keys, in a file.
std::string route_with(const std::string& keys)
{
    return "routes: [{ match: { path: /api/v1 }, upstream: u, " + keys + " }]";
}

policy::route loaded(const std::string& keys)
{
    const settings s = load_text(file_with(route_with(keys)), "f");
    return s.policy->routes.front();
}

TEST(shapes, of_a_route_without_any_key_change_nothing)
{
    EXPECT_FALSE(loaded("name: x").shaped);
    EXPECT_FALSE(loaded("host: keep").shaped);
}

TEST(shapes, change_the_beginning_of_the_path)
{
    for (const char* prefix : {"/api", "/api/", "//%61pi/"}) {
        const policy::route route = loaded("strip_prefix: \"" + std::string(prefix) + "\"");
        EXPECT_TRUE(route.shaped);
        EXPECT_EQ(route.shape.prefix->from, "/api");
        EXPECT_EQ(route.shape.prefix->to, "");
        EXPECT_EQ(route.shape.prefix->to_and_slash, "/");
    }
    const policy::route route = loaded("rewrite_prefix: { from: /api/v1, to: \"/a%20b/\" }");
    EXPECT_EQ(route.shape.prefix->from, "/api/v1");
    EXPECT_EQ(route.shape.prefix->to, "/a%20b");
    EXPECT_EQ(route.shape.prefix->to_and_slash, "/a%20b/");
    EXPECT_EQ(loaded("rewrite_prefix: { from: /, to: /base }").shape.prefix->from, "");
}

TEST(shapes, choose_the_host)
{
    EXPECT_EQ(loaded("host: upstream").shape.host, policy::host_source::upstream);
    for (const char* host : {"inner.test", "inner.test:8080", "[2001:db8::1]:80"}) {
        const policy::route route = loaded("host: \"" + std::string(host) + "\"");
        EXPECT_EQ(route.shape.host, policy::host_source::named);
        EXPECT_EQ(route.shape.host_name, host);
    }
}

TEST(shapes, set_and_remove_fields)
{
    const policy::route_shape shape =
        loaded(
            "request_headers: { set: { X-Env: prod, X-Empty: \"\" }, remove: [X-Debug, cookie] }, "
            "response: { set: { Strict-Transport-Security: max-age=9 }, remove: [Server] }"
        )
            .shape;
    EXPECT_EQ(shape.request.lines, "X-Env: prod\r\nX-Empty: \r\n");
    EXPECT_TRUE(shape.request.takes_out("x_debug"));
    EXPECT_FALSE(shape.request.takes_out("Server"));
    EXPECT_EQ(shape.response.lines, "Strict-Transport-Security: max-age=9\r\n");
    EXPECT_TRUE(shape.response.takes_out("server"));
}

// Framing, what is about one connection, who the client is, and what limits leave are the gateway's
// to say, however somebody spells them.
TEST(shapes, leave_the_gateway_its_own_fields)
{
    for (const char* name :
         {"Host",
          "content-length",
          "Transfer-Encoding",
          "transfer_encoding",
          "Connection",
          "TE",
          "Trailer",
          "Upgrade",
          "Keep-Alive",
          "Proxy-Connection",
          "HTTP2-Settings",
          "Via",
          "Max-Forwards",
          "Expect",
          "X-Forwarded-For",
          "x_forwarded_for",
          "X-Forwarded-Host",
          "X-Forwarded-Proto",
          "Forwarded",
          "X-Real-IP",
          "X-Request-Id",
          "Client-Cert",
          "Client_Cert_Chain",
          "X-RateLimit-Limit",
          "X_RateLimit_Used",
          "RateLimit",
          "RateLimit-Policy",
          "Retry-After",
          "a b",
          "",
          "a:"}) {
        for (const std::string mapping : {"request_headers", "response"}) {
            const std::string quoted_name = '"' + std::string(name) + '"';
            for (const std::string& edit :
                 {"set: { " + quoted_name + ": x }", "remove: [" + quoted_name + "]"}) {
                const std::string problems =
                    problems_of(file_with(route_with(mapping + ": { " + edit + " }")));
                EXPECT_THAT(problems, HasSubstr("routes[0]." + mapping + '.')) << edit;
            }
        }
    }
    EXPECT_THAT(
        problems_of(file_with(route_with("response: { remove: [Date] }"))),
        HasSubstr("routes[0].response.remove[0]: \"Date\" is in every response")
    );
    EXPECT_THAT(
        problems_of(file_with(
            "client: { trusted_proxies: [10.0.0.0/8], header: X-Client }\n" +
            route_with("request_headers: { remove: [x_client] }")
        )),
        HasSubstr("request_headers: \"x_client\" is client.header")
    );
}

policy::route answering(const std::string& keys)
{
    const std::string text = "routes: [{ match: { path: /api }, " + keys + " }]";
    return load_text(file_with(text), "f").policy->routes.front();
}

TEST(shapes, may_answer_instead_of_an_upstream)
{
    const policy::route elsewhere = answering("redirect: { to: \"https://{host}{uri}\" }");
    EXPECT_EQ(elsewhere.upstream, policy::no_upstream);
    EXPECT_TRUE(elsewhere.shaped);
    EXPECT_EQ(elsewhere.shape.answer->response.status, 308);
    EXPECT_EQ(elsewhere.shape.answer->to->text(), "https://{host}{uri}");
    const http::fixed_response page = answering("respond: { body: x }").shape.answer->response;
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(answering("respond: {}").shape.answer->response.content_type, "");
    EXPECT_EQ(
        answering("respond: { status: 204 }").shape.answer->response.start_line,
        "HTTP/1.1 204 No Content\r\n"
    );
}

TEST(shapes, answer_or_have_an_upstream)
{
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"name: x", "upstream: missing"},
        {"respond: {}, upstream: u", "upstream: has no effect beside \"respond\""},
        {"respond: {}, host: keep", "host: has no effect"},
        {"respond: {}, request_headers: {}", "request_headers: has no effect"},
        {"respond: {}, strip_prefix: /api", "strip_prefix: has no effect"},
        {"respond: {}, redirect: { to: / }", "respond: a route has either"},
        {"respond: 404", "respond: "},
        {"respond: { status: 100 }", "respond.status: "},
        {"respond: { status: 204, body: x }", "respond.body: a response with status 204 has none"},
        {"respond: { content_type: \" a\" }", "respond.content_type: expected a media type"},
        {"respond: {}, response: { set: { content-type: x } }",
         "response: \"content-type\" is what \"respond\" says itself"},
        {"redirect: { to: /, status: 304 }", "redirect.status: expected 301"},
        {"redirect: { status: 301 }", "redirect.to: missing"},
        {"redirect: { to: \"/{uri}\" }", "redirect.to: begins with two slashes"},
        {"redirect: { to: / }, response: { set: { Location: x } }",
         "response: \"Location\" is what \"redirect\" says itself"},
    };
    for (const auto& [keys, complaint] : rows) {
        const std::string text = "routes: [{ match: { path: /api }, " + keys + " }]";
        EXPECT_THAT(problems_of(file_with(text)), HasSubstr("routes[0]." + complaint)) << keys;
    }
}

TEST(shapes, that_answer_are_printed_as_they_are_read)
{
    for (const std::string keys :
         {"redirect: { status: 301, to: \"https://{host}{uri}\" }\n",
          "respond: { status: 200, body: \"a \\\"b\\\"\", content_type: \"text/plain; "
          "charset=utf-8\" }\n",
          "respond: { status: 204 }\n"}) {
        const std::string printed = print(load_text(file_with("routes:\n  - " + keys), "f"));
        EXPECT_THAT(printed, HasSubstr(keys));
        EXPECT_THAT(printed, Not(HasSubstr("upstream:")));
        EXPECT_EQ(print(load_text(printed, "f")), printed);
    }
}

TEST(shapes, that_cannot_be_are_complained_of)
{
    const std::string path = "routes[0].";
    const std::vector<std::pair<std::string, std::string>> rows = {
        {"strip_prefix: /ap", "strip_prefix: not the beginning of the route's \"path\""},
        {"strip_prefix: /api/v1/x", "strip_prefix: not the beginning"},
        {"strip_prefix: /other", "strip_prefix: not the beginning"},
        {"strip_prefix: /", "strip_prefix: takes nothing away"},
        {"strip_prefix: api", "strip_prefix: a path begins with '/'"},
        {"strip_prefix: /api/../x", "strip_prefix: no request can match"},
        {"strip_prefix: [/api]", "strip_prefix: "},
        {"rewrite_prefix: /v2", "rewrite_prefix: "},
        {"rewrite_prefix: { from: /api }", "rewrite_prefix.to: "},
        {"rewrite_prefix: { from: /v1, to: /v2 }", "rewrite_prefix.from: not the beginning"},
        {"rewrite_prefix: { from: /api, to: \"/x?y\" }", "rewrite_prefix.to: a path has no query"},
        {"rewrite_prefix: { from: /api, to: //b }", "rewrite_prefix.to: has an empty segment"},
        {"rewrite_prefix: { from: /api, to: /b, by: c }", "rewrite_prefix.by: unknown key"},
        {"strip_prefix: /api, rewrite_prefix: { from: /api, to: /b }",
         "rewrite_prefix: a route has either"},
        {"request_headers: { set: [X-A] }", "request_headers.set: expected a mapping"},
        {"request_headers: { set: { X-A: \" 1\" } }", "request_headers.set.X-A: expected at most"},
        {"request_headers: { set: { X-A: [1] } }", "request_headers.set.X-A: "},
        {"request_headers: { set: { X-A: 1 }, remove: [x_a] }",
         "request_headers.remove[0]: \"x_a\" is there already"},
        {"request_headers: { add: { X-A: 1 } }", "request_headers.add: unknown key"},
        {"response: { remove: X-A }", "response.remove: "},
        {"host: \"a b\"", "host: expected keep, upstream or a host"},
        {"host: \"user@a\"", "host: expected keep"},
    };
    for (const auto& [keys, complaint] : rows) {
        EXPECT_THAT(problems_of(file_with(route_with(keys))), HasSubstr(path + complaint)) << keys;
    }
}

TEST(shapes, are_printed_as_they_are_read)
{
    for (const std::string keys :
         {"strip_prefix: /api\n    host: upstream\n",
          "rewrite_prefix: { from: /api, to: \"/a%20b\" }\n    host: \"inner.test:80\"\n",
          "rewrite_prefix: { from: /, to: /base }\n    host: keep\n",
          "host: keep\n    request_headers:\n      set: { X-A: 1, \"X~B\": \"c \\\"d\\\"\" }\n"
          "    response:\n      remove: [Server, X-Powered-By]\n"}) {
        const std::string text = "routes:\n  - match: { path: /api }\n    upstream: u\n    " + keys;
        const std::string printed = print(load_text(file_with(text), "f"));
        EXPECT_THAT(printed, HasSubstr(keys));
        EXPECT_EQ(print(load_text(printed, "f")), printed);
    }
}

}  // namespace shapes_test
}  // namespace gateway::config
