// `correction` changes a bucket after its request was decided, when the response or an operator
// gives a reason.
#pragma once

#include "gateway/limit/algebra.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace gateway::limit {

struct correction {
    // In the order of the numbers in store/remote/call_flags.hpp.
    enum class kind : std::uint8_t {
        // Refunds tokens that take() took.
        refund,
        // Charges more tokens.
        charge,
        // Makes the bucket full again. One that clients share gets a refund instead.
        reset,
        // Renews a permit that is still held. For shared stores only, where a rejection means that
        // the permit is lost.
        renew,
        // Bans the bucket for `held`, or ends its ban.
        ban,
        unban,
    };

    kind what = kind::refund;
    // At least 1 token. A charge uses only the tokens, and a reset uses nothing unless its
    // tokens were taken from a bucket that clients share.
    refund of{};
    // True if a charge may make the bucket owe more than it holds. Otherwise a charge empties the
    // bucket at most.
    bool into_debt = true;
    // True for a refund under a limit whose requests may wait, see others_wait().
    bool in_line = false;
    // Nanoseconds that the request waited for the tokens of a refund. Used by the local store only.
    std::int64_t waited = 0;
    // Epoch of the last grant when a shared store issued tokens ahead of requests. Set only for a
    // refund of such tokens. A later grant, which may have made up for them, cancels the refund.
    std::optional<std::int64_t> grant_epoch{};

    bool operator==(const correction&) const = default;
};

// Returns the debt of a bucket before an allowed request of `cost` tokens, in units. If the request
// had to wait, returns a lower bound of what the bucket would have owed without it at the end of
// the wait. `decided` is the request's decision, and `tick` a tick of the terms.
inline std::int64_t owed_before(
    const terms& t, const decision& decided, std::int64_t cost, base::duration tick
)
{
    std::int64_t after = t.burst - decided.remaining;
    if (t.is_by_time()) {
        after = (decided.reset_after - decided.retry_after) / tick;
    } else if (t.has_windows() && decided.retry_after > base::duration{0}) {
        // The request waited for a window, maybe for only one token of it.
        after -= t.issued_in->count() - 1;
    }
    return std::max<std::int64_t>(after - cost * t.interval, 0);
}

// True if tokens of a sliding limit that were taken `held` ticks ago have come back by themselves,
// or will before a correction that takes `takes` ticks. A refund would return other requests'
// tokens.
inline bool came_back(const terms& t, std::int64_t held, std::int64_t takes)
{
    return t.keeps_history() && held >= t.length - std::min(takes, t.length / 8);
}

// Returns the terms in which to correct a bucket for a request that was decided under `t`, or
// nothing if the correction must be dropped. The bucket's terms may have changed since, by a reload
// or by another plan of its client, and later requests know better which terms are right. The
// bucket therefore keeps its own: a charge to a token bucket costs what a token costs there, a
// bucket of the same kind can be reset, and nothing else is done.
inline std::optional<terms> terms_to_correct_in(
    const terms& t, const bucket& b, moment at, correction::kind what
)
{
    const auto counts = [](const bucket& of) { return of.slides() || of.counts_in_flight(); };
    if (b.is_full(at.now)) {
        return t;
    }
    const bool is_of_another_kind = t.keeps_debts() ? counts(b) : !b.follows(t);
    if (is_of_another_kind) {
        return std::nullopt;
    }
    if (what == correction::kind::reset || t.counts_permits()) {
        return t;
    }
    if (t.keeps_history()) {
        const bool same = at.past == nullptr || b.full_at() - at.past->newest() == t.length;
        return same ? std::optional{t} : std::nullopt;
    }
    if (b.follows(t)) {
        return t;
    }
    if (what != correction::kind::charge || !t.is_by_time() || b.in_windows()) {
        return std::nullopt;
    }
    terms own = t;
    own.interval = b.interval();
    own.burst = std::clamp<std::int64_t>(t.burst, 1, limit::max_refill.count() / own.interval);
    return own;
}

// True if, as far as the numbers show, requests wait that came after the one to be refunded. They
// already know when they may go on. Tokens that came back now would let the next request pass
// beside the last of them, so the tokens stay charged. For a request that still waits itself, true
// if the bucket will owe more at the end of its wait than it left there. For windows `owed_before`
// is a lower bound, so only the first request that waits for a window is recognized as the last in
// line.
inline bool others_wait(const terms& t, const bucket& b, moment at, const refund& r)
{
    return with_supply(t, at, [&](const auto& supply) {
        const std::int64_t debt = supply.debt(b);
        if (r.held >= 0) {
            return debt > t.capacity();
        }
        const std::int64_t then = debt + supply.issued_in_last(r.held);
        // A later request owes at least a token more. Fractions are the delay of this correction.
        return then >= r.owed_before + (r.tokens + 1) * supply.unit();
    });
}

// Returns the bucket after the correction.
// Requires: the bucket follows `t`.
inline bucket corrected(const terms& t, const bucket& b, moment at, const correction& c)
{
    switch (c.what) {
        case correction::kind::refund:
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
