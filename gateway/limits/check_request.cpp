#include "gateway/limits/check_request.hpp"

#include "gateway/intake/request_charges.hpp"

namespace gateway::limits {

namespace {

// True if it is a forged token that refuses the request. It is then charged to the limits that need
// no token. Otherwise a client with nothing but forged tokens would empty no bucket, and have each
// of them verified. A client whose token has expired, or that has none, costs little and is charged
// nowhere.
bool is_forgery(const intake::named_charge& refused, const intake::request_token& token)
{
    return token.forged && ruling_of(refused.is) == verdict::ruling::unidentified;
}

}  // namespace

const verdict* check_request(
    limit_check& check,
    const policy_view& view,
    const policy::route& route,
    intake::key_subject& subject,
    verdict_listener& listener
)
{
    const policy::policy& policy = *view.policy;
    const std::span<const std::size_t> limits{route.limits};
    const auto first = limits.first(route.reads_token ? route.limits_without_token : limits.size());
    intake::named_charges& charges = check.begin(view);
    if (const auto* const refused = intake::add_charges(policy, first, subject, charges)) {
        return &check.refuse(*refused);
    }
    if (!route.reads_token) {
        return check.decide(listener);
    }
    if (const verdict* const rejection = check.reject_already()) {
        return rejection;
    }
    if (view.tokens != nullptr) {
        subject.token =
            intake::find_token(*subject.head, *policy.token, *view.tokens, base::unix_time());
    }
    const std::size_t count = charges.count;
    const std::size_t plans = charges.plans.size();
    const auto* const refused =
        intake::add_charges(policy, limits.subspan(first.size()), subject, charges);
    if (refused == nullptr) {
        return check.decide(listener);
    }
    if (!is_forgery(*refused, subject.token)) {
        return &check.refuse(*refused);
    }
    check.refuse_if_allowed(*refused);
    charges.count = count;
    charges.plans.resize(plans);
    return check.decide(listener);
}

}  // namespace gateway::limits
