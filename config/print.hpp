// Effective settings as YAML: defaults filled in, secrets as ***. It loads again, secrets aside.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace gateway::config {

std::string print(const settings& s);

}  // namespace gateway::config
