#include "gateway/base/timer_wheel.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace gateway::base {

timer_entry::~timer_entry()
{
    unlink();
}

void timer_entry::unlink()
{
    if (link_ == nullptr) {
        return;
    }
    *link_ = next_;
    if (next_ != nullptr) {
        next_->link_ = link_;
    }
    next_ = nullptr;
    link_ = nullptr;
}

timer_wheel::timer_wheel(instant start, duration tick, std::size_t slots)
    : slots_(slots, nullptr), start_(start), tick_(tick)
{
    assert(tick.count() > 0 && slots > 0);
}

timer_wheel::~timer_wheel()
{
    for (timer_entry*& head : slots_) {
        while (head != nullptr) {
            head->armed_ = false;
            head->unlink();
        }
    }
}

void timer_wheel::arm(timer_entry& entry, instant deadline)
{
    entry.deadline_ = deadline;
    entry.armed_ = true;
    if (entry.link_ != nullptr && deadline >= entry.linked_for_) {
        return;
    }
    entry.unlink();
    link(entry);
}

void timer_wheel::disarm(timer_entry& entry)
{
    entry.armed_ = false;
}

void timer_wheel::advance(instant now)
{
    const std::int64_t last = now <= start_ ? 0 : (now - start_) / tick_;
    // One turn of the wheel visits every slot, so that after a long pause more turns would find
    // nothing.
    ticks_done_ = std::max(ticks_done_, last - static_cast<std::int64_t>(slots_.size()));
    while (ticks_done_ < last) {
        ++ticks_done_;
        fire(slot(ticks_done_), now);
    }
}

timer_entry*& timer_wheel::slot(std::int64_t tick)
{
    return slots_[static_cast<std::size_t>(tick) % slots_.size()];
}

// Links the entry into the slot of the first tick that ends at or after its deadline, or of the
// next tick if that one is over.
void timer_wheel::link(timer_entry& entry)
{
    std::int64_t tick = 0;
    if (entry.deadline_ > start_) {
        const duration distance = entry.deadline_ - start_;
        tick = distance / tick_ + (distance % tick_ > duration::zero() ? 1 : 0);
    }
    timer_entry*& head = slot(std::max(tick, ticks_done_ + 1));
    entry.linked_for_ = entry.deadline_;
    entry.next_ = head;
    entry.link_ = &head;
    if (head != nullptr) {
        head->link_ = &entry.next_;
    }
    head = &entry;
}

// Fires the entries of a slot. Nothing is held across expired() but the head of the list that was
// taken out of the slot, as expired() may arm, disarm or destroy any entry. Entries leave that list
// by their own links.
void timer_wheel::fire(timer_entry*& slot, instant now)
{
    timer_entry* due = std::exchange(slot, nullptr);
    if (due != nullptr) {
        due->link_ = &due;
    }
    while (due != nullptr) {
        timer_entry& entry = *due;
        entry.unlink();
        if (!entry.armed_) {
            continue;
        }
        if (entry.deadline_ > now) {
            link(entry);
            continue;
        }
        entry.armed_ = false;
        entry.expired(now);
    }
}

}  // namespace gateway::base
