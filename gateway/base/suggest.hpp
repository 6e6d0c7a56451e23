// Finds the known word nearest to a mistyped one, for messages such as "did you mean ...?".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gateway::base {

// Counts the insertions, deletions, replacements and swaps of neighbors between the two words.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the known word of which `word` is probably a misspelling or the beginning; empty if there
// is none. Letter case does not count.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// Returns `, did you mean "burst"?`, or `; known here: a, b, c` if nothing is near, or an empty
// text if nothing is known.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace gateway::base
