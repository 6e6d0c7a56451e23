// This part of limit_check applies on_store_failure to limits whose store has not decided.
#include "gateway/limits/fallback_name.hpp"
#include "gateway/limits/limit_check.hpp"

namespace gateway::limits {

using telemetry::outcome;

void limit_check::failed(store::failure, store::taken tokens)
{
    may_be_charged_ = tokens == store::taken::perhaps;
    settle_failure();
    listener_->decided(verdict_);
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
    decide_locally(store::intent::take, fallback_, outcome::failed_local);
}

// Applies the limit's failure policy, as the store says nothing of it. Returns true if the request
// is refused.
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
            e.what = it.rule->enforced() ? outcome::failed_closed : outcome::failed_open;
            return it.rule->enforced();
        case policy::failure_policy::local:
            // Kept beside the other name, which the store may still need.
            it.fallback_name = fallback_name(it.name.bytes());
            e.limit = share == nullptr ? it.limit : share;
            fallback_.add(
                it, index, it.fallback_name.hashed(), share == nullptr ? *it.charged : *share
            );
            return false;
    }
    return false;
}

}  // namespace gateway::limits
