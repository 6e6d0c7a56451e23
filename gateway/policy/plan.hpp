// `plan_choice` holds a limit's plans: a request's plan decides which numbers the limit has for it.
#pragma once

#include "gateway/limit/limit.hpp"
#include "gateway/policy/plan_table.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace gateway::policy {

inline constexpr std::size_t max_plan_sections = 64;

// Value of plan_choice::plans for a limit without plans.
inline constexpr std::size_t no_plans = std::numeric_limits<std::size_t>::max();

// A limit's rule for the requests of one plan.
struct plan_rule {
    enum class kind {
        // A limit with other numbers.
        limited,
        // No limit: nothing is charged, and nothing reported.
        unlimited,
        // Every request is refused with 403.
        blocked,
    };

    std::string name;
    kind what = kind::limited;
    // The other numbers, with `limited` only.
    limit::limit limit;
    // The rate as it was written.
    std::string rate{};
};

// The plans of one limit.
struct plan_choice {
    // Index into policy::plans, or no_plans.
    std::size_t plans = no_plans;
    // Rules of the plans that have their own, at most max_plan_names.
    std::vector<plan_rule> rules{};

    // rule_of[p] is the rule of the plan with that id, as an index into `rules` plus one. 0: the
    // limit's own numbers. rule_of[0] is the rule of requests without a plan. Filled in by
    // policy::finish().
    std::vector<std::uint8_t> rule_of{};

    // Returns the rule of a plan, or null for the limit's own numbers.
    const plan_rule* of(plan_id plan) const
    {
        const std::uint8_t rule = rule_of[plan];
        return rule == 0 ? nullptr : &rules[rule - 1];
    }

    // Fills in `rule_of` for a section with these members. `standard` is the plan of all others.
    void finish(const plan_table& members, std::string_view standard);
};

}  // namespace gateway::policy
