// `check_services` checks rate-limit services, the listeners that name them, and their limits,
// which have other keys than those of routes.
#pragma once

#include "config/keys/draft.hpp"

#include <vector>

namespace gateway::config {

void check_services(const draft& d, findings& found);

// Marks the limits that services use.
void mark_limits_of_services(const draft& d, std::vector<bool>& used);

}  // namespace gateway::config
