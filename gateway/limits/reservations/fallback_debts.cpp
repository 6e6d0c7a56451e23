#include "gateway/limits/reservations/fallback_debts.hpp"

#include "gateway/identity/bucket_name.hpp"

#include <algorithm>
#include <utility>

namespace gateway::limits {

void fallback_debts::add(const std::shared_ptr<const policy_view>& view, reserved r)
{
    const base::hash128 id = identity::hashed(r.bucket_name).hash();
    const auto known = all_.find(id);
    if (known == all_.end() && all_.size() == max_buckets) {
        r.metrics->corrections_lost.add();
        return;
    }
    const std::int64_t owed = r.cost + (known == all_.end() ? 0 : known->second.of.cost);
    debt& d = known == all_.end() ? all_[id] : known->second;
    // The later policy counts. A request that had to wait for its tokens is added after others that
    // were taken later.
    if (d.view == nullptr || r.taken_at >= d.of.taken_at) {
        d = {view, std::move(r)};
    }
    d.of.cost = std::min(owed, d.of.limit->burst());
}

void fallback_debts::settle()
{
    std::size_t asked = 0;
    for (auto next = all_.begin(); next != all_.end() && asked < at_once;) {
        const debt& d = next->second;
        if (make_.has_room() && d.of.shared->has(charge_of(d.of, d.of.bucket_name))) {
            make_.make(
                d.view,
                d.of,
                {.what = limit::correction::kind::charge,
                 .of = {.tokens = d.of.cost},
                 .into_debt = false}
            );
            ++asked;
        } else if (clock_.now() - d.of.taken_at > kept_for) {
            lose(d);
        } else {
            ++next;
            continue;
        }
        next = all_.erase(next);
    }
}

void fallback_debts::lose_all()
{
    for (const auto& [id, d] : all_) {
        lose(d);
    }
    all_.clear();
}

}  // namespace gateway::limits
