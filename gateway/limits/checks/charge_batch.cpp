#include "gateway/limits/checks/charge_batch.hpp"

namespace gateway::limits {

static_assert(
    policy::max_limits_per_route <= store::max_charges, "all limits of a route fit one question"
);

void charge_batch::add(
    const checked_limit& l,
    std::size_t index,
    const base::hashed_name& bucket,
    const limit::limit& charged
)
{
    const policy::limit_rule& rule = l.rule();
    charges[count] = {
        .limit_name = rule.name,
        .bucket_name = bucket,
        .limit = &charged,
        .cost = l.named->cost,
        .enforced = rule.enforced(),
        .permit = rule.limit.counts_in_flight() ? fresh_permit() : 0,
        .max_wait = rule.max_wait,
        .max_reserved = rule.max_reserved,
        .penalty = rule.penalty.any() ? &rule.penalty : nullptr,
        .lease = rule.lease.any() ? &rule.lease : nullptr,
        .may_be_corrected = rule.may_be_corrected,
    };
    entry[count++] = index;
}

void charge_batch::reserve(
    std::span<const checked_limit> limits,
    store::shared_store* from,
    reserving what,
    reservation& into
) const
{
    for (std::size_t i = 0; i < count; ++i) {
        const checked_limit& l = limits[entry[i]];
        const policy::limit_rule& rule = l.rule();
        const limit::decision decision = taken ? given.decisions()[i] : limit::decision{};
        const bool permit = rule.limit.counts_in_flight();
        const bool is_meant = permit || what == reserving::everything ||
                              (what == reserving::outcomes && rule.may_change());
        // A permit that the store has not answered for may have been taken.
        const bool is_unclear = unanswered || (taken && !given.knows(i));
        const bool is_taken = (taken && decision.allowed) || (is_unclear && permit);
        if (is_meant && is_taken) {
            into.add({
                .rule = &rule,
                .limit = charges[i].limit,
                .metrics = l.metrics,
                .bucket_name = std::string{charges[i].bucket_name.bytes()},
                .cost = l.named->cost,
                .full_cost = l.named->full_cost,
                .by_bytes = l.named->by_bytes,
                .permit = permit && from == nullptr ? given.permit(i) : charges[i].permit,
                .decision = decision,
                .taken_at = taken_at,
                .shared = from,
                .is_of_shared_bucket = from == nullptr && taken && given.is_shared(i),
            });
        }
    }
}

}  // namespace gateway::limits
