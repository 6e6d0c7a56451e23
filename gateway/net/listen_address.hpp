// Where a listener listens.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

#include <string>

namespace gateway::net {

struct listen_address {
    // A numeric address; empty with a socket path.
    std::string host;
    // The TCP port; 0: any free one.
    unsigned short port = 0;
    // The path of a Unix socket; empty: TCP.
    std::string socket_path;

    bool operator==(const listen_address&) const = default;

    // Whether two of these are different sockets all the same.
    bool has_any_port() const { return socket_path.empty() && port == 0; }
};

boost::asio::generic::stream_protocol::endpoint endpoint_of(const listen_address& address);

}  // namespace gateway::net
