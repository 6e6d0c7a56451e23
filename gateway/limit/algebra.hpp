// The algebra of limits: a limit is a supply of tokens, and a client is one number, what its bucket
// owes to it. All numbers are of one clock and one supply; see limit::supply.
//   next      = debt + cost
//   allowed   = next <= capacity                        (only then does the bucket owe `next`),
//               or as much more as is issued while the request waits
//   remaining = capacity - debt, in whole tokens
//   retry     = until next - capacity more is issued    (when rejected, or to be waited)
//   forget    = nothing is owed                         (as good as never seen)
// Twin of store/redis/token_bucket.lua, take.lua, bucket.lua and take_any.lua.
#pragma once

#include "gateway/limit/decision.hpp"
#include "gateway/limit/supply.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace gateway::limit {

struct step {
    bool allowed = false;
    // If allowed: what the bucket becomes if the request goes ahead.
    bucket after;
    // Whole tokens left after this request, rounded down, never negative.
    std::int64_t remaining = 0;
    // Ticks until the same request passes if nobody else comes; when allowed, how long it has to
    // wait. A cost above burst never passes: then ticks until the bucket is full.
    std::int64_t retry_in = 0;
    // Ticks until the bucket is full.
    std::int64_t full_in = 0;
};

// How far ahead of its tokens a request may be: it waits for them, behind those that came before
// it.
struct ahead {
    // Longest wait, in ticks; 0: none.
    std::int64_t ticks = 0;
    // Most tokens that may be missing.
    std::int64_t tokens = 0;
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

// True if the bucket is its own rebased(). A window's length from being full it is one window ahead
// at most, whatever it owes; then nothing needs to be divided.
inline bool is_current(const terms& t, const bucket& b, moment at)
{
    if (!b.follows(t)) {
        return false;
    }
    return t.how != supply_kind::fixed_window || b.full_at() - at.now <= t.issued_in->length() ||
           fixed_window_supply{t, at}.late(b).windows <= 1;
}

// The bucket under the limit's present terms: the same number of owed tokens, paid back as these
// say. Rounded up, so a debt never shrinks by the change itself.
//
// A bucket of windows stays at most one window ahead of what it owes: further ahead the wall clock
// has been set since, and it is written anew, or it would wait for a time that has no meaning.
//
// A store does `b = rebased(t, b, now)` before take() and keeps it whatever take() says. Were a
// rejected client's bucket left as it was, its debt would go on being paid at the old rate, and the
// retry_in it was told would be wrong again at every attempt.
inline bucket rebased(const terms& t, const bucket& b, moment at)
{
    if (is_current(t, b, at)) {
        return b;
    }
    return with_supply(t, at, [&](const auto& supply) {
        return b.is_full(at.now) ? supply.full_since(b.full_at()) : supply.owing(supply.debt(b));
    });
}

// The bucket of somebody else, whose windows begin at other moments, that owes as much.
inline bucket moved(const terms& t, const bucket& b, moment from, moment to)
{
    const std::int64_t debt =
        with_supply(t, from, [&b](const auto& supply) { return supply.debt(b); });
    return with_supply(t, to, [debt](const auto& supply) { return supply.owing(debt); });
}

// A bucket's debt, and how a request fares with it: it passes when `missing` more is issued, or, if
// it is allowed, waits until then. Tokens come so late.
struct verdict {
    std::int64_t debt = 0;
    std::int64_t missing = 0;
    bool allowed = true;
    lateness late{};
};

// Makes the step of a verdict.
template <typename Supply>
step said_of(const terms& t, const Supply& supply, const verdict& v)
{
    const std::int64_t retry_in = supply.time_of(v.missing, v.late);
    // The bucket of a request that waits is written anew, and full when its own debt says.
    const bool waits = v.missing > 0 && v.allowed;
    return {
        .allowed = v.allowed,
        .after = supply.owing(v.debt),
        .remaining = std::max<std::int64_t>(t.burst - ceil_div(v.debt, supply.unit()), 0),
        .retry_in = retry_in,
        .full_in = supply.full_in(v.debt, v.allowed ? retry_in : 0, waits ? lateness{} : v.late),
    };
}

// The bucket as it is, without a request: allowed.
inline step look(const terms& t, const bucket& b, moment at)
{
    return with_supply(t, at, [&](const auto& supply) {
        return said_of(t, supply, {.debt = supply.debt(b), .late = supply.late(b)});
    });
}

// One request of `cost` tokens (>= 0). Does not change the bucket: the store does, when every limit
// of the request agreed.
inline step take(
    const terms& t, const bucket& b, moment at, std::int64_t cost, const ahead& most = {}
)
{
    assert(t.interval >= 1 && t.burst >= 1 && cost >= 0);
    return with_supply(t, at, [&](const auto& supply) {
        const std::int64_t debt = supply.debt(b);
        const std::int64_t unit = supply.unit();
        // With cost <= burst, cost * unit <= capacity: nothing here can overflow.
        if (cost > t.burst || debt > t.capacity() - cost * unit) {
            const std::int64_t missing = debt + std::min(cost, t.burst) * unit - t.capacity();
            const lateness late = supply.late(b);
            const bool waits = cost <= t.burst && ceil_div(missing, unit) <= most.tokens &&
                               supply.time_of(missing, late) <= most.ticks;
            // What comes when the bucket is full already is lost.
            const std::int64_t owed =
                waits ? std::max(debt, supply.issued_by(missing)) + cost * unit : debt;
            return said_of(t, supply, {owed, missing, waits, late});
        }
        return said_of(t, supply, {.debt = debt + cost * unit});
    });
}

// A charge that take() allowed, to be given back.
struct refund {
    // Of them so many.
    std::int64_t tokens = 1;
    // Ticks since they were taken, or, of tokens that were waited for, since they were there: below
    // 0 while they are awaited.
    std::int64_t held = 0;
    // What the bucket owed before, in units.
    std::int64_t owed_before = 0;

    bool operator==(const refund&) const = default;
};

// The bucket when it is given back a charge. Never below what it would have been without the
// charge: without it, the bucket may have been full for a while, and lost tokens that were now
// issued to it and may have been spent. It could be full after `owed_before` at the earliest, so
// what was issued after that is not given back. With `held` zero (one critical section) the refund
// is exact.
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

// The bucket when it is charged whatever it holds, or, not into debt, at most what it holds.
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
