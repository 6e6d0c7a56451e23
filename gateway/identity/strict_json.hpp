// Parses JSON (RFC 8259) from strangers, and refuses what can be read in two ways.
#pragma once

#include <boost/json/object.hpp>

#include <optional>
#include <string_view>

namespace gateway::identity {

// Parses a JSON object. Returns nothing if the text is none, if a name occurs twice in any object
// of it (some take the first, some the last; RFC 7515 §4 has such a header refused), if a number is
// too large for a double, or if it is more than 16 levels deep.
std::optional<boost::json::object> parse_strict_json(std::string_view text);

}  // namespace gateway::identity
