// Reads the claims of a web token.
#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace gateway::identity {

// Returns the claim of that name, or, if there is none, the one that the dots in it lead to: "a.b"
// is the member b of a. Null if it has neither.
const boost::json::value* find_claim(const boost::json::object& claims, std::string_view name);

// Returns the claim as part of a key: a string, a whole number in decimal, true or false. Empty for
// everything else, and for what is longer than max_claim_bytes.
std::string claim_text(const boost::json::value& claim);

}  // namespace gateway::identity
