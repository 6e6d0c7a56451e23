// Paths of the configuration.
#pragma once

#include "config/text/reader.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

// The path of a key, in normal form (policy/path.hpp); nothing if it is not there or no request
// could match it, which is a problem.
std::optional<std::string> read_path(section& from, std::string_view key);

}  // namespace gateway::config
