#include "gateway/store/memory/memory_corrections.hpp"

#include <algorithm>
#include <mutex>

namespace gateway::store {

namespace {

// Returns the bucket after `requests` permits were released. Only permits taken since this bucket's
// were last counted anew are released; older ones are forgotten.
limit::bucket with_permit_back(const limit::bucket& b, std::int64_t permit, std::int64_t requests)
{
    const bool counts = b.counts_in_flight() && std::abs(permit) >= b.first_permit();
    return counts ? limit::bucket::in_flight(
                        std::max<std::int64_t>(b.owed() - requests, 0), b.first_permit()
                    )
                  : b;
}

void forget_holder(shared_bucket& shared, const bucket_id& id)
{
    const auto held = std::find(shared.holders.begin(), shared.holders.end(), id);
    if (held != shared.holders.end()) {
        shared.holders.erase(held);
    }
    if (shared.bucket.owed() == 0) {
        shared.holders.clear();
    }
}

// True if the bucket takes this correction. An operator's correction is always taken, under the
// limit in force.
bool is_correctable(
    const memory_parts& parts,
    const charge& c,
    const vacancy& where,
    const limit::bucket& b,
    limit::correction::kind what
)
{
    const limit::moment at = moment_with_past(parts, where.in, b, where.at.now);
    return c.is_grant || limit::terms_to_correct_in(c.limit->in_nanoseconds(), b, at, what);
}

// Corrects a bucket of permits. Clients without a slot release theirs in the shared bucket, where
// they were taken.
void correct_permits(
    memory_parts& parts, const charge& c, const vacancy& where, const limit::correction& what
)
{
    using kind = limit::correction::kind;
    limit::bucket* const b = where.in.find(where.id);
    if (what.what == kind::refund && c.permit < 0) {
        const std::lock_guard locked{parts.shared};
        if (shared_bucket* const shared = parts.shared.find(c.limit_name)) {
            shared->bucket = with_permit_back(shared->bucket, c.permit, what.of.tokens);
            forget_holder(*shared, where.id);
        }
    } else if (what.what == kind::refund && b != nullptr) {
        where.in.store(*b, with_permit_back(*b, c.permit, what.of.tokens));
    } else if (what.what == kind::reset && b != nullptr && is_correctable(parts, c, where, *b, what.what)) {
        parts.next_permit();
        where.in.store(*b, limit::bucket::in_flight(0));
    }
}

// Bans the bucket, or ends its ban, for an operator. Returns false if there is no room.
bool ban(memory_parts& parts, const charge& c, const vacancy& where, const limit::correction& what)
{
    const bool bans = what.what == limit::correction::kind::ban;
    limit::offences* o = where.in.find_offences(where.id);
    if (o == nullptr && bans) {
        o = parts.buckets.make_offences(where.in, where.id, where.at.now);
    }
    if (o != nullptr) {
        o->ban_by_operator(bans ? what.of.held : 0, c.penalty, where.at.now);
        where.in.note(*o);
    }
    return o != nullptr || !bans;
}

// Corrects a client's own bucket of tokens, if it is there.
void correct_own(
    memory_parts& parts, const charge& c, const vacancy& where, const limit::correction& what
)
{
    const limit::terms& t = c.limit->in_nanoseconds();
    const bool resets = what.what == limit::correction::kind::reset;
    limit::bucket* const b = where.in.find(where.id);
    if (b == nullptr || !is_correctable(parts, c, where, *b, what.what)) {
        return;
    }
    if (!t.keeps_history()) {
        const limit::moment at = moment_of(parts, t, where.id.low, where.at.now);
        where.in.store(*b, limit::corrected(t, limit::rebased(t, *b, at), at, what));
        return;
    }
    where.in.slide(*b, [&](sliding_bucket& sliding) {
        if (c.is_grant) {
            sliding.bring_to(t, {where.at.now, parts.to_windows});
        }
        if (resets) {
            sliding.reset(t);
        } else if (!limit::came_back(t, what.of.held, 0)) {
            sliding.refund(t, where.at.now, what.of);
        }
    });
}

// Refunds the tokens of a correction to the bucket that clients without a slot share, where they
// were taken. Returns false if too little is known of what became of them since.
bool refund_shared(memory_parts& parts, const charge& c, std::int64_t now, limit::correction what)
{
    what.what = limit::correction::kind::refund;
    const limit::terms& t = c.limit->in_nanoseconds();
    const std::lock_guard locked{parts.shared};
    shared_bucket* const shared = parts.shared.find(c.limit_name);
    if (shared == nullptr || now - what.of.held - what.waited < shared->alike_since) {
        return false;
    }
    limit::bucket& b = shared->bucket;
    const limit::moment with_past =
        b.slides() ? limit::moment{now, shared->past, parts.to_windows} : limit::moment{now};
    if (!limit::terms_to_correct_in(t, b, with_past, what.what)) {
        return false;
    }
    if (!t.keeps_history()) {
        const limit::moment at = moment_of(parts, t, everybody, now);
        b = limit::corrected(t, limit::rebased(t, b, at), at, what);
    } else if (!limit::came_back(t, what.of.held, 0)) {
        shared->sliding().refund(t, now, what.of);
    }
    return true;
}

// True if a client's own bucket counts in the same windows as the shared one.
bool has_windows_of_shared(const memory_parts& parts, const charge& c, const vacancy& where)
{
    const limit::terms& t = c.limit->in_nanoseconds();
    return moment_of(parts, t, where.id.low, where.at.now).shift ==
           moment_of(parts, t, everybody, where.at.now).shift;
}

// Corrects tokens that were taken from the shared bucket. A reset refunds only these there, as the
// bucket is not that of its client alone. If the client has a bucket of its own since, that one
// began with the debt of the shared one, and is corrected as well. It gets no refund if its windows
// begin at other moments, as it is not known how many tokens have been issued to it meanwhile.
// Returns false if the buckets may be copies: the shared bucket then is in another process.
bool correct_shared(
    memory_parts& parts,
    const charge& c,
    const vacancy& where,
    const limit::correction& what,
    copies may_be
)
{
    const bool is_reset = what.what == limit::correction::kind::reset;
    const bool is_refunded = may_be == copies::no && refund_shared(parts, c, where.at.now, what);
    if (is_reset || (is_refunded && has_windows_of_shared(parts, c, where))) {
        correct_own(parts, c, where, what);
    }
    return may_be == copies::no;
}

}  // namespace

bool correct_bucket(
    memory_parts& parts,
    const charge& c,
    const vacancy& where,
    const limit::correction& what,
    copies may_be
)
{
    using kind = limit::correction::kind;
    if (what.what == kind::ban || what.what == kind::unban) {
        return ban(parts, c, where, what);
    }
    if (c.limit->counts_in_flight()) {
        correct_permits(parts, c, where, what);
    } else if (c.is_of_shared_bucket) {
        return correct_shared(parts, c, where, what, may_be);
    } else {
        correct_own(parts, c, where, what);
    }
    return true;
}

}  // namespace gateway::store
