// `admin_sources` is what the admin API needs from the rest of the process.
// Thread: everything is called on the main thread.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/telemetry/metrics.hpp"
#include "gateway/telemetry/registry.hpp"

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

// `readiness` is the content of /readyz. Only `reasons`, which concern this process alone, decide.
// The rest is reported but does not decide, as all gateways share it.
struct readiness {
    // Reasons why this process is not ready. Empty: it is ready.
    std::vector<std::string> reasons;
    std::vector<std::string> stores_down;
    std::vector<telemetry::server_name> servers_down;
};

// Decisions of one limit by outcome, summed over all workers.
using decision_counts = std::array<std::uint64_t, telemetry::outcome_names.size()>;

struct admin_sources {
    // Returns the metrics as text.
    std::function<std::string(telemetry::exposition_format)> metrics;
    std::function<readiness()> ready;
    // Returns the token of the admin API, or an empty text if there is none.
    std::function<std::string()> token;
    // Returns admin_options::hosts.
    std::function<const std::vector<std::string>&()> hosts;
    // Returns the policy in force.
    std::function<std::shared_ptr<const policy::policy>()> policy;
    std::function<http::options()> http;
    std::function<decision_counts(std::string_view limit)> decisions;
    // Returns all workers, including those that have ended.
    std::function<std::vector<worker::worker*>()> workers;
};

}  // namespace gateway::admin
