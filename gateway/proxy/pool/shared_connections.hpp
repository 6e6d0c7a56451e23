// `shared_connections` keeps the HTTP/2 connections of one worker to one upstream, whose streams
// requests lease.
// Ownership: the pool.
// Thread: the pool's.
#pragma once

#include "gateway/proxy/multiplexed_connection.hpp"
#include "gateway/proxy/pool/pending_lease.hpp"
#include "gateway/proxy/pool/pool_metrics.hpp"

#include <functional>
#include <list>
#include <optional>
#include <string_view>
#include <utility>

namespace gateway::proxy {

class shared_connections final : private multiplexed_owner {
public:
    // Called with a new connection when it is ready, or has ended before for this reason, which the
    // text describes.
    using greeting = std::function<
        void(multiplexed_connection& c, std::optional<failure> why, std::string_view complaint)>;

    // Called with a connection that has room for another request, as one has ended.
    using room = std::function<void(multiplexed_connection& c)>;

    // Requires: all arguments outlive it.
    shared_connections(
        net::loop& l,
        const upstream_options& options,
        const pool_metrics& metrics,
        greeting greeted,
        room has_room
    )
        : loop_(l),
          options_(options),
          metrics_(metrics),
          greeted_(std::move(greeted)),
          has_room_(std::move(has_room))
    {}

    // Opens a stream on a connection to `server` that has room. Returns null if none has.
    // With wish.fresh, each is checked for having nothing to receive, at the price of a system
    // call; with wish.surely_open, those that are idle.
    upstream_stream* open(std::size_t server, const lease_wish& wish);

    // Adds a new connection, which is then to be started.
    multiplexed_connection& add(upstream_connection& c);

    // Opens no further stream on the connections for which `is_stale` is true. Those that are being
    // made are still for who waits for them.
    void retire_if(const std::function<bool(const upstream_connection&)>& is_stale);

    // Opens no further stream on any, and keeps none that becomes idle.
    void retire();

    // Breaks off everything.
    void close();

    bool empty() const { return all_.empty(); }

private:
    net::loop& loop_;
    const upstream_options& options_;
    const pool_metrics& metrics_;
    greeting greeted_;
    room has_room_;
    borrowed_texts memory_;
    bool retired_ = false;
    std::list<multiplexed_connection> all_;

    void connection_ready(multiplexed_connection& c) override { greeted_(c, std::nullopt, {}); }

    void connection_failed(multiplexed_connection& c, failure why, std::string_view complaint)
        override
    {
        greeted_(c, why, complaint);
    }

    void connection_has_room(multiplexed_connection& c) override { has_room_(c); }

    bool became_idle(multiplexed_connection& c) override;

    void became_active(multiplexed_connection& c) override { count(c, false); }

    void count(const multiplexed_connection& c, bool idle);

    void connection_released(multiplexed_connection& c) override { all_.erase(c.self); }
};

}  // namespace gateway::proxy
