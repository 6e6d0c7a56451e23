#include "gateway/server/limit_check.hpp"

#include <algorithm>

namespace gateway::server {

static_assert(
    policy::max_limits_per_route <= store::max_charges, "all limits of a route fit one question"
);

namespace {

using telemetry::outcome;

bool enforced(const policy::limit_rule& rule)
{
    return rule.mode == policy::mode::enforce;
}

bool is_place(const policy::limit_rule& rule)
{
    return rule.limit.how() == limit::supply_kind::in_flight;
}

}  // namespace

void limit_check::batch::add(
    const item& i, std::size_t index, const base::hashed_name& bucket, const limit::limit& charged
)
{
    charges[count] = {
        .limit_name = i.rule->name,
        .bucket_name = bucket,
        .limit = &charged,
        .cost = i.cost,
        .enforced = enforced(*i.rule),
        .place = is_place(*i.rule) ? fresh_place() : 0,
        .max_wait = i.rule->max_wait,
        .max_reserved = i.rule->max_reserved,
        .penalty = i.rule->penalty.any() ? &i.rule->penalty : nullptr,
        .lease = i.rule->lease.any() ? &i.rule->lease : nullptr,
        .may_be_corrected = i.may_be_corrected,
    };
    entry[count++] = index;
}

const verdict* limit_check::start(
    const policy_view& view,
    const policy::route& route,
    const key_subject& subject,
    verdict_listener& listener
)
{
    verdict_.clear();
    at_home_.clear();
    elsewhere_.clear();
    fallback_.clear();
    if (!collect(view, route, subject)) {
        return &verdict_;
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
    elsewhere_.taken_at = loop_.now();
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

// Sorts them by store. The configuration allows one shared store per route.
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

// True: the shared store's earlier answers settle its part, without asking it.
bool limit_check::recall(const store::shared_store& shared)
{
    if (!shared.recalls(elsewhere_.all(), loop_.now(), elsewhere_.given)) {
        return false;
    }
    record(elsewhere_, elsewhere_.given, outcome::allowed);
    return true;
}

// True: the shared store's part has been taken ahead of this request. Leases are of all its limits
// or of no use, so the first one tells whether to look.
bool limit_check::take_leased(store::shared_store& shared)
{
    elsewhere_.taken = elsewhere_.charges[0].lease != nullptr &&
                       shared.take_leased(elsewhere_.all(), elsewhere_.given);
    if (elsewhere_.taken) {
        record(elsewhere_, elsewhere_.given, outcome::allowed);
    }
    return elsewhere_.taken;
}

// False: the request is refused, and the verdict says why.
bool limit_check::decide_locally(store::intent what, batch& b, outcome when_allowed)
{
    if (b.count == 0) {
        return true;
    }
    if (!local_.decide(what, b.all(), loop_.now(), b.given)) {
        return decide_without_room(what, b, when_allowed);
    }
    b.taken = b.given.admitted && what == store::intent::take;
    b.taken_at = b.given.taken_at;
    record(b, b.given, when_allowed);
    return b.given.admitted;
}

// The local table is full. A limit in shadow mode cannot be the one that refuses: the others are
// asked again without it. A look that sees nothing changes nothing.
bool limit_check::decide_without_room(store::intent what, batch& b, outcome when_allowed)
{
    if (what == store::intent::look) {
        return false;
    }
    batch rest;
    for (std::size_t i = 0; i < b.count; ++i) {
        verdict::entry& e = verdict_.entries[b.entry[i]];
        e.what = enforced(*e.rule) ? outcome::failed_closed : outcome::failed_open;
        if (enforced(*e.rule)) {
            const store::charge& c = b.charges[i];
            rest.add(items_[b.entry[i]], b.entry[i], c.bucket_name, *c.limit);
        }
    }
    if (rest.count == b.count) {
        verdict_.is = verdict::ruling::unavailable;
        return false;
    }
    b = rest;
    return decide_locally(what, b, when_allowed);
}

// The client hears of its bucket, and nothing of parts.
void limit_check::put_decision(const batch& b, const store::answer& a, std::size_t i)
{
    const item& it = items_[b.entry[i]];
    limit::decision& told = verdict_.entries[b.entry[i]].decision;
    told = a.decisions()[i];
    if (it.charged != it.limit) {
        if (&b != &fallback_) {
            parts_.heard(it.part, told, loop_.now());
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
        e.never = never_passes(e.decision, b.charges[i].cost, *e.limit);
        if (e.decision.allowed) {
            e.what = when_allowed;
        } else {
            e.what = enforced(*e.rule) ? outcome::rejected : outcome::shadow_rejected;
        }
    }
    if (!a.admitted) {
        verdict_.is = verdict::ruling::rejected;
    }
}

void limit_check::reserve(const policy_view& view, reserving what, reservation& into) const
{
    reserve(at_home_, nullptr, what, into);
    reserve(fallback_, nullptr, what, into);
    if (elsewhere_.taken || elsewhere_.unanswered) {
        const std::size_t store = items_[elsewhere_.entry[0]].rule->store;
        reserve(elsewhere_, view.stores[store].get(), what, into);
    }
}

void limit_check::reserve(
    const batch& b, store::shared_store* from, reserving what, reservation& into
) const
{
    for (std::size_t i = 0; i < b.count; ++i) {
        const item& it = items_[b.entry[i]];
        const limit::decision said = b.taken ? b.given.decisions()[i] : limit::decision{};
        const bool place = is_place(*it.rule);
        const bool is_meant = place || what == reserving::everything ||
                              (what == reserving::outcomes && it.rule->outcome.any());
        const bool is_taken = (b.taken && said.allowed) || (b.unanswered && place);
        if (is_meant && is_taken) {
            into.add({
                .rule = it.rule,
                .limit = b.charges[i].limit,
                .metrics = it.metrics,
                .bucket_name = std::string{b.charges[i].bucket_name.bytes()},
                .cost = it.cost,
                .place = place && from == nullptr ? b.given.place(i) : b.charges[i].place,
                .decision = said,
                .taken_at = b.taken_at,
                .shared = from,
            });
        }
    }
}

void limit_check::note_debts(const std::shared_ptr<const policy_view>& view) const
{
    const bool owes = fallback_.taken && !may_be_charged_;
    for (std::size_t i = 0; i < (owes ? fallback_.count : 0); ++i) {
        const item& it = items_[fallback_.entry[i]];
        const policy::limit_rule& rule = *it.rule;
        const limit::decision& said = fallback_.given.decisions()[i];
        if (rule.local_share.any() && said.allowed && it.cost > 0 && !is_place(rule) &&
            !rule.outcome.any()) {
            debts_.add(
                view,
                {.rule = it.rule,
                 .limit = it.limit,
                 .metrics = it.metrics,
                 .bucket_name = std::string{it.name.bytes()},
                 .cost = it.cost,
                 .taken_at = fallback_.taken_at,
                 .shared = view->stores[rule.store].get()}
            );
        }
    }
}

void limit_check::give_back(batch& b)
{
    if (!b.taken) {
        return;
    }
    local_.refund(b.all(), b.given, loop_.now());
    b.taken = false;
    store::answer now;  // without the charge
    if (!local_.decide(store::intent::look, b.all(), loop_.now(), now)) {
        return;
    }
    for (std::size_t i = 0; i < b.count; ++i) {
        if (b.given.decisions()[i].allowed) {
            put_decision(b, now, i);
        }
    }
}

// Counts what was decided. Of a request that is refused, only what refused it is counted: the other
// limits were not charged.
void limit_check::finish()
{
    const bool admitted = verdict_.is == verdict::ruling::allowed;
    for (std::size_t i = 0; i < verdict_.count; ++i) {
        const outcome what = verdict_.entries[i].what;
        if (admitted || what == outcome::rejected || what == outcome::failed_closed) {
            items_[i].metrics->count(what);
        }
        if (items_[i].name_bytes == 0) {
            continue;  // a plan in shadow mode would have blocked a client without a bucket
        }
        const base::hashed_name bucket{bucket_name(i), items_[i].hash};
        top_.by_requests.count(bucket);
        if (what == outcome::rejected || what == outcome::shadow_rejected) {
            top_.by_rejections.count(bucket);
        }
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

void limit_check::failed(store::failure, store::taken tokens)
{
    may_be_charged_ = tokens == store::taken::perhaps;
    settle_failure();
    listener_->decided(verdict_);
}

// By its policy, as the store says nothing of it. True: the request is refused.
bool limit_check::settle(std::size_t i)
{
    const std::size_t index = elsewhere_.entry[i];
    item& it = items_[index];
    verdict::entry& e = verdict_.entries[index];
    const limit::limit* const share = it.limit->share();
    switch (it.rule->on_store_failure) {
        case policy::failure_policy::open:
            e.what = outcome::failed_open;
            return false;
        case policy::failure_policy::closed:
            e.what = enforced(*it.rule) ? outcome::failed_closed : outcome::failed_open;
            return enforced(*it.rule);
        case policy::failure_policy::local:
            // One part more than its bucket in the store, whose name is still needed there.
            it.fallback_name = identity::bucket_name{it.name.bytes()};
            it.fallback_name.add("local");
            e.limit = share == nullptr ? it.limit : share;
            fallback_.add(
                it, index, it.fallback_name.hashed(), share == nullptr ? *it.charged : *share
            );
            return false;
    }
    return false;
}

void limit_check::settle_failure()
{
    bool closed = false;
    for (std::size_t i = 0; i < elsewhere_.count; ++i) {
        closed = settle(i) || closed;
    }
    if (closed) {
        verdict_.is = verdict::ruling::unavailable;
        give_back(at_home_);
    } else if (!decide_locally(store::intent::take, fallback_, outcome::failed_local)) {
        give_back(at_home_);
    }
    finish();
}

// The request passes, though a part of the store has not decided: of limits in shadow mode.
void limit_check::settle_unknown()
{
    for (std::size_t i = 0; i < elsewhere_.count; ++i) {
        if (!elsewhere_.given.knows(i)) {
            may_be_charged_ = true;
            settle(i);
        }
    }
    decide_locally(store::intent::take, fallback_, outcome::failed_local);
}

}  // namespace gateway::server
