// Finds both ends of a connected socket, as the system reports them.
#pragma once

#include "gateway/base/proxy_header.hpp"
#include "gateway/net/socket.hpp"

namespace gateway::net {

// Returns the ends of an accepted connection. The client's address is `peer`; its port is 0 if it
// has already left. The local end of a Unix socket, which has no address, counts as the loopback
// address.
base::connection_ends ends_of(const socket& accepted, const base::ip_address& peer);

}  // namespace gateway::net
