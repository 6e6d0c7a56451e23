// `log_coded_response` logs, once for each limit, that a response is compressed, so that the
// gateway cannot read what its request has cost. Thread: any.
#pragma once

#include "gateway/policy/policy.hpp"

namespace gateway::client {

// Requires: route.reads_usage.
void log_coded_response(const policy::policy& policy, const policy::route& route);

}  // namespace gateway::client
