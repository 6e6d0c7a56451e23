// How many connections each peer has open, for max_connections_per_peer. One for the process,
// because the kernel spreads a peer's connections over the workers. Any thread; a lock at a
// connection's beginning and end, none per request. One entry per peer with a connection, no more.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace gateway::client {

class peer_count {
public:
    // One more for `peer`, unless it has `most` already.
    bool enter(const base::ip_address& peer, std::size_t most);

    // One less for `peer`. To be called only after enter() returned true.
    void leave(const base::ip_address& peer);

    // The number of peers with a connection.
    std::size_t peers() const;

private:
    mutable std::mutex mutex_;
    // Open connections of each peer. A tree, so that no choice of addresses makes it slow.
    std::map<base::ip_address, std::size_t> open_;
};

}  // namespace gateway::client
