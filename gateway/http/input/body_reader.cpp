#include "gateway/http/input/body_reader.hpp"

#include "gateway/base/hex.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>
#include <cstring>

namespace gateway::http {

namespace {

// Takes one byte off a bound. Returns false if nothing was left of it.
bool take_one(std::uint32_t& left)
{
    const bool some = left != 0;
    left -= some ? 1 : 0;
    return some;
}

}  // namespace

body_reader::body_reader(framing f, const chunk_bounds& bounds)
    : state_(state::done), room_(bounds), remaining_(f.length)
{
    switch (f.how) {
        case framing::kind::none:
            break;
        case framing::kind::length:
            state_ = f.length == 0 ? state::done : state::length;
            break;
        case framing::kind::chunked:
            state_ = state::size_first;
            break;
        case framing::kind::until_close:
            state_ = state::until_close;
            break;
    }
}

body_reader::piece body_reader::read(std::span<char> input)
{
    piece out;
    char* content = nullptr;  // The first slice. Later slices are moved up behind it.
    std::size_t gathered = 0;
    std::size_t at = 0;
    const std::uint32_t trailer_room = room_.max_trailer_bytes;
    while (at < input.size() && state_ != state::done) {
        if (state_ != state::data && state_ != state::length && state_ != state::until_close) {
            if (!step(input[at])) {
                state_ = state::malformed;
                break;
            }
            ++at;
            continue;
        }
        const std::size_t left = input.size() - at;
        const std::size_t n =
            state_ == state::until_close
                ? left
                : static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, left));
        if (content == nullptr) {
            content = input.data() + at;
        } else {
            std::memmove(content + gathered, input.data() + at, n);
        }
        gathered += n;
        at += n;
        if (state_ != state::until_close && (remaining_ -= n) == 0) {
            state_ = state_ == state::length ? state::done : state::data_cr;
        }
    }
    out.consumed = at;
    out.malformed = state_ == state::malformed;
    out.content = {content, gathered};
    const std::size_t of_trailers = trailer_room - room_.max_trailer_bytes;
    const bool only_last_line = of_trailers <= 2 && done() && !kept_trailers_;
    if (of_trailers != 0 && !only_last_line && !out.malformed) {
        out.trailers = take_trailers({input.data() + at - of_trailers, of_trailers});
    }
    return out;
}

// Takes the bytes of the trailer section that were just read, which are checked. Returns the whole
// section once its last line has ended, and keeps a part of it before that.
std::string_view body_reader::take_trailers(std::string_view bytes)
{
    const std::size_t of_last_line = done() ? 2 : state_ == state::end_lf ? 1 : 0;
    bytes.remove_suffix(std::min(of_last_line, bytes.size()));
    if (done() && !kept_trailers_) {
        return bytes;
    }
    if (!bytes.empty() && !kept_trailers_) {
        kept_trailers_ = std::make_unique<std::string>();
    }
    if (!bytes.empty()) {
        kept_trailers_->append(bytes);
    }
    return done() ? std::string_view(*kept_trailers_) : std::string_view{};
}

bool body_reader::step(char c)
{
    switch (state_) {
        case state::size_first:
        case state::size:
            return size_byte(c);
        case state::before_extension:
        case state::before_name:
        case state::name:
        case state::after_name:
        case state::before_value:
        case state::token_value:
        case state::quoted_value:
        case state::quoted_pair:
        case state::after_quoted_value:
            return extension_byte(c);
        case state::size_lf:
            line_bytes_ = 0;
            return expect(c, '\n', remaining_ == 0 ? state::trailer_start : state::data);
        case state::data_cr:
            return expect(c, '\r', state::data_lf);
        case state::data_lf:
            return expect(c, '\n', state::size_first);
        case state::trailer_start:
        case state::trailer_name:
        case state::trailer_value:
        case state::trailer_lf:
        case state::end_lf:
            return take_one(room_.max_trailer_bytes) && trailer_byte(c);
        default:
            return false;
    }
}

bool body_reader::expect(char c, char wanted, state next)
{
    state_ = next;
    return c == wanted;
}

bool body_reader::size_byte(char c)
{
    const int digit = base::hex_digit(c);
    if (digit >= 0) {
        state_ = state::size;
        const bool fits = (remaining_ >> 59) == 0;  // Larger sizes could pass 2^63.
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
        return fits && fits_in_line();
    }
    if (state_ == state::size_first) {
        return false;
    }
    if (c == '\r') {
        state_ = state::size_lf;
        return true;
    }
    return extension_separator(c) && fits_in_extension();
}

bool body_reader::extension_byte(char c)
{
    if (c == '\r' && extension_is_complete()) {
        state_ = state::size_lf;
        return true;
    }
    return extension_text(c) && fits_in_extension();
}

bool body_reader::extension_is_complete() const
{
    return state_ == state::name || state_ == state::token_value ||
           state_ == state::after_quoted_value;
}

// Takes a byte of an extension. Returns false if the byte may not stand there.
bool body_reader::extension_text(char c)
{
    switch (state_) {
        case state::before_name:
            state_ = is_blank(c) ? state_ : state::name;
            return is_blank(c) || is_token_char(c);
        case state::before_value:
            if (c == '"') {
                state_ = state::quoted_value;
                return true;
            }
            state_ = is_blank(c) ? state_ : state::token_value;
            return is_blank(c) || is_token_char(c);
        case state::name:
        case state::after_name:
            if (c == '=') {
                state_ = state::before_value;
                return true;
            }
            if (is_blank(c)) {
                state_ = state::after_name;
                return true;
            }
            return (state_ == state::name && is_token_char(c)) || extension_separator(c);
        case state::token_value:
            return is_token_char(c) || extension_separator(c);
        case state::quoted_value:
            state_ = c == '"' ? state::after_quoted_value : c == '\\' ? state::quoted_pair : state_;
            return is_field_text(c);
        case state::quoted_pair:
            state_ = state::quoted_value;
            return is_field_text(c);
        default:
            return extension_separator(c);
    }
}

// Takes a byte that follows a size or an extension on its line: a blank or the ';' of the next one.
bool body_reader::extension_separator(char c)
{
    state_ = c == ';' ? state::before_name : state::before_extension;
    return c == ';' || is_blank(c);
}

bool body_reader::fits_in_extension()
{
    return fits_in_line() && take_one(room_.max_extension_bytes);
}

bool body_reader::fits_in_line()
{
    return ++line_bytes_ <= room_.max_line_bytes;
}

bool body_reader::trailer_byte(char c)
{
    if (state_ == state::trailer_lf) {
        return expect(c, '\n', state::trailer_start);
    }
    if (state_ == state::end_lf) {
        return expect(c, '\n', state::done);
    }
    if (state_ == state::trailer_value) {
        if (c == '\r') {
            state_ = state::trailer_lf;
            return true;
        }
        return is_field_text(c);
    }
    if (state_ == state::trailer_start && c == '\r') {
        state_ = state::end_lf;
        return true;
    }
    if (state_ == state::trailer_name && c == ':') {
        state_ = state::trailer_value;
        return true;
    }
    state_ = state::trailer_name;
    return is_token_char(c);
}

}  // namespace gateway::http
