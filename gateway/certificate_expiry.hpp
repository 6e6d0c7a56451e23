// `certificate_expiry` returns, for the metrics, when the certificates expire that the gateway
// presents to clients, upstreams and stores.
#pragma once

#include "config/settings.hpp"
#include "gateway/telemetry/figures.hpp"

#include <vector>

namespace gateway {

std::vector<telemetry::certificate_figures> certificate_expiry(const config::settings& settings);

}  // namespace gateway
