#include "gateway/replay/logs/log_lines.hpp"

#include <algorithm>
#include <cstring>

namespace gateway::replay {

// Moves the beginning of a line to the front, and reads more behind it. Returns false at the end.
bool log_lines::fill()
{
    std::memmove(buffer_.get(), buffer_.get() + at_, filled_ - at_);
    filled_ -= at_;
    at_ = 0;
    const std::size_t n = bytes_.read({buffer_.get() + filled_, buffer_bytes - filled_});
    filled_ += n;
    return n > 0;
}

// Returns a line that is too long, cut, and skips its rest.
// Requires: the line begins at `at_`, and `kept` bytes of it are there.
log_lines::line log_lines::cut_line()
{
    std::memmove(buffer_.get(), buffer_.get() + at_, filled_ - at_);
    filled_ -= at_;
    at_ = kept;
    line cut{.text = {buffer_.get(), kept}, .ended = true};
    while (true) {
        char* const rest = buffer_.get() + at_;
        if (const void* const end = std::memchr(rest, '\n', filled_ - at_)) {
            at_ += static_cast<std::size_t>(static_cast<const char*>(end) - rest) + 1;
            return cut;
        }
        at_ = kept;
        filled_ = kept + bytes_.read({buffer_.get() + kept, buffer_bytes - kept});
        if (filled_ == kept) {
            cut.ended = false;
            return cut;
        }
    }
}

std::optional<log_lines::line> log_lines::next()
{
    std::size_t looked_at = 0;
    while (true) {
        char* const begin = buffer_.get() + at_;
        const std::size_t have = std::min(filled_ - at_, kept);
        const void* const end =
            have == looked_at ? nullptr : std::memchr(begin + looked_at, '\n', have - looked_at);
        if (end != nullptr) {
            auto length = static_cast<std::size_t>(static_cast<const char*>(end) - begin);
            at_ += length + 1;
            length -= length > 0 && begin[length - 1] == '\r' ? 1 : 0;
            return line{.text = {begin, length}, .ended = true};
        }
        if (have == kept) {
            return cut_line();
        }
        looked_at = have;
        if (!fill()) {
            char* const rest = buffer_.get() + at_;
            at_ = filled_;
            return have == 0 ? std::nullopt
                             : std::optional{line{.text = {rest, have}, .ended = false}};
        }
    }
}

}  // namespace gateway::replay
