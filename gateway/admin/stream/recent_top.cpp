#include "gateway/admin/stream/recent_top.hpp"

#include "gateway/identity/bucket_name.hpp"

#include <algorithm>

namespace gateway::admin {

void recent_top::add(const std::vector<limits::heavy_hitters::hitter>& merged)
{
    if (seconds_.size() > window) {
        seconds_.pop_front();
    }
    const counts& before = seconds_.front();
    counts now;
    all_.clear();
    for (const limits::heavy_hitters::hitter& h : merged) {
        const base::hash128 id = identity::hashed(h.name).hash();
        const std::uint64_t certain = h.count - h.error;
        const auto found = before.find(id);
        // A bucket that lost its slot meanwhile is counted anew, from nothing.
        const bool continues = found != before.end() && found->second <= certain;
        const std::uint64_t since = continues ? certain - found->second : certain;
        if (since > 0) {
            all_.push_back({h.name, h.is_digest, since});
        }
        now.emplace(id, certain);
    }
    std::stable_sort(all_.begin(), all_.end(), [](const bucket& a, const bucket& b) {
        return a.count > b.count;
    });
    seconds_.push_back(std::move(now));
}

}  // namespace gateway::admin
