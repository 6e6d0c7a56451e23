// `timeout` says what a client's connection, or the request on it, may not wait for too long.
#pragma once

#include <cstdint>

namespace gateway::client {

enum class timeout : std::uint8_t {
    // Nothing, or something that has a deadline of its own.
    none,
    // The end of the TLS handshake, counted from the connection's beginning.
    handshake,
    // The next request.
    idle,
    // The rest of a head.
    head,
    // The next piece of a body, either way.
    body,
    // The content on which the decision about a request depends. Its pieces do not put this off.
    content,
    // The head of the upstream's response.
    response,
    // Bytes that move in a tunnel.
    tunnel,
    // The client's end, after the gateway's.
    linger,
};

}  // namespace gateway::client
