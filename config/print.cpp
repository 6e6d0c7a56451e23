#include "config/print.hpp"

#include "config/address.hpp"
#include "config/route_name.hpp"
#include "config/store_url.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

// Plain where YAML cannot misread it, else double-quoted. The settings hold no control characters.
std::string yaml(std::string_view text)
{
    const auto is_safe = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view{"_./-"}.find(c) != std::string_view::npos;
    };
    const bool null = text.empty() || text == "null" || text == "Null" || text == "NULL";
    if (!null && text.front() != '-' && std::all_of(text.begin(), text.end(), is_safe)) {
        return std::string{text};
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return quoted + '"';
}

std::string yaml(bool value)
{
    return value ? "true" : "false";
}

template <class Items, class Text>
std::string yaml_list(const Items& items, Text text_of)
{
    std::string list;
    for (const auto& item : items) {
        list += (list.empty() ? "" : ", ") + yaml(text_of(item));
    }
    return '[' + list + ']';
}

// Lines of a mapping at one depth.
class block {
public:
    block(std::string& out, int depth)
        : out_(out), indent_(static_cast<std::size_t>(2 * depth), ' ')
    {}

    void title(std::string_view key) { out_ += indent_ + yaml(key) + ":\n"; }

    void line(std::string_view key, const std::string& value)
    {
        out_ += indent_ + std::string{key} + ": " + value + '\n';
    }

    void line(std::string_view key, std::uint64_t value) { line(key, std::to_string(value)); }

    void line(std::string_view key, base::duration value) { line(key, format_duration(value)); }

private:
    std::string& out_;
    std::string indent_;
};

const char* word(policy::missing_key value)
{
    switch (value) {
        case policy::missing_key::reject:
            return "reject";
        case policy::missing_key::skip:
            return "skip";
        case policy::missing_key::client_ip:
            return "client_ip";
    }
    return "";
}

const char* word(policy::failure_policy value)
{
    switch (value) {
        case policy::failure_policy::open:
            return "open";
        case policy::failure_policy::closed:
            return "closed";
        case policy::failure_policy::local:
            return "local";
    }
    return "";
}

const char* word(telemetry::log_level value)
{
    switch (value) {
        case telemetry::log_level::debug:
            return "debug";
        case telemetry::log_level::info:
            return "info";
        case telemetry::log_level::warning:
            return "warning";
        case telemetry::log_level::error:
            return "error";
    }
    return "";
}

std::string word(const policy::key_part& part)
{
    using source = policy::key_part::source;
    switch (part.from) {
        case source::client_ip:
            return "client_ip";
        case source::header:
            return "header:" + part.name;
        case source::cookie:
            return "cookie:" + part.name;
        case source::query:
            return "query:" + part.name;
        case source::method:
            return "method";
        case source::host:
            return "host";
        case source::path:
            return "path";
        case source::route:
            return "route";
    }
    return {};
}

void print_process(const settings& s, std::string& out)
{
    block top{out, 0};
    top.title("listeners");
    for (const server::listen_address& address : s.server.listeners) {
        out += "  - address: " + yaml(to_text(address)) + '\n';
    }
    top.title("admin");
    block admin{out, 1};
    admin.line("address", yaml(to_text(s.server.admin.address)));
    admin.line("max_connections", s.server.admin.max_connections);
    admin.line("timeout", s.server.admin.timeout);
    top.line("workers", s.server.workers == 0 ? "auto" : std::to_string(s.server.workers));
    top.line("drain_timeout", s.server.drain_timeout);
    top.line("max_connections", s.server.max_connections);
    top.line("max_connections_per_peer", s.server.max_connections_per_peer);
}

void print_http(const http::options& options, std::string& out)
{
    block{out, 0}.title("http");
    block http{out, 1};
    http.line("header_timeout", options.header_timeout);
    http.line("idle_timeout", options.idle_timeout);
    http.line("body_timeout", options.body_timeout);
    http.line("tunnel_idle_timeout", options.tunnel_idle_timeout);
    http.line("max_header_bytes", format_size(options.max_header_bytes));
    http.line("max_headers", options.max_headers);
    http.line("max_body_bytes", format_size(options.max_body_bytes));
    http.line("max_chunk_line_bytes", format_size(options.chunks.max_line_bytes));
    http.line("max_chunk_extension_bytes", format_size(options.chunks.max_extension_bytes));
    http.line("max_trailer_bytes", format_size(options.chunks.max_trailer_bytes));
    http.line("max_pipelined_bytes", format_size(options.max_pipelined_bytes));
    http.line("max_refused_body_bytes", format_size(options.max_refused_body_bytes));
    http.line("linger_timeout", options.linger_timeout);
    http.line("max_linger_bytes", format_size(options.max_linger_bytes));
}

