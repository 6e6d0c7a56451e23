#include "gateway/content/request_values.hpp"

#include <boost/json/serialize.hpp>

namespace gateway::content {

void request_values::read(std::string_view bytes)
{
    if (state_ != content_state::begun || bytes.empty()) {
        return;
    }
    is_empty_ = false;
    if (!is_json_ || !scanner_.read(bytes)) {
        state_ = content_state::unreadable;
    }
}

void request_values::finish()
{
    if (state_ == content_state::begun && is_empty_) {
        state_ = content_state::none;
    } else if (state_ == content_state::begun) {
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

bool request_values::stays_sound(std::string_view bytes, bool ends, path_set paths)
{
    const bool was_readable = state_ != content_state::unreadable;
    const path_set known = ambiguous_;
    read(bytes);
    if (ends) {
        finish();
    }
    const bool is_readable = state_ != content_state::unreadable;
    return was_readable == is_readable && (ambiguous_ & paths & ~known) == 0;
}

std::string request_values::as_rpc_id(std::size_t path) const
{
    const std::string_view found = text(path);
    const bool is_boolean = found == "true" || found == "false";
    if (state_ == content_state::unreadable || values_[path].is == presence::ambiguous) {
        return "null";
    }
    if (is_text(path)) {
        return boost::json::serialize(boost::json::string_view{found});
    }
    return found.empty() || is_boolean ? "null" : std::string{found};
}

void request_values::found(std::size_t path, kind is, std::string_view text)
{
    value& v = values_[path];
    if (is == kind::null || v.is == presence::ambiguous) {
        return;
    }
    if (is == kind::inexact) {
        v.is = presence::ambiguous;
        return;
    }
    const bool counts = is == kind::text || is == kind::integer || is == kind::boolean;
    v = {
        counts ? presence::present : presence::other, is == kind::text, texts_.size(), text.size()};
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
