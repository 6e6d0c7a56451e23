// Keys of a route that change its requests and responses on their way.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::config {

// Requires: `match` has been described, which the prefixes must fit.
void describe_shape(keys& k, policy::route& route);

}  // namespace gateway::config
