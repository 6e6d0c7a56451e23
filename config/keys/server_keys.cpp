// `describe_servers` describes upstreams.NAME.servers: where an upstream's requests go.
#include "config/keys/reading.hpp"
#include "config/sections.hpp"
#include "config/text/ranges.hpp"
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

void describe_server(
    keys& k, proxy::server_options& server, const server_list& before, bool& is_good
)
{
    k.other(
        {"address", "the same three forms"},
        {.says = {"none"},
         .schema = server_schema,
         .read =
             [&](section& from) {
                 const located value{from.find("address"), from.path_of("address")};
                 is_good = read_address(value, before, server.address, from.found());
             },
         .print = [&] { return yaml(to_text(server.address)); }}
    );
    k.number(
        {"weight", "the server's share, beside those of the others"}, server.weight, 1, heaviest
    );
    k.number(
        {"max_connections",
         "of a server: connections in use at once, by all workers; 0 is no bound"},
        server.max_connections,
        0,
        most_connections
    );
}

// Reads a server, which is an address, or a mapping with one.
void add_server(const located& value, server_list& servers, findings& found)
{
    proxy::server_options server;
    bool is_good = false;
    if (value.value->is == node::kind::mapping && !stands_for_text(*value.value)) {
        reading::all(value, found, [&](keys& k) { describe_server(k, server, servers, is_good); });
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
    const located list{upstream.find("servers"), upstream.path_of("servers")};
    if (list.value->is != node::kind::list) {
        add_server(list, servers, upstream.found());
        return;
    }
    const std::size_t count = list.value->items.size();
    if (count == 0) {
        upstream.problem("servers", "at least one server is needed");
    }
    if (within(list, max_servers, upstream.found())) {
        for (std::size_t i = 0; i < count; ++i) {
            add_server(item_of(list, i), servers, upstream.found());
        }
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

std::string text_of(const server_list& servers)
{
    std::string all;
    for (const proxy::server_options& server : servers) {
        all += (all.empty() ? "" : ", ") + text_of(server);
    }
    return '[' + all + ']';
}

}  // namespace

void describe_servers(keys& upstream, std::vector<proxy::server_options>& servers)
{
    upstream.other(
        {"servers",
         "`host:port`, `unix:/path`, or `echo`: built in, answers with what it received, as JSON "
         "(a body of at most 1 MiB). Or a mapping of the three keys that follow"},
        {.says = {"none", "1 to 64"},
         .schema = server_schema,
         .read = [&](section& from) { load_servers(from, servers); },
         .print = [&] { return text_of(servers); },
         .inner =
             [&](keys& k) {
                 proxy::server_options fresh;
                 bool is_good = false;
                 describe_server(k, fresh, servers, is_good);
             }}
    );
}

}  // namespace gateway::config
