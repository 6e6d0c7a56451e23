// `leased_tokens` says how many tokens of a lease, taken ahead from one bucket in a shared store,
// may be spent now, and how many are still to be given back. Pure.
// Units: microseconds of this worker's clock.
//
// Leased tokens are a charge to the store: its bucket owes them, and is paid them back by the
// limit's rate, one after the other, like any debt. A leased token may be spent only while the
// bucket has not been paid that very token. Otherwise the token would exist twice: here, and in the
// store. The bucket could therefore have given at that moment whatever a worker spends of
// its lease (docs/decisions/0018).
#pragma once

#include "gateway/limit/pace.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::store {

class leased_tokens {
public:
    leased_tokens() = default;

    // A lease of `tokens`, in answer to a question of time `asked`. The answer gave the time when
    // the bucket is full again, and `full_at` is that, counted from `asked`, so that it is never
    // too late. The tokens are spent before `until`.
    struct taken {
        std::int64_t tokens = 0;
        std::int64_t asked = 0;
        std::int64_t full_at = 0;
        std::int64_t until = 0;
    };

    leased_tokens(const limit::pace& pace, const taken& by)
        : pace_(pace), left_(by.tokens), asked_(by.asked), owed_until_(by.full_at), until_(by.until)
    {}

    // Returns how many of the tokens left the bucket still owes.
    std::int64_t owed(std::int64_t now) const
    {
        const std::int64_t time = std::max<std::int64_t>(owed_until_ - now, 0);
        return std::min(pace_.tokens_in(time), left_);
    }

    // Returns the number of tokens that may be spent.
    std::int64_t usable(std::int64_t now) const { return now < until_ ? owed(now) : 0; }

    std::int64_t until() const { return until_; }

    // Returns the time in which the bucket pays what it owed before the first token that may be
    // spent.
    std::int64_t owed_before(std::int64_t now) const
    {
        return owed_until_ - now - pace_.time_of(owed(now));
    }

    // Spends tokens.
    // Requires: usable(now) >= tokens.
    void spend(std::int64_t tokens, std::int64_t now) { left_ = owed(now) - tokens; }

    // Notes when the bucket will be full, as the store reported. If that is sooner than expected,
    // others have given tokens back.
    void heard(std::int64_t full_at) { owed_until_ = std::min(owed_until_, full_at); }

    // Returns the time since which the tokens have been away from the bucket.
    std::int64_t asked() const { return asked_; }

private:
    limit::pace pace_{};
    std::int64_t left_ = 0;
    std::int64_t asked_ = 0;
    // Time when the bucket has been paid back all of them.
    std::int64_t owed_until_ = 0;
    std::int64_t until_ = 0;
};

}  // namespace gateway::store
