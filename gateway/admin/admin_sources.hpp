// `admin_sources` is what the admin API needs from the rest of the process.
// Thread: everything is called on the main thread.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/telemetry/figures.hpp"
#include "gateway/telemetry/history/totals.hpp"
#include "gateway/telemetry/metrics.hpp"
#include "gateway/telemetry/registry.hpp"

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
    // State of the keys that are fetched from an issuer: "ok", "failing" if the last fetch failed,
    // or "none" if there are no keys yet. Empty: keys are not fetched.
    std::string jwks;
};

// `reload_report` is what became of the last reload of the configuration, or of the start.
struct reload_report {
    // Moment in Unix time.
    base::duration at{0};
    bool succeeded = true;
    // Lines that it has logged, at most most_lines.
    std::vector<std::string> lines{};

    static constexpr std::size_t most_lines = 50;
};

// `process_report` is what the page shows of the process as a whole.
struct process_report {
    std::string version{};
    bool draining = false;
    std::size_t workers = 0;
    std::size_t max_connections = 0;
    // Buckets of the local store, the most that it holds, and clients that found it full.
    std::size_t buckets = 0;
    std::size_t max_buckets = 0;
    std::uint64_t turned_away = 0;
    std::uint64_t dropped_lines = 0;
    // Names of sections of `plans` whose file was refused for an older one.
    std::vector<std::string> plans_refused{};
    reload_report reload{};
};

struct admin_sources {
    // Returns the metrics as text.
    std::function<std::string(telemetry::exposition_format)> metrics;
    // Return what the page shows.
    std::function<telemetry::totals()> totals;
    std::function<std::vector<telemetry::server_figures>()> servers;
    std::function<std::vector<telemetry::certificate_figures>()> certificates;
    std::function<process_report()> process;
    std::function<readiness()> ready;
    // Returns the token of the admin API, or an empty text if there is none.
    std::function<std::string()> token;
    // Returns admin_options::hosts.
    std::function<const std::vector<std::string>&()> hosts;
    // Returns the policy in force.
    std::function<std::shared_ptr<const policy::policy>()> policy;
    std::function<http::options()> http;
    // Returns all workers, including those that have ended.
    std::function<std::vector<worker::worker*>()> workers;
};

}  // namespace gateway::admin
