#include "gateway/proxy/servers/server_address.hpp"

#include <utility>

namespace gateway::proxy {

std::string host_of(const server_address& address)
{
    return address.socket_path.empty() ? to_text(address) : "localhost";
}

net::resolved_name resolved(
    const net::executor& ex,
    const server_address& address,
    unsigned short echo_port,
    const net::resolver_options& options,
    std::function<void()> answered
)
{
    const net::server_address where =
        address.echo ? net::server_address{"127.0.0.1", std::to_string(echo_port), {}}
                     : net::server_address{address.host, address.port, address.socket_path};
    return net::resolved_name::of(ex, where, options, std::move(answered));
}

}  // namespace gateway::proxy
