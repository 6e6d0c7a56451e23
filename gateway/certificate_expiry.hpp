// Until when the certificates of listeners hold, for the metrics.
#pragma once

#include "gateway/server/options.hpp"
#include "gateway/telemetry/registry.hpp"

#include <vector>

namespace gateway {

std::vector<telemetry::certificate_figures> certificate_expiry(const server::options& options);

}  // namespace gateway
