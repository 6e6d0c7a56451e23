// Key `local_share` of a limit: what one gateway of several gives while their store fails.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

// Requires: all other keys that have numbers have been described.
void describe_local_share(keys& limit, limit_draft& l);

}  // namespace gateway::config
