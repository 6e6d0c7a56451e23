// `describe_process` describes the keys of the process: include, listeners, admin, workers,
// drain_timeout, upgrade_timeout, bounds of connections and of waiting requests.
#include "config/keys/listener_tls_keys.hpp"
#include "config/keys/reading.hpp"
#include "config/keys/token_file.hpp"
#include "config/sections.hpp"
#include "config/text/ranges.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "config/urls/address.hpp"
#include "gateway/policy/path.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration longest_drain = 1h;
constexpr base::duration longest_admin_timeout = 1h;
constexpr std::uint64_t most_workers = 256;
constexpr std::uint64_t most_admin_connections = 10'000;
constexpr std::size_t most_admin_hosts = 64;

void describe_address(
    keys& k, const key& what, stated says, std::optional<net::listen_address>& address
)
{
    k.other(
        what,
        {.says = says,
         .schema = R"({"type":"string","pattern":"^(unix:/.+|[^/]*:[0-9]{1,5})$"})",
         .read =
             [&](section& from) {
                 const std::string* text = from.text("address");
                 if (text == nullptr) {
                     return;
                 }
                 auto parsed = parse_listen_address(*text);
                 if (parsed.value) {
                     address = parsed.value;
                 } else {
                     from.problem("address", parsed.complaint);
                 }
             },
         .print = [&] { return yaml(to_text(address.value())); }}
    );
}

// Reads `decide`, which is `true` or a mapping.
void read_decide(section& listener, std::optional<client::decide_options>& decide)
{
    const node* const value = listener.find("decide");
    if (value == nullptr) {
        return;
    }
    if (value->is != node::kind::mapping) {
        if (listener.flag("decide").value_or(false)) {
            decide = client::decide_options{};
        }
        return;
    }
    section from{{value, listener.path_of("decide")}, listener.found()};
    decide = client::decide_options{};
    if (const auto status = from.number("rejected_status", 0, UINT16_MAX)) {
        if (*status != 403 && *status != 429 && *status != 503) {
            from.problem("rejected_status", "expected 403, 429 or 503");
        }
        decide->rejected_status = static_cast<std::uint16_t>(*status);
    }
    from.refuse_the_rest();
}

std::optional<std::string> print_decide(const std::optional<client::decide_options>& decide)
{
    if (!decide) {
        return std::nullopt;
    }
    return decide->rejected_status == 0
               ? "true"
               : "{ rejected_status: " + std::to_string(decide->rejected_status) + " }";
}

void describe_decide(keys& k, std::optional<client::decide_options>& decide)
{
    k.other(
        {"decide",
         "requests are questions of other proxies, answered with 200 or the refusal and never "
         "forwarded ([decisions for other proxies](decide.md)); `rejected_status` replaces that of "
         "every refusal, which `X-Decision-Status` then says"},
        {.says = {"`false`", "`true`, `{ rejected_status: 403 }` (or 429, 503)"},
         .schema = R"({"if":{"type":"object"},"then":{"additionalProperties":false,
             "properties":{"rejected_status":{"enum":[403,429,503]}}},"else":{"type":"boolean"}})",
         .read = [&](section& from) { read_decide(from, decide); },
         .print = [&] { return print_decide(decide); },
         .optional = true}
    );
}

// Describes the keys of a listener. `address` is nothing while it is not known.
void describe_listener(
    keys& k,
    std::optional<net::listen_address>& address,
    client::listener_options& one,
    const draft& d
)
{
    describe_address(
        k,
        {"address",
         "an IP address and port (`0.0.0.0:8080`, `\"[::]:8080\"`), or `unix:/path` of at most 107 "
         "bytes, to which whoever may enter the folder can connect. Port 0 takes any free port and "
         "logs it"},
        {"none"},
        address
    );
    describe_decide(k, one.decide);
    describe_listener_tls(k, one.tls, d);
    k.flag(
        {"proxy_protocol",
         "every connection begins with a header of the PROXY protocol, version 1 or 2, which tells "
         "the peer's address; only those of `client.trusted_proxies` are accepted "
         "([below](#proxy-protocol))"},
        one.proxy_protocol
    );
}

