#include "gateway/server/limit_check.hpp"

#include "gateway/server/request_cost.hpp"

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

}  // namespace

void limit_check::batch::add(const item& i, std::size_t index)
{
    charges[count] = {
        .limit_name = i.rule->name,
        .bucket_name = i.name.bytes(),
        .limit = &i.rule->limit,
        .cost = i.cost,
        .enforced = enforced(*i.rule),
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
    listener_ = &listener;
    elsewhere_.taken_at = loop_.now();
    if (shared->ask(elsewhere_.all(), *this).has_value()) {
        settle_failure();
        return &verdict_;
    }
    return nullptr;
}

// Of a limit in shadow mode: nothing.
bool limit_check::refuses(const item& i, verdict::ruling why)
{
    if (!enforced(*i.rule)) {
        return false;
    }
    verdict_.is = why;
    verdict_.entries[0] = {.rule = i.rule};  // the others were not asked
    verdict_.count = 1;
    return true;
}

// Names the bucket of every limit that applies, and what the request costs there. False: the
// request is bad.
bool limit_check::collect(
    const policy_view& view, const policy::route& route, const key_subject& subject
)
{
    for (const std::size_t index : route.limits) {
        item& i = items_[verdict_.count];
        i.rule = &view.policy->limits[index];
        i.metrics = view.limits[index];
        i.may_be_corrected = route.corrects && i.rule->outcome.any();
        const key_result made = make_bucket_name(*i.rule, subject, i.name);
        i.name_bytes = i.name.bytes().size();
        if (made == key_result::reject && refuses(i, verdict::ruling::unidentified)) {
            return false;
        }
        const auto cost = cost_of(i.rule->cost, *subject.head);
        if (!cost && refuses(i, verdict::ruling::bad_cost)) {
            return false;
        }
        if (made == key_result::made && cost) {
            i.cost = *cost;
            verdict_.entries[verdict_.count++] = {.rule = i.rule};
        }
    }
    return true;
}

// Sorts them by store. The configuration allows one shared store per route.
store::shared_store* limit_check::gather(const policy_view& view)
{
    store::shared_store* shared = nullptr;
    for (std::size_t i = 0; i < verdict_.count; ++i) {
        const std::size_t home = items_[i].rule->store;
        if (home == policy::local_store) {
            at_home_.add(items_[i], i);
        } else {
            elsewhere_.add(items_[i], i);
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
            rest.add(items_[b.entry[i]], b.entry[i]);
        }
    }
    if (rest.count == b.count) {
        verdict_.is = verdict::ruling::unavailable;
        return false;
    }
    b = rest;
    return decide_locally(what, b, when_allowed);
}

void limit_check::record(const batch& b, const store::answer& a, outcome when_allowed)
{
    for (std::size_t i = 0; i < b.count; ++i) {
        if (!a.knows(i)) {
            continue;
        }
        verdict::entry& e = verdict_.entries[b.entry[i]];
        e.decided = true;
        e.decision = a.decisions()[i];
        e.never = !e.decision.allowed && b.charges[i].cost > e.rule->limit.burst();
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

void limit_check::reserve(const policy_view& view, const policy::route& route, reservation& into)
    const
{
    if (!route.corrects) {
        return;
    }
    reserve(at_home_, nullptr, into);
    reserve(fallback_, nullptr, into);
    if (elsewhere_.taken) {
        const std::size_t store = items_[elsewhere_.entry[0]].rule->store;
        reserve(elsewhere_, view.stores[store].get(), into);
    }
}

void limit_check::reserve(const batch& b, store::shared_store* from, reservation& into) const
{
    for (std::size_t i = 0; i < b.count && b.taken; ++i) {
        const item& it = items_[b.entry[i]];
        const limit::decision& said = b.given.decisions()[i];
        if (it.may_be_corrected && said.allowed) {
            into.add({
                .rule = it.rule,
                .metrics = it.metrics,
                .bucket_name = std::string{b.charges[i].bucket_name},
                .cost = it.cost,
                .decision = said,
                .taken_at = b.taken_at,
                .shared = from,
            });
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
            verdict_.entries[b.entry[i]].decision = now.decisions()[i];
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
    }
}

void limit_check::answered(const store::answer& a)
{
    record(elsewhere_, a, outcome::allowed);
    elsewhere_.taken = a.admitted;
    elsewhere_.given = a;
    if (!a.admitted) {
        give_back(at_home_);
    }
    finish();
    listener_->decided(verdict_);
}

void limit_check::failed(store::failure)
{
    settle_failure();
    listener_->decided(verdict_);
}

void limit_check::settle_failure()
{
    bool closed = false;
    for (std::size_t i = 0; i < elsewhere_.count; ++i) {
        const std::size_t index = elsewhere_.entry[i];
        item& it = items_[index];
        verdict::entry& e = verdict_.entries[index];
        switch (it.rule->on_store_failure) {
            case policy::failure_policy::open:
                e.what = outcome::failed_open;
                break;
            case policy::failure_policy::closed:
                e.what = enforced(*it.rule) ? outcome::failed_closed : outcome::failed_open;
                closed = closed || enforced(*it.rule);
                break;
            case policy::failure_policy::local:
                it.name.add("local"
                );  // one part more than its bucket in the store: a bucket of its own
                fallback_.add(it, index);
                break;
        }
    }
    if (closed) {
        verdict_.is = verdict::ruling::unavailable;
        give_back(at_home_);
    } else if (!decide_locally(store::intent::take, fallback_, outcome::failed_local)) {
        give_back(at_home_);
    }
    finish();
}

}  // namespace gateway::server
