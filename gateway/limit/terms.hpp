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
    // `sliding`: ticks after which a token comes back. `in_flight`: Retry-After of a rejected
    // client, in ticks.
    std::int64_t length = 0;
    // `sliding`: the moment at which a token is taken is rounded up to a multiple of this.
    std::int64_t part = 1;

    // True if tokens come one after the other, so that a debt is a time.
    constexpr bool is_by_time() const { return how == supply_kind::token_bucket; }

    // True if tokens come window by window.
    constexpr bool has_windows() const { return how == supply_kind::fixed_window; }

    // True if a bucket's debt is paid back at a rate.
    constexpr bool keeps_debts() const { return is_by_time() || has_windows(); }

    // True if charges are kept one by one, in a history beside the bucket.
    constexpr bool keeps_history() const { return how == supply_kind::sliding; }

    // True if tokens are permits, which are released when requests end.
    constexpr bool counts_permits() const { return how == supply_kind::in_flight; }

    // Returns what a full bucket holds, in units of its supply.
    constexpr std::int64_t capacity() const { return interval * burst; }

    // True if tokens come in the same way.
    bool issues_as(const terms& other) const
    {
        const bool same_windows =
            issued_in == other.issued_in ||
            (issued_in != nullptr && other.issued_in != nullptr && *issued_in == *other.issued_in);
        return how == other.how && interval == other.interval && length == other.length &&
               part == other.part && same_windows;
    }

    bool operator==(const terms&) const = default;
};

// `smaller` describes a smaller limit of the same kind, whose tokens take `times`/`by` as long.
// Only windows use `count`.
struct smaller {
    std::int64_t burst;
    std::int64_t count;
    std::int64_t times;
    std::int64_t by;
};

}  // namespace gateway::limit
