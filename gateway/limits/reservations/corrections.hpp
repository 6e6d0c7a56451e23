// `corrections` makes the corrections that responses bring to a worker's buckets. The local store
// makes one at once. A shared store is asked (store/pending_corrections), and a correction that it
// does not make leaves the client charged.
// Thread: one thread only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limits/reservations/reservation.hpp"
#include "gateway/store/memory/memory_store.hpp"
#include "gateway/store/pending_corrections.hpp"

namespace gateway::limits {

class corrections {
public:
    corrections(store::memory_store& local, const base::turn_clock& c) : local_(local), clock_(c) {}

    // Makes a correction. `r` was reserved under the policy of `view`. The time that its tokens
    // were held is computed here.
    void make(
        const std::shared_ptr<const policy_view>& view,
        const reserved& r,
        const limit::correction& what
    );

    // Asks again for corrections that a shared store has not made. Called on each tick.
    void retry() { pending_.retry(clock_.now()); }

    // True if no correction is under way.
    bool idle() const { return pending_.idle(); }

    // True if make() can take one more correction to a shared store. Otherwise it would lose it.
    bool has_room() const { return pending_.has_room(); }

    // Counts what has not been made as lost, when the worker ends.
    void lose_all() { pending_.lose_all(); }

private:
    store::memory_store& local_;
    const base::turn_clock& clock_;
    store::pending_corrections pending_;
};

}  // namespace gateway::limits
