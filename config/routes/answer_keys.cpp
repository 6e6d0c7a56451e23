// Keys `redirect` and `respond` of a route, by which the gateway answers instead of an upstream.
#include "config/routes/route_sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using policy::route_answer;

constexpr std::size_t longest_target = 2048;
constexpr std::size_t longest_type = 256;
constexpr int standard_redirect = 308;

void read_status(section& from, int& status)
{
    from.take_number("status", status, {301, 308});
    if (status > 303 && status < 307) {
        from.problem("status", "expected 301, 302, 303, 307 or 308");
    }
}

std::string take_target(const std::string& text, std::optional<policy::location>& to)
{
    const std::string_view complaint = policy::location::complaint_about(text);
    if (text.size() > longest_target) {
        return "expected at most 2048 characters";
    }
    if (!complaint.empty()) {
        return std::string(complaint) + ": " + quote(text);
    }
    to = policy::location{text};
    return {};
}

void describe_redirect(keys& k, route_answer& answer)
{
    int& status = answer.response.status;
    k("status", "status of the redirect")
        .other(
            {.schema = R"({"enum":[301,302,303,307,308],"default":308})",
             .read = [&](section& from) { read_status(from, status); },
             .print = [&] { return std::to_string(status); }}
        );
    k("to", "URL of the other place; `{host}` and `{uri}` are those of the request", required)
        .text(
            {.schema = R"({"type":"string","maxLength":2048})",
             .take = [&](const std::string& text) { return take_target(text, answer.to); },
             .print = [&] { return yaml(answer.to->text()); }}
        );
    k.rule([&](section&) { answer.response.finish(); });
}

void read_body(section& from, http::fixed_response& response)
{
    const std::string* const body = from.text("body", lines::many);
    if (body == nullptr) {
        return;
    }
    if (body->size() > max_own_body_bytes) {
        from.problem("body", "expected at most 64 KiB");
    } else if (!body->empty() && response.is_bodiless()) {
        from.problem(
            "body", "a response with status " + std::to_string(response.status) + " has none"
        );
    }
    response.body = *body;
    response.content_type = body->empty() ? "" : standard_content_type;
}

void describe_respond(keys& k, http::fixed_response& response)
{
    k("status", "status of the response").number(response.status, {200, 599});
    k("body", "body of the response")
        .other(
            {.schema = R"({"type":"string","default":""})",
             .read = [&](section& from) { read_body(from, response); },
             .print = [&] { return yaml_or_nothing(response.body); }}
        );
    describe_content_type(k, response.content_type);
    k.rule([&](section&) { response.finish(); });
}

// Reports response fields that the answer sets itself.
void check_fields(section& route, const policy::route_shape& shape, std::string_view which)
{
    for (const auto& [name, value] : shape.response.set) {
        const bool is_type = base::equal_ignoring_case(name, "Content-Type");
        if (is_type || (which == "redirect" && base::equal_ignoring_case(name, "Location"))) {
            route.problem(
                "response", quote(name) + " is what \"" + std::string(which) + "\" says itself"
            );
        }
    }
}

// Reports a missing upstream if the route does not answer itself, and otherwise keys about an
// upstream, which have no effect.
void check_target(section& route, policy::route& out)
{
    if (!route.has("redirect") && !route.has("respond")) {
        route.require("upstream");
        return;
    }
    const std::string_view which = route.has("redirect") ? "redirect" : "respond";
    out.upstream = policy::no_upstream;
    for (const std::string_view key : {"upstream", "host", "request_headers"}) {
        if (route.has(key)) {
            route.problem(
                key, "has no effect beside \"" + std::string(which) + "\", which needs no upstream"
            );
        }
    }
    if (out.serves_over_limit()) {
        route.problem(
            "rejection", "\"upstream\" is not for a route with \"" + std::string(which) + '"'
        );
    }
    check_fields(route, out.shape, which);
    if (which == "respond") {
        for (const std::string_view key : {"strip_prefix", "rewrite_prefix"}) {
            if (route.has(key)) {
                route.problem(key, "has no effect beside \"respond\"");
            }
        }
    }
}

std::string take_content_type(const std::string& text, std::string& type)
{
    type = text;
    return text.empty() || !is_field_value(text, longest_type)
               ? "expected a media type such as text/html"
               : "";
}

}  // namespace

void describe_content_type(keys& k, std::string& type)
{
    k("content_type", "Content-Type of the response")
        .text(type, {}, take_content_type, R"({"type":"string","maxLength":256})");
}

void describe_answer(keys& k, policy::route& route)
{
    std::optional<route_answer>& answer = route.shape.answer;
    const bool redirects = answer && answer->to;
    const bool responds = answer && !answer->to;
    k("redirect",
      "sends clients elsewhere, instead of to an `upstream` (below). `status` is 301, 302, 303, "
      "307 or 308, which is the default")
        .line(
            {.documented = {"none", "`{ status: 308, to: \"https://{host}{uri}\" }`"},
             .is_set = redirects,
             .describe =
                 [&](keys& inner) {
                     route_answer& its = answer ? *answer : answer.emplace();
                     its.response.status = redirects ? its.response.status : standard_redirect;
                     describe_redirect(inner, its);
                 }}
        );
    k("respond",
      "gives all requests one response, instead of an `upstream`. `status` is 200 to 599, 200 "
      "by default; `body` is at most 64 KiB; `content_type` is `text/plain; charset=utf-8` by "
      "default")
        .line(
            {.documented = {"none", "`{ status: 404, body: gone, content_type: text/plain }`"},
             .is_set = responds,
             .describe =
                 [&](keys& inner) {
                     route_answer& its = responds ? *answer : answer.emplace();
                     describe_respond(inner, its.response);
                 }}
        );
    k.rule([&](section& from) {
        if (from.has("redirect") && from.has("respond")) {
            from.problem("respond", "a route has either redirect or respond");
        }
        check_target(from, route);
    });
    k.constraint(R"({"if":{"anyOf":[{"required":["redirect"]},{"required":["respond"]}]},
        "then":{"properties":{"upstream":false}},"else":{"required":["upstream"]}})");
}

}  // namespace gateway::config
