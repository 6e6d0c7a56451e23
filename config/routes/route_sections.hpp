// The functions here describe parts of a route, and read what several of them have.
#pragma once

#include "config/keys/draft.hpp"
#include "config/keys/keys.hpp"

#include <string>

namespace gateway::config {

enum class message : unsigned char { request, response };

inline constexpr std::size_t max_own_body_bytes = 64 * 1024;
inline constexpr std::string_view standard_content_type = "text/plain; charset=utf-8";

// Describes `match`: which requests the route is for.
void describe_match(keys& match, policy::route_match& out);

// Describes timeouts and bounds of the route's own.
void describe_bounds(keys& route, policy::route_bounds& bounds);

// Describes `rejection`: what becomes of a request that limits of the route reject.
void describe_rejection(
    keys& route, std::optional<policy::route_rejection>& rejection, const draft& d
);

// Describes the keys that change requests and responses on their way.
// Requires: `match` has been described, which the prefixes must fit.
void describe_shape(keys& k, policy::route& route);

// Describes the keys `set` and `remove` in a mapping for requests or for responses.
void describe_fields(keys& k, http::field_edits& edits, message of);

// Describes `redirect` and `respond`, by which the gateway answers instead of an upstream.
// Requires: all other keys of the route have been described. Those about an upstream are refused
// beside these.
void describe_answer(keys& k, policy::route& route);

// Describes `content_type`, whose default is empty.
void describe_content_type(keys& k, std::string& type);

// Takes a path of the configuration in normal form (policy/paths/path.hpp). Returns what is wrong
// with it, if it is invalid or no request could match it.
std::string take_path(const std::string& text, std::string& path);

}  // namespace gateway::config
