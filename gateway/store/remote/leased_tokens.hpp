// Tokens that were taken ahead from one bucket in a shared store: when they may be spent, and what
// of them is still to be given back. Pure. In microseconds of this worker's clock.
//
// To the store they are charged: its bucket owes them, and is paid them back by the limit's rate,
// one after the other, like any debt. A leased token may be spent only while the bucket has not
// been paid that very token, or the token would be there twice: here, and in the store. So what a
// worker spends of its lease is nothing that the bucket could not have given at that moment
// (docs/decisions/0018).
#pragma once

#include "gateway/limit/pace.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::store {

class leased_tokens {
public:
    leased_tokens() = default;

    // So many, in a question that was asked at `asked`; the bucket is full again at `full_at`, as
    // the answer said, no later than counted from then. They are spent before `until`.
    struct taken {
        std::int64_t tokens = 0;
        std::int64_t asked = 0;
        std::int64_t full_at = 0;
        std::int64_t until = 0;
    };

    leased_tokens(const limit::pace& pace, const taken& by)
        : pace_(pace), left_(by.tokens), asked_(by.asked), owed_until_(by.full_at), until_(by.until)
    {}

    // Those of the tokens left for which the bucket has not been refilled yet.
    std::int64_t owed(std::int64_t now) const
    {
        const std::int64_t time = std::max<std::int64_t>(owed_until_ - now, 0);
        return std::min(pace_.tokens_in(time), left_);
    }

    // What may be spent.
    std::int64_t usable(std::int64_t now) const { return now < until_ ? owed(now) : 0; }

    std::int64_t until() const { return until_; }

    // How long the bucket will be paying what it owed before the first of those that may be spent.
    std::int64_t owed_before(std::int64_t now) const
    {
        return owed_until_ - now - pace_.time_of(owed(now));
    }

    // Of those that may be spent.
    void spend(std::int64_t tokens, std::int64_t now) { left_ = owed(now) - tokens; }

    // The store has said when the bucket will be full. If that is sooner than was to be expected,
    // others have given tokens back.
    void heard(std::int64_t full_at) { owed_until_ = std::min(owed_until_, full_at); }

    // Since when they have been away from the bucket.
    std::int64_t asked() const { return asked_; }

private:
    limit::pace pace_{};
    std::int64_t left_ = 0;
    std::int64_t asked_ = 0;
    // When the bucket has been paid all of them.
    std::int64_t owed_until_ = 0;
    std::int64_t until_ = 0;
};

}  // namespace gateway::store
