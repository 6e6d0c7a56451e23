// An upstream: where requests go, and how they are spread over its servers.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/http/options.hpp"
#include "gateway/net/options.hpp"
#include "gateway/proxy/health_options.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gateway::proxy {

// A set of servers is a word of bits.
inline constexpr std::size_t max_servers = 64;

struct server_address {
    std::string host;         // name or address; empty with a socket path or echo
    std::string port;         // decimal
    std::string socket_path;  // of a Unix socket; empty = TCP
    bool echo = false;        // the built-in server
    bool operator==(const server_address&) const = default;
};

// As it is written in the configuration: host:port, [v6]:port, unix:/path or echo.
inline std::string to_text(const server_address& address)
{
    if (address.echo) {
        return "echo";
    }
    if (!address.socket_path.empty()) {
        return "unix:" + address.socket_path;
    }
    const bool is_v6 = address.host.find(':') != std::string::npos;
    return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + address.port;
}

struct server_options {
    server_address address;
    std::uint32_t weight = 1;           // its share, beside the others'; 1 to 256
    std::uint32_t max_connections = 0;  // in use at once, by all workers; 0 = no bound
    bool operator==(const server_options&) const = default;
};

enum class balancing : std::uint8_t {
    least_requests,  // of two drawn by weight, the one with fewer requests for its weight
    round_robin,     // in turn, by weight
    hash,            // the same client, the same server
};

// Passive: a server that fails one request after the other is passed over for a while.
struct ejection_options {
    std::uint32_t failures = 5;  // in a row; 0 = never
    base::duration time = std::chrono::seconds{10};
    base::duration max_time = std::chrono::minutes{5};  // `time` doubles while it goes on failing
    std::uint32_t max_share = 50;  // percent of the servers; one may always be out, the last never
    bool on_5xx = false;           // whether a response with status 500 to 599 is a failure
    bool operator==(const ejection_options&) const = default;
};

struct upstream_options {
    std::string name;
    std::vector<server_options> servers;
    balancing balance = balancing::least_requests;
    // To one server: past the kernel's first retransmission, so that one lost SYN fails nothing.
    base::duration connect_timeout = std::chrono::milliseconds{1500};
    base::duration response_timeout =
        std::chrono::seconds{30};  // to the last byte of the response's header
    std::size_t max_idle = 64;     // kept-alive connections per worker and server
    base::duration idle_timeout = std::chrono::seconds{60};  // of each: the server may forget it
    http::response_bounds response{};
    std::uint32_t max_interim_responses = 100;  // to one request
    net::resolver_options resolver{};
    std::uint32_t max_connections = 0;  // in use at once, of all servers; 0 = no bound
    std::uint32_t max_queue = 1000;     // requests waiting for one of them
    base::duration queue_timeout = std::chrono::seconds{1};
    std::uint32_t retry_budget = 20;  // requests sent a second time, in percent; 0 = none
    base::duration slow_start = std::chrono::seconds{10};  // to its full share, once back
    ejection_options ejection{};
    std::optional<health_options> health{};  // nothing: no checks, every server is taken to be well

    bool operator==(const upstream_options&) const = default;
};

}  // namespace gateway::proxy