void print_client(const identity::client_options& options, std::string& out)
{
    block{out, 0}.title("client");
    block client{out, 1};
    client.line("trusted_proxies", yaml_list(options.trusted_proxies.prefixes(), [](const auto& p) {
                    return p.to_string();
                }));
    client.line("trusted_hops", std::to_string(options.trusted_hops));
    client.line("header", yaml(options.header));
    client.line("ipv4_prefix", std::to_string(options.ipv4_prefix));
    client.line("ipv6_prefix", std::to_string(options.ipv6_prefix));
}

void print_stores(const settings& s, std::string& out)
{
    block{out, 0}.title("stores");
    block stores{out, 1};
    block store{out, 2};
    const bool share = s.local_store.on_full == store::memory_options::when_full::share;
    stores.title("local");
    store.line("max_buckets", s.local_store.max_buckets);
    store.line("on_full", share ? "share" : "reject");
    for (const shared_store& shared : s.shared_stores) {
        stores.title(shared.name);
        store.line("url", yaml(url_without_secret(shared.options)));
        const store::conversation_options& common = store::common(shared.options);
        store.line("timeout", common.timeout);
        store.line("key_prefix", yaml(common.key_prefix));
        store.line("max_pending", common.max_pending);
        store.line("remember_rejections", yaml(common.remember_rejections));
        store.title("breaker");
        block breaker{out, 3};
        breaker.line("failures", common.breaker.failures);
        breaker.line("decisions", common.breaker.decisions);
        breaker.line("window", common.breaker.window);
        breaker.line("pause", common.breaker.pause);
    }
}

void print_limits(const settings& s, std::string& out)
{
    if (s.policy->limits.empty()) {
        block{out, 0}.line("limits", "{}");
        return;
    }
    block{out, 0}.title("limits");
    block limit{out, 2};
    for (std::size_t i = 0; i < s.policy->limits.size(); ++i) {
        const policy::limit_rule& rule = s.policy->limits[i];
        block{out, 1}.title(rule.name);
        limit.line("key", yaml_list(rule.key, [](const policy::key_part& p) { return word(p); }));
        limit.line("missing_key", word(rule.when_missing));
        limit.line("rate", format_rate(s.rates[i]));
        limit.line("burst", std::to_string(rule.limit.burst()));
        limit.line("cost", std::to_string(rule.cost));
        const bool local = rule.store == policy::local_store;
        limit.line("store", yaml(local ? "local" : s.policy->stores[rule.store]));
        limit.line("on_store_failure", word(rule.on_store_failure));
        limit.line("mode", rule.mode == policy::mode::shadow ? "shadow" : "enforce");
    }
}

std::string match_text(const policy::route_match& match)
{
    std::string text;
    const auto add = [&](std::string_view key, const std::string& value) {
        text += (text.empty() ? "" : ", ") + std::string{key} + ": " + value;
    };
    if (!match.host.empty()) {
        add("host", yaml(match.host));
    }
    if (!match.path.empty()) {
        add(match.exact ? "path_exact" : "path", yaml(encoded_path(match.path)));
    }
    if (!match.methods.empty()) {
        add("methods", yaml_list(match.methods, [](const std::string& m) { return m; }));
    }
    return '{' + text + '}';
}

void print_routes(const policy::policy& p, std::string& out)
{
    block{out, 0}.title("routes");
    for (const policy::route& route : p.routes) {
        out += "  - name: " + yaml(route.name) + '\n';
        block lines{out, 2};
        lines.line("match", match_text(route.match));
        lines.line("limits", yaml_list(route.limits, [&](std::size_t i) {
                       return p.limits[i].name;
                   }));
        lines.line("upstream", yaml(p.upstreams[route.upstream]));
    }
}

