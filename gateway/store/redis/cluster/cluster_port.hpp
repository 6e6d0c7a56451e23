// `cluster_port` is what a link to one node of a cluster needs of the store, which knows the
// others.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/redis/cluster/slot_map.hpp"
#include "gateway/store/redis/protocol/sent_command.hpp"

#include <string>

namespace gateway::store::redis {

class cluster_port {
public:
    // Returns a tag whose slot that node has, or an empty one if it has no slot.
    virtual std::string probe_tag(const net::server_address& node) = 0;

    // Takes a part of a call that the node at `from` has redirected.
    virtual void redirect(
        const net::server_address& from, const redirection& to, sent_command part
    ) = 0;

    // Reports that a node has failed, or recovered, or does not have what it was asked for.
    virtual void doubt() = 0;

    // True if all nodes can be asked.
    virtual bool all_healthy() const = 0;

protected:
    ~cluster_port() = default;
};

}  // namespace gateway::store::redis
