// This part of limit_check collects what a request has taken that may still change.
#include "gateway/limits/limit_check.hpp"

namespace gateway::limits {

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
        const bool place = it.rule->limit.counts_in_flight();
        const bool is_meant = place || what == reserving::everything ||
                              (what == reserving::outcomes && it.rule->outcome.any());
        // A permit that the store has not answered for may have been taken.
        const bool is_unclear = b.unanswered || (b.taken && !b.given.knows(i));
        const bool is_taken = (b.taken && said.allowed) || (is_unclear && place);
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

void limit_check::owe(const std::shared_ptr<const policy_view>& view, reservation& into) const
{
    const bool owes = fallback_.taken && !may_be_charged_;
    for (std::size_t i = 0; i < (owes ? fallback_.count : 0); ++i) {
        const item& it = items_[fallback_.entry[i]];
        const policy::limit_rule& rule = *it.rule;
        const limit::decision& said = fallback_.given.decisions()[i];
        if (rule.local_share.any() && said.allowed && it.cost > 0 &&
            !rule.limit.counts_in_flight() && !rule.outcome.any()) {
            into.begin(view);
            into.owe(
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

}  // namespace gateway::limits
