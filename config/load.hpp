// `load_file` and `load_text` read a configuration, the YAML of docs/configuration.md, into
// settings. They run at start-up, at a reload and in commands, never for a request.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <string_view>

namespace gateway::config {

// True for "-", which stands for the standard input. It can be read once.
inline bool is_standard_input(std::string_view path)
{
    return path == "-";
}

// Reason why a reload and an upgrade cannot load the standard input.
inline constexpr std::string_view not_read_again =
    "the configuration came from the standard input, which cannot be read again";

// Returns the name of the file in messages.
inline std::string_view shown_name(std::string_view path)
{
    return is_standard_input(path) ? "stdin" : path;
}

// Both functions load a configuration. `running` is the configuration in force, or null. Its plan
// files are not read again if they have not changed since, and secrets of its keys stay secret.
// Errors: throw config_error, which carries every problem found.
settings load_file(const std::string& path, const settings* running = nullptr);

// `file_name` is for messages. Plan files are named from its folder.
settings load_text(
    std::string_view yaml, std::string_view file_name, const settings* running = nullptr
);

}  // namespace gateway::config
