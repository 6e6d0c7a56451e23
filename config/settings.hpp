// The whole configuration, parsed: everybody's options plus the policy. Plain value.
#pragma once

#include "config/plan_file.hpp"
#include "config/text/units.hpp"
#include "gateway/client/options.hpp"
#include "gateway/http/options.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/store/shared_options.hpp"
#include "gateway/telemetry/options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::config {

enum class algorithm { token_bucket, fixed_window, sliding_window, sliding_log, concurrency };

// What is written of the numbers that a limit has for one plan.
struct written_plan {
    config::rate rate;

    bool operator==(const written_plan&) const = default;
};

// How a limit was written, as far as its numbers do not tell.
struct written_limit {
    config::algorithm algorithm = config::algorithm::token_bucket;
    config::rate rate;
    // When its windows begin; empty: not written.
    std::string start;
    std::string time_zone = "UTC";
    // Parts of a sliding window.
    std::int64_t resolution = 16;
    // Of the places of requests in flight.
    base::duration lease = std::chrono::seconds{10};
    // plans[i] is rule i of the limit's plan_choice.
    std::vector<written_plan> plans{};

    bool operator==(const written_limit&) const = default;
};

// Where the members of plans were written.
struct written_plans {
    // As it was written, and where that is; empty: they are in `members`.
    std::string file{};
    std::string path{};
    file_stamp stamp{};
    // The keys of each plan.
    std::vector<std::pair<std::string, std::vector<std::string>>> members{};
};

struct settings {
    client::options server;
    http::options http;
    store::memory_options local_store;

    // The shared stores; policy->stores[i] is the name of shared_stores[i].
    std::vector<store::named_store> shared_stores;
    // The upstreams; policy->upstreams[i] is the name of upstreams[i].
    std::vector<proxy::upstream_options> upstreams;

    std::shared_ptr<const policy::policy> policy;

    // How the limits were written; written_limits[i] is policy->limits[i].
    std::vector<written_limit> written_limits;

    // written_plans[i] is policy->plans[i].
    std::vector<config::written_plans> written_plans;

    telemetry::log_options log;

    // The paths of keys whose values stand elsewhere than in the file, and are not shown.
    std::vector<std::string> secret_paths;

    // One line for each warning, in the same form as problems.
    std::vector<std::string> warnings;
};

}  // namespace gateway::config
