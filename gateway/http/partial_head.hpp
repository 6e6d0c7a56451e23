// A response head that comes in pieces, and whether the parser would have anything new to say of
// it. However small the pieces, all that is read of them together is linear in their bytes: the
// grammar of lines is followed here byte by byte, and the parser is asked only when a head is
// complete, a byte is out of place, or the status line ends.
#pragma once

#include "gateway/http/options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::http {

class partial_head {
public:
    // Keeps `bytes`. False: parse_response_head() says no more than `incomplete` of all of it.
    // `bounds` are the same for all of a head.
    bool append(std::string_view bytes, const response_bounds& bounds);

    bool empty() const { return bytes_.empty(); }

    std::string_view text() const { return bytes_; }

    // Makes it ready for the next head.
    void clear();
    // The same, and keeps no memory for it.
    void release_memory();

private:
    enum class place : std::uint8_t {
        status_line,
        // The line feed that follows the CR of a line.
        line_feed,
        line_start,
        name,
        value,
        last_line_feed,
        // The parser has to look: it is for it to say what is wrong, or that the head is complete.
        decided,
    };

    place at_ = place::status_line;

    // Whether the status line has ended.
    bool in_fields_ = false;

    std::size_t fields_ = 0;
    std::string bytes_;

    const char* step(const char* p, const char* end);
    place first_of_line(char c);
};

}  // namespace gateway::http
