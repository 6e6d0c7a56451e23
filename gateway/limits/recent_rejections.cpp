#include "gateway/limits/recent_rejections.hpp"

#include <algorithm>

namespace gateway::limits {

void recent_rejections::add(const rejection_of<std::string_view>& r)
{
    const std::size_t at = count_++ % most;
    if (at == kept_.size()) {
        kept_.emplace_back();
    }
    const auto cut = [](std::string_view text) { return text.substr(0, longest_text); };
    rejection& kept = kept_[at];
    kept.at = r.at;
    kept.why = r.why;
    kept.route = r.route;
    kept.limit = r.limit;
    kept.client = r.client;
    kept.bucket_name = r.bucket_name.size() > longest_name ? std::string_view{} : r.bucket_name;
    kept.retry_after = r.retry_after;
    kept.request_id = r.request_id;
    kept.method = cut(r.method);
    kept.host = cut(r.host);
    kept.path = cut(r.path);
}

std::vector<rejection> recent_rejections::after(std::uint64_t seen) const
{
    std::vector<rejection> found;
    for (std::uint64_t n = std::max(seen, count_ - kept_.size()); n < count_; ++n) {
        found.push_back(kept_[n % most]);
    }
    return found;
}

}  // namespace gateway::limits
