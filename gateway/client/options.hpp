// What the process as a whole is told.
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

// Requests of such a listener are questions of other proxies: answered, and never forwarded.
struct decide_options {
    // The status of every refusal; 0: each has its own (429, 400, 503).
    std::uint16_t rejected_status = 0;

    bool operator==(const decide_options&) const = default;
};

struct listener_options {
    net::listen_address address;
    // Nothing: requests are forwarded.
    std::optional<decide_options> decide{};
    // Whether connections come from `trusted_proxies` only, each with a PROXY header first.
    bool proxy_protocol = false;
    // Nothing: connections are plain. May change while the listener is open.
    std::optional<net::tls_server_options> tls{};

    bool operator==(const listener_options&) const = default;
};

struct admin_options {
    net::listen_address address{.host = "127.0.0.1", .port = 9901, .socket_path = {}};
    // Names that requests may give in Host, beside addresses and localhost. In lower case, without
    // a final dot.
    std::vector<std::string> hosts{};
    // Most connections at a time; for one more, the one that kept us waiting longest is closed.
    std::size_t max_connections = 256;
    // Longest wait for a request, and for its answer to be taken.
    base::duration timeout = std::chrono::seconds{10};

    bool operator==(const admin_options&) const = default;
};

// Who may do more with the admin API than read what is no secret.
struct admin_token {
    // Where the token was read; empty: there is none, and nobody may.
    std::string file{};
    // A secret.
    std::string text{};

    bool operator==(const admin_token&) const = default;
};

struct options {
    std::vector<listener_options> listeners;
    admin_options admin;
    client::admin_token admin_token;
    // The number of workers; 0: as many as usable cores.
    std::size_t workers = 0;

    base::duration drain_timeout = std::chrono::seconds{30};
    // How long a process that is to follow this one may take to serve.
    base::duration upgrade_timeout = std::chrono::seconds{30};
    std::size_t max_connections = 10'000;
    // Most connections of one peer; 0: no bound.
    std::size_t max_connections_per_peer = 0;
    // Most requests that wait for their tokens.
    std::size_t max_waiting = 10'000;
};

}  // namespace gateway::client
