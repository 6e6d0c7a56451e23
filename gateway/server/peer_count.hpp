// How many connections each peer has open, for max_connections_per_peer. One for the process,
// because the kernel spreads a peer's connections over the workers. Any thread; a lock at a
// connection's beginning and end, none per request. One entry per peer with a connection, no more.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace gateway::server {

class peer_count {
public:
    // One more for `peer`, unless it has `most` already.
    bool enter(const base::ip_address& peer, std::size_t most);

    void leave(const base::ip_address& peer);  // after enter() said true

    std::size_t peers() const;  // with a connection

private:
    mutable std::mutex mutex_;
    std::map<base::ip_address, std::size_t> open_;  // a tree: no addresses make it slow
};

}  // namespace gateway::server
