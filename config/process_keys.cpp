// listeners, admin, workers, drain_timeout, bounds of connections, http, log, response_headers.
#include "config/address.hpp"
#include "config/draft.hpp"
#include "config/ranges.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration longest_timeout = 24h;
constexpr base::duration longest_drain = 1h;
constexpr base::duration longest_admin_timeout = 1h;
constexpr base::duration longest_flush = 1h;
constexpr std::uint64_t most_workers = 256;
constexpr std::uint64_t most_admin_connections = 10'000;
constexpr std::uint64_t most_log_lines = 100'000;
constexpr std::uint64_t largest_body = gib * mib;

std::optional<server::listen_address> read_address(section& from)
{
    if (from.require("address") == nullptr) {
        return std::nullopt;
    }
    const std::string* text = from.text("address");
    if (text == nullptr) {
        return std::nullopt;
    }
    auto address = parse_listen_address(*text);
    if (!address.value) {
        from.problem("address", address.complaint);
    }
    return address.value;
}

void load_workers(section& root, server::options& options, findings& found)
{
    constexpr const char* expected = "auto or a number of threads";
    const node* value = root.find("workers");
    const std::string* text =
        value == nullptr ? nullptr : scalar_text({value, "workers"}, expected, found);
    if (text == nullptr) {
        return;
    }
    if (*text == "auto") {
        options.workers = 0;
    } else if (text->empty() || text->find_first_not_of("0123456789") != std::string::npos) {
        root.problem("workers", std::string{"expected "} + expected + ", got " + quoted(*text));
    } else {
        root.read_number("workers", options.workers, 1, most_workers);
    }
}

}  // namespace

void load_listeners(section& root, draft& d, findings& found)
{
    if (root.require("listeners") == nullptr) {
        return;
    }
    const auto list = root.list("listeners");
    if (!list || !within(*list, max_listeners, found)) {
        return;
    }
    if (list->value->items.empty()) {
        root.problem("listeners", "at least one listener is needed");
    }
    std::vector<server::listen_address>& listeners = d.result.server.listeners;
    for (std::size_t i = 0; i < list->value->items.size(); ++i) {
        const located item = item_of(*list, i);
        if (item.value->is == node::kind::scalar) {
            found.problem(
                item.value->at,
                item.path,
                "expected a mapping, got a plain value: write \"address: \" before it"
            );
            continue;
        }
        section one{item, found};
        if (const auto address = read_address(one)) {
            const bool any_port = address->socket_path.empty() && address->port == 0;
            if (!any_port &&
                std::find(listeners.begin(), listeners.end(), *address) != listeners.end()) {
                one.problem("address", "a listener above has the same address");
            }
            listeners.push_back(*address);
        }
        one.refuse_the_rest();
    }
}

void load_process(section& root, draft& d, findings& found)
{
    server::options& options = d.result.server;
    if (const node* value = root.find("admin")) {
        section admin{{value, "admin"}, found};
        d.admin = {value->at, "admin.address"};
        if (admin.find("address") != nullptr) {
            options.admin.address = read_address(admin).value_or(options.admin.address);
        }
        admin.read_number(
            "max_connections", options.admin.max_connections, 1, most_admin_connections
        );
        admin.read("timeout", options.admin.timeout, shortest_timeout, longest_admin_timeout);
        admin.refuse_the_rest();
    }
    load_workers(root, options, found);
    root.read("drain_timeout", options.drain_timeout, 0s, longest_drain);
    root.read_number("max_connections", options.max_connections, 1, most_connections);
    root.read_number(
        "max_connections_per_peer", options.max_connections_per_peer, 0, most_connections
    );
}

void load_http(section& root, draft& d, findings& found)
{
    const node* value = root.find("http");
    if (value == nullptr) {
        return;
    }
    http::options& options = d.result.http;
    section http{{value, "http"}, found};
    http.read("header_timeout", options.header_timeout, shortest_timeout, longest_timeout);
    http.read("idle_timeout", options.idle_timeout, shortest_timeout, longest_timeout);
    http.read("body_timeout", options.body_timeout, shortest_timeout, longest_timeout);
    http.read(
        "tunnel_idle_timeout", options.tunnel_idle_timeout, shortest_timeout, longest_timeout
    );
    http.read_size("max_header_bytes", options.max_header_bytes, 256, mib);
    http.read_number("max_headers", options.max_headers, 1, 1000);
    http.read_size("max_body_bytes", options.max_body_bytes, 0, largest_body);
    http.read_size("max_chunk_line_bytes", options.chunks.max_line_bytes, 16, mib);
    http.read_size("max_chunk_extension_bytes", options.chunks.max_extension_bytes, 0, 16 * mib);
    http.read_size("max_trailer_bytes", options.chunks.max_trailer_bytes, 16, mib);
    http.read_size("max_pipelined_bytes", options.max_pipelined_bytes, kib, 16 * mib);
    http.read_size("max_refused_body_bytes", options.max_refused_body_bytes, 0, gib);
    http.read("linger_timeout", options.linger_timeout, shortest_timeout, longest_timeout);
    http.read_size("max_linger_bytes", options.max_linger_bytes, 0, gib);
    http.refuse_the_rest();
}

void load_log(section& root, draft& d, findings& found)
{
    const node* value = root.find("log");
    if (value == nullptr) {
        return;
    }
    using telemetry::log_format;
    using telemetry::log_level;
    constexpr words<log_level, 4> levels{{
        {"debug", log_level::debug},
        {"info", log_level::info},
        {"warning", log_level::warning},
        {"error", log_level::error},
    }};
    constexpr words<log_format, 2> formats{{
        {"json", log_format::json},
        {"text", log_format::text},
    }};
    section log{{value, "log"}, found};
    log.read("level", d.result.log.level, levels);
    log.read("access", d.result.log.access);
    log.read("format", d.result.log.format, formats);
    log.read_size("max_backlog_bytes", d.result.log.max_backlog_bytes, 64 * kib, gib);
    log.read("flush_timeout", d.result.log.flush_timeout, 0s, longest_flush);
    log.read_number("max_lines_per_second", d.result.log.max_lines_per_second, 1, most_log_lines);
    log.refuse_the_rest();
}

void load_response_headers(section& root, draft& d, findings& found)
{
    const node* value = root.find("response_headers");
    if (value == nullptr) {
        return;
    }
    using form = policy::header_options::reset_form;
    constexpr words<form, 2> forms{{{"delta", form::delta}, {"epoch", form::epoch}}};
    section headers{{value, "response_headers"}, found};
    headers.read("x_ratelimit", d.policy.headers.x_ratelimit);
    headers.read("reset", d.policy.headers.reset, forms);
    headers.read("ratelimit", d.policy.headers.ratelimit);
    headers.refuse_the_rest();
}

}  // namespace gateway::config
