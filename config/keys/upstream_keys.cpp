// `describe_upstreams` describes the section `upstreams`: where requests go.
#include "config/sections.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_idle = 10'000;
constexpr std::uint64_t most_shared_streams = 1'000;
constexpr std::uint64_t most_headers = 1000;
constexpr std::uint64_t most_interim_responses = 1000;
constexpr std::uint64_t most_failures = 1000;
constexpr std::uint64_t hundred_percent = 100;

constexpr words<proxy::balancing, 3> balance_words{
    {{"least_requests", proxy::balancing::least_requests},
     {"round_robin", proxy::balancing::round_robin},
     {"hash", proxy::balancing::hash}}};

constexpr words<proxy::header_version, 2> header_words{
    {{"none", proxy::header_version::none}, {"v2", proxy::header_version::v2}}};

constexpr words<proxy::upstream_protocol, 2> protocol_words{
    {{"http/1.1", proxy::upstream_protocol::http1}, {"h2", proxy::upstream_protocol::http2}}};

void describe_connections(keys& k, proxy::upstream_options& options)
{
    k("protocol",
      "the protocol of HTTP that is spoken with the servers. `h2` is HTTP/2: agreed by ALPN where "
      "there is `tls`, and without it from the first byte. Requests then share connections "
      "([HTTP/2 to upstreams](http.md#http2-to-upstreams))")
        .word(options.protocol, protocol_words);
    k("max_streams",
      "bounds the requests on an HTTP/2 connection at a time, if the server allows more")
        .number(options.max_streams, {1, most_shared_streams});
    k("connect_timeout",
      "bounds the time to connect to one server, with the handshake of TLS. The default is "
      "longer than the kernel waits to send again (1 s), so that one lost packet fails nothing. "
      "A request that has waited so long goes to another server, once; 504 after the second")
        .time(options.connect_timeout, {.max = 1h});
    k("response_timeout", "bounds the wait for the end of the response's header; 504 past it")
        .time(options.response_timeout);
    k("max_idle",
      "bounds the idle connections that are kept, per worker and server. A server with a process "
      "for each connection may want fewer")
        .number(options.max_idle, {0, most_idle});
    k("idle_timeout",
      "bounds how long an idle connection is kept. Keep it below the server's own, or a request "
      "may meet a connection just closed")
        .time(options.idle_timeout);
}

void describe_responses(keys& k, proxy::upstream_options& options)
{
    k("max_response_header_bytes",
      "bounds the status line and header of a response together; 502 past it")
        .size(options.response.max_header_bytes, {256, mib});
    k("max_response_headers", "bounds the number of a response's header fields; 502 past it")
        .number(options.response.max_headers, {1, most_headers});
    k("max_interim_responses", "bounds the 1xx responses before the response; 502 past it")
        .number(options.max_interim_responses, {0, most_interim_responses});
}

void describe_resolver(keys& upstream, net::resolver_options& options)
{
    upstream("resolver", "says how host names are kept resolved; the keys below")
        .mapping([&](keys& k) {
            k("refresh", "the time after an answer until a host name is resolved again")
                .time(options.refresh, {1s, 24h});
            k("retry", "the time after a failure until a host name is resolved again")
                .time(options.retry, {100ms, 1h});
            k("max_addresses", "bounds the addresses of one host name; more are left out")
                .number(options.max_addresses, {1, 256});
        });
}

void describe_balancing(keys& k, proxy::upstream_options& options)
{
    k("balance", "says which server a request goes to (below)")
        .word(options.balance, balance_words);
    k("max_connections",
      "bounds the connections to all servers of the upstream that all workers use at once; 0 "
      "is no bound")
        .number(options.max_connections, {0, most_connections});
    k("max_queue",
      "bounds the requests that wait for a connection where `max_connections` bounds those; "
      "503 past it")
        .number(options.max_queue, {0, most_connections});
    k("queue_timeout", "bounds how long a request waits for a connection; 503 past it")
        .time(options.queue_timeout, {.max = 1h});
    k("retry_budget",
      "bounds the requests that are sent a second time after a new connection failed, in "
      "percent of all; 0 is never, whatever the connection")
        .number(options.retry_budget, {0, hundred_percent});
    k("slow_start", "the time until a server that is back has its full share again")
        .time(options.slow_start, {0s, 1h});
}

