#include "config/routes/answer_keys.hpp"

#include "config/text/yaml_text.hpp"
#include "gateway/base/text.hpp"

namespace gateway::config {
namespace {

using policy::route_answer;

constexpr std::size_t longest_target = 2048;
constexpr std::size_t longest_type = 256;
constexpr int standard_redirect = 308;

constexpr std::string_view redirect_schema = R"({"type":"object","additionalProperties":false,
    "required":["to"],"properties":{"status":{"enum":[301,302,303,307,308],"default":308},
    "to":{"type":"string","maxLength":2048}}})";
constexpr std::string_view respond_schema = R"({"type":"object","additionalProperties":false,
    "properties":{"status":{"type":"integer","minimum":200,"maximum":599,"default":200},
    "body":{"type":"string","default":""},"content_type":{"type":"string","maxLength":256}}})";

int read_status(section& from, int standard, int min, int max)
{
    const auto status =
        from.number("status", static_cast<std::uint64_t>(min), static_cast<std::uint64_t>(max));
    return status ? static_cast<int>(*status) : standard;
}

void read_redirect(section& route, std::optional<route_answer>& out)
{
    section from{{route.find("redirect"), route.path_of("redirect")}, route.found()};
    route_answer& answer = out.emplace();
    const int status = read_status(from, standard_redirect, 301, 308);
    if (status > 303 && status < 307) {
        from.problem("status", "expected 301, 302, 303, 307 or 308");
    }
    answer.response.status = status;
    if (from.require("to") != nullptr) {
        if (const std::string* to = from.text("to")) {
            const std::string_view complaint = policy::location::complaint_about(*to);
            if (to->size() > longest_target) {
                from.problem("to", "expected at most 2048 characters");
            } else if (!complaint.empty()) {
                from.problem("to", std::string(complaint) + ": " + quote(*to));
            } else {
                answer.to = policy::location{*to};
            }
        }
    }
    answer.response.finish();
    from.refuse_the_rest();
}

void read_body(section& from, http::fixed_response& response)
{
    if (const std::string* body = from.text("body", lines::many)) {
        if (body->size() > max_own_body_bytes) {
            from.problem("body", "expected at most 64 KiB");
        } else if (!body->empty() && response.is_bodiless()) {
            from.problem(
                "body", "a response with status " + std::to_string(response.status) + " has none"
            );
        }
        response.body = *body;
    }
    response.content_type = response.body.empty() ? "" : standard_content_type;
    if (const auto type = read_content_type(from)) {
        response.content_type = *type;
    }
}

void read_respond(section& route, std::optional<route_answer>& out)
{
    section from{{route.find("respond"), route.path_of("respond")}, route.found()};
    if (route.has("redirect")) {
        route.problem("respond", "a route has either redirect or respond");
    }
    http::fixed_response& response = out.emplace().response;
    response.status = read_status(from, 200, 200, 599);
    read_body(from, response);
    response.finish();
    from.refuse_the_rest();
}

std::optional<std::string> print_redirect(const std::optional<route_answer>& answer)
{
    if (!answer || !answer->to) {
        return std::nullopt;
    }
    return "{ status: " + std::to_string(answer->response.status) +
           ", to: " + yaml(answer->to->text()) + " }";
}

std::optional<std::string> print_respond(const std::optional<route_answer>& answer)
{
    if (!answer || answer->to) {
        return std::nullopt;
    }
    const http::fixed_response& response = answer->response;
    std::string text = "{ status: " + std::to_string(response.status);
    text += response.body.empty() ? "" : ", body: " + yaml(response.body);
    text += response.content_type.empty() ? "" : ", content_type: " + yaml(response.content_type);
    return text + " }";
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
    check_fields(route, out.shape, which);
    if (which == "respond") {
        for (const std::string_view key : {"strip_prefix", "rewrite_prefix"}) {
            if (route.has(key)) {
                route.problem(key, "has no effect beside \"respond\"");
            }
        }
    }
}

}  // namespace

std::optional<std::string> read_content_type(section& from)
{
    const std::string* const type = from.text("content_type");
    if (type == nullptr) {
        return std::nullopt;
    }
    const bool printable =
        std::all_of(type->begin(), type->end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!printable || type->empty() || type->size() > longest_type ||
        base::trimmed(*type) != *type) {
        from.problem("content_type", "expected a media type such as text/html");
    }
    return *type;
}

void describe_answer(keys& k, policy::route& route)
{
    std::optional<route_answer>& answer = route.shape.answer;
    k.other(
        {"redirect",
         "instead of `upstream`: clients are sent elsewhere (below). `status` is 301, 302, 303, "
         "307 or 308, which is the default"},
        {.says = {"none", "`{ status: 308, to: \"https://{host}{uri}\" }`"},
         .schema = redirect_schema,
         .read = [&](section& from) { read_redirect(from, answer); },
         .print = [&] { return print_redirect(answer); },
         .optional = true}
    );
    k.other(
        {"respond",
         "instead of `upstream`: one response for all. `status` is 200 to 599, 200 by default; "
         "`body` at most 64 KiB; `content_type` `text/plain; charset=utf-8` by default"},
        {.says = {"none", "`{ status: 404, body: gone, content_type: text/plain }`"},
         .schema = respond_schema,
         .read = [&](section& from) { read_respond(from, answer); },
         .print = [&] { return print_respond(answer); },
         .optional = true}
    );
    k.rule([&](section& from) { check_target(from, route); });
    k.constraint(R"({"if":{"anyOf":[{"required":["redirect"]},{"required":["respond"]}]},
        "then":{"properties":{"upstream":false}},"else":{"required":["upstream"]}})");
}

}  // namespace gateway::config
