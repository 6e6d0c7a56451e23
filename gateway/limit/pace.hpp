// `pace` says how fast tokens come to a bucket, one after the other: `count` of them in every
// `period` ticks. Pure.
#pragma once

#include <cstdint>

namespace gateway::limit {

struct pace {
    // Both numbers are at least 1.
    std::int64_t count = 1;
    std::int64_t period = 1;

    // Returns the whole tokens that come within so many ticks, rounded down.
    // Requires: ticks >= 0.
    std::int64_t tokens_in(std::int64_t ticks) const
    {
        return count == 1 ? ticks / period
                          : static_cast<std::int64_t>(scaled(ticks, count) / period);
    }

    // Returns the tokens that a debt of so many ticks amounts to, rounded up.
    // Requires: ticks >= 0.
    std::int64_t tokens_owed(std::int64_t ticks) const
    {
        return static_cast<std::int64_t>((scaled(ticks, count) + period - 1) / period);
    }

    // Returns the ticks in which so many tokens come, rounded up.
    // Requires: tokens >= 0.
    std::int64_t time_of(std::int64_t tokens) const
    {
        return count == 1 ? tokens * period
                          : static_cast<std::int64_t>((scaled(tokens, period) + count - 1) / count);
    }

    bool operator==(const pace&) const = default;

private:
    static __int128 scaled(std::int64_t number, std::int64_t by)
    {
        return static_cast<__int128>(number) * by;
    }
};

}  // namespace gateway::limit
