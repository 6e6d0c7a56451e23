// `fold_case` folds the case of letters, to compare paths as servers do that ignore it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gateway::policy {

// Writes `path` into `room` with the letters A to Z in lower case, and returns what it has written:
// only the beginning of the path if the room is too small. Characters of other alphabets that
// Unicode's case mappings turn into ASCII letters become these, as regular expressions and
// upper-casing servers have it: "\u017F" (long s) is "s", "\u212A" (kelvin) "k", "\u00DF" (sharp s)
// "ss". All other characters stay. The result is never longer than the path, and has the same
// separators. `room` may begin where `path` does.
std::string_view fold_case(std::string_view path, std::span<char> room);

// Returns the whole path, folded.
std::string folded_case(std::string_view path);

}  // namespace gateway::policy
