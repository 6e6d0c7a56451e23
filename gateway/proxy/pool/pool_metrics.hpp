// `pool_metrics` refers to one worker's counters for one upstream. They outlive its connections.
#pragma once

#include "gateway/telemetry/metrics.hpp"

#include <vector>

namespace gateway::proxy {

struct pool_metrics {
    telemetry::upstream_metrics& upstream;
    telemetry::worker_metrics& worker;
    // servers[i] counts for server i.
    std::vector<telemetry::server_metrics*> servers;
};

}  // namespace gateway::proxy
