// Plans: who a request is from chooses what a limit gives it.
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

// Instead of an index into policy::plans.
inline constexpr std::size_t no_plans = std::numeric_limits<std::size_t>::max();

// What a limit is to the requests of one plan.
struct plan_rule {
    enum class kind {
        // A limit of other numbers.
        limited,
        // None: nothing is charged, and nothing said of it.
        unlimited,
        // Every request is refused with 403.
        blocked,
    };

    std::string name;
    kind what = kind::limited;
    // Of `limited`; else they mean nothing.
    limit::limit limit;
    // As it was written.
    std::string rate{};
};

// The plans of one limit.
struct plan_choice {
    // Index into policy::plans, or no_plans.
    std::size_t plans = no_plans;
    // Those with rules of their own; at most max_plan_names.
    std::vector<plan_rule> rules{};

    // [p] is the rule of the plan with that id, as an index into `rules` plus one; 0: the limit's
    // own numbers. [0] is that of who is in no plan. Filled in by policy::finish().
    std::vector<std::uint8_t> rule_of{};

    // Null: the limit's own numbers.
    const plan_rule* of(plan_id plan) const
    {
        const std::uint8_t rule = rule_of[plan];
        return rule == 0 ? nullptr : &rules[rule - 1];
    }

    // Makes `rule_of` for a section with these members.
    void finish(const plan_table& members, std::string_view standard);
};

}  // namespace gateway::policy
