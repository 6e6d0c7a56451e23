// What the algebra works in: a limit seen in some store's ticks (nanoseconds in memory,
// microseconds in Redis, whose Lua numbers are exact only to 2^53).
#pragma once

#include "gateway/limit/windows.hpp"

#include <cstdint>

namespace gateway::limit {

// How a limit's tokens come to a bucket; see limit/supply.hpp.
enum class supply_kind : std::uint8_t { token_bucket, fixed_window, sliding, in_flight };

struct terms {
    // Ticks per token, rounded up, so that there is never a token too many; 1 where tokens do not
    // come one by one.
    std::int64_t interval = 0;
    // Tokens in a full bucket.
    std::int64_t burst = 0;
    // Of `fixed_window`, else null. The limit's own.
    const windows* issued_in = nullptr;
    supply_kind how = supply_kind::token_bucket;
    // Of `sliding`: after how long a token comes back, and to multiples of what the moment of its
    // taking is rounded up. Of `in_flight`: how long whoever finds none is told to wait.
    std::int64_t length = 0;
    std::int64_t part = 1;

    // What a full bucket holds, in units of its supply.
    constexpr std::int64_t capacity() const { return interval * burst; }

    bool operator==(const terms&) const = default;
};

}  // namespace gateway::limit
