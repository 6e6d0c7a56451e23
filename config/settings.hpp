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
    std::vector<shared_store> shared_stores;         // policy->stores[i] is shared_stores[i].name
    std::vector<proxy::upstream_options> upstreams;  // policy->upstreams[i] is upstreams[i].name
    std::shared_ptr<const policy::policy> policy;
    std::vector<rate> rates;  // of policy->limits[i], as written
    telemetry::log_options log;
    std::vector<std::string> warnings;  // one line each, same form as problems
};

}  // namespace gateway::config
