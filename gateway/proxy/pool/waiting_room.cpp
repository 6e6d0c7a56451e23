#include "gateway/proxy/pool/waiting_room.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace gateway::proxy {

waiting_room::waiting_room(
    net::loop& l,
    const upstream_options& options,
    const pool_metrics& metrics,
    wait_queue& queue,
    room_owner& owner
)
    : loop_(l),
      options_(options),
      metrics_(metrics),
      queue_(queue),
      owner_(owner),
      alive_(std::make_shared<waiting_room*>(this))
{}

waiting_room::~waiting_room()
{
    *alive_ = nullptr;
}

bool waiting_room::wait_for_capacity(pending_lease& l, const lease_wish& wish)
{
    waiting_lease& w = all_.emplace_back(*this, l, wish);
    w.self = std::prev(all_.end());
    if (!w.enter_queue()) {
        l.comes_from(nullptr);
        all_.erase(w.self);
        return false;
    }
    metrics_.upstream.queued.add(1);
    queue_.wake_first();  // a slot may have become free since we looked
    return true;
}

void waiting_room::wait_for_address(pending_lease& l, const lease_wish& wish)
{
    waiting_lease& w = all_.emplace_back(*this, l, wish);
    w.self = std::prev(all_.end());
    w.wait_for_address();
}

waiting_lease* waiting_room::next_without_address()
{
    const auto w = std::find_if(all_.begin(), all_.end(), [](const waiting_lease& l) {
        return !l.is_queued();
    });
    return w != all_.end() ? &*w : nullptr;
}

pending_lease& waiting_room::take_out(waiting_lease& w)
{
    pending_lease& l = *w.lease();
    l.comes_from(nullptr);
    if (w.is_queued()) {
        metrics_.upstream.queued.add(-1);
        w.leave_queue();
    }
    all_.erase(w.self);
    return l;
}

void waiting_room::waited_too_long(waiting_lease& w)
{
    const failure why = w.is_queued() ? failure::queue_timeout : failure::no_address;
    owner_.gave_up(take_out(w), why);
}

// Posts to the room's thread. When that runs, the whole room may be gone, or only the woken lease.
void waiting_room::wake()
{
    boost::asio::post(loop_.context(), [mark = alive_] {
        if (*mark != nullptr) {
            (*mark)->serve_woken();
        }
    });
}

// Serves one lease that was woken. It runs once for each of them.
void waiting_room::serve_woken()
{
    loop_.refresh_now();
    const auto w = std::find_if(all_.begin(), all_.end(), [this](waiting_lease& l) {
        return l.is_queued() && queue_.take_wake_up(l);
    });
    if (w != all_.end()) {
        serve(*w);
    }  // else it has left, and another was woken instead
}

void waiting_room::close()
{
    while (!all_.empty()) {
        all_.front().lease()->abandon();
    }
}

}  // namespace gateway::proxy
