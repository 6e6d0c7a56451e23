#include "gateway/http/input/partial_head.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

namespace gateway::http {

namespace {

// Bytes of a status line up to the one behind its code. The parser looks at every piece until they
// are there, so it refuses at once a text that is no status line.
constexpr std::size_t status_line_start = 13;

}  // namespace

bool partial_head::append(std::string_view bytes, const response_bounds& bounds)
{
    const bool at_start = bytes_.size() < status_line_start;
    const bool past_status_line = in_fields_;
    bytes_.append(bytes);
    const char* p = bytes.data();
    const char* const end = p + bytes.size();
    while (p != end && at_ != position::decided) {
        p = step(p, end);
        at_ = fields_ > bounds.max_headers ? position::decided : at_;
    }
    return at_start || at_ == position::decided || past_status_line != in_fields_ ||
           bytes_.size() >= bounds.max_header_bytes;
}

// Takes one byte, or a run of them that changes nothing, and returns the position behind it.
// Requires: p != end.
const char* partial_head::step(const char* p, const char* end)
{
    switch (at_) {
        case position::status_line:
        case position::value:
            p = skip_field_text(p, end);
            if (p == end) {
                return p;
            }
            at_ = *p == '\r' ? position::line_feed : position::decided;
            break;
        case position::line_feed:
            in_fields_ = true;
            at_ = *p == '\n' ? position::line_start : position::decided;
            break;
        case position::line_start:
            at_ = first_of_line(*p);
            break;
        case position::name:
            if (!is_token_char(*p)) {
                at_ = *p == ':' ? position::value : position::decided;
            }
            break;
        case position::last_line_feed:
        case position::decided:
            at_ = position::decided;
            break;
    }
    return p + 1;
}

partial_head::position partial_head::first_of_line(char c)
{
    if (c == '\r') {
        return position::last_line_feed;
    }
    ++fields_;
    return is_token_char(c) ? position::name : position::decided;
}

void partial_head::clear()
{
    at_ = position::status_line;
    in_fields_ = false;
    fields_ = 0;
    bytes_.clear();
}

void partial_head::release_memory()
{
    clear();
    base::clear_keeping_little(bytes_);
}

}  // namespace gateway::http
