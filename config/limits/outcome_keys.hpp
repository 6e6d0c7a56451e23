// Keys `charge_on`, `reset_on` and `settle` of a limit: how a response changes what its request was
// charged.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/policy/outcome_rule.hpp"

namespace gateway::config {

void describe_outcome(keys& limit, policy::outcome_rule& outcome);

}  // namespace gateway::config
