// Section `routes` of `gateway.yaml`: which requests have which limits and which upstream.
#include "config/routes/route_name.hpp"
#include "config/routes/route_sections.hpp"
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr words<policy::client_abort, 2> client_aborts{
    {{"close", policy::client_abort::close}, {"finish", policy::client_abort::finish}}};
constexpr std::size_t longest_name = 4096;  // the default name of any route fits

std::string complaint_about_name(const std::string& name)
{
    if (name.empty() || !is_printable(name, longest_name)) {
        return "expected 1 to 4096 printable ASCII characters";
    }
    return name == policy::no_route_name
               ? "\"none\" is what metrics call requests that no route matches"
               : "";
}

using name_list = std::vector<std::string>;

void describe_targets(keys& k, policy::route& route, const name_list& limits, const draft& d)
{
    k("limits",
      "the names of limits. All shared ones must use the same store, because a decision is one "
      "atomic round trip")
        .references(route.limits, policy::max_limits_per_route, "limit", limits);
    k("upstream",
      "the upstream that the route's requests go to. A route without it has `redirect` or "
      "`respond`")
        .reference(
            route.upstream, {"none", "a name in `upstreams`"}, "upstream", d.policy.upstreams
        );
}

void describe_name(keys& k, std::string& name)
{
    k("name",
      "the label of metrics and value of the key part `route`. It is unique, and not `none`, "
      "which is the label of requests without a route. Where host and path are not unique, the "
      "default has methods and the scheme in front, `=` before an exact path, `~` before one "
      "with `ignore_case`, and names of headers at the end")
        .text(
            name,
            {"host and path", "1 to 4096 printable characters"},
            complaint_about_name,
            R"({"type":"string","minLength":1,"maxLength":4096})"
        );
}

void describe_route(keys& k, policy::route& route, const name_list& limits, const draft& d)
{
    describe_name(k, route.name);
    k("match",
      "says which requests the route is for, by the eight keys that follow; without any, all")
        .mapping([&](keys& match) { describe_match(match, route.match); });
    describe_targets(k, route, limits, d);
    k("timeout",
      "bounds a whole request, from the end of its header to the end of its response; 504 past "
      "it, or a cut response. 0s is no bound")
        .time(route.timeout, {.min = base::duration{0}});
    describe_bounds(k, route.bounds);
    k("on_client_abort",
      "says what becomes of a request upstream when its client leaves before the response: "
      "`close` ends the connection and waits for the server's end or answer, `finish` waits for "
      "the whole response (below)")
        .word(route.on_client_abort, client_aborts);
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

void load_routes(section& root, draft& d, const name_list& limits)
{
    constexpr std::string_view if_empty = "at least one route is needed";
    root.each_item("routes", max_routes, if_empty, [&](const located& one) {
        policy::route route;
        read_mapping(one, root.found(), [&](keys& k) { describe_route(k, route, limits, d); });
        if (route.name.empty() && is_matched_by_secret(one, root.found())) {
            const origin at = one;
            root.found().problem(
                at.key("name"), "missing: the default would show a secret of \"match\" in metrics"
            );
        }
        d.policy.routes.push_back(std::move(route));
        d.routes.push_back(one);
    });
    name_routes(d.policy.routes);
}

}  // namespace

void describe_routes(keys& root, draft& d)
{
    std::vector<policy::route>& routes = d.policy.routes;
    const name_list limits = names_in(d.policy.limits);
    constexpr key itself{
        .name = "routes",
        .required = true,
        .summary =
            "which requests have which limits and upstream; the most specific match decides"};
    root(itself).each(
        {.documented = {"none"},
         .named = false,
         .read = [&](section& from) { load_routes(from, d, limits); },
         .size = [&] { return routes.size(); },
         .describe =
             of_each(routes, [&](keys& k, policy::route& r) { describe_route(k, r, limits, d); })}
    );
}

}  // namespace gateway::config
