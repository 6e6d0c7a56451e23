// Bounds on the messages we read. All of them are keys under `http:`.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>
#include <cstdint>

namespace gateway::http {

struct options {
    base::duration header_timeout =
        std::chrono::seconds{10};  // first byte of a request to its last header byte
    base::duration idle_timeout = std::chrono::seconds{60};  // between requests
    base::duration body_timeout =
        std::chrono::seconds{30};              // without a body byte moving, either way
    std::size_t max_header_bytes = 16 * 1024;  // request line and header fields together
    std::size_t max_headers = 100;             // header fields
    std::uint64_t max_body_bytes = 0;          // 0 = no limit
};

}  // namespace gateway::http
