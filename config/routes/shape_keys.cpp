// Keys of a route that change its requests and responses on their way.
#include "config/routes/route_name.hpp"
#include "config/routes/route_sections.hpp"
#include "config/text/yaml_text.hpp"
#include "gateway/http/authority.hpp"

namespace gateway::config {
namespace {

using policy::host_source;
using policy::prefix_change;

constexpr std::string_view path_schema = R"({"type":"string","pattern":"^/","maxLength":512})";

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

// Takes a prefix, without the slash at its end.
std::string take_prefix(
    const std::string& text, std::string& prefix, const policy::route_match& match
)
{
    std::string complaint = take_path(text, prefix);
    if (!complaint.empty()) {
        return complaint;
    }
    prefix = without_final_slash(prefix);
    return prefix.empty() || covers(prefix, match)
               ? ""
               : "not the beginning of the route's \"path\" or \"path_exact\", by whole segments: "
                 "not all of its requests would have it";
}

// Takes a path as it is written. Empty segments are refused, as servers would read a host in a path
// that begins with two slashes.
std::string take_path_as_written(const std::string& text, std::string& path)
{
    std::string complaint = take_path(text, path);
    path = without_final_slash(text);
    const bool has_empty = complaint.empty() && text.find("//") != std::string::npos;
    return has_empty ? "has an empty segment: write one slash" : complaint;
}

std::string take_stripped(
    const std::string& text, std::optional<prefix_change>& out, const policy::route_match& match
)
{
    std::string prefix;
    std::string complaint = take_prefix(text, prefix, match);
    if (!complaint.empty()) {
        return complaint;
    }
    const bool is_all = prefix.empty();
    out = {.from = std::move(prefix), .to = {}, .to_and_slash = "/"};
    return is_all ? "takes nothing away: leave it out" : "";
}

void describe_rewrite(keys& k, prefix_change& change, const policy::route_match& match)
{
    k("from", "beginning of the path that is replaced", required)
        .text(
            {.schema = std::string{path_schema},
             .take = [&](const auto& text) { return take_prefix(text, change.from, match); },
             .print = [&] { return yaml(change.from.empty() ? "/" : encoded_path(change.from)); }}
        );
    k("to", "beginning that takes its place", required)
        .text(
            {.schema = std::string{path_schema},
             .take = [&](const auto& text) { return take_path_as_written(text, change.to); },
             .print = [&] { return yaml(change.to); }}
        );
    k.rule([&](section&) { change.to_and_slash = change.to + '/'; });
}

void describe_prefix(keys& k, policy::route& route)
{
    std::optional<prefix_change>& prefix = route.shape.prefix;
    const bool rewrites = prefix && !prefix->to.empty();
    k("strip_prefix",
      "removes this beginning of the path from what is forwarded; `path` or `path_exact` must "
      "begin with it")
        .printed_if(prefix && !rewrites)
        .text(
            {.documented = {"none", "whole segments, at most 512 characters"},
             .schema = std::string{path_schema},
             .take = [&](const auto& text) { return take_stripped(text, prefix, route.match); },
             .print = [&] { return yaml(encoded_path(prefix->from)); }}
        );
    k("rewrite_prefix",
      "replaces the beginning `from` of the path by `to` in what is forwarded, instead of "
      "`strip_prefix`; `from: /` puts `to` before every path")
        .line(
            {.documented = {"none", "`{ from: /v1, to: /v2 }`"},
             .is_set = rewrites,
             .describe =
                 [&](keys& inner) {
                     prefix_change& its = rewrites ? *prefix : prefix.emplace();
                     describe_rewrite(inner, its, route.match);
                 }}
        );
    k.rule([](section& from) {
        if (from.has("strip_prefix") && from.has("rewrite_prefix")) {
            from.problem("rewrite_prefix", "a route has either strip_prefix or rewrite_prefix");
        }
    });
}

std::string take_host(const std::string& text, policy::route_shape& shape)
{
    if (text == "keep") {
        return {};
    }
    if (text == "upstream") {
        shape.host = host_source::upstream;
        return {};
    }
    if (!http::is_authority(text)) {
        return "expected keep, upstream or a host, perhaps with a port, got " + quote(text);
    }
    shape.host = host_source::named;
    shape.host_name = text;
    return {};
}

std::string print_host(const policy::route_shape& shape)
{
    return shape.host == host_source::kept       ? "keep"
           : shape.host == host_source::upstream ? "upstream"
                                                 : yaml(shape.host_name);
}

}  // namespace

void describe_shape(keys& k, policy::route& route)
{
    policy::route_shape& shape = route.shape;
    describe_prefix(k, route);
    k("host",
      "the Host that the upstream gets: the client's, the address of its first server as it is "
      "written under `servers` (of a Unix socket `localhost`), or this one. X-Forwarded-Host tells "
      "the client's in any case")
        .printed_if(route.upstream != policy::no_upstream)
        .text(
            {.documented = {"`keep`", "`keep`, `upstream`, or a host with or without a port"},
             .take = [&](const std::string& text) { return take_host(text, shape); },
             .print = [&] { return print_host(shape); }}
        );
    k("request_headers", "changes the header that the upstream gets, by `set` and `remove`")
        .mapping(
            [&](keys& inner) { describe_fields(inner, shape.request, message::request); },
            shape.request.any()
        );
    k("response",
      "changes the header of every response, by `set` and `remove`; `set` also that of "
      "responses that the gateway gives itself")
        .mapping(
            [&](keys& inner) { describe_fields(inner, shape.response, message::response); },
            shape.response.any()
        );
}

}  // namespace gateway::config
