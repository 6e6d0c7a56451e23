// Reads a configuration: the YAML of docs/configuration.md into settings. Start-up and reload only.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <string_view>

namespace gateway::config {

// Both throw config_error, which carries every problem found.
settings load_file(const std::string& path);

// `file_name` is only for messages.
settings load_text(std::string_view yaml, std::string_view file_name);

}  // namespace gateway::config
