#include "gateway/limits/held_requests.hpp"

#include <algorithm>

namespace gateway::limits {

bool held_requests::hold(held_request& r, base::instant until, std::size_t most)
{
    if (all_.fetch_add(1, std::memory_order_relaxed) >= most) {
        all_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    r.at_ = waiting_.emplace(until, &r);
    r.held_ = true;
    r.round_ = round_;
    here_.add(1);
    if (r.at_ == waiting_.begin()) {
        await_first();
    }
    return true;
}

void held_requests::release(held_request& r)
{
    if (!r.held_) {
        return;
    }
    const bool was_first = r.at_ == waiting_.begin();
    forget(r);
    if (was_first) {
        await_first();
    }
}

void held_requests::forget(held_request& r)
{
    waiting_.erase(r.at_);
    r.held_ = false;
    here_.add(-1);
    all_.fetch_sub(1, std::memory_order_relaxed);
}

void held_requests::await_first()
{
    if (waiting_.empty()) {
        first_moment_.cancel();
    } else {
        first_moment_.set(waiting_.begin()->first);
    }
}

// Lets all requests go whose moment has come. Each may hold or release others from inside.
void held_requests::let_go(base::instant now)
{
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
        held_request& r = *waiting_.begin()->second;
        forget(r);
        r.hold_is_over();
    }
    await_first();
}

// A request that is held again from inside is not let go a second time. Any call may end others, so
// that no iterator outlives one.
void held_requests::let_all_go()
{
    ++round_;
    const auto held_before = [this](const auto& waiting) {
        return waiting.second->round_ != round_;
    };
    for (auto next = waiting_.begin(); next != waiting_.end();
         next = std::find_if(waiting_.begin(), waiting_.end(), held_before)) {
        held_request& r = *next->second;
        forget(r);
        r.hold_is_over();
    }
    await_first();
}

}  // namespace gateway::limits
