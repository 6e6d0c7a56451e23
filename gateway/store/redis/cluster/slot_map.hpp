// Which node of a cluster has which slots, as one node of it says. Pure.
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

    // From the reply to CLUSTER SLOTS of the node at `asked`, which may call itself by no address.
    // Nothing: it is none, or the cluster has more nodes than that.
    static std::optional<slot_map> read(const redisReply& r, const net::server_address& asked);

    // Its index in nodes(); nothing: nobody has it.
    std::optional<std::size_t> owner(std::uint16_t slot) const;

    // Those that have slots, and those that were asked for by index_of().
    const std::vector<net::server_address>& nodes() const { return nodes_; }

    // Of a node, which is added if there is room; else more than there are.
    std::size_t index_of(const net::server_address& node);

    // Every slot has an owner.
    bool is_whole() const;

    // Somebody said so. Ignored if there are too many nodes.
    void set_owner(std::uint16_t slot, const net::server_address& node);

    // Some slot of that node.
    std::optional<std::uint16_t> slot_at(const net::server_address& node) const;

private:
    static constexpr std::uint16_t nobody = 0xffff;

    std::vector<net::server_address> nodes_;
    std::array<std::uint16_t, slot_count> owners_{};

    bool add_range(const redisReply& r, const net::server_address& asked);
};

// Where a server sends a command that is not for it.
struct redirection {
    // With `ask`, this command only, with ASKING before it.
    enum class kind { moved, ask, try_again };

    kind what = kind::moved;
    std::uint16_t slot = 0;
    // Not of `try_again`. An empty host is that of the server that says so.
    net::server_address to{};
};

// "MOVED 3999 127.0.0.1:6381", "ASK ...", "TRYAGAIN ..."; nothing: it is another error.
std::optional<redirection> redirection_in(std::string_view error);

}  // namespace gateway::store::redis
