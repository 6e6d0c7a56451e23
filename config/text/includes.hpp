// A configuration with the files that it includes, as one tree.
#pragma once

#include "config/text/document.hpp"

#include <string_view>

namespace gateway::config {

inline constexpr std::size_t max_included_files = 1000;
// How deep files may include others.
inline constexpr std::size_t max_include_depth = 8;

// The tree of the text, to whose lists and mappings those of the files that it includes are added,
// in their order. `file_name` is for messages, and its folder is that of what it includes. A file
// that cannot be read is a problem among the findings; throws config_error for one that is no
// document.
node read_document(std::string_view yaml, std::string_view file_name, findings& found);

}  // namespace gateway::config
