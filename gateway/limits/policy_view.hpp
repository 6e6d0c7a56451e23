// `policy_view` is the configuration as one worker sees it: the shared immutable policy, and this
// worker's own counters, pools and store links in the same order. A reload makes a new one.
// Requests under way keep the one that they began with.
#pragma once

#include "gateway/http/options.hpp"
#include "gateway/http/output/limit_headers.hpp"
#include "gateway/http2/options.hpp"
#include "gateway/intake/claimed_limits.hpp"
#include "gateway/intake/routed_request.hpp"
#include "gateway/intake/token_cache.hpp"
#include "gateway/policy/policy.hpp"
#include "gateway/proxy/pool/pool.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"
#include "gateway/tracing/options.hpp"

#include <memory>
#include <vector>

namespace gateway::limits {

struct policy_view {
    std::shared_ptr<const policy::policy> policy;
    http::options http;
    http2::options http2;
    // [i] belongs to policy->routes[i]. It is null if that route has no bounds of its own.
    std::vector<std::unique_ptr<const http::options>> http_of_routes;
    // Most connections of one peer; 0 for no bound.
    std::size_t max_connections_per_peer = 0;
    // Most requests that wait for their tokens, in all workers together.
    std::size_t max_waiting = 0;

    tracing::sampling sampling;

    http::limit_header_options limit_headers;
    // Name of this process in `Via`, by which it sees loops.
    std::string via_name;
    intake::client_header client_header;
    // Tokens that this worker has verified; null if no key asks for one, or if requests come with
    // tokens that are known.
    std::unique_ptr<intake::token_cache> tokens;
    // Limits whose numbers these tokens state; null like `tokens`.
    std::unique_ptr<intake::claimed_limits> claimed;
    // [i] holds the counters of policy->routes[i].
    std::vector<telemetry::route_metrics*> routes;
    // [i] holds the counters of policy->services[i].
    std::vector<telemetry::route_metrics*> services;
    // Counters of requests that matched no route.
    telemetry::route_metrics* no_route = nullptr;
    // [i] holds the counters of policy->limits[i].
    std::vector<telemetry::limit_metrics*> limits;
    // [i] is the pool of policy->upstreams[i].
    std::vector<std::shared_ptr<proxy::pool>> pools;
    // [i] is the link to policy->stores[i].
    std::vector<std::shared_ptr<store::shared_store>> stores;

    intake::intake_rules intake() const { return {*policy, http, client_header, via_name}; }

    // Returns the options for `r`, a route of the policy, or the general ones if `r` is null.
    const http::options& http_of(const policy::route* r) const
    {
        if (r == nullptr || !r->bounds.changes_http()) {
            return http;
        }
        return *http_of_routes[static_cast<std::size_t>(r - policy->routes.data())];
    }
};

}  // namespace gateway::limits
