// `readiness_of` collects what the admin API's /readyz reports of this process.
#pragma once

#include "config/settings.hpp"
#include "gateway/admin/admin_sources.hpp"
#include "gateway/telemetry/registry.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace gateway {

// Returns the readiness. A store is down if it is down for any worker. `servers` are all upstream
// servers of the settings.
admin::readiness readiness_of(
    const config::settings& settings,
    telemetry::registry& metrics,
    std::size_t workers,
    std::span<const telemetry::server_figures> servers,
    bool draining
);

// Adds the state of fetched keys, of which `figures` are nothing if keys are not fetched.
void add_keys(
    admin::readiness& to,
    const probes::issuer_options& options,
    const std::optional<telemetry::key_fetch_figures>& figures
);

}  // namespace gateway
