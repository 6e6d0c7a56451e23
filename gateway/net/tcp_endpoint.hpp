// Extracts TCP endpoints from endpoints of any protocol, and formats them for logs.
#pragma once

#include "gateway/base/text.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstring>
#include <optional>
#include <string>

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

// Returns "ADDRESS:PORT"; empty for a Unix socket, which has neither.
inline std::string to_text(const boost::asio::generic::stream_protocol::endpoint& e)
{
    const auto tcp = tcp_endpoint_of(e);
    return tcp ? base::host_and_port(tcp->address().to_string(), std::to_string(tcp->port()))
               : std::string{};
}

}  // namespace gateway::net
