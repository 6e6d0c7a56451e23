#include "gateway/intake/request_plan.hpp"

#include "gateway/http/part_value.hpp"

namespace gateway::intake {

std::optional<policy::plan_id> plan_of(
    const policy::plan_section& plans, const key_subject& subject
)
{
    if (plans.by_address()) {
        return plans.members->find(subject.address);
    }
    thread_local http::part_value value;  // It keeps its memory.
    read_part(plans.key, subject, value);
    if (value.ambiguous()) {
        return std::nullopt;
    }
    return value.present() ? plans.members->find(value.text()) : policy::plan_id{0};
}

namespace {

// Returns the limit for clients without a plan of other numbers.
const limit::limit& own_limit(const policy::limit_rule& rule, const key_subject& subject)
{
    const bool is_claimed = rule.claimed.any() && subject.claimed != nullptr;
    return is_claimed ? subject.claimed->of(rule, subject.token.verified) : rule.limit;
}

}  // namespace

applied_limit applied_by_plan(
    const policy::policy& policy, const policy::limit_rule& rule, const key_subject& subject
)
{
    using kind = applied_limit::kind;
    const applied_limit own{.is = kind::limited, .limit = &own_limit(rule, subject)};
    if (rule.plan.plans == policy::no_plans) {
        return own;
    }
    const policy::plan_section& plans = policy.plans[rule.plan.plans];
    const auto plan = plan_of(plans, subject);
    if (!plan) {
        return {.is = kind::unclear};
    }
    applied_limit applied = own;
    applied.plan =
        *plan == 0 ? std::string_view{plans.standard} : plans.members->names()[*plan - 1U];
    const policy::plan_rule* const chosen = rule.plan.of(*plan);
    if (chosen == nullptr) {
        return applied;
    }
    switch (chosen->what) {
        case policy::plan_rule::kind::limited:
            applied.limit = &chosen->limit;
            break;
        case policy::plan_rule::kind::unlimited:
            applied.is = kind::unlimited;
            applied.limit = nullptr;
            break;
        case policy::plan_rule::kind::blocked:
            applied.is = kind::blocked;
            applied.limit = nullptr;
            break;
    }
    return applied;
}

}  // namespace gateway::intake
