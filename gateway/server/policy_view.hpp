// The configuration as one worker sees it: the shared immutable policy, and this worker's own
// counters, pools and store links in the same order. A reload makes a new one; requests under way
// keep the one they began with.
#pragma once

#include "gateway/http/field.hpp"
#include "gateway/http/limit_headers.hpp"
#include "gateway/http/options.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/proxy/pool.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <vector>

namespace gateway::server {

struct policy_view {
    std::shared_ptr<const policy::policy> policy;
    http::options http;
    std::size_t max_connections_per_peer = 0;  // 0 = no cap
    http::limit_header_options limit_headers;
    std::string via_name;         // of this process, for loops to be seen
    std::string identity_header;  // lower case
    http::field_name identity_field = http::field_name::other;  // of that name
    bool identity_field_is_unique = false;                      // no other name has that id
    std::vector<telemetry::route_metrics*> routes;              // [i] of policy->routes[i]
    telemetry::route_metrics* no_route = nullptr;               // what matched none
    std::vector<telemetry::limit_metrics*> limits;              // [i] of policy->limits[i]
    std::vector<std::shared_ptr<proxy::pool>> pools;            // [i] of policy->upstreams[i]
    std::vector<std::shared_ptr<store::shared_store>> stores;   // [i] of policy->stores[i]
};

}  // namespace gateway::server
