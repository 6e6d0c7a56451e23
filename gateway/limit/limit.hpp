// A limit: how fast tokens come back, and how many a bucket holds. Impossible ones cannot be built.
#pragma once

#include "gateway/limit/decision.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace gateway::limit {

// What the algebra works in: a limit seen in some store's ticks (nanoseconds in memory,
// microseconds in Redis, whose Lua numbers are exact only to 2^53).
struct terms {
    // Ticks per token, rounded up, so that there is never a token too many.
    std::int64_t interval = 0;
    // Tokens in a full bucket.
    std::int64_t burst = 0;

    // Ticks from empty to full.
    constexpr std::int64_t capacity() const { return interval * burst; }

    // What it is to a script in a store, which knows the order.
    constexpr std::array<std::int64_t, 2> numbers() const { return {interval, burst}; }

    bool operator==(const terms&) const = default;
};

class limit {
public:
    // A full refill may take at most this long: then no sum in the algebra can overflow,
    // in 64-bit nanoseconds or in a double's 53 bits of microseconds.
    static constexpr base::duration max_refill = std::chrono::hours{24 * 365 * 100};

    // `tokens` per `period`. Nothing if a number is below 1, if a token would take less than a
    // nanosecond, or if a full refill would take longer than max_refill, in either kind of ticks.
    static std::optional<limit> make(
        std::int64_t tokens, base::duration period, std::int64_t burst
    );

    std::int64_t burst() const { return nanoseconds_.burst; }

    // Time from empty to full.
    base::duration refill() const { return base::duration{nanoseconds_.capacity()}; }

    bool has_rate_of(const limit& other) const
    {
        return nanoseconds_.interval == other.nanoseconds_.interval;
    }

    // What was said of an allowed request, without its charge of `cost`.
    decision without(decision said, std::int64_t cost) const;

    const terms& in_nanoseconds() const { return nanoseconds_; }

    // An interval below a microsecond becomes one.
    const terms& in_microseconds() const { return microseconds_; }

    bool operator==(const limit&) const = default;

private:
    limit(const terms& nanoseconds, const terms& microseconds)
        : nanoseconds_(nanoseconds), microseconds_(microseconds)
    {}

    // Divided once, here, and not at every decision.
    terms nanoseconds_;
    terms microseconds_;
};

}  // namespace gateway::limit
