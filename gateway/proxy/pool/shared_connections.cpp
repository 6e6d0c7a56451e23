#include "gateway/proxy/pool/shared_connections.hpp"

#include <iterator>

namespace gateway::proxy {

upstream_stream* shared_connections::open(std::size_t server, const lease_wish& wish)
{
    for (multiplexed_connection& m : all_) {
        const upstream_connection* const c = m.connection();
        if (c == nullptr || c->server() != server || c->client_ends() != wish.ends) {
            continue;
        }
        const bool is_checked = wish.fresh || (wish.surely_open && m.is_idle());
        if (upstream_stream* const s = is_checked && !c->is_quiet() ? nullptr : m.open()) {
            return s;
        }
    }
    return nullptr;
}

multiplexed_connection& shared_connections::add(upstream_connection& c)
{
    multiplexed_owner& owner = *this;
    multiplexed_connection& m = all_.emplace_back(loop_, c, owner, options_, memory_);
    m.self = std::prev(all_.end());
    return m;
}

// Keeps at most max_idle connections to a server, as a connection_shelf does. One with a PROXY
// header belongs to one client, so the oldest of these makes room for it.
bool shared_connections::became_idle(multiplexed_connection& c)
{
    count(c, true);
    const std::size_t server = c.connection()->server();
    std::size_t idle = 0;
    multiplexed_connection* oldest = nullptr;
    for (multiplexed_connection& m : all_) {
        if (m.is_idle() && m.connection()->server() == server) {
            ++idle;
            oldest = oldest == nullptr ? &m : oldest;
        }
    }
    if (idle > options_.max_idle && c.connection()->client_ends() && oldest != &c) {
        oldest->retire();
        --idle;
    }
    return !retired_ && idle <= options_.max_idle;
}

void shared_connections::count(const multiplexed_connection& c, bool idle)
{
    const std::int64_t more = idle ? 1 : -1;
    metrics_.worker.upstreams_idle.add(more);
    metrics_.worker.upstreams_active.add(-more);
    metrics_.servers[c.connection()->server()]->idle.add(more);
}

void shared_connections::retire_if(const std::function<bool(const upstream_connection&)>& is_stale)
{
    for (multiplexed_connection& m : all_) {
        if (m.is_ready() && m.connection() != nullptr && is_stale(*m.connection())) {
            m.retire();
        }
    }
}

void shared_connections::retire()
{
    retired_ = true;
    retire_if([](const upstream_connection&) { return true; });
}

void shared_connections::close()
{
    for (multiplexed_connection& m : all_) {
        m.close();
    }
}

}  // namespace gateway::proxy
