// What a client's connection, or the request on it, may not wait for too long.
#pragma once

#include <cstdint>

namespace gateway::client {

enum class timeout : std::uint8_t {
    // Whatever is waited for has a deadline of its own.
    none,
    // The end of the handshake of TLS, from the connection's beginning.
    handshake,
    // The next request.
    idle,
    // The rest of a head.
    head,
    // The next piece of a body, either way.
    body,
    // The upstream's first word.
    response,
    // Something to move in a tunnel.
    tunnel,
    // The client's end, after ours.
    linger,
};

}  // namespace gateway::client
