// The whole configuration, parsed: everybody's options plus the policy. Plain value.
#pragma once

#include "config/units.hpp"
#include "gateway/http/options.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/proxy/options.hpp"
#include "gateway/server/options.hpp"
#include "gateway/store/shared_options.hpp"
#include "gateway/telemetry/options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::config {

struct shared_store {
    std::string name;
    store::shared_options options;
};

enum class algorithm { token_bucket, fixed_window };

// How a limit was written, as far as its numbers do not tell.
struct written_limit {
    config::algorithm algorithm = config::algorithm::token_bucket;
    config::rate rate;
    // When its windows begin; empty: not written.
    std::string start;
    std::string time_zone = "UTC";

    bool operator==(const written_limit&) const = default;
};

struct settings {
    server::options server;
    http::options http;
    store::memory_options local_store;

    // The shared stores; policy->stores[i] is the name of shared_stores[i].
    std::vector<shared_store> shared_stores;
    // The upstreams; policy->upstreams[i] is the name of upstreams[i].
    std::vector<proxy::upstream_options> upstreams;

    std::shared_ptr<const policy::policy> policy;

    // How the limits were written; written_limits[i] is policy->limits[i].
    std::vector<written_limit> written_limits;

    telemetry::log_options log;

    // One line for each warning, in the same form as problems.
    std::vector<std::string> warnings;
};

}  // namespace gateway::config
