#include "gateway/rate_changes.hpp"

#include "gateway/base/clock.hpp"

#include <algorithm>
#include <vector>

namespace gateway {

namespace {

// True if all buckets of the limit follow the same numbers. With plans, each bucket follows those
// of its client, with shards those of its part. A walk does not know them, so a request rebases the
// bucket.
bool has_one_rate(const policy::limit_rule& rule)
{
    return rule.plan.plans == policy::no_plans && !rule.claimed.any() && rule.shards == 1;
}

bool differs(const config::settings& before, const policy::limit_rule& fresh)
{
    const auto& limits = before.policy->limits;
    return std::any_of(limits.begin(), limits.end(), [&fresh](const policy::limit_rule& old) {
        return old.name == fresh.name && !old.limit.issues_as(fresh.limit);
    });
}

bool changes_rate(const config::settings& before, const policy::limit_rule& fresh)
{
    return has_one_rate(fresh) && differs(before, fresh);
}

}  // namespace

void rate_changes::apply(const config::settings& before, const config::settings& fresh)
{
    std::vector<store::memory_store::changed_limit> changed;
    bool any = false;
    for (const policy::limit_rule& rule : fresh.policy->limits) {
        any = any || differs(before, rule);
        // A local bucket that stands in for a shared store is rebased when its client comes, as its
        // limit may be a share.
        if (rule.store == policy::local_store && changes_rate(before, rule)) {
            changed.push_back({rule.name, &rule.limit});
        }
    }
    if (any) {
        local_.rebase(changed, base::now());
    }
    drop_walks(fresh);
    for (std::size_t store = 0; store < fresh.shared_stores.size(); ++store) {
        walk(before, fresh, store);
    }
}

// Starts a walk if rates have changed. Restarts one under way if the store's options have changed.
void rate_changes::walk(
    const config::settings& before, const config::settings& fresh, std::size_t store
)
{
    const store::named_store& shared = fresh.shared_stores[store];
    const auto known = walks_.find(shared.name);
    bool needed = known != walks_.end() && known->second.options != shared.options;
    std::vector<store::named_limit> limits;
    for (const policy::limit_rule& rule : fresh.policy->limits) {
        if (rule.store == store && has_one_rate(rule) && rule.limit.keeps_debts()) {
            limits.push_back({rule.name, rule.limit});
            needed = needed || changes_rate(before, rule);
        }
    }
    if (!needed) {
        return;
    }
    if (known != walks_.end()) {
        known->second.walk->cancel();
    }
    walks_[shared.name] = {
        shared.options, store::walk_rates(executor_, shared.name, shared.options, limits)};
}

// Drops walks that have ended, and walks over stores that no longer exist.
void rate_changes::drop_walks(const config::settings& fresh)
{
    std::erase_if(walks_, [&fresh](const auto& entry) {
        const auto& stores = fresh.shared_stores;
        const bool there = std::any_of(stores.begin(), stores.end(), [&entry](const auto& s) {
            return s.name == entry.first;
        });
        if (!there) {
            entry.second.walk->cancel();
        }
        return !there || entry.second.walk->ended();
    });
}

}  // namespace gateway
