// `complaints_of_unnamed_plans` finds plans that no limit names. A slip in a plan file would take a
// customer's plan away.
#pragma once

#include "gateway/policy/policy.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gateway::config {

// Returns a complaint for each plan that has members in policy.plans[section] but is named neither
// by a limit of these plans nor as their default. Returns none if no limit uses the section.
std::vector<std::string> complaints_of_unnamed_plans(
    const policy::policy& policy, std::size_t section
);

}  // namespace gateway::config
