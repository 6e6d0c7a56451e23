// `add_process_metrics` reads the usual process_* metrics from /proc/self at each scrape.
// Unreadable ones are left out.
#pragma once

#include "gateway/telemetry/families.hpp"

namespace gateway::telemetry {

void add_process_metrics(families& all);

}  // namespace gateway::telemetry
