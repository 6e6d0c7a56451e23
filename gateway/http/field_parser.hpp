// `read_fields` reads header field lines, whose grammar requests and responses share (RFC 9112 §5),
// strictly: lines end with CRLF, a name is a token with the colon right behind it, there are no
// folded lines and no control bytes.
#pragma once

#include "gateway/http/field.hpp"

#include <optional>
#include <string_view>

namespace gateway::http {

enum class progress { incomplete, complete, malformed, too_many };

// Reads lines from `position` of `bytes` up to and including the empty line, and moves `position`
// behind it. Stops early at the first byte that cannot be part of a head. `out` then has the fields
// before it.
progress read_fields(
    std::string_view bytes, std::size_t& position, std::size_t max_fields, field_list& out
);

// Reads a Content-Length: digits only, at most 2^63-1. Returns false if it is none. Sets `respelt`
// if the line is written in another way than "Content-Length: 10": with leading zeros, or with more
// or other blanks.
bool read_content_length(
    const field& f, std::uint64_t& length, std::optional<std::uint64_t>& respelt
);

void append_content_length(std::uint64_t length, std::string& out);

}  // namespace gateway::http
