#include "gateway/content/surrogate_escapes.hpp"

namespace gateway::content {

std::string_view surrogate_escapes::replaced_in(std::string_view bytes)
{
    bool is_copied = false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        switch (at_) {
            case position::text:
                i = bytes.find('\\', i);
                if (i == std::string_view::npos) {
                    return is_copied ? copy_ : bytes;
                }
                at_ = position::behind_backslash;
                break;
            case position::behind_backslash:
                at_ = bytes[i] == 'u' ? position::behind_u : position::text;
                break;
            case position::behind_u:
                at_ = position::text;
                if (bytes[i] == 'd' || bytes[i] == 'D') {
                    if (!is_copied) {
                        copy_ = bytes;
                        is_copied = true;
                    }
                    copy_[i] = 'e';
                }
                break;
        }
    }
    return is_copied ? copy_ : bytes;
}

}  // namespace gateway::content
