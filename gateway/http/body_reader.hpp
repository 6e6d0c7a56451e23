// Takes the framing off a body as its bytes stream by, and tells where it ends (RFC 9112 §6, §7.1).
// Knows nothing of who sends it. A sans-I/O machine: no memory but its position, so any split of
// the bytes gives the same content. Chunk extensions and trailers are dropped, and bounded.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gateway::http {

class body_reader {
public:
    explicit body_reader(framing f = {}, const chunk_bounds& bounds = {});

    struct piece {
        // How many bytes of the input are dealt with.
        std::size_t consumed = 0;
        // Content of the body, moved together at the start of the input.
        std::string_view content;
        // Whether the framing is broken: nothing after this can be trusted. Every later read says
        // it again.
        bool malformed = false;
    };

    // Reads until the body ends or the input does. Content of several chunks is moved together
    // inside `input`, so that it is one slice whatever the chunks were.
    piece read(std::span<char> input);

    bool done() const { return state_ == state::done; }

    // The sender closed: true if the body was complete, or is delimited by just that.
    bool ends_at_close() const { return done() || state_ == state::until_close; }

private:
    enum class state : std::uint8_t {
        // The first hex digit of a chunk size.
        size_first,
        // More hex digits of a chunk size.
        size,
        // Extensions: names, alone or with a value (RFC 9112 §7.1.1). Blanks may stand around ';'
        // and '=', but not at the end of the line: behind a blank `before_extension` wants a ';',
        // `after_name` a ';' or '='.
        before_extension,
        before_name,
        name,
        after_name,
        before_value,
        token_value,
        quoted_value,
        quoted_pair,
        after_quoted_value,
        size_lf,
        data,
        data_cr,
        data_lf,
        // The first byte of a trailer line.
        trailer_start,
        trailer_name,
        trailer_value,
        trailer_lf,
        end_lf,
        length,
        until_close,
        done,
        malformed,
    };

    state state_;

    // What is left of the bounds of this body; max_line_bytes stays whole, since each line has all
    // of it.
    chunk_bounds room_;
    // Bytes of the chunk-size line so far.
    std::uint32_t line_bytes_ = 0;
    // Bytes that are still to come of the chunk, or of the length.
    std::uint64_t remaining_ = 0;

    // Takes one byte of chunk syntax; false: malformed.
    bool step(char c);

    bool size_byte(char c);
    bool extension_byte(char c);
    bool extension_is_complete() const;
    bool extension_text(char c);
    bool extension_separator(char c);
    bool trailer_byte(char c);
    bool fits_in_line();
    bool fits_in_extension();
    bool expect(char c, char wanted, state next);
};

}  // namespace gateway::http
