#include "gateway/proxy/waiting_lease.hpp"

#include "gateway/proxy/pool.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace gateway::proxy {

waiting_lease::waiting_lease(pool& p, pending_lease& lease, const lease_wish& wish)
    : pool_(p), lease_(&lease), wish_(wish)
{
    lease.comes_from(this);
}

bool waiting_lease::enter_queue()
{
    const upstream_options& options = pool_.options();
    queued_ = pool_.queue().enter(*this, options.max_queue);
    if (queued_) {
        give_up_at_ = pool_.loop().now() + options.queue_timeout;
        arm();
    }
    return queued_;
}

void waiting_lease::leave_queue()
{
    if (queued_) {
        queued_ = false;
        pool_.queue().leave(*this);
    }
}

void waiting_lease::wait_for_address()
{
    give_up_at_ = pool_.loop().now() + pool_.options().connect_timeout;
    pool_.loop().wheel().arm(*this, give_up_at_);
}

void waiting_lease::arm()
{
    pool_.loop().wheel().arm(*this, std::min(give_up_at_, pool_.loop().now() + look_around));
}

// The pool may be gone before what is posted runs, and this lease long before.
void waiting_lease::wake()
{
    boost::asio::post(pool_.loop().context(), [mark = pool_.mark()] {
        if (*mark != nullptr) {
            (*mark)->serve_woken();
        }
    });
}

void waiting_lease::lease_abandoned()
{
    pool_.waiting_ended(*this);
}

void waiting_lease::expired(base::instant now)
{
    if (now >= give_up_at_) {
        pool_.waited_too_long(*this);
        return;
    }
    arm();
    if (pool_.queue().is_first(*this)) {
        pool_.serve(*this);
    }
}

}  // namespace gateway::proxy
