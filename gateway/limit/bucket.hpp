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

// What a store keeps for one client under one limit. What is in it is for the algebra alone.
class bucket {
public:
    // One that was never charged.
    constexpr bucket() = default;

    // One that is full again at `full_at`, charged under `t`.
    constexpr bucket(const terms& t, std::int64_t full_at)
        : full_at_(full_at), interval_(t.interval)
    {}

    constexpr bool never_charged() const { return interval_ == 0; }

    // The moment from which it is as good as never seen.
    constexpr std::int64_t full_at() const { return full_at_; }

    constexpr bool is_full(std::int64_t now) const { return full_at_ <= now; }

    // Whether it was charged at the rate of `t`.
    constexpr bool follows(const terms& t) const { return interval_ == t.interval; }

    bool operator==(const bucket&) const = default;

private:
    std::int64_t full_at_ = 0;
    // Ticks per token when the debt was made: it lets a bucket follow a changed rate without
    // forgetting or inventing tokens. 0: never charged.
    std::int64_t interval_ = 0;

    friend constexpr bucket rebased(const terms& t, const bucket& b, std::int64_t now);
};

struct step {
    bool allowed = false;
    // If allowed: what the bucket becomes if the request goes ahead.
    bucket after;
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
    if (b.is_full(now) || b.follows(t) || b.interval_ <= 0) {
        return {t, b.full_at_};
    }
    using wide = __int128;
    const wide owed = static_cast<wide>(b.full_at_ - now) * t.interval;
    const wide scaled = (owed + b.interval_ - 1) / b.interval_;
    const wide most = base::duration{limit::max_refill}.count();
    return {t, now + static_cast<std::int64_t>(std::min(scaled, most))};
}

// Ticks until the bucket is full under `t`.
constexpr std::int64_t owed(const terms& t, const bucket& b, std::int64_t now)
{
    return std::max(rebased(t, b, now).full_at(), now) - now;
}

// What is to be said of a bucket that is full again in `debt` ticks.
constexpr step said_of(
    const terms& t, std::int64_t now, std::int64_t debt, bool allowed, std::int64_t retry_in
)
{
    return {
        .allowed = allowed,
        .after = {t, now + debt},
        .remaining = std::max<std::int64_t>(t.burst - ceil_div(debt, t.interval), 0),
        .retry_in = retry_in,
        .full_in = debt,
    };
}

// The bucket as it is, without a request: allowed.
constexpr step look(const terms& t, const bucket& b, std::int64_t now)
{
    return said_of(t, now, owed(t, b, now), true, 0);
}

// One request of `cost` tokens (>= 1) at `now`. Does not change the bucket: the store does, when
// every limit of the request agreed.
constexpr step take(const terms& t, const bucket& b, std::int64_t now, std::int64_t cost)
{
    assert(t.interval >= 1 && t.burst >= 1 && cost >= 1);
    const std::int64_t debt = owed(t, b, now);
    // With cost <= burst, cost * interval <= capacity: nothing here can overflow.
    if (cost > t.burst || debt > t.capacity() - cost * t.interval) {
        const std::int64_t wait = debt + std::min(cost, t.burst) * t.interval - t.capacity();
        return said_of(t, now, debt, false, wait);
    }
    return said_of(t, now, debt + cost * t.interval, true, 0);
}

// The bucket when it is given back a charge which take() allowed `held` ticks ago, because another
// limit of the same request said no. Never below what it would have been without the charge: while
// the charge was held, the bucket may have refilled tokens that a full bucket would have lost, and
// others may have spent them. So what can have flowed back meanwhile is not given back again; with
// `held` zero (one critical section) the refund is exact.
constexpr bucket refunded(
    const terms& t, const bucket& b, std::int64_t now, std::int64_t cost, std::int64_t held = 0
)
{
    assert(cost >= 1 && cost <= t.burst && held >= 0);
    const std::int64_t given = std::max<std::int64_t>(cost * t.interval - held, 0);
    return {t, rebased(t, b, now).full_at() - given};
}

}  // namespace gateway::limit
