#include "gateway/probes/health_targets.hpp"

namespace gateway::probes {

std::vector<health_checks::target> health_targets(const worker::snapshot& s)
{
    std::vector<health_checks::target> targets;
    for (std::size_t i = 0; i < s.upstreams.size(); ++i) {
        const proxy::upstream_options& upstream = s.upstreams[i];
        for (const proxy::server_options& server : upstream.servers) {
            const std::string name = to_text(server.address);
            const auto status = s.upstream_statuses[i]->server(name);
            if (!upstream.health) {
                status->set_healthy(true);
                continue;
            }
            targets.push_back({
                .upstream = upstream.name,
                .name = name,
                .address = server.address,
                .options = *upstream.health,
                .resolver = upstream.resolver,
                .protocol = upstream.protocol,
                .proxy_protocol = upstream.proxy_protocol,
                .tls = upstream.tls,
                .echo_port = s.echo_port,
                .report = [status](bool healthy) { status->set_healthy(healthy); },
            });
        }
    }
    return targets;
}

}  // namespace gateway::probes
