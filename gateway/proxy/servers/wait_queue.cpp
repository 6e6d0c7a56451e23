#include "gateway/proxy/servers/wait_queue.hpp"

#include <algorithm>

namespace gateway::proxy {

bool wait_queue::enter(entry& e, std::size_t most)
{
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= most) {
        return false;
    }
    e.at_ = entries_.insert(entries_.end(), &e);
    e.woken_ = false;
    count_locked();
    return true;
}

void wait_queue::leave(entry& e)
{
    const std::lock_guard lock(mutex_);
    entries_.erase(e.at_);
    count_locked();
    if (e.woken_) {
        wake_locked(entries_.begin());
    }
}

bool wait_queue::take_wake_up(entry& e)
{
    return e.woken_.load() && e.woken_.exchange(false);
}

void wait_queue::wake_first()
{
    const std::lock_guard lock(mutex_);
    wake_locked(entries_.begin());
}

void wait_queue::wake_next(entry& e)
{
    const std::lock_guard lock(mutex_);
    wake_locked(std::next(e.at_));
}

void wait_queue::count_locked()
{
    length_.store(entries_.size());
    first_.store(entries_.empty() ? nullptr : entries_.front(), std::memory_order_relaxed);
}

void wait_queue::wake_locked(std::list<entry*>::iterator from)
{
    const auto first =
        std::find_if(from, entries_.end(), [](const entry* e) { return !e->woken_; });
    if (first != entries_.end()) {
        (*first)->woken_ = true;
        (*first)->wake();
    }
}

}  // namespace gateway::proxy
