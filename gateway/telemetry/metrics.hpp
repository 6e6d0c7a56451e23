// Metric blocks, per worker and per thing named in the configuration. The registry owns these
// blocks and returns references that stay valid for the life of the process: a reload finds the
// block of the same name again, so counters never step back.
#pragma once

#include "gateway/telemetry/counter.hpp"
#include "gateway/telemetry/exemplars.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::telemetry {

// Values of the label `method`. Any other method counts as "other".
inline constexpr std::array<std::string_view, 10> method_names{
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "other",
};

std::size_t method_index(std::string_view method);

// Values of the label `outcome` of gateway_decisions_total.
enum class outcome : std::uint8_t {
    allowed,
    rejected,
    shadow_rejected,
    failed_open,
    failed_closed,
    failed_local,
    blocked
};

inline constexpr std::array<std::string_view, 7> outcome_names{
    "allowed",
    "rejected",
    "shadow_rejected",
    "failed_open",
    "failed_closed",
    "failed_local",
    "blocked",
};

// Values of the label `reason` of gateway_refused_requests_total, why limits refused a request.
enum class refusal_reason : std::uint8_t {
    rejected,
    blocked,
    failed_closed,
    missing_key,
    bad_cost
};

inline constexpr std::array<std::string_view, 5> refusal_reason_names{
    "rejected",
    "blocked",
    "failed_closed",
    "missing_key",
    "bad_cost",
};

inline constexpr std::size_t max_failure_reasons = 16;

struct route_metrics {
    // Status codes 100..599. A row is allocated when its method is first seen. Any other code,
    // which only a broken upstream sends, counts as 599.
    static constexpr int first_code = 100;
    using codes = std::array<counter, 500>;

    void count_request(std::size_t method, int code);

    std::array<std::atomic<codes*>, method_names.size()> requests{};
    histogram duration;
    // Traced requests of that histogram; null before the first one.
    std::atomic<exemplars*> traced{nullptr};

    void note_traced(const exemplar& e);

    // Responses to calls of gRPC, by the number of their status; the last one is that of all other
    // numbers. Null before the first one.
    using grpc_statuses = std::array<counter, 18>;
    std::atomic<grpc_statuses*> grpc{nullptr};

    void count_grpc(std::size_t status);

    std::array<counter, refusal_reason_names.size()> refused;
    // Requests over a limit that went to the upstream which the route has for these.
    counter over_limit;
    // Responses of 500 and above that the configuration does not ask for.
    counter server_errors;

    route_metrics() = default;
    ~route_metrics();
    route_metrics(const route_metrics&) = delete;
    route_metrics& operator=(const route_metrics&) = delete;
};

struct limit_metrics {
    std::array<counter, outcome_names.size()> decisions;
    // Corrections that a failing store did not take in time.
    counter corrections_lost;
    // Responses that did not state the cost of their requests.
    counter missing_settlements;
    // Requests that were allowed with more of the limit used than its soft threshold.
    counter soft_exceeded;

    void count(outcome o) { decisions[static_cast<std::size_t>(o)].add(); }
};

struct upstream_metrics {
    // Time from the request sent to the response header read.
    histogram duration;

    std::array<counter, max_failure_reasons> failures;
    counter retries;

    // Retries that the budget refused.
    counter retries_refused;
    // Requests that wait for a server.
    gauge queued;

    // TLS handshakes with its servers.
    counter tls_full;
    counter tls_resumed;
    counter tls_failed;
};

// Names of an upstream and of one of its servers.
using server_name = std::pair<std::string, std::string>;

// `server_figures` is the state of a server that all workers share.
struct server_figures {
    server_name name;

    // True if the server is neither ejected nor unhealthy.
    bool up = true;
    // False while the server fails its health checks.
    bool healthy = true;
    // Time for which it is still ejected; 0: it is not.
    base::duration ejected_for{0};

    std::uint64_t ejections = 0;
    // Requests that have the server: connecting, under way, or a whole tunnel.
    std::uint32_t in_flight = 0;
};

// `server_metrics` counts the traffic with one server of an upstream.
struct server_metrics {
    // Requests sent to the server.
    counter requests;
    // Failures of requests and of connections for which the server is to blame.
    counter failures;
    // Requests in flight at the server, including those that still connect.
    gauge active;
    // Idle connections.
    gauge idle;
};

struct store_metrics {
    histogram duration;

    // Round trips to the store.
    counter requests;
    // Decisions from tokens that were taken ahead, without a call to the store.
    counter leased_decisions;
    // Rejections that the worker remembered, without a call to the store.
    counter remembered_decisions;
    // Charges of refused requests that were not refunded.
    counter give_backs_lost;

    std::array<counter, max_failure_reasons> failures;

    // 1 if the store is up, 0 if not, or not_in_use.
    gauge up;
    // 1 while the breaker is open, so that only probes ask the store.
    gauge breaker_open;

    // Value of `up` after a reload has removed the store. The store is then not reported.
    static constexpr std::int64_t not_in_use = -1;
};

struct worker_metrics {
    gauge clients_active;
    gauge clients_idle;
    gauge upstreams_active;
    gauge upstreams_idle;

    // Requests held until their tokens are there.
    gauge requests_waiting;
    // Requests refused because the contents that are read ahead have no room.
    counter contents_refused;
    // Exchanges whose clients have left.
    gauge exchanges_abandoned;

    // Tunnels open now. Each is also an active connection of a client and of an upstream.
    gauge tunnels;

    counter tunnels_opened;

    // Bytes received from the clients and the upstreams of tunnels.
    counter tunnel_bytes_of_clients;
    counter tunnel_bytes_of_upstreams;

    // Connections closed because of max_connections_per_peer.
    counter refused_per_peer;
    // Connections closed at listeners that require a PROXY header: the header was not complete, or
    // the peer is not trusted.
    counter refused_proxy_header;
    counter refused_not_trusted;
    // TLS handshakes with clients, by result.
    counter tls_full;
    counter tls_resumed;
    counter tls_failed;
    counter tls_timeout;
    // Connections closed after too many TLS records without data.
    counter tls_floods;
    // HTTP/2 connections closed because streams were reset too often, or too many frames did no
    // work.
    counter http2_resets;
    counter http2_idle_frames;
    // HTTP/2 connections closed for a head so large that decoding it costs too much.
    counter http2_large_heads;
    // Requests in which an untrusted peer names a client.
    counter untrusted_forwarded;
};

}  // namespace gateway::telemetry
