// `parse_request_head` parses request heads strictly (RFC 9112 §3, §5, §6): it refuses whatever two
// implementations could read in two ways. It is pure and stateless. After `incomplete` it is called
// again with the same bytes and more.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"

#include <string_view>

namespace gateway::http {

// Refusals of heads that are larger than this server accepts.
inline constexpr rejection long_request_line{
    414, "the request line is longer than this server accepts"};
inline constexpr rejection long_header{431, "the header is longer than this server accepts"};
inline constexpr rejection too_many_fields{431, "more header fields than this server accepts"};

struct parse_result {
    enum class state { incomplete, complete, rejected };
    state is = state::incomplete;

    // The reason of a rejection, with state::rejected only. The connection must then be closed.
    rejection why;
};

inline constexpr parse_result head_complete{parse_result::state::complete, {}};
inline constexpr parse_result head_incomplete{parse_result::state::incomplete, {}};

// Parses the head that `bytes` begin with; one empty line before it is ignored. Refuses as early as
// the bytes so far allow it, and for the same reason however they were split. `out` has one fact of
// a refused head: if the fields so far say that the content is gRPC's.
parse_result parse_request_head(std::string_view bytes, const options& limits, request_head& out);

}  // namespace gateway::http
