// This part of limit_check applies on_store_failure to limits whose store has not decided.
#include "gateway/limits/checks/limit_check.hpp"
#include "gateway/limits/fallback_name.hpp"

namespace gateway::limits {

using telemetry::outcome;

void limit_check::settle_failure()
{
    bool closed = false;
    for (std::size_t i = 0; i < elsewhere_.count; ++i) {
        closed = settle(i) || closed;
    }
    if (closed) {
        limits_.verdict().is = verdict::ruling::unavailable;
        local_.refund(at_home_);
    } else if (!local_.decide(store::intent::take, fallback_, outcome::failed_local)) {
        local_.refund(at_home_);
    }
    limits_.finish();
}

// Settles charges that a part of the store has not decided. The request passes all the same, as
// they are of limits in shadow mode.
void limit_check::settle_unknown()
{
    for (std::size_t i = 0; i < elsewhere_.count; ++i) {
        if (!elsewhere_.given.knows(i)) {
            may_be_charged_ = true;
            settle(i);
        }
    }
    local_.decide(store::intent::take, fallback_, outcome::failed_local);
}

// Applies the limit's failure policy, as the store says nothing of it. Returns true if the request
// is refused.
bool limit_check::settle(std::size_t i)
{
    const std::size_t index = elsewhere_.entry[i];
    checked_limit& l = limits_.all()[index];
    verdict::entry& e = limits_.verdict().entries[index];
    const limit::limit* const share = l.named->limit->share();
    switch (l.rule().on_store_failure) {
        case policy::failure_policy::open:
            e.what = outcome::failed_open;
            return false;
        case policy::failure_policy::closed:
            e.what = l.rule().enforced() ? outcome::failed_closed : outcome::failed_open;
            return l.rule().enforced();
        case policy::failure_policy::local:
            // Kept beside the other name, which the store may still need.
            l.fallback_name = fallback_name(l.named->name.bytes());
            e.limit = share == nullptr ? l.named->limit : share;
            fallback_.add(
                l, index, l.fallback_name.hashed(), share == nullptr ? *l.charged : *share
            );
            return false;
    }
    return false;
}

void limit_check::owe(const std::shared_ptr<const policy_view>& view, reservation& into) const
{
    const bool owes = fallback_.taken && !may_be_charged_;
    for (std::size_t i = 0; i < (owes ? fallback_.count : 0); ++i) {
        const checked_limit& l = limits_.all()[fallback_.entry[i]];
        const policy::limit_rule& rule = l.rule();
        const limit::decision& decision = fallback_.given.decisions()[i];
        if (rule.local_share.any() && decision.allowed && l.named->cost > 0 &&
            !rule.limit.counts_in_flight() && !rule.may_change()) {
            into.begin(view);
            into.owe(
                {.rule = &rule,
                 .limit = l.named->limit,
                 .metrics = l.metrics,
                 .bucket_name = std::string{l.named->name.bytes()},
                 .cost = l.named->cost,
                 .taken_at = fallback_.taken_at,
                 .shared = view->stores[rule.store].get()}
            );
        }
    }
}

}  // namespace gateway::limits
