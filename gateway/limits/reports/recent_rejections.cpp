#include "gateway/limits/reports/recent_rejections.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gateway::limits {

void recent_rejections::add(const rejection_of<std::string_view>& r)
{
    const std::size_t at = count_++ % most;
    if (at == kept_.size()) {
        kept_.push_back(std::make_unique<slot>());
    }
    slot& kept = *kept_[at];
    kept.at = r.at;
    kept.retry_after = r.retry_after;
    kept.client = r.client;
    kept.why = r.why;
    const auto cut = [](std::string_view text) { return text.substr(0, longest_text); };
    const std::array<std::string_view, texts> all{
        r.bucket_name.size() > longest_name ? std::string_view{} : r.bucket_name,
        cut(r.route),
        cut(r.limit),
        cut(r.request_id),
        cut(r.method),
        cut(r.host),
        cut(r.path)};
    char* to = kept.bytes.data();
    for (std::size_t i = 0; i < texts; ++i) {
        kept.sizes[i] = static_cast<std::uint16_t>(all[i].size());
        if (!all[i].empty()) {
            std::memcpy(to, all[i].data(), all[i].size());
            to += all[i].size();
        }
    }
}

rejection recent_rejections::read(const slot& s)
{
    std::array<std::string, texts> all;
    const char* from = s.bytes.data();
    for (std::size_t i = 0; i < texts; ++i) {
        all[i].assign(from, s.sizes[i]);
        from += s.sizes[i];
    }
    auto& [bucket_name, route, limit, request_id, method, host, path] = all;
    return {
        .at = s.at,
        .why = s.why,
        .route = std::move(route),
        .limit = std::move(limit),
        .client = s.client,
        .bucket_name = std::move(bucket_name),
        .retry_after = s.retry_after,
        .request_id = std::move(request_id),
        .method = std::move(method),
        .host = std::move(host),
        .path = std::move(path)};
}

std::vector<rejection> recent_rejections::after(std::uint64_t seen) const
{
    std::vector<rejection> found;
    for (std::uint64_t n = std::max(seen, count_ - kept_.size()); n < count_; ++n) {
        found.push_back(read(*kept_[n % most]));
    }
    return found;
}

}  // namespace gateway::limits
