// Guesses what is wrong with a line that is not valid YAML. Pure.
#pragma once

#include <string_view>

namespace gateway::config {

// Returns the advice, or empty if nothing in the line stands out.
std::string_view yaml_hint(std::string_view line);

// The advice on "${NAME}", wherever that stands.
inline constexpr std::string_view not_expanded =
    "${...} is not expanded: write the value itself, or as a whole { env: NAME } or { file: PATH }";

}  // namespace gateway::config
