// Reads a configuration and the files that it includes into one tree.
#pragma once

#include "config/text/document.hpp"

#include <string_view>

namespace gateway::config {

inline constexpr std::size_t max_included_files = 1000;
// Greatest depth to which files may include others.
inline constexpr std::size_t max_include_depth = 8;

// Returns the tree of the text. The lists and mappings of the files that it includes are added to
// its own, in their order. `file_name` is for messages, and included files are named from its
// folder. A file that cannot be read is a problem among the findings.
// Errors: throws config_error for a file that is no document.
node read_document(std::string_view yaml, std::string_view file_name, findings& found);

}  // namespace gateway::config
