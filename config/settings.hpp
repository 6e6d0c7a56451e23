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

struct settings {
    server::options server;
    http::options http;
    store::memory_options local_store;

    // The shared stores; policy->stores[i] is the name of shared_stores[i].
    std::vector<shared_store> shared_stores;
    // The upstreams; policy->upstreams[i] is the name of upstreams[i].
    std::vector<proxy::upstream_options> upstreams;

    std::shared_ptr<const policy::policy> policy;

    // The rates as written; rates[i] is that of policy->limits[i].
    std::vector<rate> rates;

    telemetry::log_options log;

    // One line for each warning, in the same form as problems.
    std::vector<std::string> warnings;
};

}  // namespace gateway::config
