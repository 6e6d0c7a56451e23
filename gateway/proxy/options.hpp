// An upstream: where requests go.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/http/options.hpp"
#include "gateway/net/options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gateway::proxy {

struct server_address {
    std::string host;         // name or address; empty with a socket path or echo
    std::string port;         // decimal
    std::string socket_path;  // of a Unix socket; empty = TCP
    bool echo = false;        // the built-in server
    bool operator==(const server_address&) const = default;
};

struct upstream_options {
    std::string name;
    std::vector<server_address> servers;
    base::duration connect_timeout = std::chrono::seconds{1};
    base::duration response_timeout =
        std::chrono::seconds{30};  // to the last byte of the response's header
    std::size_t max_idle = 64;     // kept-alive connections per worker and server
    base::duration idle_timeout = std::chrono::seconds{60};  // of each: the server may forget it
    http::response_bounds response{};
    std::uint32_t max_interim_responses = 100;  // to one request
    net::resolver_options resolver{};
    bool operator==(const upstream_options&) const = default;
};

}  // namespace gateway::proxy
