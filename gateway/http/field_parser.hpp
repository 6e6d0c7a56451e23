// Reads header field lines, the grammar requests and responses share (RFC 9112 §5), strictly:
// CRLF only, names are tokens with the colon at once behind them, no folded lines, no control
// bytes.
#pragma once

#include "gateway/http/field.hpp"

#include <string_view>

namespace gateway::http {

enum class progress { incomplete, complete, malformed, too_many };

// Reads lines from `position` of `bytes` up to and including the empty line; `position` then stands
// behind it. Stops early, with what is known, at the first byte that can be no part of a head.
progress read_fields(
    std::string_view bytes, std::size_t& position, std::size_t max_fields, field_list& out
);

// Content-Length: digits only, at most 2^63-1.
bool read_content_length(std::string_view value, std::uint64_t& out);

}  // namespace gateway::http
