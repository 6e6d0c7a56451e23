#include "gateway/client/peer_count.hpp"

namespace gateway::client {

bool peer_count::enter(const base::ip_address& peer, std::size_t most)
{
    const std::lock_guard guard(mutex_);
    const auto [at, is_new] = open_.try_emplace(peer, 0);
    if (at->second >= most) {
        if (is_new) {
            open_.erase(at);
        }
        return false;
    }
    ++at->second;
    return true;
}

void peer_count::leave(const base::ip_address& peer)
{
    const std::lock_guard guard(mutex_);
    const auto at = open_.find(peer);
    if (--at->second == 0) {
        open_.erase(at);
    }
}

std::size_t peer_count::peers() const
{
    const std::lock_guard guard(mutex_);
    return open_.size();
}

}  // namespace gateway::client
