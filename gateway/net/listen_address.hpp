// `listen_address` is the address that a listener listens on: TCP or a Unix socket.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

#include <string>

namespace gateway::net {

struct listen_address {
    // A numeric address; empty for a Unix socket.
    std::string host;
    // TCP port; 0 for any free one.
    unsigned short port = 0;
    // Path of a Unix socket; empty for TCP.
    std::string socket_path;

    bool operator==(const listen_address&) const = default;

    // True if the system chooses the port, so that two equal addresses are different sockets.
    bool has_any_port() const { return socket_path.empty() && port == 0; }
};

boost::asio::generic::stream_protocol::endpoint endpoint_of(const listen_address& address);

}  // namespace gateway::net
