// The usual process_* metrics, read from /proc/self at each scrape. What cannot be read is left
// out.
#pragma once

#include "gateway/telemetry/families.hpp"

namespace gateway::telemetry {

void add_process_metrics(families& all);

}  // namespace gateway::telemetry