// Reads one listener and adds it to those before it.
void add_listener(const located& item, draft& d, findings& found)
{
    std::vector<client::listener_options>& listeners = d.result.server.listeners;
    if (item.value->is == node::kind::scalar) {
        found.problem(
            item.value->at,
            item.path,
            "expected a mapping, got a plain value: write \"address: \" before it"
        );
        return;
    }
    std::optional<net::listen_address> address;
    client::listener_options one;
    reading::all(item, found, [&](keys& k) {
        describe_listener(k, address, one, d);
        k.rule([&](section& from) {
            if (address && !address->has_any_port() &&
                std::any_of(listeners.begin(), listeners.end(), [&](const auto& above) {
                    return above.address == *address;
                })) {
                from.problem("address", "a listener above has the same address");
            }
            if (one.proxy_protocol) {
                const node* const written = from.find("proxy_protocol");
                d.proxied_listeners.push_back({written->at, from.path_of("proxy_protocol")});
            }
        });
    });
    if (address) {
        one.address = *address;
        listeners.push_back(std::move(one));
    }
}

void load_listeners(section& root, draft& d)
{
    const auto list = root.list("listeners");
    if (!list || !within(*list, max_listeners, root.found())) {
        return;
    }
    if (list->value->items.empty()) {
        root.problem("listeners", "at least one listener is needed");
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        add_listener(item_of(*list, i), d, root.found());
    }
}

void describe_listeners(keys& root, draft& d)
{
    std::vector<client::listener_options>& listeners = d.result.server.listeners;
    root.each(
        {"listeners", "where to accept connections, and what for"},
        {.says = {"none", "1 to 64"},
         .named = false,
         .read = [&](section& from) { load_listeners(from, d); },
         .size = [&] { return listeners.size(); },
         .describe =
             [&](std::size_t i, keys& k) {
                 std::optional<net::listen_address> address;
                 client::listener_options one;
                 if (i < listeners.size()) {
                     one = listeners[i];
                     address = one.address;
                 }
                 describe_listener(k, address, one, d);
             }}
    );
}

void describe_token(keys& admin, client::admin_token& token, const draft& d)
{
    admin.other(
        {"token_file",
         "a file with the token of those who may look at buckets and change them; without it "
         "nobody may ([the admin API](admin-api.md)). Read again at each reload"},
        {.says = {"none", "one line of 1 to 1024 `A-Z a-z 0-9 - . _ ~ + / =`"},
         .read =
             [&token, &d](section& from) {
                 const std::string* const path = from.text("token_file");
                 if (path == nullptr) {
                     return;
                 }
                 auto [text, complaint] = read_token(beside(d, *path));
                 if (!text) {
                     from.problem("token_file", std::move(complaint));
                     return;
                 }
                 token = {*path, *std::move(text)};
             },
         .print = [&token]() -> std::optional<std::string> {
             return token.file.empty() ? std::nullopt : std::optional{yaml(token.file)};
         },
         .optional = true}
    );
}

void load_admin_hosts(section& from, std::vector<std::string>& hosts)
{
    const auto list = from.list("hosts");
    if (!list || !within(*list, most_admin_hosts, from.found())) {
        return;
    }
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located item = item_of(*list, i);
        const std::string* const name = scalar_text(item, "a host name", from.found());
        if (name != nullptr && is_host_name(*name)) {
            policy::normalise_host(*name, hosts.emplace_back());
        } else if (name != nullptr) {
            from.found().problem(
                item.value->at,
                item.path,
                "expected a host name without a port, got " + quote(*name)
            );
        }
    }
}

void describe_admin_hosts(keys& admin, std::vector<std::string>& hosts)
{
    admin.other(
        {"hosts",
         "names by which it is asked, such as that of a Prometheus target `gateway:9901`. A "
         "request "
         "for another name gets 421, so that no web page reaches it by a name of its own; "
         "addresses "
         "and `localhost` are always right"},
        {.says = {"`[]`", "at most 64"},
         .schema = R"({"type":"array","items":{"type":"string"},"maxItems":64})",
         .read = [&hosts](section& from) { load_admin_hosts(from, hosts); },
         .print =
             [&hosts] { return yaml_list(hosts, [](const std::string& name) { return name; }); }}
    );
}

