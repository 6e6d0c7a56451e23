#include "gateway/proxy/connection_shelf.hpp"

#include <algorithm>
#include <utility>

namespace gateway::proxy {

upstream_connection* connection_shelf::take(std::size_t server, bool surely_open)
{
    auto& idle = idle_[server];
    while (!idle.empty()) {
        upstream_connection* const c = idle.back();
        if (surely_open && !c->is_quiet()) {
            idle_connection_ended(*c);
            continue;
        }
        idle.pop_back();
        loop_.wheel().disarm(*c);
        metrics_.worker.upstreams_idle.add(-1);
        metrics_.worker.upstreams_active.add(1);
        metrics_.servers[server]->idle.add(-1);
        return c;
    }
    return nullptr;
}

upstream_connection& connection_shelf::add(net::socket connected, std::size_t server)
{
    connection_owner& owner = *this;
    upstream_connection& c = all_.emplace_back(loop_, std::move(connected), owner, server);
    c.self = std::prev(all_.end());
    metrics_.worker.upstreams_active.add(1);
    return c;
}

void connection_shelf::put_back(upstream_connection& c, bool reusable)
{
    c.lease_to(nullptr);
    metrics_.worker.upstreams_active.add(-1);
    auto& idle = idle_[c.server()];
    if (!reusable || !c.at_rest() || retired_ || idle.size() >= options_.max_idle) {
        c.close();
        return;
    }
    idle.push_back(&c);
    loop_.wheel().arm(c, loop_.now() + options_.idle_timeout);
    metrics_.worker.upstreams_idle.add(1);
    metrics_.servers[c.server()]->idle.add(1);
    c.want_read();
}

void connection_shelf::idle_connection_ended(upstream_connection& c)
{
    auto& idle = idle_[c.server()];
    const auto at = std::find(idle.begin(), idle.end(), &c);
    if (at != idle.end()) {
        idle.erase(at);
        metrics_.worker.upstreams_idle.add(-1);
        metrics_.servers[c.server()]->idle.add(-1);
    }
    c.close();
}

void connection_shelf::connection_released(upstream_connection& c)
{
    all_.erase(c.self);
}

void connection_shelf::retire()
{
    retired_ = true;
    for (auto& idle : idle_) {
        while (!idle.empty()) {
            idle_connection_ended(*idle.back());
        }
    }
}

void connection_shelf::close()
{
    retire();
    for (upstream_connection& c : all_) {
        c.close();
    }
}

}  // namespace gateway::proxy
