// `failure` is the reason why a request got no response from its upstream. Each has a status and a
// text for the client.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::proxy {

enum class failure : std::uint8_t {
    // The server's name does not resolve.
    no_address,
    // The connection was refused, or the server is unreachable.
    connect,
    connect_timeout,
    // The TLS handshake failed: the server does not speak TLS as we do.
    tls,
    // The server's certificate is not trusted.
    certificate,
    // The connection ended before its response was complete.
    reset,
    // The response is not valid HTTP, or is ambiguous.
    bad_response,
    // The response's header did not come in time.
    response_timeout,
    // The body of the request or the response stopped moving.
    body_timeout,
    // The queue for a server already held as many requests as it may.
    queue_full,
    // No server could take the request in time.
    queue_timeout,
    // The request asks for a WebSocket, and the upstream speaks HTTP/2.
    websocket,
};

inline constexpr std::array<std::string_view, 12> failure_names{
    "no_address",
    "connect",
    "connect_timeout",
    "tls",
    "certificate",
    "reset",
    "bad_response",
    "response_timeout",
    "body_timeout",
    "queue_full",
    "queue_timeout",
    "websocket",
};

constexpr std::string_view name_of(failure f)
{
    return failure_names[static_cast<std::size_t>(f)];
}

// True if a server had the request when it failed; otherwise the request was never sent.
constexpr bool is_after_sending(failure f)
{
    return f == failure::reset || f == failure::bad_response || f == failure::response_timeout ||
           f == failure::body_timeout;
}

// True if no server could be connected to.
constexpr bool is_before_sending(failure f)
{
    return f == failure::no_address || f == failure::connect || f == failure::connect_timeout ||
           f == failure::tls || f == failure::certificate;
}

// Returns 504 if the upstream's time ran out, 503 if it is too busy, 501 for what it cannot carry,
// and 502 otherwise.
constexpr int status_for(failure f)
{
    switch (f) {
        case failure::connect_timeout:
        case failure::response_timeout:
        case failure::body_timeout:
            return 504;
        case failure::queue_full:
        case failure::queue_timeout:
            return 503;
        case failure::websocket:
            return 501;
        default:
            return 502;
    }
}

// Returns the key of the time-out or bound that has caused the failure, or an empty text. The
// message about the server names connect_timeout already.
constexpr std::string_view bound_for(failure f)
{
    switch (f) {
        case failure::response_timeout:
            return "upstreams.response_timeout";
        case failure::body_timeout:
            return "http.body_timeout";
        case failure::queue_full:
            return "upstreams.max_queue";
        case failure::queue_timeout:
            return "upstreams.queue_timeout";
        default:
            return {};
    }
}

constexpr std::string_view detail_for(failure f)
{
    switch (f) {
        case failure::no_address:
            return "the upstream's name does not resolve";
        case failure::connect:
            return "the upstream cannot be reached";
        case failure::connect_timeout:
            return "the upstream did not accept a connection in time";
        case failure::tls:
            return "the upstream's TLS handshake failed";
        case failure::certificate:
            return "the upstream's certificate is not trusted";
        case failure::reset:
            return "the upstream closed the connection before its response was complete";
        case failure::bad_response:
            return "the upstream's response is not valid HTTP";
        case failure::response_timeout:
            return "the upstream did not respond in time";
        case failure::body_timeout:
            return "the request's or the response's body stopped moving";
        case failure::queue_full:
            return "the upstream is busy, and too many requests wait for it";
        case failure::queue_timeout:
            return "the upstream was too busy to take the request in time";
        case failure::websocket:
            return "the upstream speaks HTTP/2, over which no WebSocket is carried";
    }
    return "";
}

}  // namespace gateway::proxy
