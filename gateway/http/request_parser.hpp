// Request heads, strictly (RFC 9112 §3, §5, §6): whatever two implementations could read in two
// ways is refused. Pure and stateless: called again with more bytes when it says `incomplete`.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"

#include <string_view>

namespace gateway::http {

struct parse_result {
    enum class state { incomplete, complete, rejected };
    state is = state::incomplete;

    // Why the head was rejected, with state::rejected only; the connection must be closed.
    rejection why;
};

inline constexpr parse_result head_complete{parse_result::state::complete, {}};
inline constexpr parse_result head_incomplete{parse_result::state::incomplete, {}};

// `bytes` begins with the request line; one empty line before it is ignored. Refuses as early as
// the bytes so far allow it, and for the same reason however they were split.
parse_result parse_request_head(std::string_view bytes, const options& limits, request_head& out);

}  // namespace gateway::http
