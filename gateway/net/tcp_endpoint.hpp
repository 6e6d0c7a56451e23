// Extracts TCP endpoints from endpoints of any protocol.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstring>
#include <optional>

namespace gateway::net {

// Returns the address and port of `e`; nothing if it is the path of a Unix socket.
inline std::optional<boost::asio::ip::tcp::endpoint> tcp_endpoint_of(
    const boost::asio::generic::stream_protocol::endpoint& e
)
{
    const int family = e.protocol().family();
    boost::asio::ip::tcp::endpoint out;
    if ((family != AF_INET && family != AF_INET6) || e.size() > out.capacity()) {
        return std::nullopt;
    }
    std::memcpy(out.data(), e.data(), e.size());
    out.resize(e.size());
    return out;
}

}  // namespace gateway::net
