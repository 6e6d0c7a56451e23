// lease of a limit: for how long a gateway has places of requests in flight, or what its workers
// take ahead from a token bucket, in a shared store.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

// After the algorithm.
void describe_lease(keys& limit, limit_draft& l);

// After all other keys.
void check_lease(section& from, const limit_draft& l);

}  // namespace gateway::config
