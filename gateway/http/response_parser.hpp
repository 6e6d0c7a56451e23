// Response heads of upstreams, as strictly as requests: what is ambiguous is refused, and becomes a
// 502.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/request_parser.hpp"

#include <string_view>

namespace gateway::http {

// `answers_head`: the request was a HEAD, so whatever the fields say, there is no body.
// An interim response (1xx) has no body either. `rejected` carries status 502.
parse_result parse_response_head(
    std::string_view bytes, bool answers_head, const response_bounds& bounds, response_head& out
);

}  // namespace gateway::http
