// `options` and `response_bounds` hold the bounds on messages that the gateway reads. Those of
// requests are keys under `http:`, those of responses are keys under each upstream.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>

namespace gateway::http {

// Bounds on the parts of a chunked body that are not content, for requests and responses alike.
struct chunk_bounds {
    // Most bytes of one chunk-size line, its extensions included.
    std::uint32_t max_line_bytes = 4 * 1024;
    // Most bytes of chunk extensions in one body.
    std::uint32_t max_extension_bytes = 64 * 1024;
    // Most bytes of the trailer section, its last line included.
    std::uint32_t max_trailer_bytes = 8 * 1024;
};

struct options {
    // Longest time from the first byte of a request to the last byte of its header.
    base::duration header_timeout = std::chrono::seconds{10};
    // Longest time between two requests of a connection.
    base::duration idle_timeout = std::chrono::seconds{60};
    // Longest time in which no byte of a body moves, either way.
    base::duration body_timeout = std::chrono::seconds{30};
    // Longest time in which no byte of a WebSocket moves, either way.
    base::duration tunnel_idle_timeout = std::chrono::minutes{5};

    // Most bytes of the request line and the header fields together.
    std::size_t max_header_bytes = 16 * 1024;
    // Most header fields.
    std::size_t max_headers = 100;
    // Most bytes of a body; 0 = no limit.
    std::uint64_t max_body_bytes = 0;

    bool allows_body(std::uint64_t bytes) const
    {
        return max_body_bytes == 0 || bytes <= max_body_bytes;
    }

    // Most bytes of a body that are read before its request is decided about, where that depends on
    // the body.
    std::size_t max_inspected_body = 64 * 1024;
    // Refuses a request whose body is longer and lacks in its beginning what limits look for.
    // Otherwise that is absent.
    bool refuses_long_body = false;

    chunk_bounds chunks{};

    // Most bytes that are kept of what the client sends while a request is under way.
    std::size_t max_pipelined_bytes = 64 * 1024;
    // Most bytes of a refused request's body that are read and dropped, to keep the connection.
    std::size_t max_refused_body_bytes = 64 * 1024;

    // Longest time and most bytes that the gateway still reads when it closes a connection that may
    // be sending. Otherwise the reset would destroy its last answer (RFC 9112 §9.6).
    base::duration linger_timeout = std::chrono::seconds{2};
    std::size_t max_linger_bytes = 256 * 1024;
};

struct response_bounds {
    // Most bytes of the status line and the header fields together.
    std::size_t max_header_bytes = 64 * 1024;
    // Most header fields.
    std::size_t max_headers = 256;

    bool operator==(const response_bounds&) const = default;
};

}  // namespace gateway::http
