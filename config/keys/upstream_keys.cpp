// `describe_upstreams` describes the section `upstreams`: where requests go.
#include "config/keys/reading.hpp"
#include "config/keys/tls_client_keys.hpp"
#include "config/sections.hpp"
#include "config/text/ranges.hpp"

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
constexpr std::uint64_t most_failures = 1000;
constexpr std::uint64_t hundred_percent = 100;

constexpr words<proxy::balancing, 3> balance_words{{
    {"least_requests", proxy::balancing::least_requests},
    {"round_robin", proxy::balancing::round_robin},
    {"hash", proxy::balancing::hash},
}};

constexpr words<proxy::header_version, 2> header_words{{
    {"none", proxy::header_version::none},
    {"v2", proxy::header_version::v2},
}};

void describe_connections(keys& upstream, proxy::upstream_options& options)
{
    upstream.time(
        {"connect_timeout",
         "to a connection to one server, the handshake of TLS included; past the kernel's first "
         "retransmission after 1 s, so that one lost packet fails nothing. A request that has "
         "waited so long goes to another server, once; 504 after the second"},
        options.connect_timeout,
        shortest_timeout,
        longest_connect
    );
    upstream.time(
        {"response_timeout", "to the end of the response's header; 504 past it"},
        options.response_timeout,
        shortest_timeout,
        longest_response
    );
    upstream.number(
        {"max_idle", "kept-alive connections per worker and server"}, options.max_idle, 0, most_idle
    );
    upstream.time(
        {"idle_timeout",
         "of each of them. Keep it below the server's own, or a request may meet a connection "
         "just closed"},
        options.idle_timeout,
        shortest_timeout,
        longest_idle
    );
}

void describe_responses(keys& upstream, proxy::upstream_options& options)
{
    upstream.size(
        {"max_response_header_bytes", "status line and header together; 502 past it"},
        options.response.max_header_bytes,
        256,
        largest_response_header
    );
    upstream.number(
        {"max_response_headers", "header fields; 502 past it"},
        options.response.max_headers,
        1,
        most_headers
    );
    upstream.number(
        {"max_interim_responses", "1xx responses before the response; 502 past it"},
        options.max_interim_responses,
        0,
        most_interim_responses
    );
}

void describe_resolver(keys& upstream, net::resolver_options& options)
{
    upstream.mapping(
        {"resolver", "how host names are kept resolved; the keys below"},
        [&](keys& resolver) {
            resolver.time({"refresh", "after an answer"}, options.refresh, 1s, 24h);
            resolver.time({"retry", "when there was none"}, options.retry, 100ms, 1h);
            resolver.number(
                {"max_addresses", "of one name; more are left out"}, options.max_addresses, 1, 256
            );
        }
    );
}

void describe_balancing(keys& upstream, proxy::upstream_options& options)
{
    upstream.word(
        {"balance", "which server a request goes to (below)"}, options.balance, balance_words
    );
    upstream.number(
        {"max_connections", "of an upstream: the same for all its servers together"},
        options.max_connections,
        0,
        most_connections
    );
    upstream.number(
        {"max_queue", "requests that wait for a connection where there is a bound; 503 past it"},
        options.max_queue,
        0,
        most_connections
    );
    upstream.time(
        {"queue_timeout", "for so long; 503 past it"},
        options.queue_timeout,
        shortest_timeout,
        longest_queue_timeout
    );
    upstream.number(
        {"retry_budget",
         "requests sent a second time after a new connection failed, in percent of all; 0 is "
         "never, whatever the connection"},
        options.retry_budget,
        0,
        hundred_percent
    );
    upstream.time(
        {"slow_start", "until a server that is back has its full share again"},
        options.slow_start,
        0s,
        longest_slow_start
    );
}

