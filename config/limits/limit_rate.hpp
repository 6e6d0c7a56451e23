// Keys of a limit that say what it gives, and when: its algorithm, its rate, and what a bucket
// holds.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

void describe_rate(keys& limit, limit_draft& l, draft& d);

// Loads the numbers of a plan in place of the limit's own, which `l` has, and checks them likewise.
void load_plan_numbers(section& from, limit_draft& l, draft& d);

}  // namespace gateway::config
