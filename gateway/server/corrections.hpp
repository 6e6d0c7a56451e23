// What responses have corrected of a worker's buckets. The local store does it at once; a shared
// one is asked, and asked again until it has or a minute has passed: then the correction is counted
// as lost, and the client stays charged. One thread.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/server/reservation.hpp"
#include "gateway/store/memory_store.hpp"

#include <list>

namespace gateway::server {

class corrections {
public:
    // More at a time are lost at once.
    static constexpr std::size_t max_pending = 10'000;

    corrections(store::memory_store& local, const base::turn_clock& c) : local_(local), clock_(c) {}

    // `r` was reserved under the policy of that view. How long it was held is reckoned here.
    void make(
        const std::shared_ptr<const policy_view>& view,
        const reserved& r,
        const limit::correction& what
    );

    // Called from each tick.
    void retry();

    // Whether nothing is under way.
    bool idle() const { return pending_.empty(); }

    // Whether make() can take one more correction to a shared store, or would lose it.
    bool has_room() const { return pending_.size() < max_pending; }

    // The worker ends: what has not been made is lost.
    void lose_all();

private:
    // One on its way to a shared store. Destroys itself when it has been made, or is lost.
    class pending final : public store::question {
    public:
        pending(
            corrections& owner,
            std::shared_ptr<const policy_view> view,
            const reserved& r,
            const limit::correction& what
        );

        // If the store can be asked now. Destroys it if there is nothing to correct any more.
        void ask();

        // It is time to ask, again.
        bool waits(base::instant now) const;

        base::instant since() const { return since_; }

        void lose() { metrics_.corrections_lost.add(); }

        std::list<pending>::iterator self;

    private:
        corrections& owner_;
        std::shared_ptr<const policy_view> view_;
        store::shared_store& store_;
        telemetry::limit_metrics& metrics_;
        // No later than the tokens were there.
        base::instant there_at_;
        std::string bucket_name_;
        std::string receipt_;
        limit::correction what_;
        store::charge charge_;
        base::instant since_;
        base::instant asked_at_{};

        // What was taken has come back by itself.
        bool is_needless();

        void answered(const store::answer&) override { owner_.pending_.erase(self); }

        // retry() asks again.
        void failed(store::failure, store::taken) override {}
    };

    store::memory_store& local_;
    const base::turn_clock& clock_;
    std::list<pending> pending_;
};

}  // namespace gateway::server
