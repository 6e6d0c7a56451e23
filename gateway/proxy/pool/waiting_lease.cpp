#include "gateway/proxy/pool/waiting_lease.hpp"

#include "gateway/proxy/pool/waiting_room.hpp"

#include <algorithm>

namespace gateway::proxy {

waiting_lease::waiting_lease(waiting_room& room, pending_lease& lease, const lease_wish& wish)
    : room_(room), lease_(&lease), wish_(wish)
{
    lease.comes_from(this);
}

bool waiting_lease::enter_queue()
{
    const upstream_options& options = room_.options();
    queued_ = room_.queue().enter(*this, options.max_queue);
    if (queued_) {
        give_up_at_ = room_.loop().now() + options.queue_timeout;
        arm();
    }
    return queued_;
}

void waiting_lease::leave_queue()
{
    queued_ = false;
    room_.queue().leave(*this);
}

void waiting_lease::wait_for_address()
{
    give_up_at_ = room_.loop().now() + room_.options().connect_timeout;
    room_.loop().wheel().arm(*this, give_up_at_);
}

void waiting_lease::arm()
{
    room_.loop().wheel().arm(*this, std::min(give_up_at_, room_.loop().now() + look_around));
}

void waiting_lease::wake()
{
    room_.wake();
}

void waiting_lease::lease_abandoned()
{
    room_.take_out(*this);
}

void waiting_lease::expired(base::instant now)
{
    if (now >= give_up_at_) {
        room_.waited_too_long(*this);
        return;
    }
    arm();
    if (room_.queue().is_first(*this)) {
        room_.serve(*this);
    }
}

}  // namespace gateway::proxy
