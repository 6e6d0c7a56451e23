#include "gateway/proxy/pool/connection_shelf.hpp"

#include <algorithm>
#include <utility>

namespace gateway::proxy {

// Returns the last idle connection whose PROXY header carried `ends`. Without PROXY headers that is
// the last one of all.
upstream_connection* connection_shelf::last_with(
    std::size_t server, const std::optional<base::connection_ends>& ends
)
{
    const auto& idle = idle_[server];
    const auto found = std::find_if(idle.rbegin(), idle.rend(), [&ends](const auto* c) {
        return c->client_ends() == ends;
    });
    return found == idle.rend() ? nullptr : *found;
}

upstream_connection* connection_shelf::take(
    std::size_t server, bool surely_open, const std::optional<base::connection_ends>& ends
)
{
    auto& idle = idle_[server];
    while (upstream_connection* const c = last_with(server, ends)) {
        if (surely_open && !c->is_quiet()) {
            idle_connection_ended(*c);
            continue;
        }
        idle.erase(std::find(idle.rbegin(), idle.rend(), c).base() - 1);
        loop_.wheel().disarm(*c);
        metrics_.worker.upstreams_idle.add(-1);
        metrics_.worker.upstreams_active.add(1);
        metrics_.servers[server]->idle.add(-1);
        return c;
    }
    return nullptr;
}

upstream_connection& connection_shelf::add(
    net::socket connected,
    const server_endpoint& to,
    const std::optional<base::connection_ends>& ends
)
{
    connection_owner& owner = *this;
    upstream_connection& c = all_.emplace_back(loop_, std::move(connected), owner, to, ends);
    c.self = std::prev(all_.end());
    metrics_.worker.upstreams_active.add(1);
    if (ends) {
        c.send(base::proxy_header_of(ends));
    }
    return c;
}

void connection_shelf::put_back(upstream_connection& c, bool reusable)
{
    c.lease_to(nullptr);
    metrics_.worker.upstreams_active.add(-1);
    auto& idle = idle_[c.server()];
    const bool fit = reusable && c.at_rest() && !retired_;
    if (fit && c.client_ends() && !idle.empty() && idle.size() >= options_.max_idle) {
        idle_connection_ended(*idle.front());
    }
    if (!fit || idle.size() >= options_.max_idle) {
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

void connection_shelf::close_idle_if(const std::function<bool(const upstream_connection&)>& is_stale
)
{
    for (const auto& idle : idle_) {
        const auto looked_at = idle;
        for (upstream_connection* const c : looked_at) {
            if (is_stale(*c)) {
                idle_connection_ended(*c);
            }
        }
    }
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
