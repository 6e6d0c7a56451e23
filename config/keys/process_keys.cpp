// `describe_process` describes the keys of the process: include, listeners, admin, workers,
// drain_timeout, upgrade_timeout, bounds of connections and of waiting requests.
#include "config/keys/token_file.hpp"
#include "config/sections.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "config/urls/address.hpp"
#include "gateway/policy/paths/path.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_workers = 256;
constexpr std::uint64_t most_admin_connections = 10'000;
constexpr std::size_t most_admin_hosts = 64;

void describe_address(
    const described_key& k, stated documented, std::optional<net::listen_address>& address
)
{
    const auto take = [&](const std::string& text) {
        auto parsed = parse_listen_address(text);
        address = parsed.value ? parsed.value : address;
        return std::move(parsed.complaint);
    };
    k.text(
        {.documented = documented,
         .schema = R"({"type":"string","pattern":"^(unix:/.+|[^/]*:[0-9]{1,5})$"})",
         .take = take,
         .print = [&] { return yaml(to_text(address.value())); }}
    );
}

// Describes `decide`, which is `true` or a mapping.
void describe_decide(const described_key& k, std::optional<client::decide_options>& decide)
{
    const auto read_status = [&](section& from) {
        const auto status = from.number("rejected_status", 0, UINT16_MAX);
        if (status && *status != 403 && *status != 429 && *status != 503) {
            from.problem("rejected_status", "expected 403, 429 or 503");
        }
        decide->rejected_status = static_cast<std::uint16_t>(status.value_or(0));
    };
    const auto describe = [&](keys& inner) {
        decide = decide.value_or(client::decide_options{});
        inner("rejected_status", "status of every refusal")
            .other({.schema = R"({"enum":[403,429,503]})", .read = read_status, .print = [&] {
                        return std::to_string(decide->rejected_status);
                    }});
    };
    const auto read = [&](section& from) {
        decide = from.flag("decide").value_or(false) ? std::optional{client::decide_options{}}
                                                     : std::nullopt;
    };
    const bool is_plain = decide && decide->rejected_status == 0;
    k.line(
        {.documented = {"`false`", "`true`, `{ rejected_status: 403 }` (or 429, 503)"},
         .is_set = decide.has_value(),
         .describe = describe,
         .otherwise =
             {.schema = R"({"type":"boolean"})",
              .read = read,
              .print = [is_plain] { return is_plain ? "true" : ""; }}}
    );
}

std::string take_protocol(const std::string& name, net::spoken_protocols& spoken, bool& named)
{
    if (name != "h2" && name != "http/1.1") {
        return "expected h2 or http/1.1, got " + quote(name);
    }
    if (!std::exchange(named, true)) {
        spoken = {.http2 = false, .http1 = false};
    }
    (name == "h2" ? spoken.http2 : spoken.http1) = true;
    return {};
}

std::string print_protocols(const net::spoken_protocols& spoken)
{
    return spoken.http2 && spoken.http1 ? "[h2, http/1.1]" : spoken.http2 ? "[h2]" : "[http/1.1]";
}

void describe_protocols(const described_key& k, net::spoken_protocols& spoken)
{
    bool named = false;
    k.texts(
        {.documented = {"`[h2, http/1.1]`", "either, or both"},
         .schema =
             R"({"type":"array","items":{"enum":["h2","http/1.1"]},"minItems":1,"maxItems":2})",
         .max = 2,
         .expected = "h2 or http/1.1",
         .take = [&](const std::string& name) { return take_protocol(name, spoken, named); },
         .print = [&] { return print_protocols(spoken); },
         .if_empty = "at least one protocol is needed"}
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
        k("address",
          "an IP address and port (`0.0.0.0:8080`, `\"[::]:8080\"`), or `unix:/path` of at most "
          "107 bytes. Whoever may enter the folder of that path can connect. Port 0 takes any "
          "free port and logs it",
          required),
        {"none"},
        address
    );
    describe_decide(
        k("decide",
          "tells other proxies whether a request may pass, with 200 or the refusal, and forwards "
          "nothing ([decisions for other proxies](decide.md)). `rejected_status` replaces the "
          "status of every refusal, which `X-Decision-Status` then says"),
        one.decide
    );
    describe_protocols(
        k("protocols",
          "clients may speak these. With TLS they choose by ALPN, in their own order; without it, "
          "those of HTTP/2 begin with its preface (prior knowledge)"),
        one.protocols
    );
    k("rate_limit_service",
      "requests are what Envoy asks this service ([a rate-limit service for Envoy](envoy.md)), and "
      "nothing is forwarded")
        .text(
            one.rate_limit_service,
            {"none", "a name in `rate_limit_service`"},
            [](const auto& s) { return std::string{s.empty() ? "expected a name" : ""}; }
        );
    describe_listener_tls(k, one.tls, d);
    k("proxy_protocol",
      "reads a header of the PROXY protocol, version 1 or 2, at the beginning of every "
      "connection, which tells the peer's address. Only connections from "
      "`client.trusted_proxies` are accepted ([below](#proxy-protocol))")
        .flag(one.proxy_protocol);
}

