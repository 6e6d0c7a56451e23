#include "gateway/store/memory/shared_buckets.hpp"

#include <mutex>

namespace gateway::store {

shared_bucket* shared_buckets::find(std::string_view limit_name)
{
    const auto found = buckets_.find(limit_name);
    return found == buckets_.end() ? nullptr : &found->second;
}

shared_bucket& shared_buckets::make(std::string_view limit_name, std::int64_t now)
{
    if (shared_bucket* const found = find(limit_name); found != nullptr) {
        return *found;
    }
    shared_bucket& fresh = buckets_.emplace(limit_name, shared_bucket{}).first->second;
    fresh.alike_since = now;
    count();
    return fresh;
}

void shared_buckets::forget(std::int64_t now)
{
    if (!any()) {
        return;
    }
    const std::lock_guard locked{lock_};
    std::erase_if(buckets_, [now](const auto& entry) { return entry.second.bucket.is_full(now); });
    count();
}

}  // namespace gateway::store
