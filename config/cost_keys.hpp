// A limit's `cost`: a number, or where a request says it.
#pragma once

#include "config/keys.hpp"
#include "gateway/policy/cost_rule.hpp"

#include <cstdint>
#include <string>

namespace gateway::config {

void describe_cost(keys& limit, policy::cost_rule& cost);

// Complains of what the rule itself sets above `most`, which a bucket holds at most: its `held`,
// as "burst".
void refuse_cost_above(
    section& from, const policy::cost_rule& cost, std::int64_t most, const std::string& held
);

}  // namespace gateway::config
