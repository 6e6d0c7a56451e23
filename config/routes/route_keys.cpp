// Section `routes` of `gateway.yaml`: which requests have which limits and which upstream.
#include "config/keys/reading.hpp"
#include "config/routes/answer_keys.hpp"
#include "config/routes/bound_keys.hpp"
#include "config/routes/match_keys.hpp"
#include "config/routes/rejection_keys.hpp"
#include "config/routes/route_name.hpp"
#include "config/routes/shape_keys.hpp"
#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr base::duration longest_request = std::chrono::hours{24};
constexpr words<policy::client_abort, 2> client_aborts{
    {{"close", policy::client_abort::close}, {"finish", policy::client_abort::finish}}};
constexpr std::size_t longest_name = 4096;  // the default name of any route fits

void load_name(section& route, std::string& name)
{
    const std::string* text = route.text("name");
    if (text == nullptr) {
        return;
    }
    const bool printable =
        std::all_of(text->begin(), text->end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (text->empty() || text->size() > longest_name || !printable) {
        route.problem("name", "expected 1 to 4096 printable ASCII characters");
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

// Names of the limits and upstreams that routes refer to.
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

void describe_route(keys& k, policy::route& route, const target_names& names, const draft& d)
{
    k.other(
        {"name",
         "label of metrics and value of the key part `route`. Unique, and not `none`, which is "
         "the label of requests without a route. Where the default would not be, methods and the "
         "scheme come in front, `=` before an exact path and `~` before one with `ignore_case`, "
         "and "
         "names of headers at the end"},
        {.says = {"host and path", "1 to 4096 printable characters"},
         .schema = R"({"type":"string","minLength":1,"maxLength":4096})",
         .read = [&](section& from) { load_name(from, route.name); },
         .print = [&] { return yaml(route.name); }}
    );
    k.mapping(
        {"match", "which requests it is for: the seven keys that follow; without any, all"},
        [&](keys& match) { describe_match(match, route.match); }
    );
    describe_targets(k, route, names);
    k.time(
        {"timeout",
         "of a whole request, from the end of its header to the end of its response; 504 past it, "
         "or a cut response. 0s is no bound"},
        route.timeout,
        base::duration{0},
        longest_request
    );
    describe_bounds(k, route.bounds);
    k.word(
        {"on_client_abort",
         "what becomes of a request upstream when its client leaves before the response: `close` "
         "ends the connection and awaits the server's end or answer, `finish` the whole response "
         "(below)"},
        route.on_client_abort,
        client_aborts
    );
    describe_rejection(k, route.rejection, d);
    describe_shape(k, route);
    describe_answer(k, route);
}

// True if the default name would hold a text of `{ env: NAME }` or `{ file: PATH }`.
bool is_matched_by_secret(const located& route, findings& found)
{
    const std::vector<std::string>& secret = found.secrets().paths();
    return std::any_of(secret.begin(), secret.end(), [&](const std::string& path) {
        return path == route.path + ".match.path" || path == route.path + ".match.host";
    });
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
        reading::all(one, root.found(), [&](keys& k) { describe_route(k, route, names, d); });
        if (route.name.empty() && is_matched_by_secret(one, root.found())) {
            root.found().problem(
                one.value->at,
                one.path + ".name",
                "missing: the default would show a secret of \"match\" in metrics"
            );
        }
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
             of_each(routes, [&](keys& k, policy::route& r) { describe_route(k, r, names, d); })}
    );
}

}  // namespace gateway::config
