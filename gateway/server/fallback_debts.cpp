#include "gateway/server/fallback_debts.hpp"

#include "gateway/identity/bucket_name.hpp"

#include <algorithm>
#include <utility>

namespace gateway::server {

void fallback_debts::add(const std::shared_ptr<const policy_view>& view, reserved r)
{
    const base::hash128 id = identity::hashed(r.bucket_name).hash();
    const auto known = all_.find(id);
    if (known != all_.end()) {
        r.cost += known->second.of.cost;
    } else if (all_.size() == max_buckets) {
        r.metrics->corrections_lost.add();
        return;
    }
    r.cost = std::min(r.cost, r.limit->burst());
    all_[id] = {view, std::move(r)};
}

void fallback_debts::settle()
{
    std::size_t asked = 0;
    for (auto next = all_.begin(); next != all_.end() && asked < at_once;) {
        const debt& d = next->second;
        if (d.of.shared->healthy()) {
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

}  // namespace gateway::server
