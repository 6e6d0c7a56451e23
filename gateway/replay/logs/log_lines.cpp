#include "gateway/replay/logs/log_lines.hpp"

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

std::optional<log_lines::line> log_lines::next()
{
    std::size_t looked_at = 0;
    while (true) {
        char* const begin = buffer_.get() + at_;
        const std::size_t have = filled_ - at_;
        const void* const end =
            have == looked_at ? nullptr : std::memchr(begin + looked_at, '\n', have - looked_at);
        if (end != nullptr) {
            auto length = static_cast<std::size_t>(static_cast<const char*>(end) - begin);
            at_ += length + 1;
            length -= length > 0 && begin[length - 1] == '\r' ? 1 : 0;
            return line{.text = {begin, length}, .ended = true};
        }
        looked_at = have;
        const bool is_long = have > longest;
        if (is_long || !fill()) {
            if (filled_ == at_) {
                return std::nullopt;
            }
            char* const rest = buffer_.get() + at_;
            const std::size_t length = filled_ - at_;
            at_ = filled_;
            return line{.text = {rest, length}, .ended = is_long};
        }
    }
}

}  // namespace gateway::replay
