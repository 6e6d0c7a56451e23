// Options of the process as a whole: listeners, the admin API, workers, and bounds for them.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/net/listen_address.hpp"
#include "gateway/net/tls/tls_server.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gateway::client {

// Options of a listener whose requests ask for decisions about requests of other proxies. They are
// answered, and never forwarded.
struct decide_options {
    // Status of every refusal; 0: each has its own (429, 400, 503).
    std::uint16_t rejected_status = 0;

    bool operator==(const decide_options&) const = default;
};

struct listener_options {
    net::listen_address address;
    // Set for a decide listener; nothing: requests are forwarded.
    std::optional<decide_options> decide{};
    // Name of the rate-limit service that Envoy asks here, in the policy's `services`; empty:
    // requests are no calls of such a service.
    std::string rate_limit_service{};
    // True if connections come from `trusted_proxies` only, each with a PROXY header first.
    bool proxy_protocol = false;
    // Protocols that clients may speak: chosen by ALPN with TLS, else by their first bytes.
    net::spoken_protocols protocols{};
    // TLS of its connections; nothing: they are plain. It may change while the listener is open.
    std::optional<net::tls_server_options> tls{};

    bool operator==(const listener_options&) const = default;
};

struct admin_options {
    net::listen_address address{.host = "127.0.0.1", .port = 9901, .socket_path = {}};
    // Names that requests may give in Host, besides addresses and localhost. They are in lower case
    // and have no final dot.
    std::vector<std::string> hosts{};
    // Most connections at a time. For one more, the one that has kept the gateway waiting longest
    // is closed.
    std::size_t max_connections = 256;
    // Longest wait for a request, and for its response to be taken.
    base::duration timeout = std::chrono::seconds{10};

    bool operator==(const admin_options&) const = default;
};

// The token of callers that may do more with the admin API than read what is no secret.
struct admin_token {
    // File that the token was read from; empty: there is no token, and no caller may do more.
    std::string file{};
    // The token, a secret.
    std::string text{};

    bool operator==(const admin_token&) const = default;
};

struct options {
    std::vector<listener_options> listeners;
    admin_options admin;
    client::admin_token admin_token;
    // Number of workers; 0: as many as usable cores.
    std::size_t workers = 0;

    base::duration drain_timeout = std::chrono::seconds{30};
    // Longest time until a process that is to follow this one serves.
    base::duration upgrade_timeout = std::chrono::seconds{30};
    std::size_t max_connections = 10'000;
    // Most connections of one peer; 0: no bound.
    std::size_t max_connections_per_peer = 0;
    // Most requests that wait for their tokens.
    std::size_t max_waiting = 10'000;
};

}  // namespace gateway::client
