// `describe_servers` describes upstreams.NAME.servers: where an upstream's requests go.
#include "config/sections.hpp"
#include "config/text/yaml_text.hpp"
#include "config/urls/address.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr std::uint64_t heaviest = 256;
constexpr std::string_view server_schema =
    R"({"type":"string","pattern":"^(echo|unix:/.+|[^/]+:[0-9]{1,5})$"})";

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
        found.problem(value, address.complaint);
        return false;
    }
    const auto is_same = [&address](const auto& s) { return s.address == *address.value; };
    if (std::any_of(before.begin(), before.end(), is_same)) {
        found.problem(value, "the same server is listed above");
        return false;
    }
    out = *address.value;
    return true;
}

void describe_server(
    keys& k, proxy::server_options& server, const server_list& before, bool& is_good
)
{
    const auto read = [&](section& from) {
        is_good = read_address(from.value("address"), before, server.address, from.found());
    };
    k("address", "the server: `host:port`, `unix:/path` or `echo`", required)
        .other(
            {.documented = {"none"},
             .schema = std::string{server_schema},
             .read = read,
             .print = [&] { return yaml(to_text(server.address)); }}
        );
    k("weight", "the server's share of the requests, beside the shares of the others")
        .number(server.weight, {1, heaviest});
    k("max_connections",
      "bounds the connections to the server that all workers use at once; 0 is no bound")
        .number(server.max_connections, {0, most_connections});
}

// Reads a server, which is an address, or a mapping with one.
void add_server(const located& value, server_list& servers, findings& found)
{
    proxy::server_options server;
    bool is_good = false;
    if (value.value->is == node::kind::mapping && !stands_for_text(*value.value)) {
        read_mapping(value, found, [&](keys& k) { describe_server(k, server, servers, is_good); });
    } else {
        is_good = read_address(value, servers, server.address, found);
    }
    if (is_good) {
        servers.push_back(server);
    }
}

// Reads the servers, which are a list, or one server without the brackets.
void load_servers(section& upstream, server_list& servers)
{
    const auto add = [&](const located& one) { add_server(one, servers, upstream.found()); };
    if (upstream.find("servers")->is == node::kind::list) {
        upstream.each_item("servers", max_servers, "at least one server is needed", add);
    } else {
        add(upstream.value("servers"));
    }
}

std::string text_of(const proxy::server_options& server)
{
    std::string address = yaml(to_text(server.address));
    if (server == proxy::server_options{.address = server.address}) {
        return address;
    }
    return "{ address: " + address + ", weight: " + std::to_string(server.weight) +
           ", max_connections: " + std::to_string(server.max_connections) + " }";
}

}  // namespace

void describe_servers(keys& upstream, std::vector<proxy::server_options>& servers)
{
    const auto print = [&] {
        std::string all;
        for (const proxy::server_options& server : servers) {
            all += (all.empty() ? "" : ", ") + text_of(server);
        }
        return '[' + all + ']';
    };
    const auto describe = [&](keys& k) {
        proxy::server_options fresh;
        bool is_good = false;
        describe_server(k, fresh, servers, is_good);
    };
    upstream(
        "servers",
        "the servers: `host:port`, `unix:/path`, or `echo`, which is built in and answers with "
        "what it received, as JSON (a body of at most 1 MiB). Each may also be a mapping of the "
        "three keys that follow",
        required
    )
        .other(
            {.documented = {"none", "1 to 64"},
             .schema = std::string{server_schema},
             .read = [&](section& from) { load_servers(from, servers); },
             .print = print,
             .inner = describe}
        );
}

}  // namespace gateway::config
