#include "gateway/proxy/servers/server_names.hpp"

#include "gateway/proxy/servers/server_address.hpp"

#include <utility>

namespace gateway::proxy {

server_names::server_names(
    net::loop& l,
    const upstream_options& options,
    unsigned short echo_port,
    std::function<void()> changed
)
    : default_host_(host_of(options.servers.front().address))
{
    const auto answered = [this, &l, changed = std::move(changed)] {
        l.refresh_now();
        look();
        changed();
    };
    for (const server_options& s : options.servers) {
        servers_.push_back(known_server{
            to_text(s.address),
            resolved(l.get_executor(), s.address, echo_port, options.resolver, answered)});
    }
    look();
}

void server_names::look()
{
    all_known_ = true;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        all_known_ = all_known_ && servers_[i].name.known();
        if (!servers_[i].name.endpoints().empty()) {
            addressed_ |= std::uint64_t{1} << i;
        }
    }
}

void server_names::stop()
{
    for (known_server& s : servers_) {
        s.name.stop();
    }
}

}  // namespace gateway::proxy
