// What is done to a bucket after its request was decided, when the response tells more.
#pragma once

#include "gateway/limit/algebra.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace gateway::limit {

struct correction {
    // Their numbers are told to scripts (redis/take.lua).
    enum class kind : std::uint8_t {
        // Tokens that a take() took.
        give_back,
        // Tokens more.
        charge,
        // The bucket is full again.
        reset,
        // A place in flight is still held. Asked of shared stores only; rejected: it is lost.
        renew,
        // The bucket is banned for `held`, or not any more.
        ban,
        unban,
    };

    kind what = kind::give_back;
    // At least 1 token; of a charge only they mean something, of a reset nothing.
    refund of{};
    // Of a charge: whether the bucket may owe more than it holds. Else it is emptied at most.
    bool into_debt = true;
    // Of what is given back: under this limit requests wait; see others_wait().
    bool in_line = false;
    // Of tokens that were taken ahead in a shared store: the mark of the last grant at that time.
    // They are not given back after another one, which may have made up for them.
    std::optional<std::int64_t> grant_mark{};

    bool operator==(const correction&) const = default;
};

// What the bucket of an allowed request of so many tokens had owed before, in units, or, if the
// request had to wait, would have owed without it when the wait was over, at least; `said` is its
// decision, and `tick` one of the terms'.
inline std::int64_t owed_before(
    const terms& t, const decision& said, std::int64_t cost, base::duration tick
)
{
    std::int64_t after = t.burst - said.remaining;
    if (t.how == supply_kind::token_bucket) {
        after = (said.reset_after - said.retry_after) / tick;
    } else if (t.how == supply_kind::fixed_window && said.retry_after > base::duration{0}) {
        // It waited for a window, maybe for one token of it.
        after -= t.issued_in->count() - 1;
    }
    return std::max<std::int64_t>(after - cost * t.interval, 0);
}

// Whether tokens of a sliding limit that were there so many ticks ago have come back by themselves,
// or will before a correction may be made that takes so long. Others would be given back instead.
inline bool came_back(const terms& t, std::int64_t held, std::int64_t takes)
{
    return t.how == supply_kind::sliding && held >= t.length - std::min(takes, t.length / 8);
}

// The terms in which a bucket is corrected for a request that was decided under `t`. A reload, or
// another plan of its client, may have come between, and whoever takes next knows better than that
// request which terms the bucket is to have. So it keeps those that it has: what is charged to a
// token bucket costs what a token costs there, a bucket of the same kind is emptied, and nothing
// else is done. Nothing: that is so.
inline std::optional<terms> terms_to_correct_in(
    const terms& t, const bucket& b, moment at, correction::kind what
)
{
    const auto counts = [](const bucket& of) { return of.slides() || of.counts_in_flight(); };
    const bool by_tokens = t.how == supply_kind::token_bucket || t.how == supply_kind::fixed_window;
    if (b.is_full(at.now)) {
        return t;
    }
    const bool is_of_another_kind = by_tokens ? counts(b) : !b.follows(t);
    if (is_of_another_kind) {
        return std::nullopt;
    }
    if (what == correction::kind::reset || t.how == supply_kind::in_flight) {
        return t;
    }
    if (t.how == supply_kind::sliding) {
        const bool same = at.past == nullptr || b.full_at() - at.past->newest() == t.length;
        return same ? std::optional{t} : std::nullopt;
    }
    if (b.follows(t)) {
        return t;
    }
    if (what != correction::kind::charge || t.how != supply_kind::token_bucket || b.in_windows()) {
        return std::nullopt;
    }
    terms own = t;
    own.interval = b.interval();
    own.burst = std::clamp<std::int64_t>(t.burst, 1, limit::max_refill.count() / own.interval);
    return own;
}

// Whether requests wait that came behind the one whose tokens these are, as far as can be told.
// They have been told when to go on. If its tokens came back now, who comes next would get them
// beside the last of these; so they stay charged. Of one that waits itself: whether the bucket will
// owe more, when its own wait is over, than it left; what was owed before is told of windows as at
// least so much, so that only the first that waits for a window is known to be the last.
inline bool others_wait(const terms& t, const bucket& b, moment at, const refund& r)
{
    return with_supply(t, at, [&](const auto& supply) {
        const std::int64_t debt = supply.debt(b);
        if (r.held >= 0) {
            return debt > t.capacity();
        }
        const std::int64_t then = debt + supply.issued_in_last(r.held);
        // Who came behind it owes a token more; parts of one are how long this word was on its way.
        return then >= r.owed_before + (r.tokens + 1) * supply.unit();
    });
}

// A bucket that follows `t`, corrected.
inline bucket corrected(const terms& t, const bucket& b, moment at, const correction& c)
{
    switch (c.what) {
        case correction::kind::give_back:
            return c.in_line && others_wait(t, b, at, c.of) ? b : refunded(t, b, at, c.of);
        case correction::kind::charge:
            return charged(t, b, at, c.of.tokens, c.into_debt);
        case correction::kind::renew:
        case correction::kind::ban:
        case correction::kind::unban:
            return b;
        case correction::kind::reset:
            break;
    }
    return refunded(t, b, at, {.tokens = windows::most_tokens});
}

}  // namespace gateway::limit
