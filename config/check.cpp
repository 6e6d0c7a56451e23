#include "config/check.hpp"

#include "config/plan_names.hpp"
#include "gateway/base/suggest.hpp"
#include "gateway/http/field.hpp"
#include "gateway/policy/content_paths.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace gateway::config {
namespace {

void check_admin(const draft& d, findings& found)
{
    const net::listen_address& admin = d.result.server.admin.address;
    const auto& listeners = d.result.server.listeners;
    const bool taken = std::any_of(listeners.begin(), listeners.end(), [&admin](const auto& l) {
        return l.address == admin;
    });
    if (!admin.has_any_port() && taken) {
        found.problem(d.admin, "a listener has the same address");
    }
}

// Checks that there is a trusted proxy if a listener wants a PROXY header. Without one, nobody
// could connect to it.
void check_proxies_are_known(const draft& d, findings& found)
{
    if (d.policy.client.trusted_proxies.empty()) {
        for (const origin& listener : d.proxied_listeners) {
            found.problem(
                listener,
                "takes connections of client.trusted_proxies only, and there are none: list your "
                "load balancer's addresses there"
            );
        }
    }
}

void check_hops(const draft& d, findings& found)
{
    const int hops = d.policy.client.trusted_hops;
    if (hops > 0) {
        found.warning(
            d.client,
            "the port must not be reachable but through " +
                (hops == 1 ? "that one proxy" : "those " + std::to_string(hops) + " proxies")
        );
    }
}

// Checks that no route edits the header by which clients are known. An upstream must not take one
// client for another.
void check_identity_is_kept(const draft& d, findings& found)
{
    for (std::size_t i = 0; i < d.policy.routes.size(); ++i) {
        const http::field_edits& edits = d.policy.routes[i].shape.request;
        std::vector<std::string> edited;
        for (const auto& [name, value] : edits.set) {
            edited.push_back(name);
        }
        edited.insert(edited.end(), edits.remove.begin(), edits.remove.end());
        for (const std::string& name : edited) {
            if (http::reads_as(name, d.policy.client.header)) {
                found.problem(
                    d.routes[i].key("request_headers"),
                    quote(name) +
                        " is client.header, by which clients are known: it is for the gateway to "
                        "say"
                );
            }
        }
    }
}

// Routes with the same `place_key` differ at most in methods, headers and members of the content.
using place_key = std::tuple<policy::url_scheme, std::string, std::string, bool, bool>;
using match_key = std::tuple<
    place_key,
    std::vector<std::string>,
    std::vector<policy::header_match>,
    std::vector<policy::json_match>>;

place_key place_of(const policy::route_match& match)
{
    return {match.scheme, match.host, policy::compared_path(match), match.exact, match.ignore_case};
}

// Returns a key that is equal for two matches of the same requests.
match_key key_of(const policy::route_match& match)
{
    std::vector<std::string> methods = match.methods;
    std::sort(methods.begin(), methods.end());
    return {place_of(match), methods, match.headers, match.json};
}

// Names an element in a message about another one.
std::string element_name(const origin& other, const origin& here, const findings& found)
{
    const bool elsewhere = other.at.file != here.at.file;
    return other.path + (elsewhere ? " (" + found.where(other.at, here.at) + ')' : "");
}

void check_routes_are_distinct(const draft& d, findings& found)
{
    std::map<match_key, std::size_t> matches;
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < d.policy.routes.size(); ++i) {
        const policy::route& route = d.policy.routes[i];
        const auto [same, is_new] = matches.emplace(key_of(route.match), i);
        if (!is_new) {
            found.problem(
                d.routes[i],
                "matches the same requests as " +
                    element_name(d.routes[same->second], d.routes[i], found)
            );
            continue;
        }
        const auto [taken, name_is_new] = names.emplace(route.name, i);
        if (!name_is_new) {
            found.problem(
                d.routes[i].key("name"),
                "has the same name as " +
                    element_name(d.routes[taken->second], d.routes[i], found) + ": " +
                    quote(route.name)
            );
        }
    }
}

