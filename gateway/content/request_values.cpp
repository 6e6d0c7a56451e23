#include "gateway/content/request_values.hpp"

#include <boost/json/serialize.hpp>

namespace gateway::content {

void request_values::read(std::string_view bytes)
{
    if (state_ == content_state::begun && !scanner_.read(bytes)) {
        state_ = content_state::unreadable;
    }
}

void request_values::finish()
{
    if (state_ == content_state::begun) {
        const bool good = scanner_.finish() && scanner_.is_object();
        state_ = good ? content_state::whole : content_state::unreadable;
    }
}

bool request_values::lacks_any(path_set paths) const
{
    for (std::size_t path = 0; path < values_.size(); ++path) {
        if ((paths & only(path)) != 0 && values_[path].is == presence::absent) {
            return true;
        }
    }
    return false;
}

std::string request_values::encoded(std::size_t path) const
{
    if (state_ == content_state::unreadable || values_[path].is != presence::present) {
        return "null";
    }
    const std::string_view found = text(path);
    return is_text(path) ? boost::json::serialize(boost::json::string_view{found})
                         : std::string{found};
}

void request_values::found(std::size_t path, kind is, std::string_view text)
{
    value& v = values_[path];
    if (is == kind::null || v.is == presence::ambiguous) {
        return;
    }
    if (is == kind::other || is == kind::large) {
        v.is = presence::other;
        return;
    }
    v = {presence::present, is == kind::text, texts_.size(), text.size()};
    texts_ += text;
}

void request_values::repeated(path_set paths)
{
    ambiguous_ |= paths;
    for (std::size_t path = 0; path < values_.size(); ++path) {
        if ((paths & only(path)) != 0) {
            values_[path].is = presence::ambiguous;
        }
    }
}

}  // namespace gateway::content
