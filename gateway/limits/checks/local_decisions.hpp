// `local_decisions` has the local store decide batches of a request's charges.
// Ownership: a limit_check.
// Thread: one thread only.
#pragma once

#include "gateway/limits/checks/checked_limits.hpp"
#include "gateway/store/memory/memory_store.hpp"

namespace gateway::limits {

class local_decisions {
public:
    local_decisions(store::memory_store& local, const base::turn_clock& c, checked_limits& limits)
        : local_(local), clock_(c), limits_(limits)
    {}

    // Decides a batch. Returns false if the request is refused; the verdict says why.
    bool decide(store::intent what, charge_batch& b, telemetry::outcome when_allowed);

    // Lets the batch reject the request. Returns false if it does not, and nothing is taken.
    bool reject(charge_batch& b);

    // Refunds a batch that was taken, and shows the buckets without the charge.
    void refund(charge_batch& b);

private:
    store::memory_store& local_;
    const base::turn_clock& clock_;
    checked_limits& limits_;

    bool decide_without_room(store::intent what, charge_batch& b, telemetry::outcome when_allowed);
};

}  // namespace gateway::limits
