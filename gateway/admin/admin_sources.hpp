// What the admin API asks of the rest of the process. Everything is called on the main thread.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::worker {

class worker;

}  // namespace gateway::worker

namespace gateway::admin {

// What /readyz tells. The reasons are about this process alone and decide; what else is down is
// only told, as every gateway shares it.
struct readiness {
    // Why this process is not ready; none: it is.
    std::vector<std::string> reasons;
    std::vector<std::string> stores_down;
    std::vector<telemetry::server_name> servers_down;
};

// Of one limit, by outcome, of all workers.
using decision_counts = std::array<std::uint64_t, telemetry::outcome_names.size()>;

struct admin_sources {
    // Prometheus text.
    std::function<std::string()> metrics;
    std::function<readiness()> ready;
    // Empty: there is none.
    std::function<std::string()> token;
    // admin_options::hosts.
    std::function<const std::vector<std::string>&()> hosts;
    // Those in force.
    std::function<std::shared_ptr<const policy::policy>()> policy;
    std::function<http::options()> http;
    std::function<decision_counts(std::string_view limit)> decisions;
    // All of them, also those that have ended.
    std::function<std::vector<worker::worker*>()> workers;
};

}  // namespace gateway::admin
