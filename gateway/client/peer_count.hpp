// `peer_count` counts the open connections of each peer, for max_connections_per_peer. There is one
// for the process, because the kernel spreads a peer's connections over the workers. It takes a
// lock when a connection begins and ends, and none per request. It has one entry per peer with a
// connection.
// Thread: any.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace gateway::client {

class peer_count {
public:
    // Counts one more connection of `peer`. Returns false if it has `most` already.
    bool enter(const base::ip_address& peer, std::size_t most);

    // Counts one connection of `peer` less.
    // Requires: enter() has returned true for this connection.
    void leave(const base::ip_address& peer);

    // Returns the number of peers with a connection.
    std::size_t peers() const;

private:
    mutable std::mutex mutex_;
    // Open connections of each peer. It is a tree, so that no choice of addresses makes it slow.
    std::map<base::ip_address, std::size_t> open_;
};

}  // namespace gateway::client
