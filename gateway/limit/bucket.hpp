// The algebra of the token bucket: a client is one number, the moment its bucket is full again.
//
// It is the generic cell rate algorithm (ITU-T I.371, "virtual scheduling") with the theoretical
// arrival time read as "full at". All numbers are ticks of one clock; see limit::terms.
//   next      = max(full_at, now) + cost * interval
//   allowed   = next - now <= burst * interval          (only then is next stored)
//   remaining = burst - ceil((next - now) / interval)
//   retry     = next - now - burst * interval           (when rejected)
//   forget    = full_at <= now                          (as good as never seen)
#pragma once

#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace gateway::limit {

// What a store keeps for one client under one limit. `interval` is the one the debt was made at:
// it lets a bucket follow a changed rate without forgetting or inventing tokens.
struct bucket {
    std::int64_t full_at = 0;
    // Ticks per token; 0: the bucket was never charged.
    std::int64_t interval = 0;

    bool operator==(const bucket&) const = default;
};

struct step {
    bool allowed = false;
    // If allowed: what the bucket's full_at becomes if the request goes ahead.
    std::int64_t full_at = 0;
    // Whole tokens left after this request, rounded down, never negative.
    std::int64_t remaining = 0;
    // Ticks until the same request passes if nobody else comes; 0 when allowed. A cost above burst
    // never passes: then ticks until the bucket is full.
    std::int64_t retry_in = 0;
    // Ticks until the bucket is full.
    std::int64_t full_in = 0;
};

// What a step says to people, where a tick is one of Ticks.
template <typename Ticks>
constexpr decision decision_in(const step& s)
{
    return {
        .allowed = s.allowed,
        .remaining = s.remaining,
        .retry_after = Ticks{s.retry_in},
        .reset_after = Ticks{s.full_in},
    };
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b)
{
    return a / b + (a % b > 0 ? 1 : 0);
}

// The bucket under the limit's present interval: the same number of owed tokens, paid back at the
// new rate. Rounded up, so a debt never shrinks by the change itself.
//
// A store does `b = rebased(t, b, now)` before take() and keeps it whatever take() says. Were a
// rejected client's bucket left in the old interval, its debt would go on being paid at the old
// rate, and the retry_in it was told would be wrong again at every attempt.
constexpr bucket rebased(const terms& t, const bucket& b, std::int64_t now)
{
    if (b.full_at <= now || b.interval == t.interval || b.interval <= 0) {
        return {.full_at = b.full_at, .interval = t.interval};
    }
    using wide = __int128;
    const wide owed = static_cast<wide>(b.full_at - now) * t.interval;
    const wide scaled = (owed + b.interval - 1) / b.interval;
    const wide most = base::duration{limit::max_refill}.count();
    return {
        .full_at = now + static_cast<std::int64_t>(std::min(scaled, most)),
        .interval = t.interval,
    };
}

constexpr std::int64_t rescaled(const bucket& b, const terms& t, std::int64_t now)
{
    return rebased(t, b, now).full_at;
}

// One request of `cost` tokens (>= 1) at `now`. Does not change the bucket: the store does, when
// every limit of the request agreed.
constexpr step take(const terms& t, const bucket& b, std::int64_t now, std::int64_t cost)
{
    assert(t.interval >= 1 && t.burst >= 1 && cost >= 1);
    const std::int64_t full_at = std::max(rescaled(b, t, now), now);
    const std::int64_t owed = full_at - now;
    // With cost <= burst, cost * interval <= capacity: nothing here can overflow.
    if (cost > t.burst || owed > t.capacity() - cost * t.interval) {
        return {
            .allowed = false,
            .full_at = full_at,
            .remaining = std::max<std::int64_t>(t.burst - ceil_div(owed, t.interval), 0),
            .retry_in = owed + std::min(cost, t.burst) * t.interval - t.capacity(),
            .full_in = owed,
        };
    }
    const std::int64_t next = full_at + cost * t.interval;
    return {
        .allowed = true,
        .full_at = next,
        .remaining = t.burst - ceil_div(next - now, t.interval),
        .retry_in = 0,
        .full_in = next - now,
    };
}

// The full_at that gives back a charge which take() allowed `held` ticks ago, because another limit
// of the same request said no. Never below what it would have been without the charge: while the
// charge was held, the bucket may have refilled tokens that a full bucket would have lost, and
// others may have spent them. So what can have flowed back meanwhile is not given back again; with
// `held` zero (one critical section) the refund is exact.
constexpr std::int64_t refunded(
    const terms& t, const bucket& b, std::int64_t now, std::int64_t cost, std::int64_t held = 0
)
{
    assert(cost >= 1 && cost <= t.burst && held >= 0);
    return rescaled(b, t, now) - std::max<std::int64_t>(cost * t.interval - held, 0);
}

}  // namespace gateway::limit
