// `added_up` makes totals of tables of blocks. It is called under the registry's lock, while
// workers go on counting.
#pragma once

#include "gateway/telemetry/block_table.hpp"
#include "gateway/telemetry/history/totals.hpp"

namespace gateway::telemetry {

totals added_up(
    const row<worker_metrics>& workers,
    const table<route_metrics>& routes,
    const table<limit_metrics>& limits,
    const table<upstream_metrics>& upstreams,
    const table<store_metrics>& stores
);

}  // namespace gateway::telemetry
