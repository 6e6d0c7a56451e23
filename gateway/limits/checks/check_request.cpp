#include "gateway/limits/checks/check_request.hpp"

#include "gateway/intake/request_charges.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace gateway::limits {

namespace {

using state = request_check::state;

request_check as_check(const verdict* v)
{
    return {.is = v != nullptr ? state::decided : state::asked, .verdict = v};
}

// Says if a request whose token names an unknown key goes no further for now: it waits for keys, or
// there are none at all. Limits in shadow mode have nobody wait.
std::optional<request_check> stopped_for_keys(
    const policy::policy& policy,
    std::span<const std::size_t> limits_with_token,
    verdict_listener& listener
)
{
    const auto first =
        std::find_if(limits_with_token.begin(), limits_with_token.end(), [&policy](std::size_t i) {
            return policy.limits[i].enforced();
        });
    if (!policy.token->are_keys_fetched() || first == limits_with_token.end()) {
        return std::nullopt;
    }
    if (listener.awaits_keys()) {
        return request_check{.is = state::awaits_keys};
    }
    if (policy.token->lacks_keys()) {
        return request_check{.is = state::lacks_keys, .limit = *first};
    }
    return std::nullopt;
}

}  // namespace

request_check check_request(
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
    const auto rest = limits.subspan(first.size());
    intake::named_charges& charges = check.begin(view);
    if (const auto* const refused = intake::add_charges(policy, first, subject, charges)) {
        return as_check(&check.refuse(*refused));
    }
    if (!route.reads_token) {
        return as_check(check.decide(listener));
    }
    if (const verdict* const rejection = check.reject_already()) {
        return as_check(rejection);
    }
    subject.claimed = view.claimed.get();
    if (view.tokens != nullptr) {
        subject.token =
            intake::find_token(*subject.head, *policy.token, *view.tokens, base::unix_time());
    }
    if (subject.token.unknown_key) {
        if (const auto stopped = stopped_for_keys(policy, rest, listener)) {
            return *stopped;
        }
    }
    const std::size_t count = charges.count;
    const std::size_t plans = charges.plans.size();
    const auto* const refused = intake::add_charges(policy, rest, subject, charges);
    if (refused == nullptr) {
        return as_check(check.decide(listener));
    }
    if (!is_forgery(*refused, subject.token)) {
        return as_check(&check.refuse(*refused));
    }
    check.refuse_if_allowed(*refused);
    charges.count = count;
    charges.plans.resize(plans);
    return as_check(check.decide(listener));
}

}  // namespace gateway::limits
