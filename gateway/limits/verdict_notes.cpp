#include "gateway/limits/verdict_notes.hpp"

#include <random>

namespace gateway::limits {

void note_verdict(const limit_check& check, const verdict& v, request_record& record)
{
    record.plans = v.plans;
    record.costs.note(v);
    if (const auto* e = v.deciding()) {
        record.deciding_limit = e->rule->name;
        if (v.is != verdict::ruling::unidentified && v.is != verdict::ruling::bad_cost) {
            record.outcome = telemetry::outcome_names[static_cast<std::size_t>(e->what)];
        }
        if (e->what != telemetry::outcome::allowed) {
            record.bucket_name = check.bucket_name(static_cast<std::size_t>(e - v.entries.data()));
            v.append_shadow_rejections(record.shadow_rejected);
        }
    }
    v.reports(record.reports);
}

std::optional<base::duration> retry_wait(const verdict& v)
{
    const auto wait = v.retry_after();
    const int percent = v.jitter();
    if (!wait || percent == 0) {
        return wait;
    }
    thread_local std::minstd_rand random{std::random_device{}()};
    const std::int64_t most = wait->count() / 100 * percent;
    return *wait + base::duration{std::uniform_int_distribution<std::int64_t>{0, most}(random)};
}

std::optional<telemetry::refusal_reason> refusal_reason_of(verdict::ruling is)
{
    using telemetry::refusal_reason;
    switch (is) {
        case verdict::ruling::allowed:
            break;
        case verdict::ruling::rejected:
            return refusal_reason::rejected;
        case verdict::ruling::unavailable:
            return refusal_reason::failed_closed;
        case verdict::ruling::unidentified:
            return refusal_reason::missing_key;
        case verdict::ruling::blocked:
            return refusal_reason::blocked;
        case verdict::ruling::bad_cost:
            return refusal_reason::bad_cost;
    }
    return std::nullopt;
}

}  // namespace gateway::limits
