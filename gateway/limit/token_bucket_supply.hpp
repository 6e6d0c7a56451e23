// Tokens that come one after the other: a unit is a tick, so what a bucket owes is the time until
// it is full. The generic cell rate algorithm (ITU-T I.371, "virtual scheduling") with the
// theoretical arrival time read as "full at".
#pragma once

#include "gateway/limit/debt.hpp"

#include <cstdint>

namespace gateway::limit {

class token_bucket_supply {
public:
    constexpr token_bucket_supply(const terms& t, moment at) : terms_(t), now_(at.now) {}

    constexpr std::int64_t unit() const { return terms_.interval; }

    // What the bucket owes now.
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

    // One that owes so much now.
    constexpr bucket owing(std::int64_t debt) const { return {terms_, now_ + debt}; }

    // One that is full, and was so at that moment.
    constexpr bucket full_since(std::int64_t at) const { return {terms_, at}; }

    // How much later than its debt says a bucket gets its tokens.
    constexpr lateness late(const bucket&) const { return {}; }

    // Ticks until so many units more have been issued.
    constexpr std::int64_t time_of(std::int64_t units, const lateness&) const { return units; }

    // Units that have been issued when so many have.
    constexpr std::int64_t issued_by(std::int64_t units) const { return units; }

    // Ticks until a bucket is full that owes so much, some of it for a request that waits.
    constexpr std::int64_t full_in(std::int64_t debt, std::int64_t, const lateness&) const
    {
        return debt;
    }

    // Units issued in the last so many ticks.
    constexpr std::int64_t issued_in_last(std::int64_t ticks) const { return ticks; }

    // Units that a bucket can owe.
    constexpr std::int64_t most() const { return most_units; }

private:
    static constexpr std::int64_t most_units = base::duration{limit::max_refill}.count();

    const terms& terms_;
    std::int64_t now_;
};

}  // namespace gateway::limit
