// routes: which requests, which limits, which upstream.
#include "config/answer_keys.hpp"
#include "config/path_text.hpp"
#include "config/reading.hpp"
#include "config/route_name.hpp"
#include "config/sections.hpp"
#include "config/shape_keys.hpp"
#include "config/text_rules.hpp"
#include "config/yaml_text.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/policy/path.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr std::size_t longest_method = 32;
constexpr std::size_t longest_name = 2048;  // the default name of any route fits

std::string in_capitals(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

bool is_host(std::string_view text)
{
    if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
        const auto ip = base::ip_address::parse(text.substr(1, text.size() - 2));
        return ip && text.find(':') != std::string_view::npos;
    }
    return is_host_name(text);
}

void load_host(section& from, policy::route_match& match)
{
    const std::string* text = from.text("host");
    if (text == nullptr) {
        return;
    }
    const bool wildcard = text->starts_with("*.");
    const std::string name = text->substr(wildcard ? 2 : 0);
    if (*text == "*") {
        from.problem("host", "leave the key out to match any host");
    } else if (wildcard && (!is_host_name(name) || ends_in_number(name))) {
        from.problem("host", "expected a host name behind \"*.\", got " + quoted(*text));
    } else if (!wildcard && !is_host(name)) {
        from.problem("host", "expected a host name without a port, got " + quoted(*text));
    } else {
        policy::normalise_host(name, match.host);
        match.host.insert(0, wildcard ? "*." : "");
    }
}

void load_path(section& from, std::string_view key, policy::route_match& match)
{
    const auto path = read_path(from, key);
    if (!path) {
        return;
    }
    match.path = *path;
    if (path->find_first_of("*{") != std::string::npos) {
        from.warning(key, "\"*\" and \"{\" are ordinary characters; \"path\" is a prefix anyway");
    }
}

void load_methods(section& from, std::vector<std::string>& methods)
{
    findings& found = from.found();
    const auto list = from.list("methods");
    if (!list || !within(*list, max_methods, found)) {
        return;
    }
    if (list->value->items.empty()) {
        from.problem("methods", "empty: leave the key out to match every method");
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located item = item_of(*list, i);
        const std::string* text = scalar_text(item, "a method such as GET", found);
        if (text == nullptr) {
            continue;
        }
        if (!is_token(*text, longest_method)) {
            found.problem(
                item.value->at, item.path, "expected a method such as GET, got " + quoted(*text)
            );
        } else if (const std::string capitals = in_capitals(*text); *text != capitals) {
            found.problem(
                item.value->at, item.path, "methods are case-sensitive: write " + capitals
            );
        } else if (*text == "CONNECT") {
            found.problem(item.value->at, item.path, "CONNECT is never served: no request matches");
        } else if (std::find(methods.begin(), methods.end(), *text) != methods.end()) {
            found.problem(item.value->at, item.path, "this method is listed already");
        } else {
            methods.push_back(*text);
        }
    }
}