// Notes the service that the listener names, which is looked for when all services are known.
void note_service(section& from, const client::listener_options& one, draft& d)
{
    if (one.rate_limit_service.empty()) {
        return;
    }
    d.served_listeners.emplace_back(from.value("rate_limit_service"), one.rate_limit_service);
    if (one.decide) {
        from.problem("rate_limit_service", "not with \"decide\": write two listeners");
    }
}

// Reads one listener and adds it to those before it.
void add_listener(const located& item, draft& d, findings& found)
{
    std::vector<client::listener_options>& listeners = d.result.server.listeners;
    if (item.value->is == node::kind::scalar) {
        found.problem(item, "expected a mapping, got a plain value: write \"address: \" before it");
        return;
    }
    std::optional<net::listen_address> address;
    client::listener_options one;
    const auto is_same = [&](const auto& above) { return above.address == *address; };
    read_mapping(item, found, [&](keys& k) {
        describe_listener(k, address, one, d);
        k.rule([&](section& from) {
            if (address && !address->has_any_port() &&
                std::any_of(listeners.begin(), listeners.end(), is_same)) {
                from.problem("address", "a listener above has the same address");
            }
            note_service(from, one, d);
            if (one.proxy_protocol) {
                d.proxied_listeners.push_back(from.value("proxy_protocol"));
            }
        });
    });
    if (one.tls) {
        one.tls->protocols = one.protocols;
    }
    if (address) {
        one.address = *address;
        listeners.push_back(std::move(one));
    }
}

void describe_listeners(keys& k, draft& d)
{
    std::vector<client::listener_options>& listeners = d.result.server.listeners;
    const auto read = [&](section& from) {
        constexpr std::string_view if_empty = "at least one listener is needed";
        from.each_item("listeners", max_listeners, if_empty, [&](const located& item) {
            add_listener(item, d, from.found());
        });
    };
    const auto describe = [&](keys& inner, client::listener_options& one) {
        std::optional<net::listen_address> address = one.address;
        describe_listener(inner, address, one, d);
    };
    k("listeners", "says where the gateway accepts connections, and what for", required)
        .each(
            {.documented = {"none", "1 to 64"},
             .named = false,
             .read = read,
             .size = [&] { return listeners.size(); },
             .describe = of_each(listeners, describe)}
        );
}

std::string take_token(const std::string& path, client::admin_token& token, const draft& d)
{
    auto [text, complaint] = read_token(beside(d, path));
    if (text) {
        token = {path, *std::move(text)};
    }
    return complaint;
}

std::string take_host(const std::string& name, std::vector<std::string>& hosts)
{
    if (!is_host_name(name)) {
        return "expected a host name without a port, got " + quote(name);
    }
    policy::normalise_host(name, hosts.emplace_back());
    return {};
}

