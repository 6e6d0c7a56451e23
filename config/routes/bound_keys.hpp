// Keys of a route for timeouts and bounds of its own.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::config {

void describe_bounds(keys& route, policy::route_bounds& bounds);

}  // namespace gateway::config
