// `pending_corrections` makes corrections in shared stores. It asks for each until it has been
// made, for a minute at most, and then counts it as lost. Time is an argument.
// Thread: one.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/counter.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <string>

namespace gateway::store {

// A correction to make, and the charge that it corrects.
struct wanted_correction {
    shared_store& store;
    charge of;
    limit::correction what;
    // Time when the tokens were there, or earlier: when they were taken, or the end of the wait for
    // them.
    base::instant there_at;
    telemetry::counter& lost;
    // Keeps alive the store and all that the charge points to, except the bucket's name.
    std::shared_ptr<const void> keeps;
};

class pending_corrections {
public:
    // Most corrections at a time. One more is lost at once.
    static constexpr std::size_t max_pending = 10'000;
    // Time after which a store that did not make a correction is asked again.
    static constexpr base::duration rest = std::chrono::milliseconds{100};

    void add(const wanted_correction& wanted, base::instant now);

    // Asks again for corrections that have waited for `rest`.
    // Requires: it is called about every `rest`.
    void retry(base::instant now);

    bool idle() const { return all_.empty(); }

    // True if add() can take one more. Otherwise it would lose it.
    bool has_room() const { return all_.size() < max_pending; }

    // Counts every pending correction as lost, and forgets it.
    void lose_all();

private:
    class pending final : public question {
    public:
        pending(pending_corrections& owner, const wanted_correction& wanted, base::instant now);

        // Asks the store, if that is possible now. Destroys this object if there is nothing left to
        // correct.
        void ask(base::instant now);

        // True if it is time to ask again.
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
