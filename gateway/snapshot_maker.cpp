#include "gateway/snapshot_maker.hpp"

#include "gateway/http/via.hpp"

#include <algorithm>
#include <random>

namespace gateway {

snapshot_maker::snapshot_maker() : via_name_(http::make_via_name(std::random_device{}())) {}

worker::snapshot snapshot_maker::make(const config::settings& settings)
{
    worker::snapshot s;
    s.policy = settings.policy;
    s.http = settings.http;
    s.http2 = settings.http2;
    s.via_name = via_name_;
    s.max_connections_per_peer = settings.server.max_connections_per_peer;
    s.max_waiting = settings.server.max_waiting;
    s.sampling = settings.sampling;
    s.upstreams = settings.upstreams;
    for (const client::listener_options& listener : settings.server.listeners) {
        s.listener_tls.push_back(listener.tls);
    }
    s.tickets = tickets_;
    s.shared_stores = settings.shared_stores;
    for (const proxy::upstream_options& upstream : s.upstreams) {
        auto& status = upstreams_[upstream.name];
        if (status == nullptr) {
            status = std::make_shared<proxy::upstream_status>();
        }
        s.upstream_statuses.push_back(status);
    }
    std::erase_if(upstreams_, [](const auto& entry) { return entry.second.use_count() == 1; });
    const bool echoes =
        std::any_of(s.upstreams.begin(), s.upstreams.end(), [](const auto& upstream) {
            return std::any_of(upstream.servers.begin(), upstream.servers.end(), [](const auto& a) {
                return a.address.echo;
            });
        });
    if (echoes && echo_ == nullptr) {
        echo_ = std::make_unique<probes::echo_server>();
    }
    s.echo_port = echo_ != nullptr ? echo_->port() : 0;
    return s;
}

std::vector<telemetry::server_figures> snapshot_maker::figures(const config::settings& settings
) const
{
    std::vector<telemetry::server_figures> figures;
    const base::instant now = base::now();
    for (const proxy::upstream_options& upstream : settings.upstreams) {
        for (const proxy::server_options& s : upstream.servers) {
            const std::string address = to_text(s.address);
            const auto status = upstreams_.at(upstream.name)->server(address);
            figures.push_back({
                .name = {upstream.name, address},
                .up = status->is_usable(now),
                .healthy = status->healthy(),
                .ejected_for = std::max(status->back_since() - now, base::duration{0}),
                .ejections = status->ejections(),
                .in_flight = status->capacity().taken(),
            });
        }
    }
    return figures;
}

}  // namespace gateway