void describe_admin(keys& k, draft& d)
{
    client::admin_options& options = d.result.server.admin;
    client::admin_token& token = d.result.server.admin_token;
    std::optional<net::listen_address> address = options.address;
    describe_address(
        k("address",
          "an IP address and port, or `unix:/path`, as a listener has. Keep it off public "
          "addresses"),
        {"`127.0.0.1:9901`"},
        address
    );
    options.address = *address;
    k("hosts",
      "names that requests may ask for, such as `gateway` for a Prometheus target "
      "`gateway:9901`. A request for another name gets 421, so that no web page reaches the "
      "admin API by a name of its own. Addresses and `localhost` are always right")
        .texts(
            {.documented = {"`[]`", "at most 64"},
             .schema = R"({"type":"array","items":{"type":"string"},"maxItems":64})",
             .max = most_admin_hosts,
             .expected = "a host name",
             .take = [&](const std::string& name) { return take_host(name, options.hosts); },
             .print = [&] { return yaml_list(options.hosts); }}
        );
    k("max_connections",
      "bounds the connections to the admin API; for one more, the connection that has kept the "
      "gateway waiting longest is closed. There are never more than a quarter of the "
      "descriptors that are kept from clients")
        .number(options.max_connections, {1, most_admin_connections});
    k("timeout", "bounds how long a connection may take to send a request, and to take its answer")
        .time(options.timeout, {.max = 1h});
    k("token_file",
      "a file with the token of those who may look at buckets and change them; without it "
      "nobody may ([the admin API](admin-api.md)). It is read again at each reload")
        .text(
            {.documented = {"none", "one line of 1 to 1024 `A-Z a-z 0-9 - . _ ~ + / =`"},
             .take = [&](const std::string& path) { return take_token(path, token, d); },
             .print = [&] { return yaml_or_nothing(token.file); }}
        );
    k.rule([&d](section& from) { d.admin = {from.at(), "admin.address"}; });
}

void load_workers(section& root, client::options& options)
{
    const std::string expected = "auto or a number of threads";
    const std::string* text = scalar_text(root.value("workers"), expected, root.found());
    if (text == nullptr) {
        return;
    }
    if (*text == "auto") {
        options.workers = 0;
    } else if (text->empty() || text->find_first_not_of("0123456789") != std::string::npos) {
        root.problem("workers", "expected " + expected + ", got " + quote(*text));
    } else if (const auto number = root.number("workers", 1, most_workers)) {
        options.workers = static_cast<unsigned>(*number);
    }
}

void describe_bounds(keys& k, client::options& options)
{
    k("drain_timeout", "bounds how long a stop waits for requests in flight")
        .time(options.drain_timeout, {0s, 1h});
    k("upgrade_timeout",
      "bounds how long a process that SIGUSR2 has started may take until it serves; past it, "
      "the old process goes on ([deployment](deploy.md#upgrades))")
        .time(options.upgrade_timeout, {100ms, 1h});
    k("max_connections",
      "bounds the client connections of all listeners together, WebSockets among them; more "
      "wait in the kernel's queue. There are never more than three quarters of the descriptor "
      "limit")
        .number(options.max_connections, {1, most_connections});
    k("max_connections_per_peer",
      "bounds the client connections of one peer, an address cut to `ipv4_prefix` or "
      "`ipv6_prefix`; one more is closed at once. Trusted proxies and Unix sockets are exempt. 0 "
      "is no bound")
        .number(options.max_connections_per_peer, {0, most_connections});
    k("max_waiting",
      "bounds the requests that wait for their tokens (`max_wait` of a limit); one more is "
      "rejected")
        .number(options.max_waiting, {0, most_connections});
}

}  // namespace

void describe_process(keys& k, draft& d)
{
    client::options& options = d.result.server;
    k("include",
      "adds the sections of more files, named by their paths or by patterns such as "
      "`conf.d/*.yaml` ([below](#several-files))")
        .other(
            {.documented = {"`[]`", "1000 files"},
             .schema = R"({"type":"array","items":{"type":["string"]}})",
             .read = [](section&) {},  // they were read with the document
             .print = [] { return ""; }}
        );
    describe_listeners(k, d);
    k("admin", "serves metrics, health and the admin API; the table below")
        .mapping([&d](keys& admin) { describe_admin(admin, d); });
    k("workers",
      "the number of threads, each with one event loop; `auto` is the number of usable cores")
        .other(
            {.documented = {"`auto`", "1 to 256"},
             .schema = R"({"if":{"type":"string"},"then":{"const":"auto"},
                 "else":{"type":"integer","minimum":1,"maximum":256}})",
             .read = [&](section& from) { load_workers(from, options); },
             .print =
                 [&] { return options.workers == 0 ? "auto" : std::to_string(options.workers); }}
        );
    describe_bounds(k, options);
}

}  // namespace gateway::config