void load_name(section& route, std::string& name)
{
    const std::string* text = route.text("name");
    if (text == nullptr) {
        return;
    }
    const bool printable =
        std::all_of(text->begin(), text->end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (text->empty() || text->size() > longest_name || !printable) {
        route.problem("name", "expected 1 to 2048 printable ASCII characters");
        return;
    }
    if (*text == policy::no_route_name) {
        route.problem("name", "\"none\" is what metrics call requests that no route matches");
        return;
    }
    name = *text;
}

void load_limit_list(section& route, const std::vector<std::string>& names, policy::route& out)
{
    findings& found = route.found();
    const auto list = route.list("limits");
    if (!list || !within(*list, policy::max_limits_per_route, found)) {
        return;
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located item = item_of(*list, i);
        const auto index = resolve(item, "limit", names, found);
        if (index && std::find(out.limits.begin(), out.limits.end(), *index) != out.limits.end()) {
            found.problem(item.value->at, item.path, "this limit is listed already");
        } else if (index) {
            out.limits.push_back(*index);
        }
    }
}

// A path, printed if it is what the route has.
form path_form(std::string_view name, policy::route_match& match, bool exact)
{
    return {
        .says = {exact ? "" : "any", "at most 512 characters"},
        .schema = R"({"type":"string","maxLength":512})",
        .read =
            [name, exact, &match](section& from) {
                if (exact && from.has("path")) {
                    from.problem(name, "a route has either path or path_exact");
                }
                match.exact = exact;
                load_path(from, name, match);
            },
        .print = [exact, &match]() -> std::optional<std::string> {
            if (match.path.empty() || match.exact != exact) {
                return std::nullopt;
            }
            return yaml(encoded_path(match.path));
        }};
}

void describe_match(keys& k, policy::route_match& match)
{
    k.other(
        {"host",
         "without port; letter case and a final dot do not matter. `*.example.com` is every host "
         "that ends so, with one label or more in front"},
        {.says = {"any", "a host name, or one behind `*.`"},
         .read = [&](section& from) { load_host(from, match); },
         .print = [&]() -> std::optional<std::string> {
             return match.host.empty() ? std::nullopt : std::optional{yaml(match.host)};
         }}
    );
    k.other(
        {"path",
         "a prefix by whole segments: `/v1` and `/v1/` cover `/v1`, `/v1/` and `/v1/x`, not "
         "`/v10`"},
        path_form("path", match, false)
    );
    k.other({"path_exact", "instead of `path`: one path"}, path_form("path_exact", match, true));
    k.other(
        {"methods", "in capitals; without the key, unknown methods match too"},
        {.says = {"any", "at most 32"},
         .schema = R"({"type":"array","items":{"type":"string"},"minItems":1,"maxItems":32})",
         .read = [&](section& from) { load_methods(from, match.methods); },
         .print = [&]() -> std::optional<std::string> {
             if (match.methods.empty()) {
                 return std::nullopt;
             }
             return yaml_list(match.methods, [](const std::string& m) { return m; });
         }}
    );
}

// What routes refer to.
struct target_names {
    std::vector<std::string> limits;
    const std::vector<std::string>& upstreams;
};

target_names names_in(const draft& d)
{
    target_names names{.limits = {}, .upstreams = d.policy.upstreams};
    names.limits.reserve(d.policy.limits.size());
    for (const policy::limit_rule& rule : d.policy.limits) {
        names.limits.push_back(rule.name);
    }
    return names;
}

void describe_targets(keys& k, policy::route& route, const target_names& names)
{
    k.other(
        {"limits",
         "names of limits. All shared ones must use the same store, because a decision is one "
         "atomic round trip"},
        {.says = {"`[]`", "at most 8"},
         .schema = R"({"type":"array","items":{"type":"string"},"maxItems":8})",
         .read = [&](section& from) { load_limit_list(from, names.limits, route); },
         .print =
             [&] {
                 return yaml_list(route.limits, [&](std::size_t i) { return names.limits[i]; });
             }}
    );
    k.other(
        {"upstream", "where its requests go. Without it, `redirect` or `respond`"},
        {.says = {"none", "a name in `upstreams`"},
         .read =
             [&](section& from) {
                 const located name{from.find("upstream"), from.path_of("upstream")};
                 route.upstream =
                     resolve(name, "upstream", names.upstreams, from.found()).value_or(0);
             },
         .print = [&]() -> std::optional<std::string> {
             const bool any = route.upstream != policy::no_upstream;
             return any ? std::optional{yaml(names.upstreams[route.upstream])} : std::nullopt;
         },
         .optional = true}
    );
}

void describe_route(keys& k, policy::route& route, const target_names& names)
{
    k.other(
        {"name",
         "label of metrics and value of the key part `route`. Unique, and not `none`, which is "
         "the label of requests without a route. Where the default would not be, methods come in "
         "front and `=` before an exact path"},
        {.says = {"host and path", "1 to 2048 printable characters"},
         .schema = R"({"type":"string","minLength":1,"maxLength":2048})",
         .read = [&](section& from) { load_name(from, route.name); },
         .print = [&] { return yaml(route.name); }}
    );
    k.mapping(
        {"match", "which requests it is for: the four keys that follow; without any, all"},
        [&](keys& match) { describe_match(match, route.match); }
    );
    describe_targets(k, route, names);
    describe_shape(k, route);
    describe_answer(k, route);
}

void load_routes(section& root, draft& d, const target_names& names)
{
    const auto list = root.list("routes");
    if (!list || !within(*list, max_routes, root.found())) {
        return;
    }
    if (list->value->items.empty()) {
        root.problem("routes", "at least one route is needed");
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located one = item_of(*list, i);
        policy::route route;
        reading::all(one, root.found(), [&](keys& k) { describe_route(k, route, names); });
        d.policy.routes.push_back(std::move(route));
        d.routes.push_back({one.value->at, one.path});
    }
    name_routes(d.policy.routes);
}

}  // namespace

void describe_routes(keys& root, draft& d)
{
    std::vector<policy::route>& routes = d.policy.routes;
    const target_names names = names_in(d);
    root.each(
        {"routes", {}},
        {.says = {"none"},
         .named = false,
         .read = [&](section& from) { load_routes(from, d, names); },
         .size = [&] { return routes.size(); },
         .describe =
             of_each(routes, [&](keys& k, policy::route& r) { describe_route(k, r, names); })}
    );
}

}  // namespace gateway::config
