#include "gateway/limits/verdict.hpp"

#include <algorithm>
#include <utility>

namespace gateway::limits {

namespace {

// Returns how soon a limit with this outcome is named in the log; 0 comes first.
int rank(telemetry::outcome what)
{
    switch (what) {
        case telemetry::outcome::rejected:
        case telemetry::outcome::failed_closed:
        case telemetry::outcome::blocked:
            return 0;
        case telemetry::outcome::failed_open:
        case telemetry::outcome::failed_local:
            return 1;
        case telemetry::outcome::shadow_rejected:
            return 2;
        case telemetry::outcome::allowed:
            break;
    }
    return 3;
}

bool comes_before(const verdict::entry& a, const verdict::entry& b)
{
    if (a.what != b.what) {
        return rank(a.what) < rank(b.what);
    }
    if (a.decision.banned != b.decision.banned) {
        return a.decision.banned;
    }
    const auto left = [](const verdict::entry& e) {
        return std::pair{limit::requests_left(e.decision, e.cost), e.decision.remaining};
    };
    return a.what == telemetry::outcome::allowed && left(a) < left(b);
}

}  // namespace

std::optional<base::duration> verdict::retry_after() const
{
    base::duration wait{0};
    for (const entry& e : limits()) {
        if (e.rule->enforced() && e.decided && !e.decision.allowed) {
            if (e.never) {
                return std::nullopt;
            }
            wait = std::max(wait, e.decision.retry_after);
        }
    }
    return wait;
}

bool verdict::banned() const
{
    const auto all = limits();
    return std::any_of(all.begin(), all.end(), [](const entry& e) {
        return e.rule->enforced() && e.decided && e.decision.banned;
    });
}

base::duration verdict::hold() const
{
    base::duration wait{0};
    for (const entry& e : limits()) {
        if (e.rule->enforced() && e.decided && e.decision.allowed) {
            wait = std::max(wait, e.decision.retry_after);
        }
    }
    return wait;
}

int verdict::jitter() const
{
    int percent = 0;
    for (const entry& e : limits()) {
        if (e.rule->enforced() && e.decided && !e.decision.allowed) {
            percent = std::max(percent, e.rule->jitter);
        }
    }
    return percent;
}

void verdict::reports(std::vector<http::limit_report>& of) const
{
    for (const entry& e : limits()) {
        if (e.rule->enforced() && e.decided) {
            of.push_back(
                {.name = e.rule->name,
                 .limit = e.limit,
                 .decision = e.decision,
                 .cost = e.cost,
                 .fields = &e.rule->fields,
                 .warns = e.warns && is == ruling::allowed}
            );
        }
    }
}

const verdict::entry* verdict::deciding() const
{
    const entry* best = nullptr;
    for (const entry& e : limits()) {
        if (best == nullptr || comes_before(e, *best)) {
            best = &e;
        }
    }
    return best;
}

void verdict::append_shadow_rejections(std::string& names) const
{
    for (const entry& e : limits()) {
        if (is == ruling::allowed && e.what == telemetry::outcome::shadow_rejected) {
            names.append(names.empty() ? "" : ",").append(e.rule->name);
        }
    }
}

verdict::ruling ruling_of(intake::named_charge::state is)
{
    using state = intake::named_charge::state;
    switch (is) {
        case state::blocked:
            return verdict::ruling::blocked;
        case state::bad_cost:
            return verdict::ruling::bad_cost;
        default:
            return verdict::ruling::unidentified;
    }
}

bool is_forgery(const intake::named_charge& refused, const intake::request_token& token)
{
    return token.forged && ruling_of(refused.is) == verdict::ruling::unidentified;
}

admission admission_of(verdict::ruling is, std::optional<base::duration> wait, bool banned)
{
    switch (is) {
        case verdict::ruling::allowed:
            return {};
        case verdict::ruling::rejected:
            return wait ? refusal(
                              429,
                              banned ? "banned for a while; retry later"
                                     : "the limit is exhausted; retry later",
                              std::max(*wait, base::duration{1})
                          )
                        : refusal(429, "the request costs more than the limit ever holds");
        case verdict::ruling::unavailable:
            return refusal(
                503, "the rate limit cannot be checked at the moment", std::chrono::seconds{1}
            );
        case verdict::ruling::unidentified:
            return refusal(400, "what identifies the client is missing or ambiguous");
        case verdict::ruling::blocked:
            return refusal(403, "this client may not make this request");
        case verdict::ruling::bad_cost:
            return refusal(
                400, "what the request says of its cost is no whole number within the bounds"
            );
    }
    return {};
}

}  // namespace gateway::limits
