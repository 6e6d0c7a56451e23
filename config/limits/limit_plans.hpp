// Keys `plan` and `plans` of a limit: what it is to each plan.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "config/limits/limit_rate.hpp"

namespace gateway::config {

// Requires: the limit's own numbers and its store have been described.
void describe_limit_plans(keys& limit, limit_draft& l, draft& d);

}  // namespace gateway::config
