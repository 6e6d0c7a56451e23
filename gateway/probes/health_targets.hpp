// `health_targets()` lists the servers to check, with the statuses that their health is reported
// to.
#pragma once

#include "gateway/probes/health_checks.hpp"
#include "gateway/worker/snapshot.hpp"

#include <vector>

namespace gateway::probes {

// Returns the servers of upstreams that have `health`, and marks all others as healthy.
// Requires: `s` is in force.
std::vector<health_checks::target> health_targets(const worker::snapshot& s);

}  // namespace gateway::probes
