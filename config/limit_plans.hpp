// What plans make of a limit: its keys `plan` and `plans`.
#pragma once

#include "config/draft.hpp"
#include "config/keys.hpp"
#include "config/limit_rate.hpp"

namespace gateway::config {

// After the limit's own numbers and its store.
void describe_limit_plans(keys& limit, limit_draft& l, draft& d);

}  // namespace gateway::config
