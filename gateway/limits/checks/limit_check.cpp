#include "gateway/limits/checks/limit_check.hpp"

namespace gateway::limits {

using telemetry::outcome;

intake::named_charges& limit_check::begin(const policy_view& view)
{
    view_ = &view;
    limits_.begin(view);
    at_home_.clear();
    elsewhere_.clear();
    fallback_.clear();
    return limits_.charges();
}

const verdict& limit_check::refuse(const intake::named_charge& charge)
{
    limits_.refuse(charge);
    return limits_.verdict();
}

const verdict* limit_check::finish()
{
    limits_.finish();
    return &limits_.verdict();
}

const verdict* limit_check::reject_already()
{
    const store::shared_store* const shared = gather();
    if (shared != nullptr && shared->recalls(elsewhere_.all(), clock_.now(), elsewhere_.given) &&
        !elsewhere_.given.admitted) {
        limits_.record(elsewhere_, elsewhere_.given, outcome::allowed);
        local_.decide(store::intent::look, at_home_, outcome::allowed);
        return finish();
    }
    if (local_.reject(at_home_)) {
        return finish();
    }
    at_home_.clear();
    elsewhere_.clear();
    return nullptr;
}

const verdict* limit_check::decide(verdict_listener& listener)
{
    store::shared_store* const shared = gather();
    const bool recalled = shared != nullptr && recall(*shared);
    const bool rejected = limits_.verdict().is == verdict::ruling::rejected;
    const auto what = rejected ? store::intent::look : store::intent::take;
    const bool passes = local_.decide(what, at_home_, outcome::allowed);
    if (shared == nullptr || recalled || !passes) {
        return finish();
    }
    elsewhere_.taken_at = clock_.now();
    if (take_leased(*shared)) {
        return finish();
    }
    listener_ = &listener;
    may_be_charged_ = false;
    if (shared->ask(elsewhere_.all(), *this).has_value()) {
        settle_failure();
        return &limits_.verdict();
    }
    elsewhere_.unanswered = true;
    return nullptr;
}

// Sorts the charges by store, and returns the shared store if there is one. The configuration
// allows one shared store per route.
store::shared_store* limit_check::gather()
{
    limits_.prepare();
    store::shared_store* shared = nullptr;
    const auto all = limits_.all();
    for (std::size_t i = 0; i < limits_.verdict().count; ++i) {
        const checked_limit& l = all[i];
        if (!l.is_charged()) {
            continue;
        }
        const std::size_t home = l.rule().store;
        charge_batch& batch = home == policy::local_store ? at_home_ : elsewhere_;
        batch.add(l, i, l.charged_bucket(), *l.charged);
        if (home != policy::local_store) {
            shared = view_->stores[home].get();
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
    limits_.record(elsewhere_, elsewhere_.given, outcome::allowed);
    return true;
}

// Returns true if tokens that were taken ahead pay the shared store's part. Leases help only if all
// its limits have one, so the first one tells whether to look.
bool limit_check::take_leased(store::shared_store& shared)
{
    elsewhere_.taken = elsewhere_.charges[0].lease != nullptr &&
                       shared.take_leased(elsewhere_.all(), elsewhere_.given);
    if (elsewhere_.taken) {
        limits_.record(elsewhere_, elsewhere_.given, outcome::allowed);
    }
    return elsewhere_.taken;
}

void limit_check::answered(const store::answer& a)
{
    limits_.record(elsewhere_, a, outcome::allowed);
    elsewhere_.taken = a.admitted;
    elsewhere_.unanswered = false;
    elsewhere_.given = a;
    if (a.admitted) {
        settle_unknown();
    } else {
        local_.refund(at_home_);
    }
    limits_.finish();
    listener_->decided(limits_.verdict());
}

void limit_check::failed(store::failure, store::taken tokens)
{
    may_be_charged_ = tokens == store::taken::perhaps;
    settle_failure();
    listener_->decided(limits_.verdict());
}

void limit_check::reserve(reserving what, reservation& into) const
{
    const auto all = limits_.all();
    at_home_.reserve(all, nullptr, what, into);
    fallback_.reserve(all, nullptr, what, into);
    if (elsewhere_.taken || elsewhere_.unanswered) {
        const std::size_t store = all[elsewhere_.entry[0]].rule().store;
        elsewhere_.reserve(all, view_->stores[store].get(), what, into);
    }
}

}  // namespace gateway::limits
