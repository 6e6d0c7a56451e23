// Key `match` of a route: which requests the route is for.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::config {

void describe_match(keys& k, policy::route_match& match);

}  // namespace gateway::config
