// The counters of one worker that belong to one upstream. They outlive all its connections.
#pragma once

#include "gateway/telemetry/metrics.hpp"

#include <vector>

namespace gateway::proxy {

struct pool_metrics {
    telemetry::upstream_metrics& upstream;
    telemetry::worker_metrics& worker;
    // [i] are those of server i.
    std::vector<telemetry::server_metrics*> servers;
};

}  // namespace gateway::proxy
