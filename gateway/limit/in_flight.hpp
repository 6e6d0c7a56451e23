// A limit of requests in flight: its numbers, and its supply of permits, which do not come back by
// themselves.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/limit/debt.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gateway::limit {

class in_flight_numbers {
public:
    static constexpr base::duration shortest_lease = std::chrono::seconds{1};

    // Makes a limit of `max` requests in flight. A shared store keeps a permit for `lease`, unless
    // it is renewed. Errors: returns nothing if `max` is below 1 or above windows::most_tokens, or
    // if the lease is below shortest_lease.
    static std::optional<in_flight_numbers> make(std::int64_t max, base::duration lease)
    {
        if (max < 1 || max > windows::most_tokens || lease < shortest_lease) {
            return std::nullopt;
        }
        return in_flight_numbers{max, lease};
    }

    // Retry-After of a rejected client is a second.
    terms in_ticks(base::duration tick) const
    {
        return {
            .interval = 1,
            .burst = max_,
            .how = supply_kind::in_flight,
            .length = base::duration{std::chrono::seconds{1}} / tick};
    }

    std::optional<in_flight_numbers> scaled(const smaller& to) const
    {
        return in_flight_numbers{to.burst, lease_};
    }

    std::optional<in_flight_numbers> at_rate(std::int64_t, base::duration) const
    {
        return std::nullopt;
    }

    base::duration refill() const { return base::duration{0}; }

    base::duration lease() const { return lease_; }

    void append_numbers(std::vector<std::int64_t>& to, base::duration) const
    {
        to.insert(to.end(), {in_flight_code, max_, lease_ / std::chrono::microseconds{1}});
    }

private:
    std::int64_t max_;
    base::duration lease_;

    in_flight_numbers(std::int64_t max, base::duration lease) : max_(max), lease_(lease) {}
};

// Counts in requests in flight, whose permits are released when they end.
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
