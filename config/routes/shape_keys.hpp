// The keys of a route that change its requests on their way.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::config {

// After `match`, which they must fit.
void describe_shape(keys& k, policy::route& route);

}  // namespace gateway::config