// Bounds the different sets of headers of one path. Each costs a look-up, so that many would make
// requests slow.
void check_sets_of_headers(const draft& d, findings& found)
{
    constexpr std::size_t most = 8;
    std::map<place_key, std::set<std::vector<std::string>>> sets;
    for (std::size_t i = 0; i < d.policy.routes.size(); ++i) {
        const policy::route_match& match = d.policy.routes[i].match;
        std::vector<std::string> names;
        for (const policy::header_match& h : match.headers) {
            names.push_back(h.name);
        }
        auto& of_place = sets[place_of(match)];
        if (!names.empty() && of_place.insert(std::move(names)).second && of_place.size() > most) {
            found.problem(
                d.routes[i].key("match.headers"),
                "routes of one path may name 8 different sets of headers, and this is one more: "
                "use other values of the same headers"
            );
        }
    }
}

// Bounds the paths to members of contents, of which one scan finds all.
void check_content_paths(const draft& d, findings& found)
{
    content::json_paths requests;
    content::json_paths responses;
    const auto check_in = [&found](content::json_paths& all, const origin& at) {
        return [&](const std::string& path, std::size_t) {
            if (content::json_paths::parse(path) && !all.add(path)) {
                found.problem(at, "one path more than the 64 that a configuration may name");
            }
        };
    };
    for (std::size_t i = 0; i < d.policy.limits.size(); ++i) {
        const policy::limit_rule& limit = d.policy.limits[i];
        policy::each_request_path(limit, d.policy.plans, check_in(requests, d.limits[i]));
        policy::each_response_path(limit, check_in(responses, d.limits[i]));
    }
    for (std::size_t i = 0; i < d.policy.routes.size(); ++i) {
        const policy::route& route = d.policy.routes[i];
        policy::each_matched_path(route.match, check_in(requests, d.routes[i]));
        if (route.rejection && route.rejection->format == http::error_format::jsonrpc) {
            check_in(requests, d.routes[i])("id", 0);  // Its rejections repeat it.
        }
    }
    for (const policy::log_field& f : d.policy.log_fields) {
        policy::each_path_of_part(f.part, check_in(requests, d.routes.front()));
    }
}

void check_one_shared_store_per_route(const draft& d, findings& found)
{
    for (std::size_t i = 0; i < d.policy.routes.size(); ++i) {
        std::size_t shared = policy::local_store;
        const std::string complaint =
            complaint_about_stores(d, d.policy.routes[i].limits, "route", shared);
        if (!complaint.empty()) {
            found.problem(d.routes[i].key("limits"), complaint);
        }
    }
}

// Checks that no limit with leases is in a cluster. A lease is void when somebody gives its bucket
// tokens, and a cluster does not report that.
void check_leases(const draft& d, findings& found)
{
    for (std::size_t i = 0; i < d.policy.limits.size(); ++i) {
        const policy::limit_rule& limit = d.policy.limits[i];
        if (!limit.lease.any() || limit.store == policy::local_store) {
            continue;
        }
        const auto& options = d.result.shared_stores[limit.store].options;
        const auto* const redis = std::get_if<store::redis_options>(&options);
        if (redis != nullptr && !redis->cluster.empty()) {
            found.problem(
                d.limits[i].key("lease"),
                "not with a redis-cluster:// store, which does not tell of tokens that are given "
                "back"
            );
        }
    }
}

// Warns of concurrency limits if a listener has `decide`. Another proxy gets its answer at once,
// and then has the request alone.
void warn_of_permits_under_decide(const draft& d, findings& found)
{
    const auto& listeners = d.result.server.listeners;
    const bool decides = std::any_of(listeners.begin(), listeners.end(), [](const auto& l) {
        return l.decide.has_value();
    });
    if (!decides) {
        return;
    }
    std::set<std::size_t> used;
    for (const policy::route& route : d.policy.routes) {
        used.insert(route.limits.begin(), route.limits.end());
    }
    for (const std::size_t index : used) {
        if (d.policy.limits[index].limit.counts_in_flight()) {
            found.warning(
                d.limits[index],
                "does not limit what listeners with \"decide\" are asked about: a request's place "
                "is free again with the answer"
            );
        }
    }
}

// Warns of another upstream for rejected requests if nobody can have a request forwarded.
void warn_of_upstreams_under_decide(const draft& d, findings& found)
{
    const auto& listeners = d.result.server.listeners;
    const bool forwards = std::any_of(listeners.begin(), listeners.end(), [](const auto& l) {
        return !l.decide.has_value();
    });
    for (std::size_t i = 0; i < d.policy.routes.size() && !forwards; ++i) {
        if (d.policy.routes[i].serves_over_limit()) {
            found.warning(
                d.routes[i].key("rejection.upstream"),
                "has no effect: every listener has \"decide\", and forwards nothing"
            );
        }
    }
}

