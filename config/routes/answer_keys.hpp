// Keys `redirect` and `respond` of a route, by which the gateway answers instead of an upstream.
#pragma once

#include "config/keys/keys.hpp"
#include "gateway/policy/route.hpp"

namespace gateway::config {

// Requires: all other keys of the route have been described. Those about an upstream are refused
// beside these.
void describe_answer(keys& k, policy::route& route);

inline constexpr std::size_t max_own_body_bytes = 64 * 1024;
inline constexpr std::string_view standard_content_type = "text/plain; charset=utf-8";

// Returns the value of `content_type`, or nothing if it is not there. Reports an invalid one.
std::optional<std::string> read_content_type(section& from);

}  // namespace gateway::config
