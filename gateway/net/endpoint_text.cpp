#include "gateway/net/endpoint_text.hpp"

#include "gateway/base/text.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <cstring>

namespace gateway::net {

std::string to_text(const resolved_name::endpoint& e)
{
    const int family = e.protocol().family();
    boost::asio::ip::tcp::endpoint out;
    if ((family != AF_INET && family != AF_INET6) || e.size() > out.capacity()) {
        return {};
    }
    std::memcpy(out.data(), e.data(), e.size());
    out.resize(e.size());
    return base::host_and_port(out.address().to_string(), std::to_string(out.port()));
}

}  // namespace gateway::net
