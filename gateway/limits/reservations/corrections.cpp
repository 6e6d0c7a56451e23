#include "gateway/limits/reservations/corrections.hpp"

namespace gateway::limits {

void corrections::make(
    const std::shared_ptr<const policy_view>& view, const reserved& r, const limit::correction& what
)
{
    const store::charge charged = charge_of(r, r.bucket_name);
    const base::instant there_at = r.taken_at + r.decision.retry_after;
    const base::instant now = clock_.now();
    telemetry::counter& lost = r.metrics->corrections_lost;
    if (r.shared != nullptr) {
        pending_.add({*r.shared, charged, what, there_at, lost, view}, now);
        return;
    }
    limit::correction in_nanoseconds = what;
    in_nanoseconds.of.held = (now - there_at).count();
    in_nanoseconds.waited = r.decision.retry_after.count();
    if (!local_.correct(charged, in_nanoseconds, now)) {
        lost.add();
    }
}

}  // namespace gateway::limits
