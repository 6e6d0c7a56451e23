// What the process as a whole is told.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gateway::server {

struct listen_address {
    std::string host;         // numeric; empty with a socket path
    unsigned short port = 0;  // 0: any free one
    std::string socket_path;  // of a Unix socket; empty = TCP
    bool operator==(const listen_address&) const = default;
};

struct admin_options {
    listen_address address{.host = "127.0.0.1", .port = 9901, .socket_path = {}};
    std::size_t max_connections = 256;                  // more are closed at once
    base::duration timeout = std::chrono::seconds{10};  // to a request, and to take its answer
    bool operator==(const admin_options&) const = default;
};

struct options {
    std::vector<listen_address> listeners;
    admin_options admin;
    std::size_t workers = 0;  // 0 = usable cores
    base::duration drain_timeout = std::chrono::seconds{30};
    std::size_t max_connections = 10'000;
    std::size_t max_connections_per_peer = 0;  // 0 = no cap
};

}  // namespace gateway::server
