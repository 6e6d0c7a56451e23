// Both ends of a connected socket, as the system has them.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/socket.hpp"

namespace gateway::net {

// Who connected is the peer. The ends of a Unix socket, which have no address, count as the
// loopback address.
base::connection_ends ends_of(const socket& accepted);

}  // namespace gateway::net
