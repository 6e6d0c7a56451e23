// `decide` decides the charges of one question, all or nothing, at buckets that its caller has
// found. Pure.
#pragma once

#include "gateway/limit/algebra.hpp"
#include "gateway/store/answer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::store {

// `standing` is a bucket as it was found, and as the charges that were allowed leave it.
struct standing {
    limit::bucket before;
    limit::bucket after;
    // Longest wait of what was allowed. Below 0: nothing was.
    std::int64_t wait = -1;

    bool is_taken() const { return wait >= 0; }
};

// Returns the decision of a limit that would have allowed when another one rejects: it describes
// the bucket as it is.
limit::decision untouched(const limit::terms& t, const limit::bucket& b, limit::moment at);

// Counts the tokens of sliding limits from the moment when the request goes on, whichever limit it
// waits for.
template <typename Buckets>
void count_later(std::span<const charge> charges, Buckets& buckets, std::int64_t wait, answer& a)
{
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const limit::terms& t = charges[i].limit->in_nanoseconds();
        limit::decision decision = a.decisions()[i];
        if (!t.keeps_history() || !decision.allowed || charges[i].cost == 0 ||
            decision.retry_after.count() >= wait) {
            continue;
        }
        standing& s = buckets.standing_for(i);
        s.wait = std::max(s.wait, wait);
        decision.retry_after = base::duration{wait};
        const limit::moment at = buckets.moment(i, t);
        const std::int64_t back = limit::counted_at(t, at.now + wait, at.shift) + t.length - at.now;
        decision.reset_after = std::max(decision.reset_after, base::duration{back});
        a.replace(i, decision);
    }
}

// Decides all charges into `a`, a cleared answer. Returns true if the buckets are to be kept as
// they stand `after`: the question is admitted, and the intent is to take. `buckets` has these
// functions of a charge's index:
//   standing& standing_for(i)           its bucket, one and the same for charges of one bucket
//   limit::moment moment(i, terms)      the present moment, as its limit of these terms sees it
//   void apply_bans(i, decision& d)     rejects a banned client, and counts rejections
// Inlined into its caller, as a call would cost 2 % of a decision.
template <typename Buckets>
[[gnu::always_inline]] inline bool decide(
    std::span<const charge> charges, Buckets& buckets, intent what, answer& a
)
{
    std::int64_t wait = 0;
    for (std::size_t i = 0; i < charges.size(); ++i) {
        standing& s = buckets.standing_for(i);
        const charge& c = charges[i];
        const limit::ahead most{c.max_wait.count(), c.max_reserved};
        const limit::terms& t = c.limit->in_nanoseconds();
        const limit::step taken = limit::take(t, s.after, buckets.moment(i, t), c.cost, most);
        // The decision is written where it stays: a copy would wait for the parts that have just
        // been written.
        limit::decision& decision = a.add(limit::decision_in<base::duration>(taken));
        buckets.apply_bans(i, decision);
        if (decision.allowed) {
            s.after = taken.after;
            s.wait = std::max(s.wait, taken.retry_in);
            wait = c.enforced ? std::max(wait, taken.retry_in) : wait;
        }
        a.admitted = a.admitted && (decision.allowed || !c.enforced);
    }
    const bool goes_ahead = a.admitted && what == intent::take;
    if (goes_ahead && wait > 0) {
        count_later(charges, buckets, wait, a);
    }
    for (std::size_t i = 0; !goes_ahead && i < charges.size(); ++i) {
        if (a.decisions()[i].allowed) {
            const limit::terms& t = charges[i].limit->in_nanoseconds();
            a.replace(i, untouched(t, buckets.standing_for(i).before, buckets.moment(i, t)));
        }
    }
    return goes_ahead;
}

}  // namespace gateway::store
