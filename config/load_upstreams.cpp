// upstreams: where requests go.
#include "config/address.hpp"
#include "config/draft.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration shortest_timeout = 1ms;
constexpr base::duration longest_connect = 1h;
constexpr base::duration longest_response = 24h;
constexpr base::duration longest_idle = 24h;
constexpr std::uint64_t most_idle = 10'000;
constexpr std::uint64_t largest_response_header = 1024 * 1024;
constexpr std::uint64_t most_headers = 1000;
constexpr std::uint64_t most_interim_responses = 1000;

void add_server(const located& value, std::vector<proxy::server_address>& servers, findings& found)
{
    const std::string* text = scalar_text(value, "host:port, unix:/path or echo", found);
    if (text == nullptr) {
        return;
    }
    const auto address = parse_server_address(*text);
    if (!address.value) {
        found.problem(value.value->at, value.path, address.complaint);
        return;
    }
    if (std::find(servers.begin(), servers.end(), *address.value) != servers.end()) {
        found.problem(value.value->at, value.path, "the same server is listed above");
        return;
    }
    servers.push_back(*address.value);
}

// A list, or one server without the brackets.
void load_servers(section& upstream, std::vector<proxy::server_address>& servers, findings& found)
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
        upstream.refuse_the_rest();
        d.policy.upstreams.push_back(name);
        d.upstreams.push_back({one.value->at, one.path});
        d.result.upstreams.push_back(std::move(options));
    }
}

}  // namespace gateway::config
