// Key `rejection` of a route: the response when limits of the route reject a request.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"

namespace gateway::config {

void describe_rejection(keys& k, std::optional<policy::route_rejection>& rejection, const draft& d);

}  // namespace gateway::config
