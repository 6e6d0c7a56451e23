// `terms` is a limit in the ticks of one store, as the algebra uses it: nanoseconds in memory,
// microseconds in Redis, whose Lua numbers are exact only to 2^53.
#pragma once

#include "gateway/limit/windows.hpp"

#include <cstdint>

namespace gateway::limit {

// `supply_kind` says how a limit's tokens come to a bucket, see limit/supply.hpp.
enum class supply_kind : std::uint8_t { token_bucket, fixed_window, sliding, in_flight };

// Number that stands for a kind in limit::append_numbers(), in place of a token bucket's interval.
inline constexpr std::int64_t windows_code = 0;
inline constexpr std::int64_t sliding_code = -1;
inline constexpr std::int64_t in_flight_code = -2;

struct terms {
    // Ticks per token, rounded up, so that there is never a token too many. 1 for supplies whose
    // tokens do not come one by one.
    std::int64_t interval = 0;
    // Tokens in a full bucket.
    std::int64_t burst = 0;
    // Windows of a `fixed_window` supply, else null.
    // Ownership: the limit's.
    const windows* issued_in = nullptr;
    supply_kind how = supply_kind::token_bucket;
    // `sliding`: ticks after which a token comes back. `in_flight`: ticks that a rejected client is
    // told to wait.
    std::int64_t length = 0;
    // `sliding`: the moment at which a token is taken is rounded up to a multiple of this.
    std::int64_t part = 1;

    // Returns what a full bucket holds, in units of its supply.
    constexpr std::int64_t capacity() const { return interval * burst; }

    bool operator==(const terms&) const = default;
};

}  // namespace gateway::limit
