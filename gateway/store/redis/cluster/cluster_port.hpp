// What a link to one node of a cluster wants of who knows the others.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/redis/cluster/slot_map.hpp"
#include "gateway/store/redis/protocol/sent_command.hpp"

#include <string>

namespace gateway::store::redis {

class cluster_port {
public:
    // A tag whose slot that node has; empty: it has none.
    virtual std::string probe_tag(const net::server_address& node) = 0;

    // The node at `from` has sent a part of a call elsewhere.
    virtual void redirect(
        const net::server_address& from, const redirection& to, sent_command part
    ) = 0;

    // A node has failed, or recovered, or does not have what it was asked for.
    virtual void doubt() = 0;

    // All nodes can be asked.
    virtual bool all_healthy() const = 0;

protected:
    ~cluster_port() = default;
};

}  // namespace gateway::store::redis
