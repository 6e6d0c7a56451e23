// Reads a configuration: the YAML of docs/configuration.md into settings. Start-up and reload only.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <string_view>

namespace gateway::config {

// True for "-", which stands for the standard input. That can be read once.
inline bool is_standard_input(std::string_view path)
{
    return path == "-";
}

// Returns the name of the file in messages.
inline std::string_view shown_name(std::string_view path)
{
    return is_standard_input(path) ? "stdin" : path;
}

// Both throw config_error, which carries every problem found.
// `running`, the configuration in force, or null: its plan files are not read again if they have
// not changed since.
settings load_file(const std::string& path, const settings* running = nullptr);

// `file_name` is for messages, and plan files are named from its folder.
settings load_text(
    std::string_view yaml, std::string_view file_name, const settings* running = nullptr
);

}  // namespace gateway::config
