// `parse_response_head` parses response heads of upstreams, as strictly as requests. An ambiguous
// head is refused, and becomes a 502.
#pragma once

#include "gateway/http/input/request_parser.hpp"
#include "gateway/http/message.hpp"

#include <string_view>

namespace gateway::http {

// Parses a head. `answers_head` is true if the request was a HEAD: there is then no body, whatever
// the fields say. An interim response (1xx) has no body either. `rejected` carries status 502.
parse_result parse_response_head(
    std::string_view bytes, bool answers_head, const response_bounds& bounds, response_head& out
);

}  // namespace gateway::http