void warn_where_unused(
    const std::vector<origin>& written,
    const std::vector<bool>& used,
    const char* warning,
    findings& found
)
{
    for (std::size_t i = 0; i < written.size(); ++i) {
        if (!used[i]) {
            found.warning(written[i], warning);
        }
    }
}

void warn_of_the_unused(const draft& d, findings& found)
{
    std::vector<bool> limit_used(d.policy.limits.size());
    std::vector<bool> upstream_used(d.policy.upstreams.size());
    std::vector<bool> store_used(d.stores.size());
    std::vector<bool> plans_used(d.plans.size());
    for (const policy::limit_rule& limit : d.policy.limits) {
        if (limit.store != policy::local_store) {
            store_used[limit.store] = true;
        }
        if (limit.plan.plans != policy::no_plans) {
            plans_used[limit.plan.plans] = true;
        }
    }
    for (const policy::route& route : d.policy.routes) {
        for (const std::size_t index : route.limits) {
            limit_used[index] = true;
        }
        for (const std::size_t index :
             {route.upstream, route.rejection ? route.rejection->upstream : policy::no_upstream}) {
            if (index < upstream_used.size()) {
                upstream_used[index] = true;
            }
        }
    }
    mark_limits_of_services(d, limit_used);
    warn_where_unused(d.limits, limit_used, "no route uses this limit", found);
    warn_where_unused(d.stores, store_used, "no limit uses this store", found);
    warn_where_unused(d.plans, plans_used, "no limit uses these plans", found);
    warn_where_unused(d.upstreams, upstream_used, "no route uses this upstream", found);
}

void warn_of_unnamed_plans(const draft& d, findings& found)
{
    for (std::size_t i = 0; i < d.policy.plans.size(); ++i) {
        for (const std::string& complaint : complaints_of_unnamed_plans(d.policy, i)) {
            found.warning(d.plans[i], complaint);
        }
    }
}

// Warns of the members of one plan that name none of the routes.
void warn_of_unknown_routes(
    const std::vector<std::string>& members,
    const std::vector<std::string_view>& routes,
    const origin& plan,
    findings& found
)
{
    for (const std::string& member : members) {
        if (std::find(routes.begin(), routes.end(), member) == routes.end()) {
            found.warning(
                plan, "no route has the name " + quote(member) + base::suggestion(member, routes)
            );
        }
    }
}

// Warns of members of plans by route that name no route. Those of plan files are only kept as
// hashes.
void warn_of_unknown_routes(const draft& d, findings& found)
{
    const auto routes = names_in<std::string_view>(d.policy.routes);
    for (std::size_t i = 0; i < d.policy.plans.size(); ++i) {
        if (d.policy.plans[i].key.from != policy::key_part::source::route) {
            continue;
        }
        for (const auto& [plan, members] : d.result.written_plans[i].members) {
            warn_of_unknown_routes(members, routes, d.plans[i].key("members." + plan), found);
        }
    }
}

}  // namespace

std::string complaint_about_stores(
    const draft& d,
    const std::vector<std::size_t>& limits,
    std::string_view whose,
    std::size_t& shared
)
{
    for (const std::size_t index : limits) {
        const std::size_t store = d.policy.limits[index].store;
        if (store == policy::local_store || store == shared) {
            continue;
        }
        if (shared != policy::local_store) {
            return "limits of two shared stores, " + quote(d.policy.stores[shared]) + " and " +
                   quote(d.policy.stores[store]) + ": the limits of one " + std::string{whose} +
                   " must share one, to be decided atomically";
        }
        shared = store;
    }
    return {};
}

void check(const draft& d, findings& found)
{
    check_admin(d, found);
    check_proxies_are_known(d, found);
    check_hops(d, found);
    check_identity_is_kept(d, found);
    check_routes_are_distinct(d, found);
    check_sets_of_headers(d, found);
    check_content_paths(d, found);
    check_one_shared_store_per_route(d, found);
    check_leases(d, found);
    check_services(d, found);
    warn_of_permits_under_decide(d, found);
    warn_of_upstreams_under_decide(d, found);
    warn_of_loose_paths(d, found);
    warn_of_the_unused(d, found);
    warn_of_unnamed_plans(d, found);
    warn_of_unknown_routes(d, found);
}

}  // namespace gateway::config
