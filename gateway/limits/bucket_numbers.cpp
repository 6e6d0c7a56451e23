#include "gateway/limits/bucket_numbers.hpp"

#include "gateway/identity/bucket_name.hpp"
#include "gateway/policy/stated_value.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

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

// Returns the plan of a value that a bucket's name holds.
policy::plan_id plan_of(
    const policy::plan_section& plans, const std::variant<std::string_view, base::ip_address>& part
)
{
    const auto find = [&plans](const auto& value) { return plans.members->find(value); };
    return std::visit(find, part);
}

// Uses the numbers of the key's plan, if plans are given by one of the key's parts. Otherwise the
// plan cannot be known, and the limit's own numbers stay. `value_of(i)` returns the value of part
// i.
template <typename Value>
std::string use_that_of_key(std::size_t parts, Value value_of, bucket_operation& operation)
{
    const policy::limit_rule& rule = operation.policy->limits[operation.limit];
    if (rule.plan.plans == policy::no_plans) {
        return {};
    }
    const policy::plan_section& plans = operation.policy->plans[rule.plan.plans];
    for (std::size_t i = 0; i < parts; ++i) {
        const policy::key_part& part = rule.key[i];
        if (part.from == plans.key.from && part.name == plans.key.name && part.prefix == 0) {
            const policy::plan_rule* const chosen = rule.plan.of(plan_of(plans, value_of(i)));
            return chosen == nullptr ? std::string{} : use(*chosen, operation);
        }
    }
    return {};
}

template <typename Value>
std::string choose(
    const std::optional<std::string>& plan,
    std::size_t parts,
    Value value_of,
    bucket_operation& operation
)
{
    const policy::limit_rule& rule = operation.policy->limits[operation.limit];
    operation.numbers = &rule.limit;
    return plan ? use_named(*plan, rule, operation) : use_that_of_key(parts, value_of, operation);
}

}  // namespace

std::string choose_numbers(
    const std::optional<std::string>& plan,
    std::span<const std::string> key,
    bucket_operation& operation
)
{
    const auto value_of = [key](std::size_t i) { return key[i]; };
    return choose(plan, key.size(), value_of, operation);
}

std::string choose_numbers(const std::optional<std::string>& plan, bucket_operation& operation)
{
    // The first part is the limit's name.
    const auto parts = identity::parts_of(operation.bucket_name);
    const auto value_of = [&parts](std::size_t i) { return parts[i + 1]; };
    const std::size_t known = operation.policy->limits[operation.limit].key.size();
    return choose(plan, std::min(parts.size() - 1, known), value_of, operation);
}

}  // namespace gateway::limits
