#include "gateway/store/shared_buckets.hpp"

#include <mutex>

namespace gateway::store {

limit::bucket* shared_buckets::find(std::string_view limit_name)
{
    const auto found = buckets_.find(limit_name);
    return found == buckets_.end() ? nullptr : &found->second;
}

limit::bucket& shared_buckets::make(std::string_view limit_name)
{
    if (limit::bucket* const found = find(limit_name); found != nullptr) {
        return *found;
    }
    limit::bucket& fresh = buckets_.emplace(limit_name, limit::bucket{}).first->second;
    count_.store(buckets_.size(), std::memory_order_relaxed);
    return fresh;
}

void shared_buckets::forget(std::int64_t now)
{
    if (!any()) {
        return;
    }
    const std::lock_guard locked{lock_};
    std::erase_if(buckets_, [now](const auto& entry) { return entry.second.is_full(now); });
    count_.store(buckets_.size(), std::memory_order_relaxed);
}

}  // namespace gateway::store
