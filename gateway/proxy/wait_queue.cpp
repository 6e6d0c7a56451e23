#include "gateway/proxy/wait_queue.hpp"

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
    length_.store(entries_.size());
    return true;
}

void wait_queue::leave(entry& e)
{
    const std::lock_guard lock(mutex_);
    entries_.erase(e.at_);
    length_.store(entries_.size());
    if (e.woken_) {
        wake_first_locked();
    }
}

bool wait_queue::was_woken(entry& e)
{
    return e.woken_.load() && e.woken_.exchange(false);
}

void wait_queue::wake_first()
{
    const std::lock_guard lock(mutex_);
    wake_first_locked();
}

void wait_queue::wake_first_locked()
{
    const auto first =
        std::find_if(entries_.begin(), entries_.end(), [](const entry* e) { return !e->woken_; });
    if (first != entries_.end()) {
        (*first)->woken_ = true;
        (*first)->wake();
    }
}

}  // namespace gateway::proxy
