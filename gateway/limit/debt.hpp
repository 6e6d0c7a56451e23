// Functions and types to compute what a bucket owes at one moment, in the units of a supply.
#pragma once

#include "gateway/limit/bucket.hpp"
#include "gateway/limit/history.hpp"
#include "gateway/limit/terms.hpp"

#include <algorithm>
#include <cstdint>

namespace gateway::limit {

// `moment` is the time at which a store decides, in its ticks.
struct moment {
    std::int64_t now = 0;
    // Difference to the clock of the limit's windows, see windows::shift(), or to the clock on
    // which the parts of a sliding limit begin.
    std::int64_t shift = 0;
    // Charges of a sliding limit's bucket. Null: there are none.
    const history* past = nullptr;

    // Implicit, as a token bucket and requests in flight need nothing but a time.
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr moment(std::int64_t at, std::int64_t to_windows = 0) : now(at), shift(to_windows) {}

    moment(std::int64_t at, const history& charged, std::int64_t to_parts = 0)
        : now(at), shift(to_parts), past(&charged)
    {}
};

// `lateness` delays tokens beyond what a debt alone says. It occurs if the clock of a limit's
// windows has been set since the bucket was written.
struct lateness {
    std::int64_t windows = 0;
    // Upper bound in ticks: the bucket is full after that, whatever its windows do.
    std::int64_t most_ticks = INT64_MAX;
    // The windows that the bucket waits for: the tokens of the last come when it is full.
    std::int64_t last_window = INT64_MAX;
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b)
{
    return a / b + (a % b > 0 ? 1 : 0);
}

// Converts a debt from units worth `from` a token to units worth `to`. Rounds up, so that the debt
// never shrinks.
constexpr std::int64_t rescaled(
    std::int64_t debt, std::int64_t from, std::int64_t to, std::int64_t most
)
{
    using wide = __int128;
    const wide scaled = (static_cast<wide>(debt) * to + from - 1) / from;
    return static_cast<std::int64_t>(std::min<wide>(scaled, most));
}

// Returns the tokens that a bucket owes, whatever its limit was, rounded up.
constexpr std::int64_t tokens_owed(const bucket& b, std::int64_t now)
{
    if (b.is_full(now)) {
        return 0;
    }
    return b.in_windows() ? b.owed()
                          : rescaled(
                                b.full_at() - now,
                                std::max<std::int64_t>(b.interval(), 1),
                                1,
                                windows::most_tokens
                            );
}

// `counted_supply` is the common part of supplies whose buckets store a number of tokens and no
// time.
class counted_supply {
public:
    constexpr std::int64_t unit() const { return 1; }

    constexpr lateness late(const bucket&) const { return {}; }

    constexpr std::int64_t issued_by(std::int64_t units) const { return units; }

    constexpr std::int64_t issued_in_last(std::int64_t) const { return 0; }

    constexpr std::int64_t most() const { return windows::most_tokens; }
};

}  // namespace gateway::limit
