// `cluster_store` is a store kept in a Redis Cluster. It has a link to each node that has slots,
// with a conversation and a breaker of its own, so that a node that fails or is slow costs its own
// clients only. There is one per worker and cluster.
// Thread: the worker's, on its loop.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/store/redis/cluster/cluster_port.hpp"
#include "gateway/store/redis/cluster/slot_map.hpp"
#include "gateway/store/redis/cluster/spread.hpp"
#include "gateway/store/redis/cluster/topology.hpp"
#include "gateway/store/redis/link.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/remote/health_report.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gateway::store {

class cluster_store final : public shared_store,
                            private redis::cluster_port,
                            private redis::topology::listener {
public:
    // Starts connecting. `name` is the store's name in logs.
    // Ownership: `metrics` outlives the loop.
    cluster_store(
        net::loop& l,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics
    );

    // Closes, and abandons the questions still pending without calling them.
    ~cluster_store() override;
    cluster_store(const cluster_store&) = delete;
    cluster_store& operator=(const cluster_store&) = delete;

    bool recalls(std::span<const charge> charges, base::instant now, answer& into) const override;
    std::optional<failure> ask(std::span<const charge> charges, question& q) override;
    void close() override;
    void retire() override;

    bool settle_up() override { return spreads_.idle(); }

    bool healthy() const override { return all_healthy(); }

    bool has(const charge& c) const override;

private:
    // Most redirected parts, each of which counts until its call's deadline, also when answered.
    static constexpr std::size_t max_redirected = 4096;

    struct redirected {
        redis::sent_command part;
        net::server_address to;
        bool carried = false;
    };

    net::loop& loop_;
    std::string name_;
    redis_options options_;
    telemetry::store_metrics& metrics_;
    health_report health_;
    redis::slot_map map_;
    // Links to the nodes of the map, in its order.
    std::vector<std::shared_ptr<redis::link>> links_;
    // Links to nodes without slots, until nobody waits for them.
    std::vector<std::shared_ptr<redis::link>> leaving_;
    std::shared_ptr<redis::topology> topology_;
    redis::spreads spreads_;
    std::vector<redirected> redirected_;
    net::alarm redirected_again_;
    bool retired_ = false;
    bool closed_ = false;

    redis::link* link_of(const charge& c) const;
    std::shared_ptr<redis::link> start_link(const net::server_address& node);
    // Returns the link to the node, which is added to the map if there is room, or null if not.
    redis::link* link_to(const net::server_address& node);
    bool recalls_one(
        std::span<const charge> charges, std::size_t i, base::instant now, answer& into
    ) const;
    void close_links(conversation_state::pending_ones what);
    void drop_leaving();

    // cluster_redirects.cpp: redirected parts.
    void redirect(
        const net::server_address& from, const redis::redirection& to, redis::sent_command part
    ) override;
    void look_after(redirected& one);
    void look_after_redirected();

    std::string probe_tag(const net::server_address& node) override;
    void doubt() override;
    bool all_healthy() const override;

    void heard(const redis::slot_map& map) override;
    void unknown(failure why, std::string detail) override;
    std::vector<net::server_address> nodes() const override;
    bool in_doubt() const override;
};

}  // namespace gateway::store
