// `to_openmetrics` writes metric families in the text format OpenMetrics 1.0, which has exemplars.
#pragma once

#include "gateway/telemetry/families.hpp"

#include <string>

namespace gateway::telemetry {

std::string to_openmetrics(const families& all);

}  // namespace gateway::telemetry
