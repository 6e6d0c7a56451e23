// `read_mapping` reads a mapping of the file, in which every key is described, into the values that
// are described.
#pragma once

#include "config/keys/keys.hpp"

namespace gateway::config {

void read_mapping(const located& mapping, findings& found, const describe_keys& describe);

}  // namespace gateway::config
