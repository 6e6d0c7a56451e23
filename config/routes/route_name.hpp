// Names for routes that were given none, and paths as text. Pure.
#pragma once

#include "gateway/policy/route.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::config {

// A normalised path in printable form, which normalises to it again: spaces and bytes above 0x7f
// are percent-encoded; the rest of a normal form is as it may be written.
std::string encoded_path(std::string_view normalised);

// Fills in empty names: host and path ("api.example.com/v1", "/" for everything). Where that is not
// unique, with methods in front, '=' before an exact path and '~' before one that ignores the case
// of letters: "GET,HEAD api.example.com=~/v1".
void name_routes(std::span<policy::route> routes);

}  // namespace gateway::config
