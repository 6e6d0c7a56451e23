// `options` holds the bounds of HTTP/2 connections, which are the keys under `http2:`. Bounds of
// one message are those of HTTP/1 (http/options), and hold for each stream.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::http2 {

struct options {
    // Most streams of a connection at a time.
    std::uint32_t max_streams = 100;
    // Most bytes of content that a peer may send ahead, on a stream and on a connection.
    std::uint32_t stream_window = 64 * 1024;
    std::uint32_t connection_window = 1024 * 1024;
    // Age at which a connection takes no further stream; 0: there is none.
    base::duration max_connection_age{0};
    // Number of requests after which it takes no further one; 0: there is none.
    std::uint64_t max_requests = 0;

    bool operator==(const options&) const = default;
};

}  // namespace gateway::http2
