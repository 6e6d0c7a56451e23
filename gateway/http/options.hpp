// Bounds on the messages we read. Those of requests are keys under `http:`, those of responses
// under each upstream.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>

namespace gateway::http {

// What a chunked body may hold besides content, requests' and responses' alike.
struct chunk_bounds {
    std::uint32_t max_line_bytes = 4 * 1024;        // one chunk-size line, its extensions included
    std::uint32_t max_extension_bytes = 64 * 1024;  // what follows the sizes, in one body
    std::uint32_t max_trailer_bytes = 8 * 1024;     // the trailer section, its last line included
};

struct options {
    base::duration header_timeout =
        std::chrono::seconds{10};  // first byte of a request to its last header byte
    base::duration idle_timeout = std::chrono::seconds{60};  // between requests
    base::duration body_timeout =
        std::chrono::seconds{30};  // without a body byte moving, either way
    base::duration tunnel_idle_timeout =
        std::chrono::minutes{5};               // of a WebSocket, without a byte moving, either way
    std::size_t max_header_bytes = 16 * 1024;  // request line and header fields together
    std::size_t max_headers = 100;             // header fields
    std::uint64_t max_body_bytes = 0;          // 0 = no limit
    chunk_bounds chunks{};
    std::size_t max_pipelined_bytes = 64 * 1024;  // kept of what comes while a request is under way
    std::size_t max_refused_body_bytes = 64 * 1024;  // read away, to keep the connection
    // When we close a connection that may still be sending: how long and how much we listen on, or
    // the reset would destroy our last answer (RFC 9112 §9.6).
    base::duration linger_timeout = std::chrono::seconds{2};
    std::size_t max_linger_bytes = 256 * 1024;
};

struct response_bounds {
    std::size_t max_header_bytes = 64 * 1024;  // status line and header fields together
    std::size_t max_headers = 256;
    bool operator==(const response_bounds&) const = default;
};

}  // namespace gateway::http
