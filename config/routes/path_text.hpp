// `read_path()` reads a path in the configuration.
#pragma once

#include "config/text/reader.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

// Returns the path of a key, in normal form (policy/path.hpp), or nothing if it is not there.
// Reports a problem and returns nothing if it is invalid or no request could match it.
std::optional<std::string> read_path(section& from, std::string_view key);

}  // namespace gateway::config
