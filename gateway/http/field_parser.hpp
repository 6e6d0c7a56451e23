// Reads header field lines, the grammar requests and responses share (RFC 9112 §5), strictly:
// CRLF only, names are tokens with the colon at once behind them, no folded lines, no control
// bytes.
#pragma once

#include "gateway/http/field.hpp"

#include <optional>
#include <string_view>

namespace gateway::http {

enum class progress { incomplete, complete, malformed, too_many };

// Reads lines from `position` of `bytes` up to and including the empty line; `position` then stands
// behind it. Stops early, with what is known, at the first byte that can be no part of a head.
progress read_fields(
    std::string_view bytes, std::size_t& position, std::size_t max_fields, field_list& out
);

// Content-Length: digits only, at most 2^63-1. `respelt` is set if its line is written in another
// way than "Content-Length: 10": with leading zeros, or with more or other blanks.
bool read_content_length(
    const field& f, std::uint64_t& length, std::optional<std::uint64_t>& respelt
);

void append_content_length(std::uint64_t length, std::string& out);

}  // namespace gateway::http
