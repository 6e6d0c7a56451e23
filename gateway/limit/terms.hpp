// What the algebra works in: a limit seen in some store's ticks (nanoseconds in memory,
// microseconds in Redis, whose Lua numbers are exact only to 2^53).
#pragma once

#include "gateway/limit/windows.hpp"

#include <cstdint>

namespace gateway::limit {

struct terms {
    // Ticks per token, rounded up, so that there is never a token too many. 1 with windows.
    std::int64_t interval = 0;
    // Tokens in a full bucket.
    std::int64_t burst = 0;
    // Null: tokens are issued one by one, all the time. The limit's own.
    const windows* issued_in = nullptr;

    // What a full bucket holds, in units of its supply.
    constexpr std::int64_t capacity() const { return interval * burst; }

    bool operator==(const terms&) const = default;
};

}  // namespace gateway::limit
