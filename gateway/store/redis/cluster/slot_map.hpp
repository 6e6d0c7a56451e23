// `slot_map` says which node of a cluster has which slots, as one of its nodes reports. Pure.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/redis/cluster/slot.hpp"

#include <hiredis/hiredis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gateway::store::redis {

class slot_map {
public:
    static constexpr std::size_t max_nodes = 512;

    slot_map() { owners_.fill(nobody); }

    // Reads the reply to CLUSTER SLOTS of the node at `asked`, which may not know its own address.
    // Returns nothing if this is no such reply, or the cluster has more than max_nodes nodes.
    static std::optional<slot_map> read(const redisReply& r, const net::server_address& asked);

    // Returns the owner's index in nodes(), or nothing if no node has the slot.
    std::optional<std::size_t> owner(std::uint16_t slot) const;

    // Nodes that have slots, and nodes that index_of() has added.
    const std::vector<net::server_address>& nodes() const { return nodes_; }

    // Returns the index of a node, which is added if there is room. Returns max_nodes + 1 if not.
    std::size_t index_of(const net::server_address& node);

    // True if every slot has an owner.
    bool is_whole() const;

    // Sets the owner that a redirection names. Does nothing if there are too many nodes.
    void set_owner(std::uint16_t slot, const net::server_address& node);

    // Returns some slot of that node, or nothing if it has none.
    std::optional<std::uint16_t> slot_at(const net::server_address& node) const;

private:
    static constexpr std::uint16_t nobody = 0xffff;

    std::vector<net::server_address> nodes_;
    std::array<std::uint16_t, slot_count> owners_{};

    bool add_range(const redisReply& r, const net::server_address& asked);
};

// `redirection` says where a server sends a command that is not for it.
struct redirection {
    // `ask` redirects this command only, with ASKING before it.
    enum class kind { moved, ask, try_again };

    kind what = kind::moved;
    std::uint16_t slot = 0;
    // Node to send to, unused by `try_again`. An empty host is that of the server that redirects.
    net::server_address to{};
};

// Parses "MOVED 3999 127.0.0.1:6381", "ASK ..." or "TRYAGAIN ...". Returns nothing for another
// error.
std::optional<redirection> redirection_in(std::string_view error);

}  // namespace gateway::store::redis
