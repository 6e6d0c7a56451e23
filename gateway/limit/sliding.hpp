// `sliding_supply` returns each token one window after it was taken. A unit is a token, and a
// bucket owes what its history counts (limit/history.hpp).
#pragma once

#include "gateway/limit/counted_supply.hpp"
#include "gateway/limit/debt.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::limit {

class sliding_supply : public counted_supply {
public:
    sliding_supply(const terms& t, moment at) : terms_(t), at_(at) {}

    // Returns a bucket without its final time: when it is full is known once its history has been
    // charged, too.
    bucket owing(std::int64_t debt) const
    {
        return bucket::sliding(debt, debt > 0 ? INT64_MAX : at_.now);
    }

    bucket full_since(std::int64_t at) const { return bucket::sliding(0, at); }

    std::int64_t debt(const bucket& b) const { return tokens_owed(b, at_.now); }

    std::int64_t time_of(std::int64_t units, const lateness&) const
    {
        if (units <= 0) {
            return 0;
        }
        return taken_at(units) + terms_.length - at_.now;
    }

    // A request that waits counts from the end of its wait.
    std::int64_t full_in(std::int64_t debt, std::int64_t wait, const lateness& late) const
    {
        const std::int64_t waited = counted_at(terms_, at_.now + wait) + terms_.length - at_.now;
        const std::int64_t time = time_of(debt, late);
        return wait > 0 ? std::max(time, waited) : time;
    }

private:
    const terms& terms_;
    moment at_;

    // Returns when the n-th token was taken. Tokens that the history does not have are taken now.
    std::int64_t taken_at(std::int64_t n) const
    {
        const std::int64_t now = counted_at(terms_, at_.now);
        if (at_.past == nullptr) {
            return now;
        }
        return n <= at_.past->used() ? at_.past->taken_at(n) : std::max(now, at_.past->newest());
    }
};

}  // namespace gateway::limit
