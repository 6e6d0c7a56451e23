// `load_limit_list` reads a list of names of limits.
#pragma once

#include "config/text/reader.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gateway::config {

// Adds the indices of the limits that the key `limits` lists. `names` are those of all limits. Bad
// names, and those that are listed twice, are problems.
void load_limit_list(
    section& from, const std::vector<std::string>& names, std::vector<std::size_t>& out
);

inline constexpr std::string_view limit_list_schema =
    R"({"type":"array","items":{"type":"string"},"maxItems":8})";

}  // namespace gateway::config
