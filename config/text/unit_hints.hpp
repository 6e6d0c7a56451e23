// Hints at the likely meaning of a rate, duration or size that is not spelled as ours are: "10/sec"
// is "10/s". They are for messages only: nothing is ever read in these spellings. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::config {

// Return `, did you mean "10/s"?`, or empty if the meaning cannot be told.
std::string rate_hint(std::string_view text);
std::string duration_hint(std::string_view text);
std::string size_hint(std::string_view text);

}  // namespace gateway::config
