// What responses have corrected of a worker's buckets. The local store does it at once; a shared
// one is asked (store/pending_corrections), and what it does not make leaves the client charged.
// One thread.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limits/reservation.hpp"
#include "gateway/store/memory/memory_store.hpp"
#include "gateway/store/pending_corrections.hpp"

namespace gateway::limits {

class corrections {
public:
    corrections(store::memory_store& local, const base::turn_clock& c) : local_(local), clock_(c) {}

    // `r` was reserved under the policy of that view. How long it was held is reckoned here.
    void make(
        const std::shared_ptr<const policy_view>& view,
        const reserved& r,
        const limit::correction& what
    );

    // Called from each tick.
    void retry() { pending_.retry(clock_.now()); }

    // Whether nothing is under way.
    bool idle() const { return pending_.idle(); }

    // Whether make() can take one more correction to a shared store, or would lose it.
    bool has_room() const { return pending_.has_room(); }

    // The worker ends: what has not been made is lost.
    void lose_all() { pending_.lose_all(); }

private:
    store::memory_store& local_;
    const base::turn_clock& clock_;
    store::pending_corrections pending_;
};

}  // namespace gateway::limits
