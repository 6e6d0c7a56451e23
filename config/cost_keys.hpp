// A limit's `cost`: a number, or where a request says it.
#pragma once

#include "config/keys.hpp"
#include "gateway/policy/cost_rule.hpp"

namespace gateway::config {

void describe_cost(keys& limit, policy::cost_rule& cost);

}  // namespace gateway::config
