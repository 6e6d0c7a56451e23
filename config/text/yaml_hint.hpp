// What is probably wrong with a line that is not valid YAML. Pure.
#pragma once

#include <string_view>

namespace gateway::config {

// The advice, or empty when nothing in the line stands out.
std::string_view yaml_hint(std::string_view line);

// Said of "${NAME}" wherever it stands.
inline constexpr std::string_view not_expanded =
    "${...} is not expanded: write the value itself, or as a whole { env: NAME } or { file: PATH }";

}  // namespace gateway::config
