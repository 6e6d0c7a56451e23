// Requests whose tokens are still to come: each is held until its moment (`max_wait`). One per
// worker and thread; how many there are in all workers together is bounded by who holds them.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <atomic>
#include <cstddef>
#include <map>

namespace gateway::limits {

class held_requests;

// Who is held. Must be released before it goes.
class held_request {
public:
    held_request() = default;
    held_request(const held_request&) = delete;
    held_request& operator=(const held_request&) = delete;

    // Its moment has come; it is not held any more.
    virtual void tokens_are_there() = 0;

    virtual ~held_request() = default;

    bool held() const { return held_; }

private:
    friend class held_requests;
    bool held_ = false;
    // Its place, while it is held.
    std::multimap<base::instant, held_request*>::iterator at_;
};

class held_requests {
public:
    // `all`: how many all workers hold; `held`: what metrics tell of this one. Both outlive it.
    held_requests(net::loop& l, std::atomic<std::size_t>& all, telemetry::gauge& held)
        : all_(all), here_(held), first_moment_(l.get_executor(), [this] { let_go(base::now()); })
    {}

    // False: `most` are held already.
    [[nodiscard]] bool hold(held_request& r, base::instant until, std::size_t most);

    // It has gone, or does not wait any more.
    void release(held_request& r);

private:
    std::atomic<std::size_t>& all_;
    telemetry::gauge& here_;
    // The soonest first; those of one moment in the order in which they came.
    std::multimap<base::instant, held_request*> waiting_;
    net::alarm first_moment_;

    void forget(held_request& r);
    void await_first();
    void let_go(base::instant now);
};

}  // namespace gateway::limits
