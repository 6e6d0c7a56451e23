// "Did you mean …?": the known word nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gateway::base {

// Insertions, deletions, replacements and swaps of neighbours between the two words.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word that `word` is probably a slip or a beginning of, or empty. Letter case is
// forgiven.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// `, did you mean "burst"?`, or `; known here: a, b, c` when nothing is near, or empty.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace gateway::base
