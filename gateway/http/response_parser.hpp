// Response heads of upstreams, as strictly as requests: what is ambiguous is refused, and becomes a
// 502.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/request_parser.hpp"

#include <string_view>

namespace gateway::http {

// Bounds on what an upstream may send as one head.
inline constexpr std::size_t max_response_head_bytes = 64 * 1024;
inline constexpr std::size_t max_response_fields = 256;

// `answers_head`: the request was a HEAD, so whatever the fields say, there is no body.
// An interim response (1xx) has no body either. `rejected` carries status 502.
parse_result parse_response_head(std::string_view bytes, bool answers_head, response_head& out);

}  // namespace gateway::http
