// What is counted, per worker and per thing named in the configuration. The registry owns these
// blocks and hands out references that stay valid for the life of the process: a reload finds the
// block of the same name again, so counters never step back.
#pragma once

#include "gateway/telemetry/counter.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::telemetry {

// Label `method`: these, or "other".
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

// Label `outcome` of gateway_decisions_total.
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

// Label `reason` of gateway_refused_requests_total: why limits refused a request.
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
    // Status codes 100..599; a row is allocated when its method is first seen. Any other code,
    // which only a broken upstream sends, counts as 599.
    static constexpr int first_code = 100;
    using codes = std::array<counter, 500>;

    void count_request(std::size_t method, int code);

    std::array<std::atomic<codes*>, method_names.size()> requests{};
    histogram duration;

    std::array<counter, refusal_reason_names.size()> refused;
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

    // Handshakes of TLS with its servers.
    counter tls_full;
    counter tls_resumed;
    counter tls_failed;
};

// The name of an upstream, and that of one of its servers.
using server_name = std::pair<std::string, std::string>;

// What is known of a server without regard to workers.
struct server_figures {
    server_name name;

    // Whether it is neither ejected nor unhealthy.
    bool up = true;

    std::uint64_t ejections = 0;
};

// Of one server of an upstream.
struct server_metrics {
    // Requests sent to it.
    counter requests;
    // Failures of requests and of connections, as far as the server is to blame.
    counter failures;
    // Requests that have a place at it, connecting included.
    gauge active;
    // Idle connections.
    gauge idle;
};

struct store_metrics {
    histogram duration;

    // Round trips to the store.
    counter requests;
    // Made from tokens that were taken ahead, without it.
    counter leased_decisions;
    // Charges of refused requests that were not given back.
    counter give_backs_lost;

    std::array<counter, max_failure_reasons> failures;

    // 1, 0, or not_in_use.
    gauge up;

    // The value when a reload took the store out: there is nothing to tell of it.
    static constexpr std::int64_t not_in_use = -1;
};

struct worker_metrics {
    gauge clients_active;
    gauge clients_idle;
    gauge upstreams_active;
    gauge upstreams_idle;

    // Requests held until their tokens are there.
    gauge requests_waiting;
    // Exchanges whose clients have left.
    gauge exchanges_abandoned;

    // Tunnels open now; each is also an active connection of a client and an upstream.
    gauge tunnels;

    counter tunnels_opened;

    // Bytes received from the clients and the upstreams of tunnels.
    counter tunnel_bytes_of_clients;
    counter tunnel_bytes_of_upstreams;

    // Connections closed for max_connections_per_peer.
    counter refused_per_peer;
    // Connections closed at listeners that want a PROXY header: it did not come whole, or the peer
    // is not trusted.
    counter refused_proxy_header;
    counter refused_not_trusted;
    // Handshakes of TLS with clients, by what became of them.
    counter tls_full;
    counter tls_resumed;
    counter tls_failed;
    counter tls_timeout;
    // Connections closed for too many records without data.
    counter tls_floods;
    // Requests in which a peer that is not trusted says who their client is.
    counter untrusted_forwarded;
};

}  // namespace gateway::telemetry
