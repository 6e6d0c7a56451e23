// Key `lease` of a limit: how long a shared store keeps a permit of a request in flight, or how
// much a worker takes ahead there from a token bucket.
#pragma once

#include "config/limits/limit_draft.hpp"

namespace gateway::config {

// Requires: the algorithm has been described.
void describe_lease(keys& limit, limit_draft& l);

// Checks the key against the others.
// Requires: all other keys have been read.
void check_lease(section& from, const limit_draft& l);

}  // namespace gateway::config
