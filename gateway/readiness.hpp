// What the admin API's /readyz tells of this process.
#pragma once

#include "config/settings.hpp"
#include "gateway/admin/admin_sources.hpp"
#include "gateway/telemetry/registry.hpp"

#include <cstddef>
#include <span>

namespace gateway {

// A store is down if it is for one of the workers. `servers`: all upstream servers of the settings.
admin::readiness readiness_of(
    const config::settings& settings,
    telemetry::registry& metrics,
    std::size_t workers,
    std::span<const telemetry::server_figures> servers,
    bool draining
);

}  // namespace gateway