void describe_ejection(keys& upstream, proxy::ejection_options& options)
{
    upstream.mapping({"ejection", "the five keys that follow"}, [&](keys& ejection) {
        ejection.number(
            {"failures", "in a row, after which a server is passed over; 0 is never"},
            options.failures,
            0,
            most_failures
        );
        ejection.time(
            {"time", "for so long, the first time"},
            options.time,
            shortest_timeout,
            longest_ejection
        );
        ejection.time(
            {"max_time",
             "`time` doubles while the server goes on failing, up to this; not shorter than "
             "`time`"},
            options.max_time,
            shortest_timeout,
            longest_ejection
        );
        ejection.number(
            {"max_share", "percent of the servers that may be out at once; one may always be"},
            options.max_share,
            1,
            hundred_percent
        );
        ejection.flag(
            {"on_5xx", "whether a response with status 500 to 599 is a failure, too"},
            options.on_5xx
        );
        ejection.rule([&](section& from) {
            if (from.has("max_time") && options.max_time < options.time) {
                from.problem("max_time", "shorter than time, " + format_duration(options.time));
            }
            options.max_time = std::max(options.time, options.max_time);
        });
    });
}

void describe_tls(keys& upstream, std::optional<net::tls_client_options>& out, const draft& d)
{
    upstream.mapping(
        {"tls",
         "servers are spoken to over TLS: how they are known, and who we are; the keys below. `{}` "
         "is enough for a server that the system's certificates vouch for. The files are read "
         "again at each reload"},
        [&](keys& tls) {
            constexpr std::string_view name =
                "what the servers' certificates must be for, if not the host in `servers`";
            describe_tls_client(tls, out ? *out : out.emplace(), name, d);
        },
        out.has_value()
    );
}

bool any_server(const proxy::upstream_options& options, bool (*is_it)(const proxy::server_address&))
{
    const auto& all = options.servers;
    return std::any_of(all.begin(), all.end(), [&](const auto& s) { return is_it(s.address); });
}

// Checks that the servers can do what the options ask of them.
void check_servers(section& from, const proxy::upstream_options& options)
{
    const bool echo = any_server(options, [](const auto& a) { return a.echo; });
    if (echo && options.proxy_protocol != proxy::header_version::none) {
        from.problem("proxy_protocol", "the built-in echo server does not read it");
    }
    if (echo && options.tls) {
        from.problem("tls", "the built-in echo server does not speak it");
    }
    const bool nameless = any_server(options, [](const auto& a) { return !a.socket_path.empty(); });
    if (nameless && options.tls && options.tls->verify && options.tls->server_name.empty()) {
        from.problem(
            "tls",
            "a Unix socket has no name that a certificate could be for: add server_name, the name "
            "that its server's certificate has"
        );
    }
}

void describe_upstream(keys& upstream, proxy::upstream_options& options, const draft& d)
{
    describe_servers(upstream, options.servers);
    describe_connections(upstream, options);
    describe_responses(upstream, options);
    describe_resolver(upstream, options.resolver);
    describe_balancing(upstream, options);
    describe_ejection(upstream, options.ejection);
    upstream.word(
        {"proxy_protocol",
         "the header of the PROXY protocol with which each connection begins. It tells whose "
         "connection to the gateway the requests come from, so clients share none "
         "([below](#proxy-headers-for-servers))"},
        options.proxy_protocol,
        header_words
    );
    describe_health(upstream, options.health);
    describe_tls(upstream, options.tls, d);
    upstream.rule([&](section& from) { check_servers(from, options); });
}

void load_upstreams(section& root, draft& d)
{
    const located all{root.find("upstreams"), "upstreams"};
    for (const auto& [name, one] : named_entries(all, max_upstreams, root.found())) {
        proxy::upstream_options options;
        options.name = name;
        reading::all(one, root.found(), [&](keys& k) { describe_upstream(k, options, d); });
        d.policy.upstreams.push_back(name);
        d.upstreams.push_back({one.value->at, one.path});
        d.result.upstreams.push_back(std::move(options));
    }
}

}  // namespace

void describe_upstreams(keys& root, draft& d)
{
    std::vector<proxy::upstream_options>& upstreams = d.result.upstreams;
    root.each(
        {"upstreams", {}},
        {.says = {"`{}`"},
         .read = [&](section& from) { load_upstreams(from, d); },
         .size = [&] { return upstreams.size(); },
         .name = [&](std::size_t i) { return upstreams[i].name; },
         .describe = of_each(
             upstreams,
             [&d](keys& k, proxy::upstream_options& one) { describe_upstream(k, one, d); }
         )}
    );
}

}  // namespace gateway::config
