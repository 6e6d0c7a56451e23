// upstreams: where requests go.
#include "config/address.hpp"
#include "config/draft.hpp"
#include "config/ranges.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration longest_connect = 1h;
constexpr base::duration longest_response = 24h;
constexpr base::duration longest_idle = 24h;
constexpr std::uint64_t most_idle = 10'000;
constexpr std::uint64_t largest_response_header = mib;
constexpr std::uint64_t most_headers = 1000;
constexpr std::uint64_t most_interim_responses = 1000;
constexpr base::duration longest_queue_timeout = 1h;
constexpr base::duration longest_slow_start = 1h;
constexpr base::duration longest_ejection = 24h;
constexpr std::uint64_t heaviest = 256;
constexpr std::uint64_t most_failures = 1000;
constexpr std::uint64_t hundred_percent = 100;

constexpr words<proxy::balancing, 3> balance_words{{
    {"least_requests", proxy::balancing::least_requests},
    {"round_robin", proxy::balancing::round_robin},
    {"hash", proxy::balancing::hash},
}};

using server_list = std::vector<proxy::server_options>;

bool read_address(
    const located& value, const server_list& before, proxy::server_address& out, findings& found
)
{
    const std::string* text = scalar_text(value, "host:port, unix:/path or echo", found);
    if (text == nullptr) {
        return false;
    }
    const auto address = parse_server_address(*text);
    if (!address.value) {
        found.problem(value.value->at, value.path, address.complaint);
        return false;
    }
    const auto is_same = [&address](const auto& s) { return s.address == *address.value; };
    if (std::any_of(before.begin(), before.end(), is_same)) {
        found.problem(value.value->at, value.path, "the same server is listed above");
        return false;
    }
    out = *address.value;
    return true;
}

// An address, or a mapping with one.
void add_server(const located& value, server_list& servers, findings& found)
{
    proxy::server_options server;
    if (value.value->is != node::kind::mapping) {
        if (read_address(value, servers, server.address, found)) {
            servers.push_back(server);
        }
        return;
    }
    section from{value, found};
    const node* address = from.require("address");
    const bool good =
        address != nullptr &&
        read_address({address, from.path_of("address")}, servers, server.address, found);
    from.read_number("weight", server.weight, 1, heaviest);
    from.read_number("max_connections", server.max_connections, 0, most_connections);
    from.refuse_the_rest();
    if (good) {
        servers.push_back(server);
    }
}

// A list, or one server without the brackets.
void load_servers(section& upstream, server_list& servers, findings& found)
{
    const node* value = upstream.require("servers");
    if (value == nullptr) {
        return;
    }
    const located list{value, upstream.path_of("servers")};
    if (value->is != node::kind::list) {
        add_server(list, servers, found);
        return;
    }
    if (value->items.empty()) {
        upstream.problem("servers", "at least one server is needed");
    }
    if (within(list, max_servers, found)) {
        for (std::size_t i = 0; i < value->items.size(); ++i) {
            add_server(item_of(list, i), servers, found);
        }
    }
}

void load_resolver(section& upstream, net::resolver_options& options, findings& found)
{
    const node* value = upstream.find("resolver");
    if (value == nullptr) {
        return;
    }
    section resolver{{value, upstream.path_of("resolver")}, found};
    resolver.read("refresh", options.refresh, 1s, 24h);
    resolver.read("retry", options.retry, 100ms, 1h);
    resolver.read_number("max_addresses", options.max_addresses, 1, 256);
    resolver.refuse_the_rest();
}

void load_ejection(section& upstream, proxy::ejection_options& ejection, findings& found)
{
    const node* value = upstream.find("ejection");
    if (value == nullptr) {
        return;
    }
    section from{{value, upstream.path_of("ejection")}, found};
    from.read_number("failures", ejection.failures, 0, most_failures);
    from.read("time", ejection.time, shortest_timeout, longest_ejection);
    from.read("max_time", ejection.max_time, shortest_timeout, longest_ejection);
    from.read_number("max_share", ejection.max_share, 1, hundred_percent);
    from.read("on_5xx", ejection.on_5xx);
    if (from.has("max_time") && ejection.max_time < ejection.time) {
        from.problem("max_time", "shorter than time, " + format_duration(ejection.time));
    }
    ejection.max_time = std::max(ejection.time, ejection.max_time);
    from.refuse_the_rest();
}

void load_bounds(section& upstream, proxy::upstream_options& options)
{
    upstream.read_number("max_idle", options.max_idle, 0, most_idle);
    upstream.read("idle_timeout", options.idle_timeout, shortest_timeout, longest_idle);
    upstream.read_size(
        "max_response_header_bytes", options.response.max_header_bytes, 256, largest_response_header
    );
    upstream.read_number("max_response_headers", options.response.max_headers, 1, most_headers);
    upstream.read_number(
        "max_interim_responses", options.max_interim_responses, 0, most_interim_responses
    );
}

void load_balancing(section& upstream, proxy::upstream_options& options, findings& found)
{
    upstream.read("balance", options.balance, balance_words);
    upstream.read_number("max_connections", options.max_connections, 0, most_connections);
    upstream.read_number("max_queue", options.max_queue, 0, most_connections);
    upstream.read("queue_timeout", options.queue_timeout, shortest_timeout, longest_queue_timeout);
    upstream.read_number("retry_budget", options.retry_budget, 0, hundred_percent);
    upstream.read("slow_start", options.slow_start, 0s, longest_slow_start);
    load_ejection(upstream, options.ejection, found);
}

}  // namespace

void load_upstreams(section& root, draft& d, findings& found)
{
    const node* value = root.require("upstreams");
    if (value == nullptr) {
        return;
    }
    if (value->is == node::kind::mapping && value->entries.empty()) {
        root.problem("upstreams", "at least one upstream is needed");
    }
    for (const auto& [name, one] : named_entries({value, "upstreams"}, max_upstreams, found)) {
        section upstream{one, found};
        proxy::upstream_options options;
        options.name = name;
        load_servers(upstream, options.servers, found);
        upstream.read(
            "connect_timeout", options.connect_timeout, shortest_timeout, longest_connect
        );
        upstream.read(
            "response_timeout", options.response_timeout, shortest_timeout, longest_response
        );
        load_bounds(upstream, options);
        load_resolver(upstream, options.resolver, found);
        load_balancing(upstream, options, found);
        load_health(upstream, options.health, found);
        upstream.refuse_the_rest();
        d.policy.upstreams.push_back(name);
        d.upstreams.push_back({one.value->at, one.path});
        d.result.upstreams.push_back(std::move(options));
    }
}

}  // namespace gateway::config