const char* word(proxy::balancing value)
{
    switch (value) {
        case proxy::balancing::least_requests:
            return "least_requests";
        case proxy::balancing::round_robin:
            return "round_robin";
        case proxy::balancing::hash:
            return "hash";
    }
    return "";
}

std::string yaml(const proxy::server_options& server)
{
    std::string address = yaml(to_text(server.address));
    if (server == proxy::server_options{.address = server.address}) {
        return address;
    }
    return "{ address: " + address + ", weight: " + std::to_string(server.weight) +
           ", max_connections: " + std::to_string(server.max_connections) + " }";
}

void print_ejection(const proxy::ejection_options& options, std::string& out)
{
    block{out, 2}.title("ejection");
    block ejection{out, 3};
    ejection.line("failures", options.failures);
    ejection.line("time", options.time);
    ejection.line("max_time", options.max_time);
    ejection.line("max_share", options.max_share);
    ejection.line("on_5xx", yaml(options.on_5xx));
}

void print_health(const proxy::health_options& options, std::string& out)
{
    block{out, 2}.title("health");
    block health{out, 3};
    health.line("path", yaml(options.path));
    health.line("interval", options.interval);
    health.line("timeout", options.timeout);
    health.line("unhealthy", std::to_string(options.unhealthy));
    health.line("healthy", std::to_string(options.healthy));
    health.line(
        "expected",
        std::to_string(options.expected_first) + '-' + std::to_string(options.expected_last)
    );
}

void print_upstreams(const settings& s, std::string& out)
{
    block{out, 0}.title("upstreams");
    block upstream{out, 2};
    for (const proxy::upstream_options& options : s.upstreams) {
        block{out, 1}.title(options.name);
        std::string servers;
        for (const proxy::server_options& server : options.servers) {
            servers += (servers.empty() ? "" : ", ") + yaml(server);
        }
        upstream.line("servers", '[' + servers + ']');
        upstream.line("connect_timeout", options.connect_timeout);
        upstream.line("response_timeout", options.response_timeout);
        upstream.line("max_idle", options.max_idle);
        upstream.line("idle_timeout", options.idle_timeout);
        upstream.line("max_response_header_bytes", format_size(options.response.max_header_bytes));
        upstream.line("max_response_headers", options.response.max_headers);
        upstream.line("max_interim_responses", options.max_interim_responses);
        upstream.title("resolver");
        block resolver{out, 3};
        resolver.line("refresh", options.resolver.refresh);
        resolver.line("retry", options.resolver.retry);
        resolver.line("max_addresses", options.resolver.max_addresses);
        upstream.line("balance", word(options.balance));
        upstream.line("max_connections", options.max_connections);
        upstream.line("max_queue", options.max_queue);
        upstream.line("queue_timeout", options.queue_timeout);
        upstream.line("retry_budget", options.retry_budget);
        upstream.line("slow_start", options.slow_start);
        print_ejection(options.ejection, out);
        if (options.health) {
            print_health(*options.health, out);
        }
    }
}

void print_answers(const settings& s, std::string& out)
{
    using form = policy::header_options::reset_form;
    const policy::header_options& options = s.policy->headers;
    block{out, 0}.title("response_headers");
    block headers{out, 1};
    headers.line("x_ratelimit", yaml(options.x_ratelimit));
    headers.line("reset", options.reset == form::delta ? "delta" : "epoch");
    headers.line("ratelimit", yaml(options.ratelimit));
    block{out, 0}.title("log");
    block log{out, 1};
    log.line("level", word(s.log.level));
    log.line("access", yaml(s.log.access));
    log.line("format", s.log.format == telemetry::log_format::json ? "json" : "text");
    log.line("max_backlog_bytes", format_size(s.log.max_backlog_bytes));
    log.line("flush_timeout", s.log.flush_timeout);
    log.line("max_lines_per_second", s.log.max_lines_per_second);
}

}  // namespace

std::string print(const settings& s)
{
    std::string out;
    print_process(s, out);
    print_http(s.http, out);
    print_client(s.policy->client, out);
    print_stores(s, out);
    print_limits(s, out);
    print_routes(*s.policy, out);
    print_upstreams(s, out);
    print_answers(s, out);
    return out;
}

}  // namespace gateway::config
