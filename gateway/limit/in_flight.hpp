// `in_flight_supply` issues permits, which do not come back by themselves. A unit is a request in
// flight, whose permit is released at its end.
#pragma once

#include "gateway/limit/counted_supply.hpp"
#include "gateway/limit/debt.hpp"

#include <cstdint>

namespace gateway::limit {

class in_flight_supply : public counted_supply {
public:
    explicit constexpr in_flight_supply(const terms& t) : terms_(t) {}

    constexpr bucket owing(std::int64_t debt) const { return bucket::in_flight(debt); }

    constexpr bucket full_since(std::int64_t) const { return bucket::in_flight(0); }

    // Returns 0 for a bucket of tokens, as tokens are no requests in flight.
    constexpr std::int64_t debt(const bucket& b) const
    {
        return b.counts_in_flight() ? b.owed() : 0;
    }

    // Returns a fixed wait, as the end of another request is not known.
    constexpr std::int64_t time_of(std::int64_t units, const lateness&) const
    {
        return units > 0 ? terms_.length : 0;
    }

    constexpr std::int64_t full_in(std::int64_t debt, std::int64_t, const lateness& late) const
    {
        return time_of(debt, late);
    }

private:
    const terms& terms_;
};

}  // namespace gateway::limit
