#include "gateway/limits/limit_check.hpp"

namespace gateway::limits {

static_assert(
    policy::max_limits_per_route <= store::max_charges, "all limits of a route fit one question"
);

using telemetry::outcome;

void limit_check::batch::add(
    const item& i, std::size_t index, const base::hashed_name& bucket, const limit::limit& charged
)
{
    charges[count] = {
        .limit_name = i.rule->name,
        .bucket_name = bucket,
        .limit = &charged,
        .cost = i.cost,
        .enforced = i.rule->enforced(),
        .place = i.rule->limit.counts_in_flight() ? fresh_place() : 0,
        .max_wait = i.rule->max_wait,
        .max_reserved = i.rule->max_reserved,
        .penalty = i.rule->penalty.any() ? &i.rule->penalty : nullptr,
        .lease = i.rule->lease.any() ? &i.rule->lease : nullptr,
        .may_be_corrected = i.rule->may_be_corrected,
    };
    entry[count++] = index;
}

const verdict* limit_check::start(
    const policy_view& view,
    const policy::route& route,
    intake::key_subject& subject,
    verdict_listener& listener
)
{
    verdict_.clear();
    at_home_.clear();
    elsewhere_.clear();
    fallback_.clear();
    forged_token_limit_ = nullptr;
    const std::span<const std::size_t> limits{route.limits};
    const auto first = limits.first(route.reads_token ? route.limits_without_token : limits.size());
    if (!collect(view, first, subject)) {
        return &verdict_;
    }
    if (route.reads_token) {
        if (rejects_without_token(view)) {
            finish();
            return &verdict_;
        }
        subject.token =
            intake::find_token(*subject.head, *view.policy->token, *view.tokens, base::unix_time());
        if (!collect(view, limits.subspan(first.size()), subject) &&
            !charge_forged_token(view, first, subject)) {
            return &verdict_;
        }
    }
    store::shared_store* const shared = gather(view);
    const bool recalled = shared != nullptr && recall(*shared);
    const bool rejected = verdict_.is == verdict::ruling::rejected;
    const auto what = rejected ? store::intent::look : store::intent::take;
    const bool passes = decide_locally(what, at_home_, outcome::allowed);
    if (shared == nullptr || recalled || !passes) {
        finish();
        return &verdict_;
    }
    elsewhere_.taken_at = clock_.now();
    if (take_leased(*shared)) {
        finish();
        return &verdict_;
    }
    listener_ = &listener;
    may_be_charged_ = false;
    if (shared->ask(elsewhere_.all(), *this).has_value()) {
        settle_failure();
        return &verdict_;
    }
    elsewhere_.unanswered = true;
    return nullptr;
}

// Sorts the charges by store, and returns the shared store if there is one. The configuration
// allows one shared store per route.
store::shared_store* limit_check::gather(const policy_view& view)
{
    store::shared_store* shared = nullptr;
    for (std::size_t i = 0; i < verdict_.count; ++i) {
        const item& it = items_[i];
        const std::size_t home = it.rule->store;
        if (it.limit == nullptr) {
            continue;
        }
        const base::hashed_name bucket{it.name.bytes(), it.charged_hash};
        if (home == policy::local_store) {
            at_home_.add(it, i, bucket, *it.charged);
        } else {
            elsewhere_.add(it, i, bucket, *it.charged);
            shared = view.stores[home].get();
        }
    }
    return shared;
}

// Returns true if the shared store's earlier answers settle its part, without asking it.
bool limit_check::recall(const store::shared_store& shared)
{
    if (!shared.recalls(elsewhere_.all(), clock_.now(), elsewhere_.given)) {
        return false;
    }
    record(elsewhere_, elsewhere_.given, outcome::allowed);
    return true;
}

// Returns true if tokens that were taken ahead pay the shared store's part. Leases help only if all
// its limits have one, so the first one tells whether to look.
bool limit_check::take_leased(store::shared_store& shared)
{
    elsewhere_.taken = elsewhere_.charges[0].lease != nullptr &&
                       shared.take_leased(elsewhere_.all(), elsewhere_.given);
    if (elsewhere_.taken) {
        record(elsewhere_, elsewhere_.given, outcome::allowed);
    }
    return elsewhere_.taken;
}

// Puts a decision into the verdict. The client hears of its bucket, and nothing of parts.
void limit_check::put_decision(const batch& b, const store::answer& a, std::size_t i)
{
    const item& it = items_[b.entry[i]];
    limit::decision& told = verdict_.entries[b.entry[i]].decision;
    told = a.decisions()[i];
    if (it.charged != it.limit) {
        if (&b != &fallback_) {
            parts_.heard(it.part, told, clock_.now());
        }
        told = told_of_whole(told, *it.charged, *it.limit);
    }
}

void limit_check::record(const batch& b, const store::answer& a, outcome when_allowed)
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
        } else {
            e.what = e.rule->enforced() ? outcome::rejected : outcome::shadow_rejected;
        }
    }
    if (!a.admitted) {
        verdict_.is = verdict::ruling::rejected;
    }
}

// Counts what was decided. If a request is refused, only the decisions that refuse it are counted,
// as the other limits were not charged. The buckets that are rejected most are counted by the same
// rule.
void limit_check::finish()
{
    const bool admitted = verdict_.is == verdict::ruling::allowed;
    for (std::size_t i = 0; i < verdict_.count; ++i) {
        const outcome what = verdict_.entries[i].what;
        const bool counts = admitted || what == outcome::rejected || what == outcome::failed_closed;
        if (counts) {
            items_[i].metrics->count(what);
        }
        if (items_[i].name_bytes == 0) {
            continue;  // a plan in shadow mode would have blocked a client without a bucket
        }
        const base::hashed_name bucket{bucket_name(i), items_[i].hash};
        top_.by_requests.count(bucket);
        if (counts && (what == outcome::rejected || what == outcome::shadow_rejected)) {
            top_.by_rejections.count(bucket);
        }
        if (const limit::decision& said = verdict_.entries[i].decision; said.banned) {
            top_.banned.note(bucket, clock_.now() + said.retry_after, clock_.now());
        }
    }
    if (admitted && forged_token_limit_ != nullptr) {
        refuse(*forged_token_limit_, verdict::ruling::unidentified);
    }
}

void limit_check::answered(const store::answer& a)
{
    record(elsewhere_, a, outcome::allowed);
    elsewhere_.taken = a.admitted;
    elsewhere_.unanswered = false;
    elsewhere_.given = a;
    if (a.admitted) {
        settle_unknown();
    } else {
        give_back(at_home_);
    }
    finish();
    listener_->decided(verdict_);
}

}  // namespace gateway::limits
