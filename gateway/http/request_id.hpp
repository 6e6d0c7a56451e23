// The X-Request-Id that a request came with: for the log, so that it can be found in those of
// others.
#pragma once

#include "gateway/http/message.hpp"

#include <cstddef>
#include <string_view>

namespace gateway::http {

inline constexpr std::size_t max_request_id_bytes = 128;

// The first field of that name; empty without one, and if it is longer than that or has a byte
// other than visible ASCII: it is anybody's word, and goes into logs.
std::string_view request_id(const request_head& head);

}  // namespace gateway::http
