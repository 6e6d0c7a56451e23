// `log_coded_response` logs that a response is compressed, so that the gateway cannot read what its
// request has cost. It writes at most one line an hour.
// Thread: any.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::client {

void log_coded_response(const policy::route& route, base::instant now);

}  // namespace gateway::client
