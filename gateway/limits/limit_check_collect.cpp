// This part of limit_check finds the buckets that a request is charged to, and its costs there.
#include "gateway/intake/request_cost.hpp"
#include "gateway/intake/request_plan.hpp"
#include "gateway/limits/limit_check.hpp"

#include <algorithm>

namespace gateway::limits {

using telemetry::outcome;

// Makes this limit the only one in the verdict: the client hears of no other.
void limit_check::refuse(const policy::limit_rule& by, verdict::ruling why)
{
    verdict_.is = why;
    verdict_.entries[0] = {.rule = &by};
    verdict_.count = 1;
}

// Refuses the request and returns true, unless the limit is in shadow mode.
bool limit_check::refuses(const item& i, verdict::ruling why)
{
    if (i.rule->enforced()) {
        refuse(*i.rule, why);
    }
    return i.rule->enforced();
}

bool limit_check::refuses(const item& i, const intake::key_fault& fault)
{
    if (i.rule->enforced()) {
        verdict_.fault = fault;
    }
    return refuses(i, verdict::ruling::unidentified);
}

// Adds an entry for each of these limits that applies, with its bucket and what the request costs
// there. Returns false if the request is invalid, or refused by a plan.
bool limit_check::collect(
    const policy_view& view, std::span<const std::size_t> limits, const intake::key_subject& subject
)
{
    for (const std::size_t index : limits) {
        item& i = items_[verdict_.count];
        i.rule = &view.policy->limits[index];
        i.metrics = view.limits[index];
        bool passes = true;
        const intake::applied_limit applied =
            intake::applied_by_plan(*view.policy, *i.rule, subject);
        i.limit = applied.limit;
        verdict_.note_plan(applied.plan);
        switch (applied.is) {
            case intake::applied_limit::kind::limited:
                passes = collect_one(subject, i);
                break;
            case intake::applied_limit::kind::unlimited:
                break;
            case intake::applied_limit::kind::blocked:
                passes = !blocks(i, subject);
                break;
            case intake::applied_limit::kind::unclear:
                passes = !refuses(
                    i, {.part = &view.policy->plans[i.rule->plan.plans].key, .ambiguous = true}
                );
                break;
        }
        if (!passes) {
            return false;
        }
    }
    return true;
}

// Charges a request that is refused for its forged token to these limits, which need no token.
// Otherwise a client with nothing but forged tokens would empty no bucket, and have each of them
// verified. A client whose token has expired, or that has none, costs little and is charged
// nowhere. Returns false if the request is refused for another reason.
bool limit_check::charge_forged_token(
    const policy_view& view, std::span<const std::size_t> limits, const intake::key_subject& subject
)
{
    if (!subject.token.forged || verdict_.is != verdict::ruling::unidentified) {
        return false;
    }
    forged_token_limit_ = verdict_.entries[0].rule;
    verdict_.clear();
    return collect(view, limits, subject);
}

// Refuses a request because its client's plan is blocked, counts it, and returns true. A limit in
// shadow mode only notes that it would have refused.
bool limit_check::blocks(item& i, const intake::key_subject& subject)
{
    const bool named =
        intake::make_bucket_name(*i.rule, subject, i.name) == intake::key_result::made;
    i.name_bytes = named ? i.name.bytes().size() : 0;
    i.hash = i.name.hashed().hash();
    if (!refuses(i, verdict::ruling::blocked)) {
        verdict_.entries[verdict_.count++] = {.rule = i.rule, .what = outcome::shadow_rejected};
        return false;
    }
    verdict_.entries[0].what = outcome::blocked;
    i.metrics->count(outcome::blocked);
    if (&i != items_.data()) {
        items_[0] = i;
    }
    return true;
}

// Names the bucket of a limit. If an earlier limit has the same key, the values in its name are
// copied instead of read again. An earlier limit is passed over if its bucket is split, as that has
// the name of a part by now, or if the limit is without numbers, as its bucket may have no name.
intake::key_result limit_check::name_bucket(item& i, const intake::key_subject& subject)
{
    const auto end = items_.begin() + verdict_.count;
    const auto same = std::find_if(items_.begin(), end, [&i](const item& earlier) {
        return earlier.rule->key_number == i.rule->key_number && earlier.limit != nullptr &&
               earlier.limit->parts().empty();
    });
    if (same == end || i.rule->key_number == policy::no_key_number) {
        return intake::make_bucket_name(*i.rule, subject, i.name);
    }
    i.name.start(i.rule->name, same->name);
    return intake::key_result::made;
}

// Adds an entry for a limit that applies. Returns false if the request is invalid.
bool limit_check::collect_one(const intake::key_subject& subject, item& i)
{
    const intake::key_result made = name_bucket(i, subject);
    i.name_bytes = i.name.bytes().size();
    i.hash = i.name.hashed().hash();
    if (made == intake::key_result::reject && refuses(i, intake::find_fault(*i.rule, subject))) {
        return false;
    }
    const auto cost = intake::cost_of(i.rule->cost, *subject.head);
    if (!cost && refuses(i, verdict::ruling::bad_cost)) {
        return false;
    }
    if (made == intake::key_result::made && cost) {
        i.cost = *cost;
        choose_part(i);
        verdict_.entries[verdict_.count++] = {.rule = i.rule, .limit = i.limit};
    }
    return true;
}

// Chooses the part that is charged, if the bucket is split.
void limit_check::choose_part(item& i)
{
    i.charged = i.limit;
    i.charged_hash = i.hash;
    const auto parts = i.limit->parts();
    if (!parts.empty()) {
        i.part = parts_.choose(i.name.bytes(), *i.limit, i.cost, clock_.now());
        i.charged = &parts[i.part.number];
        name_part(i.name, i.part.number, parts.size());
        i.charged_hash = i.name.hashed().hash();
    }
}

}  // namespace gateway::limits
