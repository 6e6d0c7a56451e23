// The algebra of limits decides requests. A limit is a supply of tokens, and a client's bucket is
// one number: the debt that it owes to the supply. All numbers belong to one clock and one supply,
// see supply.hpp.
//   next      = debt + cost
//   allowed   = next <= capacity                        (only then does the bucket owe `next`),
//               or next <= capacity + what is issued while the request waits
//   remaining = capacity - debt, in whole tokens
//   retry     = time until next - capacity more is issued (if rejected, or if the request waits)
//   forget    = debt is 0                               (as good as never seen)
// Twin of store/redis/token_bucket.lua, take.lua, bucket.lua and take_any.lua.
#pragma once

#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/limit/supply.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace gateway::limit {

// `step` is the outcome of one request at one bucket. All times are in ticks.
struct step {
    bool allowed = false;
    // The bucket after the request, if it is allowed and goes ahead.
    bucket after;
    // Whole tokens left after this request, rounded down, never negative.
    std::int64_t remaining = 0;
    // Time until the same request passes if no other comes. If allowed, the time that the request
    // has to wait. A cost above the burst never passes: then the time until the bucket is full.
    std::int64_t retry_in = 0;
    // Time until the bucket is full.
    std::int64_t full_in = 0;
};

// `ahead` bounds how far a request may be ahead of its tokens. The request waits for them,
// behind those that came before it.
struct ahead {
    // Longest wait, in ticks. 0: the request may not wait.
    std::int64_t ticks = 0;
    // Largest number of tokens that may be missing.
    std::int64_t tokens = 0;
};

// Converts a step to a decision. Ticks is the chrono duration of one tick.
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

// True if rebased() would return the bucket unchanged. A bucket that is full within one window's
// length is one window ahead at most, whatever it owes. Nothing needs to be divided then.
inline bool is_current(const terms& t, const bucket& b, moment at)
{
    if (!b.follows(t)) {
        return false;
    }
    return !t.has_windows() || b.full_at() - at.now <= t.issued_in->length() ||
           fixed_window_supply{t, at}.late(b).windows <= 1;
}

// Returns the bucket under the limit's present terms: it owes the same number of tokens, and pays
// them back as these terms say. The debt is rounded up, so the change itself never shrinks it.
//
// A bucket of windows stays at most one window ahead of its debt. One that is further ahead was
// written before the wall clock was set. It is written anew, as it would otherwise wait for a time
// that has no meaning.
//
// A store does `b = rebased(t, b, now)` before take() and keeps the result whatever take() decides.
// If a rejected client's bucket were left as it was, it would go on paying its debt at the old
// rate, and the reported retry_in would be wrong again at every attempt.
inline bucket rebased(const terms& t, const bucket& b, moment at)
{
    if (is_current(t, b, at)) {
        return b;
    }
    return with_supply(t, at, [&](const auto& supply) {
        return b.is_full(at.now) ? supply.full_since(b.full_at()) : supply.owing(supply.debt(b));
    });
}

// Returns a bucket with the same debt for a client whose windows begin at other moments.
inline bucket moved(const terms& t, const bucket& b, moment from, moment to)
{
    const std::int64_t debt =
        with_supply(t, from, [&b](const auto& supply) { return supply.debt(b); });
    return with_supply(t, to, [debt](const auto& supply) { return supply.owing(debt); });
}

// `verdict` is a bucket's debt and the fate of a request there. The request passes when `missing`
// more units are issued. An allowed request waits until then. `late` delays those tokens.
struct verdict {
    std::int64_t debt = 0;
    std::int64_t missing = 0;
    bool allowed = true;
    lateness late{};
};

// Converts a verdict to a step.
template <typename Supply>
step step_of(const terms& t, const Supply& supply, const verdict& v)
{
    const std::int64_t retry_in = supply.time_of(v.missing, v.late);
    // A request that waits writes the bucket anew, so its own debt says when it is full.
    const bool waits = v.missing > 0 && v.allowed;
    return {
        .allowed = v.allowed,
        .after = supply.owing(v.debt),
        .remaining = std::max<std::int64_t>(t.burst - ceil_div(v.debt, supply.unit()), 0),
        .retry_in = retry_in,
        .full_in = supply.full_in(v.debt, v.allowed ? retry_in : 0, waits ? lateness{} : v.late),
    };
}

