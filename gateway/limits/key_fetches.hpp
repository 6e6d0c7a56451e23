// `key_fetches` is what workers know of the fetches of keys, and how they ask for one: when a token
// names a key that is not known. Requests whose tokens verify do not look at it.
// Thread: any for is_worth_waiting(), the main thread for the rest.
#pragma once

#include "gateway/base/clock.hpp"

#include <atomic>
#include <functional>
#include <utility>

namespace gateway::limits {

class key_fetches {
public:
    // Most requests that wait for a fetch, in all workers together.
    static constexpr std::size_t max_waiting = 1'000;

    // True if a request whose token names an unknown key may wait for it: a fetch is under way, or
    // may be begun, which this then asks for.
    bool is_worth_waiting(base::instant now) const
    {
        if (under_way_.load(std::memory_order_relaxed)) {
            return true;
        }
        if (now.time_since_epoch().count() < allowed_from_.load(std::memory_order_relaxed)) {
            return false;
        }
        ask_();
        return true;
    }

    // Sets the function that asks for a fetch, from any thread.
    // Requires: no worker runs yet.
    void on_demand(std::function<void()> ask) { ask_ = std::move(ask); }

    // Notes if a fetch is worth waiting for, and from when on one may be asked for.
    void note(bool under_way, base::instant allowed_from)
    {
        under_way_.store(under_way, std::memory_order_relaxed);
        allowed_from_.store(allowed_from.time_since_epoch().count(), std::memory_order_relaxed);
    }

private:
    std::function<void()> ask_;
    std::atomic<bool> under_way_{false};
    std::atomic<base::duration::rep> allowed_from_{base::duration::max().count()};
};

}  // namespace gateway::limits
