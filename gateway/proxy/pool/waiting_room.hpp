// `waiting_room` holds the leases of one pool that wait: for a slot at a server, in the queue of
// all workers, or, at the start, for the first address of a server.
// Ownership: the pool.
// Thread: the pool's.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/proxy/pool/pool_metrics.hpp"
#include "gateway/proxy/pool/waiting_lease.hpp"

#include <list>
#include <memory>

namespace gateway::proxy {

// `room_owner` is what the room asks of its pool.
class room_owner {
public:
    // Called when there may be a slot for `w`. If there is, the pool takes `w` out of the room.
    virtual void serve(waiting_lease& w) = 0;
    // Called when `l` has left the room because it waited too long, and must be notified.
    virtual void gave_up(pending_lease& l, failure why) = 0;

protected:
    ~room_owner() = default;
};

class waiting_room {
public:
    // Requires: all arguments outlive it.
    waiting_room(
        net::loop& l,
        const upstream_options& options,
        const pool_metrics& metrics,
        wait_queue& queue,
        room_owner& owner
    );
    ~waiting_room();
    waiting_room(const waiting_room&) = delete;
    waiting_room& operator=(const waiting_room&) = delete;

    // Queues a lease for a slot. Returns false if too many wait already.
    [[nodiscard]] bool wait_for_capacity(pending_lease& l, const lease_wish& wish);
    void wait_for_address(pending_lease& l, const lease_wish& wish);

    // Returns the lease that has waited longest for an address, or null if none does.
    waiting_lease* next_without_address();

    // Ends the waiting. The caller settles the lease.
    pending_lease& take_out(waiting_lease& w);

    // Abandons all leases.
    void close();

    bool empty() const { return all_.empty(); }

    // The leases in the room use these three.
    net::loop& loop() { return loop_; }

    const upstream_options& options() const { return options_; }

    wait_queue& queue() { return queue_; }

    // Has the lease that was woken served, if it is still there.
    // Thread: any.
    void wake();

    void serve(waiting_lease& w) { owner_.serve(w); }

    void waited_too_long(waiting_lease& w);

private:
    net::loop& loop_;
    const upstream_options& options_;
    const pool_metrics& metrics_;
    wait_queue& queue_;
    room_owner& owner_;
    std::list<waiting_lease> all_;
    // Points to null once the room is gone. Only the room's thread looks at it.
    std::shared_ptr<waiting_room*> alive_;

    void serve_woken();
};

}  // namespace gateway::proxy