// Reports the bucket as it is, without a request. Always allowed.
inline step look(const terms& t, const bucket& b, moment at)
{
    return with_supply(t, at, [&](const auto& supply) {
        return step_of(t, supply, {.debt = supply.debt(b), .late = supply.late(b)});
    });
}

// Decides one request of `cost` tokens (>= 0). Does not change the bucket. The store stores
// step::after once every limit of the request has allowed it.
inline step take(
    const terms& t, const bucket& b, moment at, std::int64_t cost, const ahead& most = {}
)
{
    assert(t.interval >= 1 && t.burst >= 1 && cost >= 0);
    return with_supply(t, at, [&](const auto& supply) {
        const std::int64_t debt = supply.debt(b);
        const std::int64_t unit = supply.unit();
        // The product cannot overflow: with cost <= burst, cost * unit <= capacity.
        if (cost > t.burst || debt > t.capacity() - cost * unit) {
            const std::int64_t missing = debt + std::min(cost, t.burst) * unit - t.capacity();
            const lateness late = supply.late(b);
            const bool waits = cost <= t.burst && ceil_div(missing, unit) <= most.tokens &&
                               supply.time_of(missing, late) <= most.ticks;
            // Tokens issued after the bucket is full are lost.
            const std::int64_t owed =
                waits ? std::max(debt, supply.issued_by(missing)) + cost * unit : debt;
            return step_of(t, supply, {owed, missing, waits, late});
        }
        return step_of(t, supply, {.debt = debt + cost * unit});
    });
}

// `refund` describes tokens that take() charged and that are to be given back.
struct refund {
    // Number of tokens to give back.
    std::int64_t tokens = 1;
    // Ticks since the tokens were taken. For tokens that the request waited for, ticks since they
    // were issued, which is below 0 during the wait.
    std::int64_t held = 0;
    // Debt of the bucket before the charge, in units.
    std::int64_t owed_before = 0;

    bool operator==(const refund&) const = default;
};

// Returns the bucket after a refund. It never owes less than it would without the charge. Without
// it, the bucket may have been full for a while and lost tokens, which were now issued to it and
// may have been spent. It could be full after `owed_before` units at the earliest, so units issued
// after that are not given back. The refund is exact if `held` is 0 (one critical section).
inline bucket refunded(const terms& t, const bucket& b, moment at, const refund& r)
{
    assert(r.tokens >= 0 && r.owed_before >= 0);
    if (b.is_full(at.now)) {
        return b;
    }
    return with_supply(t, at, [&](const auto& supply) {
        const std::int64_t debt = supply.debt(b);
        const std::int64_t lost =
            std::max<std::int64_t>(supply.issued_in_last(r.held) - r.owed_before, 0);
        const std::int64_t most_given = ceil_div(debt + lost, supply.unit());
        const std::int64_t given = std::min(r.tokens, most_given) * supply.unit() - lost;
        return supply.owing(std::clamp<std::int64_t>(debt - given, 0, debt));
    });
}

// Returns the bucket after a charge without a decision. Without `into_debt`, the charge takes at
// most the tokens that are left.
inline bucket charged(
    const terms& t, const bucket& b, moment at, std::int64_t tokens, bool into_debt
)
{
    return with_supply(t, at, [&](const auto& supply) {
        const std::int64_t debt = supply.debt(b);
        const std::int64_t most = into_debt ? supply.most() : t.burst * supply.unit();
        const std::int64_t room = std::max<std::int64_t>(most - debt, 0) / supply.unit();
        return supply.owing(debt + std::clamp<std::int64_t>(tokens, 0, room) * supply.unit());
    });
}

}  // namespace gateway::limit
