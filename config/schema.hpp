// The configuration as JSON Schema (draft 2020-12), made of the descriptions of its keys.
#pragma once

#include <string>

namespace gateway::config {

// One line of JSON. What depends on several keys is not in it: `gateway check` says more.
std::string schema();

}  // namespace gateway::config
