// `check` checks the rules that span several sections, which no section can check alone.
#pragma once

#include "config/keys/draft.hpp"

namespace gateway::config {

void check(const draft& d, findings& found);

}  // namespace gateway::config
