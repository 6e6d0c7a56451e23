// `body_reader` removes the framing from a body as its bytes arrive, and finds the body's end (RFC
// 9112 §6, §7.1). It does no I/O and does not know the sender. It remembers only its position, so
// any split of the bytes gives the same content and trailers. Chunk extensions are dropped. The
// sizes of extensions and trailers are bounded.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::http {

class body_reader {
public:
    explicit body_reader(framing f = {}, const chunk_bounds& bounds = {});

    struct piece {
        // Number of input bytes that were read.
        std::size_t consumed = 0;
        // Content of the body, moved together into one slice of the input.
        std::string_view content;
        // The trailer section, checked, without the empty line that ends it; only with the end of
        // the body. A slice of the input, or of memory that is valid until release_memory() or a
        // move of the reader.
        std::string_view trailers{};
        // True if the framing is broken. Nothing after this can be trusted, and every later read
        // reports it again.
        bool malformed = false;
    };

    // Reads until the body or the input ends. Moves the content of several chunks together inside
    // `input`, so that it is always one slice.
    piece read(std::span<char> input);

    bool done() const { return state_ == state::done; }

    // True if the body is complete when the sender closes, or is delimited by just that.
    bool ends_at_close() const { return done() || state_ == state::until_close; }

    // Frees the memory of trailers that came in pieces.
    void release_memory() { kept_trailers_.reset(); }

private:
    enum class state : std::uint8_t {
        // Expects the first hex digit of a chunk size.
        size_first,
        // Expects more hex digits of a chunk size, or its end.
        size,
        // Chunk extensions: names, alone or with a value (RFC 9112 §7.1.1). Blanks may stand around
        // ';' and '=', but not at the end of the line. After a blank, `before_extension` expects a
        // ';', and `after_name` a ';' or '='.
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
        // Expects the first byte of a trailer line.
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

    // Bytes that this body's bounds still allow. `max_line_bytes` stays whole, because each line
    // may use all of it.
    chunk_bounds room_;
    // Bytes of the chunk-size line so far.
    std::uint32_t line_bytes_ = 0;
    // Bytes that are still to come of the chunk, or of a body with a length.
    std::uint64_t remaining_ = 0;
    // Lines of a trailer section that comes in pieces, at most `max_trailer_bytes`. Null for most
    // bodies, which have none or all in one piece.
    std::unique_ptr<std::string> kept_trailers_;

    // Takes one byte of chunk syntax. Returns false if it is malformed.
    bool step(char c);

    bool size_byte(char c);
    bool extension_byte(char c);
    bool extension_is_complete() const;
    bool extension_text(char c);
    bool extension_separator(char c);
    bool trailer_byte(char c);
    std::string_view take_trailers(std::string_view bytes);
    bool fits_in_line();
    bool fits_in_extension();
    bool expect(char c, char wanted, state next);
};

}  // namespace gateway::http
