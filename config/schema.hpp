// `schema` returns the configuration as JSON Schema (draft 2020-12), made from the descriptions of
// its keys.
#pragma once

#include <string>

namespace gateway::config {

// Returns one line of JSON. It has few of the rules about several keys; `gateway check` knows all.
std::string schema();

}  // namespace gateway::config
