// Key `cost` of a limit: a number, or where a request says it.
#pragma once

#include "config/keys/keys.hpp"
#include "config/limits/limit_draft.hpp"
#include "gateway/policy/cost_rule.hpp"

namespace gateway::config {

void describe_cost(keys& limit, policy::cost_rule& cost);

// Reports costs in the configuration that are above the most that a bucket holds. The problem is at
// the cost, or at the numbers of the plan.
void refuse_cost_above(section& from, const limit_draft& l);

}  // namespace gateway::config
