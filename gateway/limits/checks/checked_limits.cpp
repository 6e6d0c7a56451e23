#include "gateway/limits/checks/checked_limits.hpp"

#include <utility>

namespace gateway::limits {

using telemetry::outcome;

void checked_limits::begin(const policy_view& view)
{
    view_ = &view;
    charges_.clear();
    verdict_.clear();
    refused_if_allowed_ = nullptr;
}

void checked_limits::prepare()
{
    for (; verdict_.count < charges_.count; ++verdict_.count) {
        intake::named_charge& named = charges_.entries[verdict_.count];
        checked_limit& l = limits_[verdict_.count];
        l.named = &named;
        l.metrics = view_->limits[named.index];
        l.name_bytes = named.is_named ? named.name.bytes().size() : 0;
        l.hash = named.name.hashed().hash();
        verdict::entry& e = verdict_.entries[verdict_.count];
        e = {.rule = named.rule, .limit = named.limit, .cost = named.cost};
        if (l.is_charged()) {
            choose_part(l, named);
        } else {
            e.what = outcome::shadow_rejected;
        }
    }
}

// Chooses the part that is charged, if the bucket is split.
void checked_limits::choose_part(checked_limit& l, intake::named_charge& named)
{
    l.charged = named.limit;
    l.charged_hash = l.hash;
    const auto parts = named.limit->parts();
    if (!parts.empty()) {
        l.part = parts_.choose(named.name.bytes(), *named.limit, named.cost, clock_.now());
        l.charged = &parts[l.part.number];
        name_part(named.name, l.part.number, parts.size());
        l.charged_hash = named.name.hashed().hash();
    }
}

void checked_limits::refuse(const intake::named_charge& c)
{
    verdict_.is = ruling_of(c.is);
    verdict_.entries[0] = {.rule = c.rule};
    verdict_.count = 1;
    verdict_.plans = charges_.plans;
    verdict_.fault = c.fault;
    if (verdict_.is == verdict::ruling::blocked) {
        limits_[0].named = &c;
        limits_[0].metrics = view_->limits[c.index];
        limits_[0].name_bytes = c.is_named ? c.name.bytes().size() : 0;
        limits_[0].metrics->count(outcome::blocked);
        verdict_.entries[0].what = outcome::blocked;
    }
}

void checked_limits::put_decision(const charge_batch& b, const store::answer& a, std::size_t i)
{
    const checked_limit& l = limits_[b.entry[i]];
    limit::decision& decision = verdict_.entries[b.entry[i]].decision;
    decision = a.decisions()[i];
    if (l.charged != l.named->limit) {
        if (!b.stands_in) {
            parts_.heard(l.part, decision, clock_.now());
        }
        decision = scaled_to_whole(decision, *l.charged, *l.named->limit);
    }
}

void checked_limits::record(const charge_batch& b, const store::answer& a, outcome when_allowed)
{
    for (std::size_t i = 0; i < b.count; ++i) {
        if (!a.knows(i)) {
            continue;
        }
        verdict::entry& e = verdict_.entries[b.entry[i]];
        e.decided = true;
        put_decision(b, a, i);
        e.cost = b.charges[i].cost;
        e.never = never_passes(e.decision, e.cost, *e.limit);
        if (e.decision.allowed) {
            e.what = when_allowed;
            e.warns = e.rule->is_above_soft(*e.limit, e.decision.remaining);
        } else {
            e.what = e.rule->enforced() ? outcome::rejected : outcome::shadow_rejected;
        }
    }
    if (!a.admitted) {
        verdict_.is = verdict::ruling::rejected;
    }
}

// If a request is refused, only the decisions that refuse it are counted, as the other limits were
// not charged. The buckets that are rejected most are counted by the same rule.
void checked_limits::finish()
{
    verdict_.plans = charges_.plans;
    const bool admitted = verdict_.is == verdict::ruling::allowed;
    for (std::size_t i = 0; i < verdict_.count; ++i) {
        const outcome what = verdict_.entries[i].what;
        const bool counts = admitted || what == outcome::rejected || what == outcome::failed_closed;
        if (counts) {
            limits_[i].metrics->count(what);
        }
        if (admitted && verdict_.entries[i].warns) {
            limits_[i].metrics->soft_exceeded.add();
        }
        if (limits_[i].name_bytes == 0) {
            continue;  // a plan in shadow mode would have blocked a client without a bucket
        }
        const base::hashed_name bucket = limits_[i].bucket();
        top_.by_requests.count(bucket);
        if (counts && (what == outcome::rejected || what == outcome::shadow_rejected)) {
            top_.by_rejections.count(bucket);
        }
        if (const limit::decision& decision = verdict_.entries[i].decision; decision.banned) {
            top_.banned.note(bucket, clock_.now() + decision.retry_after, clock_.now());
        }
    }
    if (admitted && refused_if_allowed_ != nullptr) {
        refuse(*refused_if_allowed_);
    }
}

}  // namespace gateway::limits
