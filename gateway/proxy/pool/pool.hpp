// `pool` gives the requests of one worker their connections to one upstream: at the server that is
// chosen for each, an idle one or a new one, at once or after a wait. A server that cannot be
// connected to is passed over for another. With HTTP/2, requests share connections, also one that
// is still being made.
//
// A reload retires it: idle connections are closed at once, leased ones when they come back, and
// empty() tells when it may be destroyed.
// Ownership: the worker.
// Thread: the worker's.
#pragma once

#include "gateway/proxy/answer_state.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool/connect_attempts.hpp"
#include "gateway/proxy/pool/connection_shelf.hpp"
#include "gateway/proxy/pool/pool_metrics.hpp"
#include "gateway/proxy/pool/server_conduct.hpp"
#include "gateway/proxy/pool/shared_connections.hpp"
#include "gateway/proxy/pool/waiting_room.hpp"
#include "gateway/proxy/servers/server_capacity.hpp"
#include "gateway/proxy/servers/server_names.hpp"

#include <memory>
#include <optional>

namespace gateway::proxy {

class pool final : private attempts_owner, private room_owner {
public:
    // Number of servers that may let connect_timeout pass: then a request has waited long enough.
    static constexpr int most_timeouts = 2;

    // `echo_port`: the port of the built-in echo server, for servers that name it.
    pool(
        net::loop& l,
        upstream_options options,
        std::shared_ptr<upstream_status> status,
        unsigned short echo_port,
        pool_metrics metrics
    );
    ~pool() = default;

    // The outcome of lease(): what carries the request, or why there can be none, or neither. If
    // neither, there is exactly one call on `l` later, unless it is abandoned first.
    struct lease_result {
        upstream_carrier* carrier = nullptr;
        std::optional<failure> failed{};
    };

    lease_result lease(pending_lease& l, const lease_wish& wish);

    // Ends a lease.
    void release(upstream_carrier& c, answer_port::disposition how);

    void retire();
    // Retires the pool, and breaks off what is leased or under way.
    void close();

    bool empty() const
    {
        return shelf_.empty() && shared_.empty() && attempts_.empty() && room_.empty();
    }

    const upstream_options& options() const { return options_; }

    const server_names& names() const { return names_; }

    // Returns the record of the servers' conduct, which gets the outcome of each request.
    server_conduct& conduct() { return conduct_; }

    bool has_several_servers() const { return capacity_.several(); }

    // True if the requests at its servers are bounded, so that a leased connection holds a slot.
    bool is_bounded() const { return capacity_.bounded(); }

private:
    net::loop& loop_;
    upstream_options options_;
    pool_metrics metrics_;
    server_capacity capacity_;
    server_names names_;
    server_conduct conduct_;
    connection_shelf shelf_;
    shared_connections shared_;
    waiting_room room_;
    connect_attempts attempts_;

    server_capacity::choice take_capacity(const lease_wish& wish);
    void free_capacity(std::size_t server);
    upstream_carrier* carrier_at(std::size_t server, const lease_wish& wish);
    lease_result lease_at(std::size_t server, pending_lease& l, const lease_wish& wish);
    lease_result wait_for_capacity(pending_lease& l, const lease_wish& wish);
    lease_result fail(failure why);
    void complain_of_names();
    static void settle(pending_lease& l, const lease_result& result);
    void addresses_changed();

    // room_owner
    void serve(waiting_lease& w) override;
    void gave_up(pending_lease& l, failure why) override;
    // attempts_owner
    void lease_connected(pending_lease& l, upstream_carrier& c) override;
    void server_unreachable(
        pending_lease& l, const lease_wish& wish, std::size_t server, failure why
    ) override;
    void lease_turned_away(pending_lease& l, const lease_wish& wish, std::size_t server) override;

    void lease_left(std::size_t server) override { free_capacity(server); }
};

}  // namespace gateway::proxy
