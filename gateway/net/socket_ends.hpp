// Both ends of a connected socket, as the system has them.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/socket.hpp"

namespace gateway::net {

// Who connected is the peer, of that address: one that has gone meanwhile has none any more, and
// then port 0. The end here of a Unix socket, which has no address, counts as the loopback address.
base::connection_ends ends_of(const socket& accepted, const base::ip_address& peer);

}  // namespace gateway::net
