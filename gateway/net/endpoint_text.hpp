// Formats endpoints for logs.
#pragma once

#include "gateway/net/resolved_name.hpp"

#include <string>

namespace gateway::net {

// Returns "ADDRESS:PORT"; empty for a Unix socket, which has neither.
std::string to_text(const resolved_name::endpoint& e);

}  // namespace gateway::net
