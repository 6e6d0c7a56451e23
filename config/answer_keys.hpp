// The keys of a route by which the gateway answers instead of an upstream.
#pragma once

#include "config/keys.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::config {

// After all other keys of the route: what needs an upstream has none beside these.
void describe_answer(keys& k, policy::route& route);

}  // namespace gateway::config
