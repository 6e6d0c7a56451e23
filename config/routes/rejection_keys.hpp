// rejection: what limits of a route answer when they reject.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"

namespace gateway::config {

void describe_rejection(keys& k, std::optional<policy::route_rejection>& rejection, const draft& d);

}  // namespace gateway::config
