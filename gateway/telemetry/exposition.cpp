#include "gateway/telemetry/exposition.hpp"

#include "gateway/telemetry/block_sums.hpp"

#include <algorithm>
#include <utility>

namespace gateway::telemetry {

namespace {

// Adds a row for every known reason, even at 0: an alert on a rate needs the first step up.
template <typename T>
void add_failures(
    prometheus::MetricFamily& family,
    const prometheus::ClientMetric::Label& owner,
    const row<T>& blocks,
    const reasons& known
)
{
    for (std::size_t r = 0; r < known.size(); ++r) {
        add_row(family, {owner, {"reason", known[r]}}, sum(blocks, [r](const T& m) {
                    return m.failures[r].value();
                }));
    }
}

void add_result(
    prometheus::MetricFamily& family, const std::string& upstream, const char* result, double count
)
{
    add_row(family, {{"upstream", upstream}, {"result", result}}, count);
}

}  // namespace

void add_limit_families(families& all, const table<limit_metrics>& limits)
{
    auto& decisions =
        all.counter("gateway_decisions_total", "What each limit said about a request.");
    auto& lost = all.counter(
        "gateway_corrections_lost_total",
        "Tokens to be given back or charged after a response that a failing store did not take."
    );
    auto& missing = all.counter(
        "gateway_settlements_missing_total",
        "Responses that did not state what their requests have cost, see `settle`."
    );
    auto& soft = all.counter(
        "gateway_soft_limit_exceeded_total",
        "Requests that were allowed with more of the limit used than its soft threshold."
    );
    for (const auto& [name, blocks] : limits) {
        add_row(missing, {{"limit", name}}, sum(blocks, &limit_metrics::missing_settlements));
        add_row(soft, {{"limit", name}}, sum(blocks, &limit_metrics::soft_exceeded));
        add_row(lost, {{"limit", name}}, sum(blocks, &limit_metrics::corrections_lost));
        for (std::size_t o = 0; o < outcome_names.size(); ++o) {
            add_row(
                decisions,
                {{"limit", name}, {"outcome", std::string{outcome_names[o]}}},
                sum(blocks, [o](const limit_metrics& m) { return m.decisions[o].value(); })
            );
        }
    }
}

void add_upstream_families(
    families& all, const table<upstream_metrics>& upstreams, const reasons& known
)
{
    auto& duration = all.histogram(
        "gateway_upstream_duration_seconds",
        "Time from a request sent to an upstream to its response's header."
    );
    auto& failures =
        all.counter("gateway_upstream_failures_total", "Exchanges an upstream failed, by reason.");
    auto& retries = all.counter(
        "gateway_upstream_retries_total",
        "Requests to be sent a second time, and whether the budget permitted it."
    );
    auto& queued = all.gauge("gateway_upstream_queue_length", "Requests that wait for a server.");
    auto& handshakes = all.counter(
        "gateway_upstream_tls_handshakes_total", "TLS handshakes with servers, by result."
    );
    for (const auto& [name, blocks] : upstreams) {
        add_result(handshakes, name, "full", sum(blocks, &upstream_metrics::tls_full));
        add_result(handshakes, name, "resumed", sum(blocks, &upstream_metrics::tls_resumed));
        add_result(handshakes, name, "failed", sum(blocks, &upstream_metrics::tls_failed));
        add_row(duration, {{"upstream", name}}, durations(blocks));
        add_failures(failures, {"upstream", name}, blocks, known);
        add_result(retries, name, "sent", sum(blocks, &upstream_metrics::retries));
        add_result(retries, name, "refused", sum(blocks, &upstream_metrics::retries_refused));
        add_row(queued, {{"upstream", name}}, sum(blocks, &upstream_metrics::queued));
    }
}

void add_server_families(
    families& all,
    const pair_table<server_metrics>& servers,
    const std::vector<server_figures>& present
)
{
    auto& requests = all.counter(
        "gateway_upstream_server_requests_total", "Requests sent to a server of an upstream."
    );
    auto& failures = all.counter(
        "gateway_upstream_server_failures_total",
        "Requests and connections that a server failed, other than by its status."
    );
    auto& connections = all.gauge(
        "gateway_upstream_server_connections",
        "Connections to a server: in use or being made (active), and kept for reuse (idle)."
    );
    auto& up = all.gauge(
        "gateway_upstream_server_up", "0 while a server is ejected or fails its health checks."
    );
    auto& ejections = all.counter(
        "gateway_upstream_server_ejections_total", "How often a server was passed over for failing."
    );
    const auto labels_of = [](const server_name& name) {
        return labels{{"upstream", name.first}, {"server", name.second}};
    };
    const auto with_state = [&](const server_name& name, std::string state) {
        labels all_of_them = labels_of(name);
        all_of_them.push_back({"state", std::move(state)});
        return all_of_them;
    };
    for (const auto& [name, blocks] : servers) {
        add_row(requests, labels_of(name), sum(blocks, &server_metrics::requests));
        add_row(failures, labels_of(name), sum(blocks, &server_metrics::failures));
        add_row(connections, with_state(name, "active"), sum(blocks, &server_metrics::active));
        add_row(connections, with_state(name, "idle"), sum(blocks, &server_metrics::idle));
    }
    for (const server_figures& s : present) {
        add_row(up, labels_of(s.name), s.up ? 1 : 0);
        add_row(ejections, labels_of(s.name), static_cast<double>(s.ejections));
    }
}

void add_store_families(families& all, const table<store_metrics>& stores, const reasons& known)
{
    auto& duration = all.histogram(
        "gateway_store_request_duration_seconds", "Time a store took to answer one question."
    );
    auto& requests = all.counter("gateway_store_requests_total", "Round trips to a store.");
    auto& leased = all.counter(
        "gateway_store_leased_decisions_total",
        "Decisions from tokens that were taken ahead from a store, without asking it."
    );
    auto& remembered = all.counter(
        "gateway_store_remembered_decisions_total",
        "Rejections that workers remembered from a store, without asking it."
    );
    auto& kept = all.counter(
        "gateway_store_give_backs_lost_total",
        "Charges of refused requests that a cluster did not take back."
    );
    auto& failures =
        all.counter("gateway_store_failures_total", "Questions a store did not answer, by reason.");
    auto& health = all.gauge("gateway_store_up", "1 if a store answers every worker, else 0.");
    auto& breaker = all.gauge(
        "gateway_store_breaker_open", "1 while a worker does not ask a store but by probes, else 0."
    );
    for (const auto& [name, blocks] : stores) {
        const prometheus::ClientMetric::Label owner{"store", name};
        add_row(duration, {owner}, durations(blocks));
        add_row(requests, {owner}, sum(blocks, &store_metrics::requests));
        add_row(leased, {owner}, sum(blocks, &store_metrics::leased_decisions));
        add_row(remembered, {owner}, sum(blocks, &store_metrics::remembered_decisions));
        add_row(kept, {owner}, sum(blocks, &store_metrics::give_backs_lost));
        add_failures(failures, owner, blocks, known);
        if (in_use(blocks)) {
            add_row(health, {owner}, is_up(blocks) ? 1 : 0);
            add_row(breaker, {owner}, is_breaker_open(blocks) ? 1 : 0);
        }
    }
}

void add_connection_families(families& all, const row<worker_metrics>& workers)
{
    auto& connections =
        all.gauge("gateway_connections", "Open connections, by side and whether in use.");
    const auto add = [&](std::string side, std::string state, gauge worker_metrics::*which) {
        add_row(
            connections,
            {{"side", std::move(side)}, {"state", std::move(state)}},
            sum(workers, which)
        );
    };
    add("client", "active", &worker_metrics::clients_active);
    add("client", "idle", &worker_metrics::clients_idle);
    add("upstream", "active", &worker_metrics::upstreams_active);
    add("upstream", "idle", &worker_metrics::upstreams_idle);
    auto& refused = all.counter(
        "gateway_connections_refused_total",
        "Client connections closed before any request, by reason."
    );
    add_row(refused, {{"reason", "per_peer"}}, sum(workers, &worker_metrics::refused_per_peer));
    add_row(
        refused, {{"reason", "proxy_header"}}, sum(workers, &worker_metrics::refused_proxy_header)
    );
    add_row(
        refused, {{"reason", "not_trusted"}}, sum(workers, &worker_metrics::refused_not_trusted)
    );
    auto& handshakes =
        all.counter("gateway_tls_handshakes_total", "TLS handshakes with clients, by result.");
    add_row(handshakes, {{"result", "full"}}, sum(workers, &worker_metrics::tls_full));
    add_row(handshakes, {{"result", "resumed"}}, sum(workers, &worker_metrics::tls_resumed));
    add_row(handshakes, {{"result", "failed"}}, sum(workers, &worker_metrics::tls_failed));
    add_row(handshakes, {{"result", "timeout"}}, sum(workers, &worker_metrics::tls_timeout));
    add_row(
        all.counter(
            "gateway_tls_floods_total",
            "Client connections closed for too many TLS records without data."
        ),
        sum(workers, &worker_metrics::tls_floods)
    );
    auto& calmed = all.counter(
        "gateway_http2_connections_closed_total",
        "HTTP/2 connections of clients that cost more than they may, by reason."
    );
    add_row(calmed, {{"reason", "resets"}}, sum(workers, &worker_metrics::http2_resets));
    add_row(calmed, {{"reason", "idle_frames"}}, sum(workers, &worker_metrics::http2_idle_frames));
    add_row(calmed, {{"reason", "large_heads"}}, sum(workers, &worker_metrics::http2_large_heads));
}

void add_request_families(families& all, const row<worker_metrics>& workers)
{
    add_row(
        all.counter(
            "gateway_untrusted_forwarded_total",
            "Requests with X-Forwarded-For, Forwarded or X-Real-IP from a peer that is not trusted."
        ),
        sum(workers, &worker_metrics::untrusted_forwarded)
    );
    add_row(
        all.gauge(
            "gateway_requests_waiting",
            "Requests held until their tokens, or keys for them, are there."
        ),
        sum(workers, &worker_metrics::requests_waiting)
    );
    add_row(
        all.counter(
            "gateway_contents_refused_total",
            "Requests refused because the contents that are read ahead have no room."
        ),
        sum(workers, &worker_metrics::contents_refused)
    );
    add_row(
        all.gauge(
            "gateway_exchanges_abandoned", "Exchanges with upstreams that go on without a client."
        ),
        sum(workers, &worker_metrics::exchanges_abandoned)
    );
}

void add_tunnel_families(families& all, const row<worker_metrics>& workers)
{
    add_row(
        all.gauge("gateway_tunnels", "WebSockets open now."), sum(workers, &worker_metrics::tunnels)
    );
    add_row(
        all.counter("gateway_tunnels_total", "WebSockets granted."),
        sum(workers, &worker_metrics::tunnels_opened)
    );
    auto& bytes = all.counter(
        "gateway_tunnel_bytes_total", "Bytes carried by WebSockets, by the side they came from."
    );
    add_row(bytes, {{"side", "client"}}, sum(workers, &worker_metrics::tunnel_bytes_of_clients));
    add_row(
        bytes, {{"side", "upstream"}}, sum(workers, &worker_metrics::tunnel_bytes_of_upstreams)
    );
}

}  // namespace gateway::telemetry
