// `settings` is the whole configuration, parsed: the options of each part, and the policy. Plain
// value.
#pragma once

#include "config/plan_file.hpp"
#include "config/text/units.hpp"
#include "gateway/client/options.hpp"
#include "gateway/http/options.hpp"
#include "gateway/http2/options.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/probes/collector_options.hpp"
#include "gateway/probes/issuer_options.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/store/shared_options.hpp"
#include "gateway/telemetry/options.hpp"
#include "gateway/tracing/options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::config {

enum class algorithm { token_bucket, fixed_window, sliding_window, sliding_log, concurrency };

// `written_plan` is what the file says of a limit's numbers for one plan.
struct written_plan {
    config::rate rate;

    bool operator==(const written_plan&) const = default;
};

// `written_limit` is what the file says of a limit and its numbers do not.
struct written_limit {
    config::algorithm algorithm = config::algorithm::token_bucket;
    config::rate rate;
    // Start of its windows. Empty: not written.
    std::string start;
    std::string time_zone = "UTC";
    // Number of parts of a sliding window.
    std::int64_t resolution = 16;
    // Lease time of the permits of requests in flight.
    base::duration lease = std::chrono::seconds{10};
    // Numbers for plans; plans[i] belongs to rule i of the limit's plan_choice.
    std::vector<written_plan> plans{};

    bool operator==(const written_limit&) const = default;
};

// `written_plans` says where the configuration has the members of plans.
struct written_plans {
    // File as written in the configuration, and its path. Empty: the members are in `members`.
    std::string file{};
    std::string path{};
    file_stamp stamp{};
    // Keys of each plan.
    std::vector<std::pair<std::string, std::vector<std::string>>> members{};
};

struct settings {
    client::options server;
    http::options http;
    http2::options http2;
    store::memory_options local_store;

    // Shared stores; policy->stores[i] is the name of shared_stores[i].
    std::vector<store::named_store> shared_stores;
    // Upstreams; policy->upstreams[i] is the name of upstreams[i].
    std::vector<proxy::upstream_options> upstreams;

    std::shared_ptr<const policy::policy> policy;

    // Limits as written; written_limits[i] belongs to policy->limits[i].
    std::vector<written_limit> written_limits;

    // Plans as written; written_plans[i] belongs to policy->plans[i].
    std::vector<config::written_plans> written_plans;

    telemetry::log_options log;

    tracing::sampling sampling;
    probes::collector_options exporting;
    probes::issuer_options issuer;

    // Paths of the keys whose values are not in the file itself. They are not shown.
    std::vector<std::string> secret_paths;

    // Warnings, one line for each, in the same form as problems.
    std::vector<std::string> warnings;
};

}  // namespace gateway::config
