// `print` returns effective settings as YAML, with defaults filled in and secrets as ***. The text
// loads again, except for the secrets.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace gateway::config {

std::string print(const settings& s);

}  // namespace gateway::config
