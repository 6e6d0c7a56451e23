// Default names of routes, and paths as text. Pure.
#pragma once

#include "gateway/policy/route.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::config {

// Returns a normalized path in printable form, which normalizes to it again. Bytes other than 0x21
// to 0x7e are percent-encoded. The rest of a normal form is as it may be written.
std::string encoded_path(std::string_view normalised);

// True if the letters of the path are those that `ignore_case` knows: A to Z.
bool has_letters_of_ascii(std::string_view normalised);

// Fills in empty names: host and path ("api.example.com/v1", "/" for everything). A name that is
// not unique has methods and scheme in front, '=' before an exact path, '~' before one that ignores
// the case of letters, and names of headers at the end: "GET,HEAD api.example.com=~/v1".
void name_routes(std::span<policy::route> routes);

}  // namespace gateway::config
