// `upstream_options` configures an upstream: its servers, and how requests are spread over them.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/options.hpp"
#include "gateway/net/options.hpp"
#include "gateway/net/tls/tls_client.hpp"
#include "gateway/proxy/servers/health_options.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gateway::proxy {

// The bound comes from sets of servers, which are 64-bit words.
inline constexpr std::size_t max_servers = 64;

struct server_address {
    // The name or IP address; empty with a socket path or echo.
    std::string host;
    // The port in decimal.
    std::string port;
    // The path of a Unix socket, or empty for TCP.
    std::string socket_path;
    // True if it is the built-in echo server.
    bool echo = false;

    bool operator==(const server_address&) const = default;
};

// Returns the configuration's spelling: host:port, [v6]:port, unix:/path or echo.
inline std::string to_text(const server_address& address)
{
    if (address.echo) {
        return "echo";
    }
    if (!address.socket_path.empty()) {
        return "unix:" + address.socket_path;
    }
    return base::host_and_port(address.host, address.port);
}

struct server_options {
    server_address address;

    // The server's share of the requests in proportion to the others' shares; 1 to 256.
    std::uint32_t weight = 1;
    // Most connections in use at once, by all workers; 0 = no bound.
    std::uint32_t max_connections = 0;

    bool operator==(const server_options&) const = default;
};

enum class balancing : std::uint8_t {
    // Draws two servers by weight, and takes the one with fewer requests for its weight.
    least_requests,
    // Takes the servers in turn, by weight.
    round_robin,
    // Takes the same server for the same client.
    hash,
};

// `ejection_options` is the passive check: a server that fails one request after the other is
// passed over for a while.
struct ejection_options {
    // Failures in a row after which a server is passed over; 0 = never.
    std::uint32_t failures = 5;
    // Time for which a server is passed over at first.
    base::duration time = std::chrono::seconds{10};
    // Longest such time: `time` doubles while the server goes on failing.
    base::duration max_time = std::chrono::minutes{5};

    // Most servers that may be out at once, in percent. One may always be out, the last never.
    std::uint32_t max_share = 50;
    // True if a response with status 500 to 599 is a failure.
    bool on_5xx = false;

    bool operator==(const ejection_options&) const = default;
};

// The PROXY header with which connections begin.
enum class header_version : std::uint8_t { none, v2 };

// The protocol that is spoken with servers.
enum class upstream_protocol : std::uint8_t { http1, http2 };

struct upstream_options {
    std::string name;
    std::vector<server_options> servers;
    balancing balance = balancing::least_requests;
    // Longest time to connect to one server, TLS included. The default is past the kernel's first
    // retransmission, so that one lost SYN fails nothing.
    base::duration connect_timeout = std::chrono::milliseconds{1500};
    // Longest time until the last byte of the response's header.
    base::duration response_timeout = std::chrono::seconds{30};
    upstream_protocol protocol = upstream_protocol::http1;
    // Most requests on an HTTP/2 connection at a time.
    std::uint32_t max_streams = 100;
    // Most kept-alive connections per worker and server.
    std::size_t max_idle = 256;
    // Time for which an idle connection is kept. After that the server may have forgotten it.
    base::duration idle_timeout = std::chrono::seconds{60};

    http::response_bounds response{};

    // Most interim (1xx) responses to one request.
    std::uint32_t max_interim_responses = 100;

    net::resolver_options resolver{};

    // Most connections in use at once, of all servers together; 0 = no bound.
    std::uint32_t max_connections = 0;
    // Most requests that wait for a connection.
    std::uint32_t max_queue = 1000;
    // Longest time that a request may wait for a connection.
    base::duration queue_timeout = std::chrono::seconds{1};

    // Requests that may be sent a second time, in percent; 0 = none.
    std::uint32_t retry_budget = 20;
    // Time after which a server that is back has its full share again.
    base::duration slow_start = std::chrono::seconds{10};

    ejection_options ejection{};

    header_version proxy_protocol = header_version::none;

    // Identities in TLS, of the servers and of the gateway. Nothing: connections are without TLS.
    std::optional<net::tls_client_options> tls{};

    // Active health checks. Nothing: there are none, and every server is taken to be healthy.
    std::optional<health_options> health{};

    bool operator==(const upstream_options&) const = default;
};

}  // namespace gateway::proxy
