// `parse_logged_address` reads the address of a client as logs write it. Pure.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <optional>
#include <string_view>

namespace gateway::replay {

// Parses an IP address, alone or with a port: "192.0.2.1:4711", "[2001:db8::1]:4711".
std::optional<base::ip_address> parse_logged_address(std::string_view text);

}  // namespace gateway::replay
