// `held_requests` holds requests whose tokens are still to come, each until its moment
// (`max_wait`). There is one per worker and thread. The caller bounds how many all workers hold
// together.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <atomic>
#include <cstddef>
#include <map>

namespace gateway::limits {

class held_requests;

// `held_request` is a request that can be held.
// Requires: it is released before it is destroyed.
class held_request {
public:
    held_request() = default;
    held_request(const held_request&) = delete;
    held_request& operator=(const held_request&) = delete;

    // Called when its moment has come. It is not held any more.
    virtual void tokens_are_there() = 0;

    virtual ~held_request() = default;

    bool held() const { return held_; }

private:
    friend class held_requests;
    bool held_ = false;
    // Position among the waiting requests, while it is held.
    std::multimap<base::instant, held_request*>::iterator at_;
};

class held_requests {
public:
    // Counts the requests that all workers hold in `all`, and those of this worker in `held`.
    // Ownership: both outlive this object.
    held_requests(net::loop& l, std::atomic<std::size_t>& all, telemetry::gauge& held)
        : all_(all), here_(held), first_moment_(l.get_executor(), [this] { let_go(base::now()); })
    {}

    // Holds `r` until that moment. Returns false if all workers hold `most` requests already.
    [[nodiscard]] bool hold(held_request& r, base::instant until, std::size_t most);

    // Ends the wait of `r`, which has gone or does not wait any more. Does nothing if it is not
    // held.
    void release(held_request& r);

private:
    std::atomic<std::size_t>& all_;
    telemetry::gauge& here_;
    // Held requests, the soonest first; those of one moment in the order in which they came.
    std::multimap<base::instant, held_request*> waiting_;
    net::alarm first_moment_;

    void forget(held_request& r);
    void await_first();
    void let_go(base::instant now);
};

}  // namespace gateway::limits
