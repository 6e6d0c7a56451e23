// What somebody probably meant by a rate, duration or size that is not spelled as ours are:
// "10/sec" is "10/s". Only for messages: nothing is ever read in these spellings. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::config {

// `, did you mean "10/s"?`, or empty when it cannot be told.
std::string rate_hint(std::string_view text);
std::string duration_hint(std::string_view text);
std::string size_hint(std::string_view text);

}  // namespace gateway::config
