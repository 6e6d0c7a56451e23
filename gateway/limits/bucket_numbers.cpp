#include "gateway/limits/bucket_numbers.hpp"

#include "gateway/policy/stated_value.hpp"

#include <algorithm>

namespace gateway::limits {

namespace {

std::string use(const policy::plan_rule& rule, bucket_operation& operation)
{
    using what = policy::plan_rule::kind;
    operation.numbers = &rule.limit;
    if (rule.what == what::limited) {
        return {};
    }
    const std::string is = rule.what == what::blocked ? "blocked" : "unlimited";
    return "plan: \"" + rule.name + "\" is " + is + ", and has no bucket";
}

std::string use_named(
    const std::string& plan, const policy::limit_rule& rule, bucket_operation& operation
)
{
    if (rule.plan.plans == policy::no_plans) {
        return "plan: this limit has no plans";
    }
    for (const policy::plan_rule& p : rule.plan.rules) {
        if (p.name == plan) {
            return use(p, operation);
        }
    }
    const policy::plan_section& plans = operation.policy->plans[rule.plan.plans];
    const auto& names = plans.members->names();
    const bool known =
        plan == plans.standard || std::find(names.begin(), names.end(), plan) != names.end();
    return known ? std::string{} : "plan: nobody has it";
}

policy::plan_id plan_of(const policy::plan_section& plans, const std::string& value)
{
    if (!plans.by_address()) {
        http::part_value read;
        const bool good = policy::read_stated_value(plans.key, value, read).empty();
        return good ? plans.members->find(read.text()) : policy::plan_id{0};
    }
    const auto address = base::ip_address::parse(value);
    return address ? plans.members->find(*address) : policy::plan_id{0};
}

// Uses the numbers of the key's plan, if plans are given by one of the key's parts. Otherwise the
// plan cannot be known, and the limit's own numbers stay.
std::string use_that_of_key(
    std::span<const std::string> key, const policy::limit_rule& rule, bucket_operation& operation
)
{
    const policy::plan_section& plans = operation.policy->plans[rule.plan.plans];
    for (std::size_t i = 0; i < key.size(); ++i) {
        const policy::key_part& part = rule.key[i];
        if (part.from == plans.key.from && part.name == plans.key.name && part.prefix == 0) {
            const policy::plan_rule* const chosen = rule.plan.of(plan_of(plans, key[i]));
            return chosen == nullptr ? std::string{} : use(*chosen, operation);
        }
    }
    return {};
}

}  // namespace

std::string choose_numbers(
    const std::optional<std::string>& plan,
    std::span<const std::string> key,
    bucket_operation& operation
)
{
    const policy::limit_rule& rule = operation.policy->limits[operation.limit];
    operation.numbers = &rule.limit;
    if (plan) {
        return use_named(*plan, rule, operation);
    }
    return rule.plan.plans == policy::no_plans ? std::string{}
                                               : use_that_of_key(key, rule, operation);
}

}  // namespace gateway::limits