void describe_ejection(keys& upstream, proxy::ejection_options& options)
{
    upstream("ejection", "passes over a server that fails, by the five keys that follow")
        .mapping([&](keys& k) {
            k("failures",
              "the number of failures in a row after which a server is passed over; 0 is never")
                .number(options.failures, {0, most_failures});
            k("time", "how long a server is passed over the first time").time(options.time);
            k("max_time",
              "bounds how long a server is passed over: `time` doubles while it goes on failing. "
              "It "
              "is not shorter than `time`")
                .time(options.max_time);
            k("max_share",
              "bounds the servers that are passed over at once, in percent; one may always be")
                .number(options.max_share, {1, hundred_percent});
            k("on_5xx", "counts a response with status 500 to 599 as a failure, too")
                .flag(options.on_5xx);
            k.rule([&](section& from) {
                if (from.has("max_time") && options.max_time < options.time) {
                    from.problem("max_time", "shorter than time, " + format_duration(options.time));
                }
                options.max_time = std::max(options.time, options.max_time);
            });
        });
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
    if (echo && options.protocol == proxy::upstream_protocol::http2) {
        from.problem("protocol", "the built-in echo server speaks HTTP/1.1 only");
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

void describe_upstream(keys& k, proxy::upstream_options& options, const draft& d)
{
    describe_servers(k, options.servers);
    describe_connections(k, options);
    describe_responses(k, options);
    describe_resolver(k, options.resolver);
    describe_balancing(k, options);
    describe_ejection(k, options.ejection);
    k("proxy_protocol",
      "the header of the PROXY protocol with which each connection begins. It tells whose "
      "connection to the gateway the requests come from, so clients share none "
      "([below](#proxy-headers-for-servers))")
        .word(options.proxy_protocol, header_words);
    describe_health(k, options.health);
    k("tls",
      "makes the connections to servers TLS, and says how servers are verified and which "
      "certificate the gateway has; the keys below. `{}` is enough for a server that the "
      "system's certificates vouch for. The files are read again at each reload")
        .mapping(options.tls, [&d](keys& tls, net::tls_client_options& its) {
            constexpr std::string_view name =
                "the name that the servers' certificates must be for, instead of the host in "
                "`servers`";
            describe_tls_client(tls, its, name, d);
        });
    k.rule([&](section& from) {
        if (options.tls) {
            options.tls->http2 = options.protocol == proxy::upstream_protocol::http2;
        }
        check_servers(from, options);
    });
}

}  // namespace

void describe_upstreams(keys& root, draft& d)
{
    std::vector<proxy::upstream_options>& upstreams = d.result.upstreams;
    const auto describe = [&d](keys& k, proxy::upstream_options& one) {
        describe_upstream(k, one, d);
    };
    const auto read = [&](section& from) {
        for (const auto& [name, one] : from.named("upstreams", max_upstreams)) {
            proxy::upstream_options& options = upstreams.emplace_back();
            options.name = name;
            read_mapping(one, from.found(), [&](keys& k) { describe(k, options); });
            d.policy.upstreams.push_back(name);
            d.upstreams.push_back(one);
        }
    };
    constexpr key itself{.name = "upstreams", .summary = "where requests go, by name"};
    root(itself).each(
        {.documented = {"`{}`"},
         .read = read,
         .size = [&] { return upstreams.size(); },
         .name = [&](std::size_t i) { return upstreams[i].name; },
         .describe = of_each(upstreams, describe)}
    );
}

}  // namespace gateway::config
