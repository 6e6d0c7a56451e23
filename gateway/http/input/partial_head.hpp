// `partial_head` collects a response head that comes in pieces, and knows when the parser could
// have anything new to report. It follows the grammar of lines byte by byte, and asks for the
// parser only when a head is complete, a byte is out of place, a bound is reached, or the status
// line begins or ends. However small the pieces, the whole work is linear in their bytes.
#pragma once

#include "gateway/http/options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::http {

class partial_head {
public:
    // Appends `bytes`. Returns false if parse_response_head() would only report `incomplete`.
    // Requires: the same `bounds` for all pieces of a head.
    bool append(std::string_view bytes, const response_bounds& bounds);

    bool empty() const { return bytes_.empty(); }

    std::string_view text() const { return bytes_; }

    // Empties it for the next head.
    void clear();
    // Does the same, and frees its memory if it has become large.
    void release_memory();

private:
    enum class position : std::uint8_t {
        status_line,
        // Expects the line feed that follows the CR of a line.
        line_feed,
        line_start,
        name,
        value,
        last_line_feed,
        // The parser has to look, and reports what is wrong, or that the head is complete.
        decided,
    };

    position at_ = position::status_line;

    // True if the status line has ended.
    bool in_fields_ = false;

    std::size_t fields_ = 0;
    std::string bytes_;

    const char* step(const char* p, const char* end);
    position first_of_line(char c);
};

}  // namespace gateway::http
