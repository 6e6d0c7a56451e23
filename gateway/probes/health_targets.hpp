// Which servers are to be checked, and who is told of their health.
#pragma once

#include "gateway/probes/health_checks.hpp"
#include "gateway/worker/snapshot.hpp"

#include <vector>

namespace gateway::probes {

// Those whose upstreams have `health`, once `s` is in force. All others are taken to be well.
std::vector<health_checks::target> health_targets(const worker::snapshot& s);

}  // namespace gateway::probes
