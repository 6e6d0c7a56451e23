#include "config/routes/shape_keys.hpp"

#include "config/routes/field_keys.hpp"
#include "config/routes/path_text.hpp"
#include "config/routes/route_name.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/http/authority.hpp"

namespace gateway::config {
namespace {

using policy::host_source;
using policy::prefix_change;

constexpr std::string_view path_schema = R"({"type":"string","pattern":"^/","maxLength":512})";
constexpr std::string_view rewrite_schema = R"({"type":"object","additionalProperties":false,
    "required":["from","to"],"properties":{
    "from":{"type":"string","pattern":"^/","maxLength":512},
    "to":{"type":"string","pattern":"^/","maxLength":512}}})";

std::string without_final_slash(std::string path)
{
    if (path.ends_with('/')) {
        path.pop_back();
    }
    return path;
}

// True if every path that the match has begins with these segments.
bool covers(std::string_view prefix, const policy::route_match& match)
{
    const std::string_view path = match.path;
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

std::optional<std::string> read_prefix(
    section& from, std::string_view key, const policy::route_match& match
)
{
    auto path = read_path(from, key);
    if (!path) {
        return std::nullopt;
    }
    *path = without_final_slash(*path);
    if (!path->empty() && !covers(*path, match)) {
        from.problem(
            key,
            "not the beginning of the route's \"path\" or \"path_exact\", by whole segments: not "
            "all of its requests would have it"
        );
        return std::nullopt;
    }
    return path;
}

// Returns a path as it was written. Empty segments are refused, as servers would read a host in a
// path that begins with two slashes.
std::optional<std::string> read_path_as_written(section& from, std::string_view key)
{
    if (!read_path(from, key)) {
        return std::nullopt;
    }
    const std::string& text = *from.text(key);
    if (text.find("//") != std::string::npos) {
        from.problem(key, "has an empty segment: write one slash");
        return std::nullopt;
    }
    return text;
}

void read_strip(section& route, std::optional<prefix_change>& out, const policy::route_match& match)
{
    if (auto prefix = read_prefix(route, "strip_prefix", match)) {
        if (prefix->empty()) {
            route.problem("strip_prefix", "takes nothing away: leave it out");
        }
        out = {.from = std::move(*prefix), .to = {}, .to_and_slash = "/"};
    }
}

void read_rewrite(
    section& route, std::optional<prefix_change>& out, const policy::route_match& match
)
{
    const node* const value = route.find("rewrite_prefix");
    section from{{value, route.path_of("rewrite_prefix")}, route.found()};
    if (route.has("strip_prefix")) {
        route.problem("rewrite_prefix", "a route has either strip_prefix or rewrite_prefix");
    }
    if (from.require("from") != nullptr && from.require("to") != nullptr) {
        auto prefix = read_prefix(from, "from", match);
        auto to = read_path_as_written(from, "to");
        if (prefix && to) {
            *to = without_final_slash(*to);
            const std::string to_and_slash = *to + '/';
            out = {.from = std::move(*prefix), .to = std::move(*to), .to_and_slash = to_and_slash};
        }
    }
    from.refuse_the_rest();
}

void describe_prefix(keys& k, policy::route& route)
{
    auto& prefix = route.shape.prefix;
    k.other(
        {"strip_prefix",
         "forwarded without this beginning of the path, which `path` or `path_exact` must have"},
        {.says = {"none", "whole segments, at most 512 characters"},
         .schema = path_schema,
         .read = [&](section& from) { read_strip(from, prefix, route.match); },
         .print = [&]() -> std::optional<std::string> {
             const bool strips = prefix && prefix->to.empty();
             return strips ? std::optional{yaml(encoded_path(prefix->from))} : std::nullopt;
         },
         .optional = true}
    );
    k.other(
        {"rewrite_prefix",
         "instead of `strip_prefix`: forwarded with `to` for this beginning; `from: /` puts `to` "
         "before every path"},
        {.says = {"none", "`{ from: /v1, to: /v2 }`"},
         .schema = rewrite_schema,
         .read = [&](section& from) { read_rewrite(from, prefix, route.match); },
         .print = [&]() -> std::optional<std::string> {
             if (!prefix || prefix->to.empty()) {
                 return std::nullopt;
             }
             const std::string from = prefix->from.empty() ? "/" : encoded_path(prefix->from);
             return "{ from: " + yaml(from) + ", to: " + yaml(prefix->to) + " }";
         },
         .optional = true}
    );
}

void read_host(section& route, policy::route_shape& shape)
{
    const std::string* const text = route.text("host");
    if (text == nullptr || *text == "keep") {
        return;
    }
    if (*text == "upstream") {
        shape.host = host_source::upstream;
    } else if (!http::is_authority(*text)) {
        route.problem(
            "host", "expected keep, upstream or a host, perhaps with a port, got " + quote(*text)
        );
    } else {
        shape.host = host_source::named;
        shape.host_name = *text;
    }
}

void describe_host(keys& k, policy::route& route)
{
    policy::route_shape& shape = route.shape;
    k.other(
        {"host",
         "the Host that the upstream gets: the client's, the address of its first server as it is "
         "written under `servers` (of a Unix socket `localhost`), or this one. X-Forwarded-Host "
         "tells the client's in any case"},
        {.says = {"`keep`", "`keep`, `upstream`, or a host with or without a port"},
         .read = [&](section& from) { read_host(from, shape); },
         .print = [&]() -> std::optional<std::string> {
             if (route.upstream == policy::no_upstream) {
                 return std::nullopt;
             }
             return shape.host == host_source::kept       ? "keep"
                    : shape.host == host_source::upstream ? "upstream"
                                                          : yaml(shape.host_name);
         }}
    );
}

}  // namespace

void describe_shape(keys& k, policy::route& route)
{
    describe_prefix(k, route);
    policy::route_shape& shape = route.shape;
    describe_host(k, route);
    k.mapping(
        {"request_headers",
         "what is changed of the header that the upstream gets: `set`, `remove`"},
        [&shape](keys& inner) { describe_fields(inner, shape.request, message::request); },
        shape.request.any()
    );
    k.mapping(
        {"response",
         "likewise of every response, and what is set of those that the gateway gives itself"},
        [&shape](keys& inner) { describe_fields(inner, shape.response, message::response); },
        shape.response.any()
    );
}

}  // namespace gateway::config
