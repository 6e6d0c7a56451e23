// `read_media_type` reads which kind of text a message carries, as far as the gateway reads such
// texts.
#pragma once

#include "gateway/http/field.hpp"

#include <cstdint>
#include <span>

namespace gateway::http {

enum class media_type : std::uint8_t {
    // No type, one that is not read, or one in a character set other than UTF-8.
    other,
    // `application/json`, and types that end in `+json` (RFC 8259, RFC 6839 §3.1).
    json,
    // JSON texts in lines: `application/x-ndjson`, `application/jsonl` and their like.
    json_lines,
    // `text/event-stream` (HTML Living Standard §9.2).
    event_stream,
};

// Returns the type by Content-Type. Content that is coded, by Content-Encoding, is `other`, and so
// is that of a message with two of either field.
media_type read_media_type(std::span<const field> fields);

inline bool is_json(std::span<const field> fields)
{
    return read_media_type(fields) == media_type::json;
}

// True if Content-Encoding names a coding other than identity.
bool is_coded(std::span<const field> fields);

}  // namespace gateway::http
