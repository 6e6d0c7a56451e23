#include "gateway/proxy/servers/server_status.hpp"

namespace gateway::proxy {

void server_status::set_healthy(bool healthy)
{
    if (healthy_.load(std::memory_order_relaxed) == healthy) {
        return;
    }
    if (healthy) {
        back_from(base::now());
    }
    healthy_.store(healthy, std::memory_order_relaxed);
}

// Keeps the later of two ends: a server that is ejected stays so when it turns healthy.
void server_status::back_from(base::instant then)
{
    const base::duration::rep moment = then.time_since_epoch().count();
    base::duration::rep before = back_since_.load(std::memory_order_relaxed);
    while (before < moment &&
           !back_since_.compare_exchange_weak(before, moment, std::memory_order_relaxed)) {
    }
}

}  // namespace gateway::proxy
