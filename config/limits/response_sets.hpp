// `describe_responses` describes the keys that name responses: `charge_on` and `reset_on` of a
// limit.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/policy/outcome_rule.hpp"

namespace gateway::config {

void describe_responses(const described_key& k, policy::response_set& responses);

}  // namespace gateway::config
