// `held_requests` holds requests, each until its moment: those whose tokens are still to come
// (`max_wait`), and others that wait for keys. One thread has each. The caller bounds how many all
// workers hold together.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
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

    // Called when its moment has come, or all are let go. It is not held any more.
    virtual void hold_is_over() = 0;

    virtual ~held_request() = default;

    bool held() const { return held_; }

private:
    friend class held_requests;
    bool held_ = false;
    // Number of times that all had been let go when it was held.
    std::uint64_t round_ = 0;
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

    // Lets all requests go that are held now, although their moments have not come.
    void let_all_go();

private:
    std::atomic<std::size_t>& all_;
    telemetry::gauge& here_;
    // Held requests, the soonest first; those of one moment in the order in which they came.
    std::multimap<base::instant, held_request*> waiting_;
    net::alarm first_moment_;
    // Number of times that all have been let go.
    std::uint64_t round_ = 0;

    void forget(held_request& r);
    void await_first();
    void let_go(base::instant now);
};

}  // namespace gateway::limits
