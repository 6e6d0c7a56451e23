// routes: which requests, which limits, which upstream.
#include "config/draft.hpp"
#include "config/route_name.hpp"
#include "config/text_rules.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/policy/path.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr std::size_t longest_path = 512;
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
    if (text->starts_with('*')) {
        from.problem("host", "wildcard hosts are not supported yet");
    } else if (!is_host(*text)) {
        from.problem("host", "expected a host name without a port, got " + quoted(*text));
    } else {
        policy::normalise_host(*text, match.host);
    }
}

void load_path(section& from, std::string_view key, policy::route_match& match)
{
    const std::string* text = from.text(key);
    if (text == nullptr) {
        return;
    }
    std::string room;
    const auto [path, refused_because] = policy::normalise_path(*text, room);
    if (!text->starts_with('/')) {
        from.problem(key, "a path begins with '/', got " + quoted(*text));
    } else if (!is_visible(*text, longest_path)) {
        from.problem(key, "expected at most 512 printable ASCII characters, others as %XX");
    } else if (text->find_first_of("?#") != std::string::npos) {
        from.problem(key, "a path has no query or fragment: write %3F or %23 for the character");
    } else if (text->find(';') != std::string::npos) {
        from.problem(key, "parameters (\";\") are left out when paths are matched: leave them out");
    } else if (!refused_because.empty()) {
        from.problem(key, "no request can match: " + std::string(refused_because));
    } else {
        match.path = path;
        if (text->find_first_of("*{") != std::string::npos) {
            from.warning(
                key, "\"*\" and \"{\" are ordinary characters; \"path\" is a prefix anyway"
            );
        }
    }
}

void load_methods(section& from, std::vector<std::string>& methods, findings& found)
{
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

void load_match(section& route, policy::route_match& match, findings& found)
{
    const node* value = route.find("match");
    if (value == nullptr) {
        return;
    }
    section from{{value, route.path_of("match")}, found};
    load_host(from, match);
    load_path(from, "path", match);
    if (from.has("path_exact")) {
        match.exact = true;
        if (from.has("path")) {
            from.problem("path_exact", "a route has either path or path_exact");
        }
        load_path(from, "path_exact", match);
    }
    load_methods(from, match.methods, found);
    from.refuse_the_rest();
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

void load_limit_list(
    section& route, const std::vector<std::string>& names, policy::route& out, findings& found
)
{
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

}  // namespace

void load_routes(section& root, draft& d, findings& found)
{
    if (root.require("routes") == nullptr) {
        return;
    }
    const auto list = root.list("routes");
    if (!list || !within(*list, max_routes, found)) {
        return;
    }
    if (list->value->items.empty()) {
        root.problem("routes", "at least one route is needed");
    }
    std::vector<std::string> limit_names;
    for (const policy::limit_rule& rule : d.policy.limits) {
        limit_names.push_back(rule.name);
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located one = item_of(*list, i);
        section from{one, found};
        policy::route route;
        load_name(from, route.name);
        load_match(from, route.match, found);
        load_limit_list(from, limit_names, route, found);
        if (const node* upstream = from.require("upstream")) {
            const located name{upstream, from.path_of("upstream")};
            route.upstream = resolve(name, "upstream", d.policy.upstreams, found).value_or(0);
        }
        from.refuse_the_rest();
        d.policy.routes.push_back(std::move(route));
        d.routes.push_back({one.value->at, one.path});
    }
    name_routes(d.policy.routes);
}

}  // namespace gateway::config
