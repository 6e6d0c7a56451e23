// What plans make of a limit: its keys `plan` and `plans`.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"
#include "config/limits/limit_rate.hpp"

namespace gateway::config {

// After the limit's own numbers and its store.
void describe_limit_plans(keys& limit, limit_draft& l, draft& d);

}  // namespace gateway::config
