// Functions that convert tables of blocks to metric families, summed over workers. A scrape calls
// them under the registry's lock, while workers go on counting.
#pragma once

#include "gateway/telemetry/block_table.hpp"
#include "gateway/telemetry/families.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <string>
#include <vector>

namespace gateway::telemetry {

// Label values, in the order of the `failures` arrays.
using reasons = std::vector<std::string>;

void add_route_families(families& all, const table<route_metrics>& routes);
void add_limit_families(families& all, const table<limit_metrics>& limits);
void add_upstream_families(
    families& all, const table<upstream_metrics>& upstreams, const reasons& known
);
void add_server_families(
    families& all,
    const pair_table<server_metrics>& servers,
    const std::vector<server_figures>& present
);
void add_store_families(families& all, const table<store_metrics>& stores, const reasons& known);
void add_connection_families(families& all, const row<worker_metrics>& workers);
void add_request_families(families& all, const row<worker_metrics>& workers);
void add_tunnel_families(families& all, const row<worker_metrics>& workers);

// Adds the usual process_* metrics from /proc/self. Those that cannot be read are left out.
void add_process_metrics(families& all);

}  // namespace gateway::telemetry
