#include "gateway/net/endpoint_text.hpp"

#include "gateway/base/text.hpp"
#include "gateway/net/tcp_endpoint.hpp"

namespace gateway::net {

std::string to_text(const resolved_name::endpoint& e)
{
    const auto tcp = tcp_endpoint_of(e);
    return tcp ? base::host_and_port(tcp->address().to_string(), std::to_string(tcp->port()))
               : std::string{};
}

}  // namespace gateway::net
