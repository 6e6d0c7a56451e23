#include "gateway/proxy/server_address.hpp"

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
    if (!address.socket_path.empty()) {
        return net::resolved_name::of_socket(address.socket_path);
    }
    const std::string host = address.echo ? "127.0.0.1" : address.host;
    const std::string port = address.echo ? std::to_string(echo_port) : address.port;
    return net::resolved_name::of_host(ex, host, port, options, std::move(answered));
}

}  // namespace gateway::proxy
