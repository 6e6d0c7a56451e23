// Which servers are to be checked, and who is told of their health.
#pragma once

#include "gateway/server/health_checks.hpp"
#include "gateway/server/snapshot.hpp"

#include <vector>

namespace gateway::server {

// Those whose upstreams have `health`, once `s` is in force. All others are taken to be well.
std::vector<health_checks::target> health_targets(const snapshot& s);

}  // namespace gateway::server
