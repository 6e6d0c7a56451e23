// `last_answer` decides by a shared store's last answer if its earlier ones still count.
//
// A grant is tokens that a bucket gets and that no worker expects. Every answer carries a grant
// mark, which changes whenever there is a grant. An earlier answer therefore counts only if the
// store has answered something that was asked within `heard_for`, and a grant is noticed here no
// later than that. While a store cannot be asked, all its answers count. Time is an argument.
// Thread: one.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstdint>

namespace gateway::store {

// `belief` says which earlier answers of a store count.
enum class belief : bool { fresh, all };

class last_answer {
public:
    static constexpr base::duration heard_for = std::chrono::milliseconds{100};

    // Notes an answer, with its grant epoch, to what was asked at that time. Returns true if the
    // epoch is another one than before, so that no earlier answer counts any more.
    [[nodiscard]] bool heard(std::int64_t epoch, base::instant asked)
    {
        asked_at_ = asked;
        const bool another = epoch != epoch_;
        epoch_ = epoch;
        return another;
    }

    bool counts(base::instant now, belief in) const
    {
        return in == belief::all || now - asked_at_ <= heard_for;
    }

    std::int64_t epoch() const { return epoch_; }

    // Returns the time at which the last answer was asked for.
    base::instant asked_at() const { return asked_at_; }

private:
    std::int64_t epoch_ = 0;
    base::instant asked_at_{};
};

}  // namespace gateway::store
