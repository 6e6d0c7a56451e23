// The functions here describe the mappings of a configuration: every key with its type, range,
// default and meaning. A description reads and writes the draft that it is given.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"

namespace gateway::config {

// Describes the whole file. A section that refers to others by name comes after them.
void describe(keys& root, draft& d);

// These describe the keys of the file itself, in this order.
void describe_process(keys& root, draft& d);
void describe_http(keys& root, draft& d);
void describe_client(keys& root, draft& d);
void describe_jwt(keys& root, draft& d);
void describe_stores(keys& root, draft& d);
void describe_plans(keys& root, draft& d);
void describe_limits(keys& root, draft& d);
void describe_upstreams(keys& root, draft& d);
void describe_routes(keys& root, draft& d);
void describe_response_headers(keys& root, draft& d);
void describe_log(keys& root, draft& d);

// Describes `servers` of an upstream.
void describe_servers(keys& upstream, std::vector<proxy::server_options>& servers);

// Describes `health` of an upstream. `out` is nothing without it.
void describe_health(keys& upstream, std::optional<proxy::health_options>& out);

}  // namespace gateway::config