void describe_admin(keys& admin, draft& d)
{
    client::admin_options& options = d.result.server.admin;
    std::optional<net::listen_address> address = options.address;
    describe_address(
        admin,
        {"address", "as that of a listener. Keep it off public addresses"},
        {"`127.0.0.1:9901`"},
        address
    );
    options.address = *address;
    describe_admin_hosts(admin, options.hosts);
    admin.number(
        {"max_connections",
         "for one more, the one that has kept us waiting longest is closed. At most a quarter "
         "of the descriptors that are kept from clients"},
        options.max_connections,
        1,
        most_admin_connections
    );
    admin.time(
        {"timeout", "to a request, and to take its answer"},
        options.timeout,
        shortest_timeout,
        longest_admin_timeout
    );
    describe_token(admin, d.result.server.admin_token, d);
    admin.rule([&d](section& from) { d.admin = {from.at(), "admin.address"}; });
}

void load_workers(section& root, client::options& options)
{
    constexpr const char* expected = "auto or a number of threads";
    const std::string* text =
        scalar_text({root.find("workers"), "workers"}, expected, root.found());
    if (text == nullptr) {
        return;
    }
    if (*text == "auto") {
        options.workers = 0;
    } else if (text->empty() || text->find_first_not_of("0123456789") != std::string::npos) {
        root.problem("workers", std::string{"expected "} + expected + ", got " + quote(*text));
    } else if (const auto number = root.number("workers", 1, most_workers)) {
        options.workers = static_cast<unsigned>(*number);
    }
}

}  // namespace

void describe_process(keys& root, draft& d)
{
    client::options& options = d.result.server;
    root.other(
        {"include",
         "more files, by their paths or patterns such as `conf.d/*.yaml`, whose sections are added "
         "to those of this file ([below](#several-files))"},
        {.says = {"`[]`", "1000 files"},
         .schema = R"({"type":"array","items":{"type":["string"]}})",
         .read = [](section&) {},  // they were read with the document
         .print = [] { return std::nullopt; }}
    );
    describe_listeners(root, d);
    root.mapping(
        {"admin", "metrics, health and the admin API; the table below"},
        [&d](keys& admin) { describe_admin(admin, d); }
    );
    root.other(
        {"workers", "threads, one event loop each; `auto` is the number of usable cores"},
        {.says = {"`auto`", "1 to 256"},
         .schema = R"({"if":{"type":"string"},"then":{"const":"auto"},
             "else":{"type":"integer","minimum":1,"maximum":256}})",
         .read = [&](section& from) { load_workers(from, options); },
         .print = [&] { return options.workers == 0 ? "auto" : std::to_string(options.workers); }}
    );
    root.time(
        {"drain_timeout", "how long a stop waits for requests in flight"},
        options.drain_timeout,
        0s,
        longest_drain
    );
    root.time(
        {"upgrade_timeout",
         "how long a process that SIGUSR2 has started may take until it serves; past it, this one "
         "goes on ([deployment](deploy.md#upgrades))"},
        options.upgrade_timeout,
        100ms,
        longest_drain
    );
    root.number(
        {"max_connections",
         "client connections of all listeners together, WebSockets among them; more wait in the "
         "kernel's queue. Three quarters of the descriptor limit at most"},
        options.max_connections,
        1,
        most_connections
    );
    root.number(
        {"max_connections_per_peer",
         "of these, how many one peer may have; one more is closed at once. 0 is no cap"},
        options.max_connections_per_peer,
        0,
        most_connections
    );
    root.number(
        {"max_waiting",
         "requests that wait for their tokens (`max_wait` of a limit); one more is rejected"},
        options.max_waiting,
        0,
        most_connections
    );
}

}  // namespace gateway::config
