#include "gateway/content/surrogate_escapes.hpp"

#include <utility>

namespace gateway::content {

// Replaces the digit at `i` if it begins the escape of a surrogate, in a copy of the bytes.
void surrogate_escapes::replace_first_digit(std::string_view bytes, std::size_t i, bool& is_copied)
{
    if (bytes[i] != 'd' && bytes[i] != 'D') {
        return;
    }
    if (!std::exchange(is_copied, true)) {
        copy_ = bytes;
    }
    copy_[i] = 'e';
}

std::string_view surrogate_escapes::replaced_in(std::string_view bytes)
{
    bool is_copied = false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (at_ == position::text) {
            i = bytes.find('\\', i);
            if (i == std::string_view::npos) {
                break;
            }
            at_ = position::behind_backslash;
        } else if (at_ == position::behind_backslash) {
            at_ = bytes[i] == 'u' ? position::behind_u : position::text;
        } else {
            at_ = position::text;
            replace_first_digit(bytes, i, is_copied);
        }
    }
    return is_copied ? copy_ : bytes;
}

}  // namespace gateway::content
