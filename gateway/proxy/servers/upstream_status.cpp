#include "gateway/proxy/servers/upstream_status.hpp"

namespace gateway::proxy {

std::shared_ptr<server_status> upstream_status::server(const std::string& address)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    auto found = known_[address].lock();
    if (found == nullptr) {
        found = std::make_shared<server_status>();
        known_[address] = found;
    }
    return found;
}

bool upstream_status::failed(
    servers all, std::size_t which, const ejection_options& rules, base::instant now
)
{
    const std::lock_guard lock(mutex_);
    server_status& s = *all[which];
    s.failing_.store(true, std::memory_order_relaxed);
    if (!s.ejection_.failed(rules, now)) {
        return false;
    }
    std::size_t out = 0;
    std::size_t left = 0;
    for (const auto& other : all) {
        out += other->ejection_.is_out(now) ? 1 : 0;
        left += other.get() != &s && other->is_usable(now) ? 1 : 0;
    }
    if (!may_eject(rules, all.size(), out, left)) {
        return false;
    }
    s.ejection_.eject(rules, now);
    s.back_from(s.ejection_.until());
    s.ejections_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void upstream_status::reinstate(server_status& s, base::instant now)
{
    const std::lock_guard lock(mutex_);
    if (s.ejection_.succeeded(now)) {
        s.failing_.store(false, std::memory_order_relaxed);
    }
}

}  // namespace gateway::proxy
