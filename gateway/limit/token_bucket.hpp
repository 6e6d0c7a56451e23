// `token_bucket_supply` issues tokens one after the other. A unit is a tick, so a bucket's debt is
// the time until it is full. It is the generic cell rate algorithm (ITU-T I.371, "virtual
// scheduling") with the theoretical arrival time read as "full at".
#pragma once

#include "gateway/limit/debt.hpp"

#include <cstdint>

namespace gateway::limit {

class token_bucket_supply {
public:
    constexpr token_bucket_supply(const terms& t, moment at) : terms_(t), now_(at.now) {}

    constexpr std::int64_t unit() const { return terms_.interval; }

    // Returns what the bucket owes now.
    constexpr std::int64_t debt(const bucket& b) const
    {
        if (b.is_full(now_)) {
            return 0;
        }
        const bool follows = b.interval() == terms_.interval;
        return follows            ? b.full_at() - now_
               : b.in_windows()   ? rescaled(b.owed(), 1, terms_.interval, most_units)
               : b.interval() > 0 ? rescaled(b.full_at() - now_, b.interval(), unit(), most_units)
                                  : b.full_at() - now_;
    }

    // Returns a bucket that owes `debt` now.
    constexpr bucket owing(std::int64_t debt) const { return {terms_, now_ + debt}; }

    // Returns a bucket that is full, and has been since `at`.
    constexpr bucket full_since(std::int64_t at) const { return {terms_, at}; }

    // Returns by how much tokens come later than the bucket's debt says: never here.
    constexpr lateness late(const bucket&) const { return {}; }

    // Returns the ticks until so many units more have been issued.
    constexpr std::int64_t time_of(std::int64_t units, const lateness&) const { return units; }

    // Returns the units that have been issued by the time `units` have: no more here.
    constexpr std::int64_t issued_by(std::int64_t units) const { return units; }

    // Returns the ticks until a bucket with this debt is full. Part of the debt may belong to a
    // request that waits.
    constexpr std::int64_t full_in(std::int64_t debt, std::int64_t, const lateness&) const
    {
        return debt;
    }

    // Returns the units issued in the last so many ticks.
    constexpr std::int64_t issued_in_last(std::int64_t ticks) const { return ticks; }

    // Returns the most units that a bucket can owe.
    constexpr std::int64_t most() const { return most_units; }

private:
    static constexpr std::int64_t most_units = base::duration{limit::max_refill}.count();

    const terms& terms_;
    std::int64_t now_;
};

}  // namespace gateway::limit
