#include "gateway/server/verdict.hpp"

#include <algorithm>

namespace gateway::server {

namespace {

bool enforced(const verdict::entry& e)
{
    return e.rule->mode == policy::mode::enforce;
}

}  // namespace

base::duration verdict::retry_after() const
{
    base::duration wait{0};
    for (const entry& e : limits()) {
        if (enforced(e) && e.decided && !e.decision.allowed) {
            wait = std::max(wait, e.decision.retry_after);
        }
    }
    return wait;
}

void verdict::reports(std::vector<http::limit_report>& of) const
{
    for (const entry& e : limits()) {
        if (enforced(e) && e.decided) {
            of.push_back({e.rule->name, &e.rule->limit, e.decision});
        }
    }
}

const verdict::entry* verdict::deciding() const
{
    const entry* best = nullptr;
    for (const entry& e : limits()) {
        const bool stops =
            e.what == telemetry::outcome::rejected || e.what == telemetry::outcome::failed_closed;
        if (stops) {
            return &e;
        }
        const bool fewer = e.decided && (best == nullptr || !best->decided ||
                                         e.decision.remaining < best->decision.remaining);
        if (best == nullptr || fewer) {
            best = &e;
        }
    }
    return best;
}

}  // namespace gateway::server
