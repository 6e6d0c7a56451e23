// Corrections on their way to shared stores: each is asked for until it has been made, for a minute
// at most, and then counted as lost. Time is an argument. One thread.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/counter.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <string>

namespace gateway::store {

// What is to be corrected, of what was charged.
struct wanted_correction {
    shared_store& store;
    charge of;
    limit::correction what;
    // No later than the tokens were there: when they were taken, or after the wait for them.
    base::instant there_at;
    telemetry::counter& lost;
    // In which the store and what the charge points to live, but for the bucket's name.
    std::shared_ptr<const void> keeps;
};

class pending_corrections {
public:
    // More at a time are lost at once.
    static constexpr std::size_t max_pending = 10'000;
    // A store that did not make one is asked again so soon.
    static constexpr base::duration rest = std::chrono::milliseconds{100};

    void add(const wanted_correction& wanted, base::instant now);

    // Asks again for those that have rested. To be called as often.
    void retry(base::instant now);

    bool idle() const { return all_.empty(); }

    // Whether add() can take one more, or would lose it.
    bool has_room() const { return all_.size() < max_pending; }

    // What has not been made is lost.
    void lose_all();

private:
    class pending final : public question {
    public:
        pending(pending_corrections& owner, const wanted_correction& wanted, base::instant now);

        // If the store can be asked now. Destroys it if there is nothing to correct any more.
        void ask(base::instant now);

        // It is time to ask, again.
        bool waits(base::instant now) const { return !asked() && now - asked_at_ >= rest; }

        base::instant since() const { return since_; }

        void lose() { wanted_.lost.add(); }

        std::list<pending>::iterator self;

    private:
        pending_corrections& owner_;
        wanted_correction wanted_;
        std::string bucket_name_;
        std::string receipt_;
        base::instant since_;
        base::instant asked_at_{};

        bool is_needless(base::instant now);

        void answered(const answer&) override { owner_.all_.erase(self); }

        // retry() asks again.
        void failed(failure, taken) override {}
    };

    std::list<pending> all_;
};

}  // namespace gateway::store
