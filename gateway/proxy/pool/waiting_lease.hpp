// `waiting_lease` is a lease that waits for a slot at a server, or for an address.
// Ownership: its waiting_room.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/proxy/pool/pending_lease.hpp"
#include "gateway/proxy/servers/wait_queue.hpp"

#include <list>

namespace gateway::proxy {

class waiting_room;

class waiting_lease final : public lease_source,
                            public wait_queue::entry,
                            private base::timer_entry {
public:
    // Interval at which the first in the queue looks for a slot. One may become free without being
    // given back, when a server is usable again.
    static constexpr base::duration look_around = std::chrono::milliseconds{100};

    waiting_lease(waiting_room& room, pending_lease& lease, const lease_wish& wish);
    ~waiting_lease() override = default;

    // Enters the queue. Returns false if too many wait already.
    bool enter_queue();
    // Leaves the queue.
    // Requires: is_queued().
    void leave_queue();

    void wait_for_address();

    bool is_queued() const { return queued_; }

    pending_lease* lease() { return lease_; }

    const lease_wish& wish() const { return wish_; }

    // Its position in its room's list.
    std::list<waiting_lease>::iterator self;

private:
    waiting_room& room_;
    pending_lease* lease_;
    lease_wish wish_;
    base::instant give_up_at_{};
    bool queued_ = false;

    void arm();
    void wake() override;
    void lease_abandoned() override;
    void expired(base::instant now) override;
};

}  // namespace gateway::proxy
